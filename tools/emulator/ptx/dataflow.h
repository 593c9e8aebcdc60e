// Which operands an instruction reads and which it writes.
#pragma once
#include <cstdint>
#include <string_view>

#include "ptx/function.h"

namespace emu::ptx {

enum class Access : uint8_t { Read, Write, ReadWrite };

// Access to operand `index` of an instruction with this opcode. Vectors and d|p pairs pass it on to their
// elements. The registers of an Address or TensorAddress are read whatever this says: it speaks of the
// operand as a value. An unknown opcode is ReadWrite throughout, which keeps its registers live and never
// kills a value.
Access operand_access(std::string_view opcode, uint32_t index);

// Calls visit(reg, Access) for every register the instruction touches, its guard included (Read).
// A guarded write is reported as ReadWrite: lanes whose guard is false keep the old value.
template <typename Visit>
void for_each_register(const Function& function, const Instruction& instruction, Visit&& visit);

// tcgen05.ld delivers its registers after it issued, at the latest at the matching tcgen05.wait::ld.
bool is_async_register_load(const Instruction& instruction);
bool is_async_register_wait(const Instruction& instruction);

bool ends_path(const Instruction& instruction);  // unguarded ret, exit, trap, bra, brx: nothing falls through

}  // namespace emu::ptx

#include "ptx/dataflow_visit.h"
