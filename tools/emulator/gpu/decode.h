// Decoding of the operations of gpu/op.h. Whatever a decoder does not recognise becomes Op::Unsupported,
// which fails the launch with the instruction's text when a warp reaches it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/loader.h"
#include "gpu/program.h"

namespace emu::gpu {

// Raised by a decoder: the form is one of ours, but this modifier or operand is not supported.
struct DecodeError {
  std::string text;
};

class DecodeContext {
 public:
  DecodeContext(Kernel& kernel, Program& program, const ptx::Instruction& instruction, Instr& out);

  // Opcode tokens between dots; `::` stays inside a token. take() removes a token wherever it stands.
  bool take(std::string_view token);
  std::string_view take_any(std::initializer_list<std::string_view> tokens);  // "" when none stands there
  std::string_view next();  // removes and returns the first remaining token, "" at the end
  void finish() const;      // throws DecodeError naming the first token nobody took
  const std::string& head() const { return head_; }

  size_t operand_count() const { return operands_.size(); }
  const ptx::Operand& operand(size_t index) const;
  Ref source(size_t index, isa::OperandType type);  // register of that width, immediate, special register
  Ref source_any(size_t index, uint8_t* width, isa::OperandType immediate_type);  // register of any width
  Ref predicate_source(const ptx::Operand& operand, bool* negated);
  Ref destination(size_t index, isa::OperandType type);
  Ref destination_any(const ptx::Operand& operand, uint8_t* width);  // width in bytes, 0 for a sink
  AddressOperand address(size_t index, ptx::Space space);
  std::vector<Ref> coordinates(size_t index);
  std::vector<Ref> vector_sources(size_t index, isa::OperandType type);
  uint64_t immediate(size_t index) const;
  bool is_immediate(size_t index) const;
  // Data operand of a load or store: one register or a vector of them.
  void data(size_t index, Detail& detail, bool written, isa::OperandType immediate_type);

  AddressOperand symbol_address(const ptx::Operand& operand, ptx::Space* space);
  Detail& detail();  // made at the first call, bound to out.aux
  void set(Op op, timing::CostClass cost);

  Kernel& kernel;
  Program& program;
  const ptx::Instruction& instruction;
  const ptx::Function& function;
  Instr& out;

 private:
  std::string head_;
  std::vector<std::string_view> tokens_;
  std::span<const ptx::Operand> operands_;
  Detail* detail_ = nullptr;
};

// Each returns false when the opcode is not of its family.
bool decode_control(DecodeContext& context);
bool decode_memory(DecodeContext& context);
bool decode_wmma(DecodeContext& context);
bool decode_barrier(DecodeContext& context);
bool decode_bulk(DecodeContext& context);
bool decode_tensor(DecodeContext& context);
bool decode_tensor_map(DecodeContext& context);

// Fills program.code from the function's instructions.
void decode_program(Kernel& kernel, Program& program);

// The forms decode_* accept, for `emu --supported`.
struct EngineForm {
  std::string opcode;
  std::string operands;  // of an example, in registers %p, %h (16 bits), %r (32), %d (64), %q (128)
};
std::vector<EngineForm> supported_engine_forms();

}  // namespace emu::gpu
