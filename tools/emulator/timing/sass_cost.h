// PTX is not SASS: what ptxas makes of a function where it matters for time.
#pragma once

#include <vector>

#include "ptx/function.h"
#include "timing/cost_class.h"

namespace emu::timing {

struct SassTarget {
  bool three_input_minmax = true;  // FMNMX3, new with sm_100
};

// `costs` holds each PTX instruction's own cost; on return it holds what the instruction contributes after
// ptxas has folded moves, addresses and conversions, fused multiplies with additions, moved work out of loops
// and to the uniform datapath, and added what keeps a warp together. A cost without issue slots issues
// nothing. The rules were read off the SASS of CUDA 13.0's ptxas for sm_100a; tools/sass/README.md lists them.
void estimate_sass(const ptx::Function& function, std::vector<Cost>& costs, const SassTarget& target = {});

}  // namespace emu::timing
