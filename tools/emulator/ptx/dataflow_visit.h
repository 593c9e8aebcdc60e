// Body of for_each_register; included by ptx/dataflow.h only.
#pragma once

namespace emu::ptx {

template <typename Visit>
void for_each_register(const Function& function, const Instruction& instruction, Visit&& visit) {
  const bool guarded = instruction.guard >= 0;
  if (guarded) visit(instruction.guard, Access::Read);
  auto value = [&](int32_t reg, Access access) {
    if (reg < 0) return;
    visit(reg, access == Access::Write && guarded ? Access::ReadWrite : access);
  };
  auto leaf = [&](const Operand& operand, Access access) {
    switch (operand.kind) {
      case OperandKind::Register:
        value(operand.reg, access);
        break;
      case OperandKind::PredicatePair:
        value(operand.reg, access);
        value(operand.reg2, access);
        break;
      case OperandKind::Address:
      case OperandKind::TensorAddress:
        if (operand.reg >= 0) visit(operand.reg, Access::Read);
        break;
      default:
        break;
    }
  };
  const auto operands = function.operands_of(instruction);
  for (uint32_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const Access access = operand_access(instruction.opcode, i);
    leaf(operand, access);
    for (const Operand& element : function.elements_of(operand))
      leaf(element, operand.kind == OperandKind::TensorAddress ? Access::Read : access);
  }
}

}  // namespace emu::ptx
