// Where a TMA box puts its bytes (PTX ISA 5.5 and 9.7.9.27), and whether that is what a descriptor reads.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/canonical.h"

namespace layout {

// A tile-mode tensor map's box. `box` counts elements, innermost first.
struct TensorBox {
  std::vector<int> box;
  int element_bytes = 2;
  Swizzle mode = Swizzle::none;

  // Throws BadInput naming the limit of cuTensorMapEncodeTiled or of the copy that is broken.
  void validate() const;
  // Bytes credited to the mbarrier: the whole box, out-of-bounds elements included (measured on an H200).
  uint32_t bytes() const;
  // Distance between rows of the innermost dimension: a row narrower than the swizzle span takes a whole span
  // (measured on an H200).
  uint32_t row_pitch() const;
  uint32_t rows() const;
  // Address of an element of the box when it lands at `destination`.
  uint32_t address(uint32_t destination, const std::vector<int>& index) const;
};

// A tile filled by copies of one box. Box number i covers elements starting at box_origin(i) and lands at
// start + i * box stride, boxes first along the contiguous dimension.
struct Filling {
  TensorBox box;
  int boxes = 0;
  uint32_t box_stride = 0;  // bytes between destinations
};

// The boxes that fill `tile`, one span (or 16 bytes) wide. Throws BadInput when they do not divide it.
Filling natural_filling(const Tile& tile);

struct Disagreement {
  int mn, k;
  uint32_t written, read;
};

// Compares, for every element of the tile, where the boxes put it with where the descriptors look for it.
// `written` counts the elements at another address; the first one found is returned.
struct Agreement {
  int elements = 0, wrong = 0;
  std::optional<Disagreement> first;
};
Agreement compare(const Tile& tile, const Filling& filling);

}  // namespace layout
