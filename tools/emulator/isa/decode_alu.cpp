// Matches an instruction's operands against the rows of its opcode.
#include "isa/decode_alu.h"

#include <fmt/format.h>

#include "isa/alu_form_index.h"

namespace emu::isa {
namespace {

using ptx::Operand;
using ptx::OperandKind;

OperandType letter_type(char letter) {
  switch (letter) {
    case 'h':
      return OperandType::B16;
    case 'w':
      return OperandType::B32;
    case 'l':
      return OperandType::B64;
    case 'q':
      return OperandType::B128;
    case 'f':
      return OperandType::F32;
    case 'd':
      return OperandType::F64;
    default:
      return OperandType::Predicate;
  }
}

// Symbols, addresses and special registers that change while a warp runs belong to the engine.
bool is_engine_operand(const Operand& operand) {
  SpecialSlot slot;
  uint32_t offset;
  switch (operand.kind) {
    case OperandKind::Special:
      return !special_slot(operand, slot) && !reserved_shared_offset(operand, offset);
    case OperandKind::Symbol:
    case OperandKind::Label:
    case OperandKind::Address:
    case OperandKind::TensorAddress:
      return true;
    default:
      return false;
  }
}

class Matcher {
 public:
  Matcher(const ptx::Function& function, ConstantPool& constants)
      : function_(function), constants_(constants) {}

  bool match(const Shape& shape, std::span<const Operand> operands) {
    const size_t expected = shape.destinations.size() + shape.sources.size();
    if (operands.size() != expected) {
      error = fmt::format("{} operands where {} are expected", operands.size(), expected);
      return false;
    }
    size_t next = 0;
    for (const ShapeOperand& destination : shape.destinations)
      if (!in_operand(next, match_destination(destination, operands[next]))) return false;
    for (const ShapeOperand& source : shape.sources)
      if (!in_operand(next, match_source(source, operands[next]))) return false;
    return true;
  }

  std::vector<Ref> destinations, sources;
  uint8_t negated = 0;
  uint32_t aux = 0;  // destination bits | source bits << 8 for the letters D and S
  std::string error;

 private:
  bool in_operand(size_t& next, bool matched) {
    ++next;
    if (!matched) error = fmt::format("operand {}: {}", next, error);
    return matched;
  }

  bool match_vector_size(const ShapeOperand& shape, const Operand& operand) {
    if (operand.kind == OperandKind::Vector && operand.count == shape.letters.size()) return true;
    error = fmt::format("expected a vector of {} elements", shape.letters.size());
    return false;
  }

  bool match_destination(const ShapeOperand& shape, const Operand& operand) {
    if (shape.is_vector) {
      if (!match_vector_size(shape, operand)) return false;
      const auto elements = function_.elements_of(operand);
      for (size_t i = 0; i < elements.size(); ++i)
        if (!add_destination(shape.letters[i], elements[i])) return false;
      return true;
    }
    if (shape.second == 0) return add_destination(shape.letters[0], operand);
    if (operand.kind != OperandKind::PredicatePair) {
      if (!add_destination(shape.letters[0], operand)) return false;
      destinations.push_back(Ref::predicate(kSinkPredicate));
      return true;
    }
    Operand first = operand, second = operand;
    first.kind = operand.reg < 0 ? OperandKind::Sink : OperandKind::Register;
    second.kind = operand.reg2 < 0 ? OperandKind::Sink : OperandKind::Register;
    second.reg = operand.reg2;
    second.reg_class = ptx::RegClass::Pred;
    return add_destination(shape.letters[0], first) && add_destination('p', second);
  }

  bool match_source(const ShapeOperand& shape, const Operand& operand) {
    if (!shape.is_vector) return add_source(shape.letters[0], operand);
    if (!match_vector_size(shape, operand)) return false;
    const auto elements = function_.elements_of(operand);
    for (size_t i = 0; i < elements.size(); ++i)
      if (!add_source(shape.letters[i], elements[i])) return false;
    return true;
  }

