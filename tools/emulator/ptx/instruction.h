// Program form of one PTX instruction: opcode form, guard, operands, flow. No machine in sight.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/special.h"

namespace emu::ptx {

enum class Space : uint8_t { Generic, Param, Const, Global, Shared, Local };

// Registers have a width only: nvcc keeps floats in .b32, and an instruction's suffix gives the type.
// .b8/.u8/.s8 registers are B16 (PTX ISA 5.2.2: they only occur where a wider register serves).
enum class RegClass : uint8_t { Pred, B16, B32, B64, B128 };

enum class OperandKind : uint8_t {
  None,
  Register,       // reg; `negated` for !p
  PredicatePair,  // d|p: reg (any class, -1 for `_`) and reg2 (predicate, -1 for `_`)
  ImmediateInt,   // immediate, 64-bit two's complement
  ImmediateF32,   // immediate holds the 32 raw bits of 0fXXXXXXXX
  ImmediateF64,   // immediate holds the 64 raw bits of 0dX... and of decimal constants such as 1.5,
                  // which an .f32 instruction has still to round
  Symbol,         // symbol + immediate: a variable, function or parameter named as a value
  Label,          // branch destination; Instruction::target has it resolved
  Vector,         // {a, b, ...}: pool range; also call's return and argument lists, which may be empty
  Address,        // [base + immediate]
  TensorAddress,  // [base + immediate, {c0, ...}]: coordinates in the pool range
  Sink,           // _
  Special,        // special register, component and number
  BranchTable,    // brx.idx: symbol indexes Function::branch_tables
  CallTargets,    // call through a register with .calltargets: symbol indexes Function::call_targets
  Prototype,      // call through a register: symbol indexes Function::prototypes
};

enum class AddressBase : uint8_t { Immediate, Register, Symbol };

struct Operand {
  OperandKind kind = OperandKind::None;
  AddressBase base = AddressBase::Immediate;       // Address, TensorAddress
  RegClass reg_class = RegClass::B32;              // of `reg`
  bool negated = false;                            // !p
  SpecialRegister special = SpecialRegister::Tid;  // Special
  uint8_t component = 0;                           // Special: 0..3 for .x .y .z .w
  uint8_t special_number = 0;                      // Special: N of %envregN
  int32_t reg = -1;                                // virtual register id; see Function::slot_of_register
  int32_t reg2 = -1;                               // PredicatePair's predicate
  int32_t symbol = -1;                             // index into Function::symbols, or a table, see kind
  uint32_t first = 0;                              // Vector, TensorAddress: first pool index
  uint32_t count = 0;                              // and number of elements
  int64_t immediate = 0;
};

// Every distinct opcode text has one number in a process-wide table, so a decoder can cache per form.
// Thread safe; the returned view lives as long as the process.
struct Form {
  uint32_t id;
  std::string_view text;
};
Form intern_form(std::string_view opcode);
std::string_view form_text(uint32_t id);
uint32_t form_count();

struct Instruction {
  std::string_view opcode;     // whole opcode as written, "tcgen05.mma.cta_group::1.kind::f16"
  uint32_t form = 0;           // number of `opcode` in the process-wide table
  int32_t guard = -1;          // predicate register of @p, -1 none
  bool guard_negated = false;  // @!p
  bool is_join = false;        // some conditional branch reconverges here
  uint16_t num_operands = 0;
  uint32_t first_operand = 0;  // pool index; operands are contiguous
  int32_t target = -1;         // bra: destination instruction index
  int32_t reconverge = -1;     // conditional bra, brx.idx: immediate post-dominator, -1 = function exit
  int32_t location = -1;       // index into Function::locations, -1 without line info
  uint32_t line = 0;           // 1-based line of the PTX text
  uint32_t text_begin = 0;     // the instruction's text, guard to semicolon, in Module::text()
  uint32_t text_length = 0;    // 0 for the return implied by the end of a body
};

}  // namespace emu::ptx
