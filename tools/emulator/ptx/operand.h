// Parses the operands of one instruction.
#pragma once
#include <vector>

#include "ptx/cursor.h"
#include "ptx/function.h"
#include "ptx/names.h"

namespace emu::ptx {

class OperandParser {
 public:
  OperandParser(Cursor& cursor, Function& function, BodyNames& names)
      : cursor_(cursor), function_(function), names_(names) {}

  // The guard after '@': predicate register id; sets `negated` for @!p.
  int32_t guard(bool& negated);

  // Parses the operand list up to the semicolon and hands it to the instruction, which is the next one of the
  // function.
  void parse(Instruction& instruction);

 private:
  void branch();
  void indexed_branch();
  void call();
  void list();

  Operand operand();
  Operand element();
  Operand register_or_symbol();
  Operand register_operand(int32_t reg);
  Operand special(std::string_view name, const Cursor::Place& begin);
  Operand pair(Operand first);
  Operand address();
  Operand vector();
  Operand constant();
  Operand argument_list();
  Operand call_table();
  Operand table(BodyNames::TableKind kind, OperandKind operand_kind, std::string_view expected);
  int64_t displacement();
  int64_t integer();
  void add_vector(Operand& operand, const std::vector<Operand>& elements);
  int32_t predicate(std::string_view why);
  LabelUse label_use();

  Cursor& cursor_;
  Function& function_;
  BodyNames& names_;
  std::vector<Operand> operands_;
};

}  // namespace emu::ptx
