// Reads the two descriptors of tcgen05.mma bit by bit (PTX ISA 9.7.16.4) and says what is wrong with them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "layout/canonical.h"

namespace layout {

// A run of bits [lo, lo + width) of a word.
struct Field {
  int lo, width;
  std::string name;
  uint64_t value;
  std::string meaning;
};

struct Decoded {
  uint64_t word = 0;
  int bits = 64;
  std::vector<Field> fields;          // ascending, covering every bit once
  std::vector<std::string> problems;  // what PTX ISA 9.7.16.4 forbids; empty when legal
};

struct MatrixDescriptor : Decoded {
  uint32_t start = 0, lbo = 0, sbo = 0;  // bytes
  int base_offset = 0;
  Swizzle mode = Swizzle::none;  // meaningful when the code is legal
};

MatrixDescriptor decode_matrix_descriptor(uint64_t word);

// `kind`: f16, tf32, f8f6f4 or i8 (throws BadInput otherwise); `cta_group` 1 or 2 decides which M are legal.
struct InstructionDescriptor : Decoded {
  int m = 0, n = 0, k = 0;
  Major a_major = Major::k, b_major = Major::k;
};
InstructionDescriptor decode_instruction_descriptor(uint32_t word, const std::string& kind, int cta_group);

// The decoded word as a text table with its problems.
std::string to_text(const Decoded& d, const std::string& heading);

}  // namespace layout
