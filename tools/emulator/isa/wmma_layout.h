// Where the elements of wmma fragments lie (PTX ISA 9.7.14.4 leaves it open; these are an H200's places,
// which are those of mma.sync's fragments and do not depend on the layout in memory).
#pragma once

#include <optional>
#include <string_view>

namespace emu::isa {

struct WmmaShape {
  int m = 0, n = 0, k = 0;
  // The transposed product is computed: B^T takes A's place.
  bool swapped() const { return m == 8 && n == 32; }
};

enum class WmmaOperand : unsigned char { A, B, Accumulator };

// An element type in memory: bits, and elements that one register holds (of accumulators: f16 two, others
// one).
struct WmmaType {
  int bits = 0;
  int per_register() const { return bits >= 32 ? 1 : 32 / bits; }
};

struct WmmaPlace {
  int row = 0, column = 0;
};

// The element that lane `lane` holds as element `element` of its fragment (register * per_register + place in
// it). A fragment with more elements than the matrix repeats them.
inline WmmaPlace wmma_place(WmmaOperand operand, const WmmaShape& shape, WmmaType type, int lane,
                            int element) {
  const bool swapped = shape.swapped();
  const int group = lane / 4, member = lane % 4;
  if (operand == WmmaOperand::Accumulator) {
    const int rows = swapped ? shape.n : shape.m, columns = swapped ? shape.m : shape.n;
    int row = group, column = 2 * member + element % 2, rest = element / 2;
    if (rows >= 16) row += 8 * (rest % 2), rest /= 2;
    if (columns >= 16) column += 8 * (rest % 2), rest /= 2;
    if (rows >= 32) row += 16 * (rest % 2);
    return swapped ? WmmaPlace{column, row} : WmmaPlace{row, column};
  }
  // The operand of many rows takes A's place in mma.sync, the other B's.
  const bool first = (operand == WmmaOperand::A) != swapped;
  const int extent = operand == WmmaOperand::A ? shape.m : shape.n;
  const int per_register = type.per_register();
  int outer = group, k = member * per_register + element % per_register, rest = element / per_register;
  if (first && extent >= 16) outer += 8 * (rest % 2), rest /= 2;
  if (shape.k > 4 * per_register) k += 4 * per_register * (rest % 2), rest /= 2;
  if (!first && extent >= 16) outer += 8 * (rest % 2);
  if (first && extent >= 32) outer += 16 * (rest % 2);
  return operand == WmmaOperand::A ? WmmaPlace{outer, k} : WmmaPlace{k, outer};
}

// Registers of a fragment: what PTX ISA 9.7.14.4.1 lists. f16 operands always take eight.
inline int wmma_registers(WmmaOperand operand, const WmmaShape& shape, std::string_view type,
                          WmmaType element) {
  if (operand == WmmaOperand::Accumulator) return shape.m * shape.n / 32 / element.per_register();
  if (type == "f16") return 8;
  const int extent = operand == WmmaOperand::A ? shape.m : shape.n;
  const int count = extent * shape.k / 32 / element.per_register();
  return count == 0 ? 1 : count;
}

}  // namespace emu::isa
