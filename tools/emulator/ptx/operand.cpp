#include "ptx/operand.h"

#include <fmt/format.h>

#include "ptx/constant.h"

namespace emu::ptx {
namespace {

constexpr size_t kMaxElements = 4096;  // of one vector, and of one operand list

bool is_family(std::string_view opcode, std::string_view family) {
  return opcode.starts_with(family) && (opcode.size() == family.size() || opcode[family.size()] == '.');
}

}  // namespace

int32_t OperandParser::guard(bool& negated) {
  negated = cursor_.accept('!');
  return predicate("a predicate register as guard");
}

int32_t OperandParser::predicate(std::string_view why) {
  const Cursor::Place begin = cursor_.place();
  const int32_t reg = names_.find_register(cursor_.word(why));
  if (reg < 0 || function_.registers[reg].reg_class != RegClass::Pred) cursor_.fail_at(begin, why);
  return reg;
}

void OperandParser::parse(Instruction& instruction) {
  operands_.clear();
  if (is_family(instruction.opcode, "bra"))
    branch();
  else if (is_family(instruction.opcode, "brx"))
    indexed_branch();
  else if (is_family(instruction.opcode, "call"))
    call();
  else if (cursor_.peek() != ';')
    list();
  cursor_.expect(';', "after an instruction");
  instruction.first_operand = static_cast<uint32_t>(function_.operands.size());
  instruction.num_operands = static_cast<uint16_t>(operands_.size());
  function_.operands.insert(function_.operands.end(), operands_.begin(), operands_.end());
}

LabelUse OperandParser::label_use() {
  LabelUse use{};
  use.place = cursor_.place();
  use.label = cursor_.word("a label");
  return use;
}

void OperandParser::branch() {
  LabelUse use = label_use();
  use.where = LabelUse::Where::Target;
  use.index = static_cast<uint32_t>(function_.instructions.size());
  names_.use_label(use);
  Operand label;
  label.kind = OperandKind::Label;
  operands_.push_back(label);
}

void OperandParser::indexed_branch() {
  operands_.push_back(operand());
  cursor_.expect(',', "between a branch index and its table");
  operands_.push_back(table(BodyNames::TableKind::BranchTable, OperandKind::BranchTable,
                            "the name of a .branchtargets before it"));
}

Operand OperandParser::table(BodyNames::TableKind kind, OperandKind operand_kind, std::string_view expected) {
  const Cursor::Place begin = cursor_.place();
  const auto found = names_.find_table(cursor_.word(expected));
  if (!found || found->kind != kind) cursor_.fail_at(begin, expected);
  Operand operand;
  operand.kind = operand_kind;
  operand.symbol = static_cast<int32_t>(found->index);
  return operand;
}

// call{.uni} (returns), callee, (arguments), prototype-or-targets; all but the callee may be missing.
void OperandParser::call() {
  Operand returns;
  returns.kind = OperandKind::Vector;
  Operand arguments = returns;
  if (cursor_.peek() == '(') {
    returns = argument_list();
    cursor_.expect(',', "between return values and callee");
  }
  const Operand callee = operand();
  if (callee.kind != OperandKind::Symbol && callee.kind != OperandKind::Register)
    cursor_.fail("a function or a register as callee before this");
  bool more = cursor_.accept(',');
  if (more && cursor_.peek() == '(') {
    arguments = argument_list();
    more = cursor_.accept(',');
  }
  operands_ = {returns, callee, arguments, more ? call_table() : Operand()};
}

Operand OperandParser::call_table() {
  const Cursor::Place begin = cursor_.place();
  const auto found = names_.find_table(cursor_.word("a .callprototype or .calltargets"));
  if (!found || found->kind == BodyNames::TableKind::BranchTable)
    cursor_.fail_at(begin, "the name of a .callprototype or .calltargets before it");
  Operand operand;
  operand.kind =
      found->kind == BodyNames::TableKind::Prototype ? OperandKind::Prototype : OperandKind::CallTargets;
  operand.symbol = static_cast<int32_t>(found->index);
  return operand;
}

Operand OperandParser::argument_list() {
  cursor_.expect('(', "before call arguments");
  std::vector<Operand> elements;
  if (!cursor_.accept(')')) {
    do {
      if (elements.size() == kMaxElements) cursor_.fail("at most 4096 call arguments");
      elements.push_back(element());
    } while (cursor_.accept(','));
    cursor_.expect(')', "after call arguments");
  }
  Operand list;
  list.kind = OperandKind::Vector;
  add_vector(list, elements);
  return list;
}

void OperandParser::list() {
  do {
    if (operands_.size() == kMaxElements) cursor_.fail("at most 4096 operands");
    operands_.push_back(operand());
  } while (cursor_.accept(','));
}

Operand OperandParser::operand() {
  switch (cursor_.peek()) {
    case '{':
      return vector();
    case '[':
      return address();
    default:
      return element();
  }
}

// An operand that can also stand inside a vector.
Operand OperandParser::element() {
  const char c = cursor_.peek();
  if (c == '!') {
    cursor_.accept('!');
    Operand negated;
    negated.kind = OperandKind::Register;
    negated.reg_class = RegClass::Pred;
    negated.negated = true;
    negated.reg = predicate("a predicate register after '!'");
    return negated;
  }
  if (starts_constant(cursor_)) return constant();
  return register_or_symbol();
}

Operand OperandParser::constant() {
  const Constant value = parse_constant(cursor_);
  Operand operand;
  operand.immediate = value.bits;
  operand.kind = value.kind == Constant::Kind::Int   ? OperandKind::ImmediateInt
                 : value.kind == Constant::Kind::F32 ? OperandKind::ImmediateF32
                                                     : OperandKind::ImmediateF64;
  return operand;
}

Operand OperandParser::register_operand(int32_t reg) {
  Operand operand;
  operand.kind = OperandKind::Register;
  operand.reg = reg;
  operand.reg_class = function_.registers[reg].reg_class;
  return operand;
}

Operand OperandParser::register_or_symbol() {
  const Cursor::Place begin = cursor_.place();
  const std::string_view name = cursor_.word("an operand");
  Operand operand;
  if (name == "_") {
    operand.kind = OperandKind::Sink;
    return cursor_.peek() == '|' ? pair(operand) : operand;
  }
  if (const int32_t reg = names_.find_register(name); reg >= 0) {
    if (cursor_.peek() == '.') cursor_.fail("no component: vector registers are not supported");
    operand = register_operand(reg);
    return cursor_.peek() == '|' ? pair(operand) : operand;
  }
  if (name[0] == '%') return special(name, begin);
  if (name == "WARP_SZ") {
    operand.kind = OperandKind::ImmediateInt;
    operand.immediate = 32;
    return operand;
  }
  operand.symbol = names_.find_symbol(name);
  if (operand.symbol < 0)
    cursor_.fail_at(begin, "a register, variable, parameter or function declared in this scope");
  operand.kind = OperandKind::Symbol;
  operand.base = AddressBase::Symbol;
  operand.immediate = displacement();
  return operand;
}

Operand OperandParser::special(std::string_view name, const Cursor::Place& begin) {
  const auto found = find_special_register(name);
  if (!found) cursor_.fail_at(begin, "a declared register or a special register");
  Operand operand;
  operand.kind = OperandKind::Special;
  operand.special = found->which;
  operand.special_number = found->number;
  if (!found->has_component) return operand;
  const std::string_view component = cursor_.dotted_word("a component .x, .y, .z or .w");
  const size_t index = std::string_view("xyzw").find(component);
  if (component.size() != 1 || index == std::string_view::npos)
    cursor_.fail_at(begin, "a component .x, .y, .z or .w after it");
  operand.component = static_cast<uint8_t>(index);
  return operand;
}

Operand OperandParser::pair(Operand first) {
  cursor_.accept('|');
  Operand operand = first;
  operand.kind = OperandKind::PredicatePair;
  if (first.kind == OperandKind::Sink) operand.reg_class = RegClass::B32;
  const Cursor::Place begin = cursor_.place();
  const std::string_view name = cursor_.word("a predicate after '|'");
  if (name == "_") return operand;
  operand.reg2 = names_.find_register(name);
  if (operand.reg2 < 0 || function_.registers[operand.reg2].reg_class != RegClass::Pred)
    cursor_.fail_at(begin, "a predicate register after '|'");
  return operand;
}

// "+ 4", "+-4", "-4" or nothing.
int64_t OperandParser::displacement() {
  if (!cursor_.accept('+') && cursor_.peek() != '-') return 0;
  return integer();
}

int64_t OperandParser::integer() {
  const Cursor::Place begin = cursor_.place();
  const Constant value = parse_constant(cursor_);
  if (value.kind != Constant::Kind::Int) cursor_.fail_at(begin, "an integer in an address");
  return value.bits;
}

Operand OperandParser::address() {
  cursor_.expect('[', "before an address");
  Operand operand;
  operand.kind = OperandKind::Address;
  if (starts_constant(cursor_)) {
    operand.immediate = integer();
  } else {
    const Operand base = register_or_symbol();
    if (base.kind == OperandKind::Register) {
      operand.base = AddressBase::Register;
      operand.reg = base.reg;
      operand.reg_class = base.reg_class;
      operand.immediate = displacement();
    } else if (base.kind == OperandKind::Symbol) {
      operand.base = AddressBase::Symbol;
      operand.symbol = base.symbol;
      operand.immediate = base.immediate;
    } else if (base.kind == OperandKind::ImmediateInt) {
      operand.immediate = base.immediate;
    } else {
      cursor_.fail("an address made of a register, a symbol or a constant before this");
    }
  }
  if (cursor_.accept(',')) {
    const Operand coordinates = vector();
    operand.kind = OperandKind::TensorAddress;
    operand.first = coordinates.first;
    operand.count = coordinates.count;
  }
  cursor_.expect(']', "after an address");
  return operand;
}

Operand OperandParser::vector() {
  cursor_.expect('{', "before a vector");
  std::vector<Operand> elements;
  do {
    if (elements.size() == kMaxElements) cursor_.fail("at most 4096 vector elements");
    elements.push_back(element());
  } while (cursor_.accept(','));
  cursor_.expect('}', "after a vector");
  Operand operand;
  operand.kind = OperandKind::Vector;
  add_vector(operand, elements);
  return operand;
}

void OperandParser::add_vector(Operand& operand, const std::vector<Operand>& elements) {
  operand.first = static_cast<uint32_t>(function_.operands.size());
  operand.count = static_cast<uint32_t>(elements.size());
  function_.operands.insert(function_.operands.end(), elements.begin(), elements.end());
}

}  // namespace emu::ptx
