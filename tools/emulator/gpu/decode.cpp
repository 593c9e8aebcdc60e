#include "gpu/decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "memory/address_space.h"

namespace emu::gpu {

namespace {

uint8_t width_of(ptx::RegClass reg_class) {
  switch (reg_class) {
    case ptx::RegClass::Pred:
      return 1;
    case ptx::RegClass::B16:
      return 2;
    case ptx::RegClass::B32:
      return 4;
    case ptx::RegClass::B64:
      return 8;
    case ptx::RegClass::B128:
      return 16;
  }
  return 4;
}

isa::OperandType operand_type(uint8_t width) {
  switch (width) {
    case 2:
      return isa::OperandType::B16;
    case 8:
      return isa::OperandType::B64;
    case 16:
      return isa::OperandType::B128;
    default:
      return isa::OperandType::B32;
  }
}

bool is_register(const ptx::Operand& operand) { return operand.kind == ptx::OperandKind::Register; }

}  // namespace

DecodeContext::DecodeContext(Kernel& k, Program& p, const ptx::Instruction& i, Instr& o)
    : kernel(k),
      program(p),
      instruction(i),
      function(*p.function),
      out(o),
      operands_(p.function->operands_of(i)) {
  std::string_view text = i.opcode;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view token = text.substr(begin, end - begin);
    if (begin == 0) {
      head_ = token;
    } else {
      tokens_.push_back(token);
    }
    begin = end + 1;
  }
}

bool DecodeContext::take(std::string_view token) {
  auto it = std::find(tokens_.begin(), tokens_.end(), token);
  if (it == tokens_.end()) return false;
  tokens_.erase(it);
  return true;
}

std::string_view DecodeContext::take_any(std::initializer_list<std::string_view> tokens) {
  for (std::string_view token : tokens) {
    if (take(token)) return token;
  }
  return {};
}

std::string_view DecodeContext::next() {
  if (tokens_.empty()) return {};
  const std::string_view token = tokens_.front();
  tokens_.erase(tokens_.begin());
  return token;
}

void DecodeContext::finish() const {
  if (!tokens_.empty()) throw DecodeError{fmt::format("modifier .{} is not supported", tokens_.front())};
}

const ptx::Operand& DecodeContext::operand(size_t index) const {
  if (index >= operands_.size()) {
    throw DecodeError{fmt::format("operand {} is missing, {} given", index + 1, operands_.size())};
  }
  return operands_[index];
}

Ref DecodeContext::source(size_t index, isa::OperandType type) {
  Ref ref;
  std::string error;
  if (!isa::decode_source(function, operand(index), type, program.constants, ref, nullptr, error)) {
    throw DecodeError{fmt::format("operand {}: {}", index + 1, error)};
  }
  return ref;
}

Ref DecodeContext::source_any(size_t index, uint8_t* width, isa::OperandType immediate_type) {
  const ptx::Operand& value = operand(index);
  isa::OperandType type = immediate_type;
  if (is_register(value)) type = operand_type(width_of(value.reg_class));
  *width = type == isa::OperandType::B16                                    ? 2
           : type == isa::OperandType::B128                                 ? 16
           : type == isa::OperandType::B64 || type == isa::OperandType::F64 ? 8
                                                                            : 4;
  return source(index, type);
}

Ref DecodeContext::predicate_source(const ptx::Operand& value, bool* negated) {
  *negated = false;
  if (value.kind == ptx::OperandKind::ImmediateInt) {
    return Ref::predicate(value.immediate ? isa::kTruePredicate : isa::kFalsePredicate);
  }
  Ref ref;
  std::string error;
  if (!isa::decode_source(function, value, isa::OperandType::Predicate, program.constants, ref, negated,
                          error)) {
    throw DecodeError{error};
  }
  return ref;
}

Ref DecodeContext::destination(size_t index, isa::OperandType type) {
  Ref ref;
  std::string error;
  if (!isa::decode_destination(function, operand(index), type, ref, error)) {
    throw DecodeError{fmt::format("operand {}: {}", index + 1, error)};
  }
  return ref;
}

Ref DecodeContext::destination_any(const ptx::Operand& value, uint8_t* width) {
  if (value.kind == ptx::OperandKind::Sink) {
    *width = 0;
    return Ref::make(isa::Base::Registers, isa::kSinkSlot);
  }
  if (!is_register(value)) throw DecodeError{"the destination is not a register"};
  *width = width_of(value.reg_class);
  return isa::register_ref(function, value.reg, value.reg_class);
}

