// PTX text of instructions and operands, for reports.
#include <fmt/format.h>

#include <algorithm>

#include "ptx/module.h"

namespace emu::ptx {
namespace {

std::string register_name(const Function& function, int32_t reg) {
  return reg < 0 ? "_" : function.registers[reg].name;
}

std::string symbol_name(const Function& function, const Operand& operand) {
  const std::string& name = function.symbols[operand.symbol].name;
  return operand.immediate == 0 ? name : fmt::format("{}{:+}", name, operand.immediate);
}

std::string list(const Function& function, const Operand& operand) {
  std::vector<std::string> elements;
  for (const Operand& element : function.elements_of(operand))
    elements.push_back(to_string(function, element));
  return fmt::format("{{{}}}", fmt::join(elements, ", "));
}

std::string address(const Function& function, const Operand& operand) {
  switch (operand.base) {
    case AddressBase::Symbol:
      return symbol_name(function, operand);
    case AddressBase::Register:
      return operand.immediate == 0
                 ? register_name(function, operand.reg)
                 : fmt::format("{}{:+}", register_name(function, operand.reg), operand.immediate);
    case AddressBase::Immediate:
      break;
  }
  return fmt::format("{}", operand.immediate);
}

std::string special(const Operand& operand) {
  std::string text(special_register_name(operand.special));
  switch (operand.special) {
    case SpecialRegister::Envreg:
    case SpecialRegister::Pm:
    case SpecialRegister::ReservedSmemOffset:
      text += fmt::format("{}", operand.special_number);
      break;
    case SpecialRegister::Pm64:
      text += fmt::format("{}_64", operand.special_number);
      break;
    default:
      break;
  }
  if (const auto name = find_special_register(text); name && name->has_component)
    text += fmt::format(".{}", "xyzw"[operand.component]);
  return text;
}

}  // namespace

std::string to_string(const Module& module, const Function&, const Instruction& instruction) {
  if (instruction.text_length == 0) return std::string(instruction.opcode);
  const std::string_view source = module.text().substr(instruction.text_begin, instruction.text_length);
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.substr(i, 2) == "//") {
      i = std::min(source.find('\n', i), source.size() - 1);
    } else if (source.substr(i, 2) == "/*") {
      i = std::min(source.find("*/", i + 2), source.size() - 2) + 1;
    } else if (source[i] > ' ') {
      text += source[i];
      continue;
    }
    if (!text.empty() && text.back() != ' ') text += ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string to_string(const Function& function, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::None:
      return "";
    case OperandKind::Register:
      return fmt::format("{}{}", operand.negated ? "!" : "", register_name(function, operand.reg));
    case OperandKind::PredicatePair:
      return fmt::format("{}|{}", register_name(function, operand.reg),
                         register_name(function, operand.reg2));
    case OperandKind::ImmediateInt:
      return fmt::format("{}", operand.immediate);
    case OperandKind::ImmediateF32:
      return fmt::format("0f{:08X}", static_cast<uint32_t>(operand.immediate));
    case OperandKind::ImmediateF64:
      return fmt::format("0d{:016X}", static_cast<uint64_t>(operand.immediate));
    case OperandKind::Symbol:
      return symbol_name(function, operand);
    case OperandKind::Label:
      return "label";
    case OperandKind::Vector:
      return list(function, operand);
    case OperandKind::Address:
      return fmt::format("[{}]", address(function, operand));
    case OperandKind::TensorAddress:
      return fmt::format("[{}, {}]", address(function, operand), list(function, operand));
    case OperandKind::Sink:
      return "_";
    case OperandKind::Special:
      return special(operand);
    case OperandKind::BranchTable:
      return fmt::format("branch table {}", operand.symbol);
    case OperandKind::CallTargets:
      return fmt::format("call targets {}", operand.symbol);
    case OperandKind::Prototype:
      return function.prototypes[operand.symbol].name;
  }
  return "";
}

}  // namespace emu::ptx
