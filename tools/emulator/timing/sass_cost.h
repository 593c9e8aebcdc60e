// PTX is not SASS: what ptxas makes of a function where it matters for time.
#pragma once

#include <vector>

#include "ptx/function.h"
#include "timing/cost_class.h"

namespace emu::timing {

// `costs` holds each PTX instruction's own cost; on return it holds what the instruction contributes after
// ptxas has folded moves, addresses and conversions, fused multiplies with additions and expanded what has no
// single SASS instruction. A cost with zero slots issues nothing.
void estimate_sass(const ptx::Function& function, std::vector<Cost>& costs);

}  // namespace emu::timing