AddressOperand DecodeContext::symbol_address(const ptx::Operand& value, ptx::Space* space) {
  AddressOperand address;
  address.offset = value.immediate;
  const ptx::SymbolRef& symbol = function.symbols.at(static_cast<size_t>(value.symbol));
  const auto shared = [&](const std::string& key, bool unsized) {
    *space = ptx::Space::Shared;
    address.symbol = SymbolBase::CtaShared;
    if (unsized) {
      const uint32_t align = kernel.dynamic_align;
      address.offset += memory::kSharedReservedBytes + (kernel.static_shared + align - 1) / align * align;
    } else {
      address.offset += memory::kSharedReservedBytes + kernel.shared_offsets.at(key);
    }
  };
  switch (symbol.kind) {
    case ptx::SymbolKind::ModuleVariable: {
      const auto site = kernel.module->linked->variable(program.module_index, symbol.name);
      const ptx::Variable& variable =
          site.variable ? *site.variable : program.module->variables()[symbol.index];
      if (variable.space == ptx::Space::Shared) {
        shared(fmt::format("{}:{}", site.variable ? site.module : program.module_index, symbol.name),
               variable.unsized);
        return address;
      }
      const auto* placed = kernel.module->find_variable(program.module_index, symbol.name);
      if (!placed) throw DecodeError{fmt::format("variable {} is declared but not defined", symbol.name)};
      *space = variable.space;
      address.offset += static_cast<int64_t>(placed->address);
      return address;
    }
    case ptx::SymbolKind::LocalVariable: {
      const ptx::Variable& variable = function.variables.at(symbol.index);
      *space = variable.space;
      if (variable.space == ptx::Space::Shared) {
        shared(fmt::format("{}:{}#{}", program.module_index, function.name, variable.name), variable.unsized);
      } else if (variable.space == ptx::Space::Local || variable.space == ptx::Space::Param) {
        address.symbol = SymbolBase::Frame;
        address.offset += static_cast<int64_t>(variable.offset) +
                          (variable.space == ptx::Space::Local ? program.local_offset : 0);
        *space = ptx::Space::Local;
      } else {
        throw DecodeError{
            fmt::format("in-body variable {} in this state space is not supported", variable.name)};
      }
      return address;
    }
    case ptx::SymbolKind::Parameter:
    case ptx::SymbolKind::ReturnParameter: {
      const bool formal = symbol.kind == ptx::SymbolKind::Parameter;
      const ptx::Parameter& parameter =
          formal ? function.params.at(symbol.index) : function.returns.at(symbol.index);
      address.offset += parameter.offset;
      address.symbol = function.is_entry ? SymbolBase::Parameters : SymbolBase::Frame;
      *space = function.is_entry ? ptx::Space::Param : ptx::Space::Local;
      return address;
    }
    case ptx::SymbolKind::Function: {
      const uint64_t code = kernel.module->function_address(program.module_index, symbol.name);
      if (!code) throw DecodeError{fmt::format("function {} is not defined", symbol.name)};
      *space = ptx::Space::Generic;
      address.offset += static_cast<int64_t>(code);
      return address;
    }
  }
  throw DecodeError{"symbol of an unknown kind"};
}

AddressOperand DecodeContext::address(size_t index, ptx::Space space) {
  const ptx::Operand& value = operand(index);
  if (value.kind != ptx::OperandKind::Address && value.kind != ptx::OperandKind::TensorAddress) {
    throw DecodeError{fmt::format("operand {} is not an address", index + 1)};
  }
  AddressOperand address;
  address.offset = value.immediate;
  if (value.base == ptx::AddressBase::Register) {
    address.has_base = true;
    address.wide = value.reg_class == ptx::RegClass::B64;
    if (value.reg_class != ptx::RegClass::B64 && value.reg_class != ptx::RegClass::B32) {
      throw DecodeError{"an address register must have 32 or 64 bits"};
    }
    address.base = isa::register_ref(function, value.reg, value.reg_class);
  } else if (value.base == ptx::AddressBase::Symbol) {
    ptx::Space found = space;
    address = symbol_address(value, &found);
  }
  return address;
}

std::vector<Ref> DecodeContext::coordinates(size_t index) {
  std::vector<Ref> refs;
  for (const ptx::Operand& element : function.elements_of(operand(index))) {
    Ref ref;
    std::string error;
    if (!isa::decode_source(function, element, isa::OperandType::B32, program.constants, ref, nullptr,
                            error)) {
      throw DecodeError{error};
    }
    refs.push_back(ref);
  }
  return refs;
}

