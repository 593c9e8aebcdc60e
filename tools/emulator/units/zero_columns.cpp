#include "units/zero_columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace emu::units {
namespace {

int field(std::uint64_t bits, int first, int width) {
  return static_cast<int>((bits >> first) & ((std::uint64_t{1} << width) - 1));
}

}  // namespace

std::string zero_columns_problem(std::uint64_t descriptor, int m, int max_shift) {
  if (field(descriptor, 36, 3) || field(descriptor, 62, 2)) {
    return fmt::format("zero-column mask {:#018x}: reserved bits 36-38 and 62-63 must be 0", descriptor);
  }
  const int shift = zero_columns_shift(descriptor);
  const int limit = m == 32 ? 16 : 32;
  if (shift > limit) {
    return fmt::format(
        "zero-column mask {:#018x}: column shift {} (bits 56-61) exceeds {}, the most for M = {}", descriptor,
        shift, limit, m);
  }
  if (shift > max_shift) {
    return fmt::format(
        "zero-column mask {:#018x}: column shift {} (bits 56-61) exceeds the {} that bits 30-31 of the "
        "instruction descriptor announce",
        descriptor, shift, max_shift);
  }
  return {};
}

std::vector<bool> zero_columns(std::uint64_t descriptor, int m, int n) {
  std::vector<bool> zero(static_cast<std::size_t>(n), false);
  if (!field(descriptor, 39, 1)) {
    return zero;
  }
  const int parts = 128 / m;
  const int skip = field(descriptor, 40, 8) + 1;
  const int use = field(descriptor, 48, 8) + 1;
  for (int part = 0; part < parts; ++part) {
    bool is_zero = field(descriptor, 32 + part, 1);
    int left = std::max(1, (is_zero ? skip : use) - field(descriptor, 8 * part, 8));
    for (int column = part * n / parts; column < (part + 1) * n / parts; ++column) {
      if (left == 0) {
        is_zero = !is_zero;
        left = is_zero ? skip : use;
      }
      zero[static_cast<std::size_t>(column)] = is_zero;
      --left;
    }
  }
  return zero;
}

int zero_columns_shift(std::uint64_t descriptor) { return field(descriptor, 56, 6); }

}  // namespace emu::units
