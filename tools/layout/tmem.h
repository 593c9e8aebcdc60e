// Tensor memory: who may touch what, and which register of which thread meets which cell (PTX ISA 9.7.16.8).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "layout/canonical.h"

namespace layout {

inline constexpr int kLanes = 128;
inline constexpr int kColumns = 512;

// A named range of columns, "S0:0:128" = name, first column, number of columns.
struct Region {
  std::string name;
  int first = 0, count = 0;
};
// Space-separated regions. Throws BadInput for malformed or out-of-range ones; overlap is allowed only for
// names of the same number that alias by design (P0 in S0), which `aliases` reports.
std::vector<Region> parse_regions(std::string_view spec);
// Pairs of indices of overlapping regions.
std::vector<std::pair<int, int>> aliases(const std::vector<Region>& regions);

enum class Shape { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };
Shape shape_named(std::string_view name);  // throws BadInput
std::string_view name_of(Shape shape);

struct Cell {
  int lane = 0, column = 0;
  bool operator==(const Cell&) const = default;
};

// Registers per thread of a shape's .xN; columns it covers. `n` a power of two up to the shape's maximum,
// else BadInput.
int registers_of(Shape shape, int n);
int columns_of(Shape shape, int n);
// Cell that register `r` of thread `t` (0..31) of the warp meets, relative to the instruction's address.
// `second_half` is the immediate of 16x32bx2, in columns.
Cell cell_of(Shape shape, int t, int r, int second_half = 0);

// First lane of the quarter that warp `w` of the CTA may touch.
inline int first_lane(int warp) { return 32 * (warp % 4); }

}  // namespace layout