std::vector<Ref> DecodeContext::vector_sources(size_t index, isa::OperandType type) {
  const ptx::Operand& value = operand(index);
  std::vector<Ref> refs;
  if (value.kind != ptx::OperandKind::Vector) return {source(index, type)};
  for (const ptx::Operand& element : function.elements_of(value)) {
    Ref ref;
    std::string error;
    if (!isa::decode_source(function, element, type, program.constants, ref, nullptr, error))
      throw DecodeError{error};
    refs.push_back(ref);
  }
  return refs;
}

uint64_t DecodeContext::immediate(size_t index) const {
  if (!is_immediate(index)) throw DecodeError{fmt::format("operand {} must be an immediate", index + 1)};
  return static_cast<uint64_t>(operand(index).immediate);
}

bool DecodeContext::is_immediate(size_t index) const {
  return operand(index).kind == ptx::OperandKind::ImmediateInt;
}

void DecodeContext::data(size_t index, Detail& detail, bool written, isa::OperandType immediate_type) {
  const auto one = [&](const ptx::Operand& element) {
    uint8_t width = 0;
    if (written || element.kind == ptx::OperandKind::Sink) {
      detail.data.push_back(destination_any(element, &width));
    } else {
      isa::OperandType type = immediate_type;
      if (is_register(element)) type = operand_type(width_of(element.reg_class));
      width = type == isa::OperandType::B16                                    ? 2
              : type == isa::OperandType::B128                                 ? 16
              : type == isa::OperandType::B64 || type == isa::OperandType::F64 ? 8
                                                                               : 4;
      Ref ref;
      std::string error;
      if (!isa::decode_source(function, element, type, program.constants, ref, nullptr, error))
        throw DecodeError{error};
      detail.data.push_back(ref);
    }
    detail.data_width.push_back(width);
  };
  const ptx::Operand& value = operand(index);
  if (value.kind == ptx::OperandKind::Vector) {
    for (const ptx::Operand& element : function.elements_of(value)) one(element);
  } else {
    one(value);
  }
}

Detail& DecodeContext::detail() {
  if (!detail_) {
    out.aux = static_cast<uint32_t>(program.details.size());
    detail_ = &program.details.emplace_back();
  }
  return *detail_;
}

void DecodeContext::set(Op op, timing::CostClass cost) {
  out.kind = isa::Kind::Engine;
  out.op = static_cast<uint16_t>(op);
  out.cost = {cost, 1, 0, 0};
}

namespace {

void mark_unsupported(DecodeContext& context, const std::string& why) {
  context.out.alu = nullptr;
  context.set(Op::Unsupported, timing::CostClass::Alu);
  context.detail().name = why;
}

}  // namespace

void decode_program(Kernel& kernel, Program& program) {
  const ptx::Function& function = *program.function;
  program.code.resize(function.instructions.size());
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const ptx::Instruction& instruction = function.instructions[i];
    Instr& out = program.code[i];
    isa::decode_guard(function, instruction, out);
    out.watch = instruction.text_length > 0 && program.unwaited.contains(instruction.text_begin);
    out.source = static_cast<uint32_t>(i);
    DecodeContext context(kernel, program, instruction, out);
    std::string error;
    try {
      if (decode_control(context) || decode_memory(context) || decode_wmma(context) || decode_barrier(context) ||
          decode_bulk(context) || decode_tensor(context) || decode_tensor_map(context)) {
        continue;
      }
      if (!isa::decode_alu(function, instruction, program.constants, program.wide, out, error)) {
        mark_unsupported(context, error.empty() ? "the emulator does not implement this instruction" : error);
      }
    } catch (const DecodeError& unsupported) {
      mark_unsupported(context, unsupported.text);
    }
  }
  program.issue = issue_info(program);
  for (const Instr& in : program.code) {
    if (in.kind != isa::Kind::Engine) continue;
    const Op op = static_cast<Op>(in.op);
    const bool copies_out =
        (op == Op::TensorCopy &&
         (program.details[in.aux].variant == 1 || program.details[in.aux].variant == 2)) ||
        (op == Op::BulkCopy && program.details[in.aux].variant != 0) || op == Op::BulkReduce;
    kernel.reads_shared_async |= op == Op::Mma || op == Op::TmemCopy || copies_out;
  }
}

}  // namespace emu::gpu
