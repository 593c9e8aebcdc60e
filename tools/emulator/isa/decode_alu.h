// Decoding of register-to-register instructions: opcode text and operands -> routine, references, cost.
// What each instruction does stands in the tables of alu_*.cpp and warp_*.cpp, one row per form.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program.h"
#include "ptx/function.h"

namespace emu::isa {

// Owns the operand lists that Instr::wide points to; addresses stay valid while the pool lives.
class WideOperands {
 public:
  const Ref* add(std::span<const Ref> refs) { return lists_.emplace_back(refs.begin(), refs.end()).data(); }

 private:
  std::deque<std::vector<Ref>> lists_;
};

// How an operand is read or written. Floating-point types differ from bit types only in how an immediate
// is turned into bits: decimal constants are rounded to the type.
enum class OperandType : uint8_t { B16, B32, B64, B128, F32, F64, Predicate };

// Width in bits of a register of that class (a predicate counts as 1).
int register_bits(ptx::RegClass reg_class);

// Reference of a function's virtual register.
Ref register_ref(const ptx::Function& function, int32_t reg, ptx::RegClass reg_class);

// A source operand: a register of exactly that width, an immediate (placed in `constants`) or a special
// register that is constant during a warp's life. For Predicate the reference is a predicate index; `negated`
// tells of `!p` and must be given then. Returns false with a message in `error` otherwise.
bool decode_source(const ptx::Function& function, const ptx::Operand& operand, OperandType type,
                   ConstantPool& constants, Ref& out, bool* negated, std::string& error);

// A destination: a register of exactly that width, or `_`, which becomes the scratch slot.
bool decode_destination(const ptx::Function& function, const ptx::Operand& operand, OperandType type,
                        Ref& out, std::string& error);

// Fills guard, guard_negated, join of `out` from the instruction, for every kind of instruction.
void decode_guard(const ptx::Function& function, const ptx::Instruction& instruction, Instr& out);

// Slot of a special register that is constant during a warp's life; false for clocks, performance counters
// and whatever SpecialSlot does not list.
bool special_slot(const ptx::Operand& operand, SpecialSlot& out);
// The value of %reserved_smem_offset_*: the driver's part of shared memory, which begins at 0 (PTX ISA 10).
bool reserved_shared_offset(const ptx::Operand& operand, uint32_t& offset);

// Fills alu, kind, dst, src, wide, negated, modifiers, member_source, guard, join and cost. Destinations and
// sources stand in the order of the text with vectors flattened; a form with more than two destinations or
// four sources has them all, destinations first, in `wide` instead.
// Returns false with `error` empty when the opcode is not a register-to-register form (or it reads a symbol's
// address, a clock or another thing only the engine knows), and with `error` set when it is one but its form
// or its operands are not supported.
bool decode_alu(const ptx::Function& function, const ptx::Instruction& instruction, ConstantPool& constants,
                WideOperands& wide_pool, Instr& out, std::string& error);

// One supported form.
struct FormInfo {
  std::string opcode;    // "add.ftz.f32"
  std::string operands;  // "f=f,f": see alu_form.h
  Kind kind = Kind::Alu;
  timing::Cost cost;
};
std::vector<FormInfo> supported_alu_forms();

// "avx512" or "avx2": which build of the routines this process uses. The environment variable EMU_ISA=avx2
// forces the narrower one.
std::string_view alu_instruction_set();

}  // namespace emu::isa