  // Conversions take registers of any width at least that of their type (PTX ISA 9.4.1).
  OperandType any_width(const Operand& operand, int shift) {
    int bits = operand.kind == OperandKind::Register || operand.kind == OperandKind::PredicatePair
                   ? register_bits(operand.reg_class)
                   : (operand.kind == OperandKind::Special ? 32 : 64);
    if (bits == 1) bits = 32;  // a predicate: let the width check refuse it
    aux |= static_cast<uint32_t>(bits) << shift;
    return bits == 16 ? OperandType::B16 : bits == 64 ? OperandType::B64 : OperandType::B32;
  }

  static OperandType half_type(const Operand& operand) {
    const bool wide = operand.kind == OperandKind::Register && operand.reg_class == ptx::RegClass::B32;
    return wide ? OperandType::B32 : OperandType::B16;
  }

  bool add_destination(char letter, const Operand& operand) {
    const OperandType type = letter == 'D'   ? any_width(operand, 0)
                             : letter == 'H' ? half_type(operand)
                                             : letter_type(letter);
    Ref ref;
    if (!decode_destination(function_, operand, type, ref, error)) return false;
    destinations.push_back(ref);
    return true;
  }

  bool add_source(char letter, const Operand& operand) {
    const OperandType type = letter == 'S'   ? any_width(operand, 8)
                             : letter == 'H' ? half_type(operand)
                                             : letter_type(letter);
    Ref ref;
    bool is_negated = false;
    if (!decode_source(function_, operand, type, constants_, ref, letter == 'p' ? &is_negated : nullptr,
                       error))
      return false;
    if (is_negated) negated |= static_cast<uint8_t>(1u << sources.size());
    sources.push_back(ref);
    return true;
  }

  const ptx::Function& function_;
  ConstantPool& constants_;
};

void fill(const Candidate& candidate, const Matcher& matched, WideOperands& wide_pool, Instr& out) {
  const AluForm& form = *candidate.row->form;
  out.alu = form.functions[form.function_count == 1 ? 0 : candidate.number];
  out.kind = form.kind;
  out.cost = form.cost;
  out.modifiers = candidate.number;
  out.member_source = form.member_source;
  out.negated = matched.negated;
  out.aux = matched.aux;
  if (matched.destinations.size() > 2 || matched.sources.size() > 4) {
    std::vector<Ref> all = matched.destinations;
    all.insert(all.end(), matched.sources.begin(), matched.sources.end());
    out.wide = wide_pool.add(all);
    return;
  }
  // A routine with two predicate results may serve a form that names one.
  out.dst[1] = Ref::predicate(kSinkPredicate);
  std::copy(matched.destinations.begin(), matched.destinations.end(), out.dst);
  std::copy(matched.sources.begin(), matched.sources.end(), out.src);
}

}  // namespace

bool decode_alu(const ptx::Function& function, const ptx::Instruction& instruction, ConstantPool& constants,
                WideOperands& wide_pool, Instr& out, std::string& error) {
  error.clear();
  const FormIndex& index = FormIndex::instance();
  const auto* candidates = index.find(instruction.opcode);
  if (candidates == nullptr) {
    const std::string_view word = instruction.opcode.substr(0, instruction.opcode.find('.'));
    if (index.is_alu_word(word)) error = fmt::format("{}: this form is not supported", instruction.opcode);
    return false;
  }
  const auto operands = function.operands_of(instruction);
  for (const Operand& operand : operands) {
    if (is_engine_operand(operand)) return false;
    if (operand.kind != OperandKind::Vector) continue;
    for (const Operand& element : function.elements_of(operand))
      if (is_engine_operand(element)) return false;
  }
  for (const Candidate& candidate : *candidates) {
    Matcher matcher(function, constants);
    if (matcher.match(candidate.row->shape, operands)) {
      fill(candidate, matcher, wide_pool, out);
      decode_guard(function, instruction, out);
      error.clear();
      return true;
    }
    if (error.empty()) error = fmt::format("{}: {}", instruction.opcode, matcher.error);
  }
  return false;
}

}  // namespace emu::isa
