#include "layout/tma.h"

#include <fmt/format.h>

#include <algorithm>

namespace layout {

void TensorBox::validate() const {
  if (box.empty() || box.size() > 5)
    throw BadInput(fmt::format("a box has 1 to 5 dimensions, not {}", box.size()));
  for (int n : box) {
    if (n < 1 || n > 256) throw BadInput(fmt::format("box dimension {} is outside 1..256", n));
  }
  const uint32_t inner = box[0] * element_bytes;
  if (inner % 16 != 0)
    throw BadInput(fmt::format("the inner box row is {} bytes and must be a multiple of 16", inner));
  if (mode != Swizzle::none && inner > span_bytes(mode)) {
    throw BadInput(fmt::format(
        "the inner box row is {} bytes, wider than the {}-byte span of {}: split it into {} boxes", inner,
        span_bytes(mode), name_of(mode), (inner + span_bytes(mode) - 1) / span_bytes(mode)));
  }
}

uint32_t TensorBox::rows() const {
  uint32_t n = 1;
  for (size_t i = 1; i < box.size(); ++i) n *= box[i];
  return n;
}

uint32_t TensorBox::bytes() const { return rows() * box[0] * element_bytes; }

uint32_t TensorBox::row_pitch() const {
  const uint32_t inner = box[0] * element_bytes;
  return mode == Swizzle::none ? inner : span_bytes(mode);
}

uint32_t TensorBox::address(uint32_t destination, const std::vector<int>& index) const {
  uint32_t row = 0;
  for (size_t i = box.size(); i-- > 1;) row = row * box[i] + index.at(i);
  return swizzled(destination + row * row_pitch() + index.at(0) * element_bytes, mode);
}

Filling natural_filling(const Tile& tile) {
  const int wide = static_cast<int>(span_bytes(tile.form.mode)) / tile.form.element_bytes;
  const bool k_major = tile.form.major == Major::k;
  const int contiguous = k_major ? tile.k : tile.mn, rows = k_major ? tile.mn : tile.k;
  if (contiguous % wide != 0) {
    throw BadInput(fmt::format(
        "the tile's contiguous side of {} elements is not a multiple of the box width {}", contiguous, wide));
  }
  Filling f;
  f.box = {{wide, rows}, tile.form.element_bytes, tile.form.mode};
  f.box.validate();
  f.boxes = contiguous / wide;
  f.box_stride = rows * f.box.row_pitch();
  return f;
}

Agreement compare(const Tile& tile, const Filling& filling) {
  Agreement result;
  const int wide = filling.box.box[0];
  const bool k_major = tile.form.major == Major::k;
  for (int mn = 0; mn < tile.mn; ++mn) {
    for (int k = 0; k < tile.k; ++k) {
      const int along = k_major ? k : mn, row = k_major ? mn : k;
      const int box_rows = static_cast<int>(filling.box.rows());
      const int boxes_along = ((k_major ? tile.k : tile.mn) + wide - 1) / wide;
      const int number = along / wide + row / box_rows * boxes_along;
      const uint32_t to = tile.start + number * filling.box_stride;
      std::vector<int> index(filling.box.box.size(), 0);
      index[0] = along % wide;
      int rest = row % box_rows;
      for (size_t d = 1; d < index.size(); ++d) {
        index[d] = rest % filling.box.box[d];
        rest /= filling.box.box[d];
      }
      const uint32_t written = filling.box.address(to, index), read = tile.address(mn, k);
      ++result.elements;
      if (written == read) continue;
      ++result.wrong;
      if (!result.first) result.first = Disagreement{mn, k, written, read};
    }
  }
  return result;
}

}  // namespace layout
