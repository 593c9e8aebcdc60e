// Instructions that use a register of tcgen05.ld before any tcgen05.wait::ld. The dependence itself is
// honoured (PTX ISA 9.7.16.6), but nothing else is ordered after the load, and compilers may move the use: a
// rule worth a report.
#pragma once

#include <cstdint>
#include <map>

#include "ptx/function.h"

namespace emu::gpu {

// Position in the module's text of each such instruction -> that of the load. Positions survive reordering.
std::map<uint32_t, uint32_t> unwaited_reads(const ptx::Function& function);

}  // namespace emu::gpu
