// The rows of all tables, with their patterns written out, findable by opcode text.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/alu_form.h"

namespace emu::isa {

// One operand of a shape: a letter, or the letters of a vector; see alu_form.h.
struct ShapeOperand {
  std::string letters;
  bool is_vector = false;
  char second = 0;  // 'p' of "w|p"
};
struct Shape {
  std::vector<ShapeOperand> destinations;
  std::vector<ShapeOperand> sources;
};
Shape parse_shape(std::string_view text);

// All opcodes a pattern stands for, in the order of their numbers.
std::vector<std::string> expand_pattern(std::string_view pattern);

struct Row {
  const AluForm* form = nullptr;
  Shape shape;
};
struct Candidate {
  const Row* row;
  uint16_t number;
};

class FormIndex {
 public:
  // The one this process uses.
  static const FormIndex& instance();
  // The tables compiled for AVX-512 or for AVX2; rows and numbers are the same in both.
  explicit FormIndex(bool wide);

  // Rows whose pattern includes this opcode, in table order; nullptr if there is none. ptxas takes qualifiers in
  // any order (CUB writes vote.ballot.sync.b32), so an opcode with one type is also found by its set of qualifiers.
  const std::vector<Candidate>* find(std::string_view opcode) const;
  // Whether some row starts with this first word ("add"), so that an unknown form of it is an error.
  bool is_alu_word(std::string_view word) const { return words_.contains(std::string(word)); }
  std::string_view instruction_set() const { return instruction_set_; }

  struct Listed {
    std::string opcode;
    const Row* row;
  };
  const std::vector<Listed>& listing() const { return listing_; }

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::string_view instruction_set_;
  std::vector<Row> rows_;
  std::vector<Listed> listing_;
  std::unordered_map<std::string, std::vector<Candidate>, TextHash, std::equal_to<>> by_opcode_;
  std::unordered_map<std::string, std::string> by_qualifiers_;  // key of any order -> opcode of the tables
  std::unordered_set<std::string> words_;
};

}  // namespace emu::isa
