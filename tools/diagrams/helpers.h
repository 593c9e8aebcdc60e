// Small drawings that several pictures share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "diagrams/kernel.h"
#include "layout/canonical.h"
#include "svg/canvas.h"

namespace diagrams {

// First byte of a CTA's shared memory: 1 KB is reserved below it (seen on an H200).
inline constexpr uint32_t kSharedBase = 0x400;

// Bold heading of a part of a picture.
void heading(svg::Canvas& c, double x, double y, const std::string& text);

// A grid of equal cells without labels; `cls_of(row, column)` gives the class.
template <class F>
void grid(svg::Canvas& c, svg::Rect r, int rows, int columns, F cls_of) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      c.rect({r.x + j * r.w / columns, r.y + i * r.h / rows, r.w / columns, r.h / rows}, cls_of(i, j));
    }
  }
}

// "0x8400".
std::string hex(uint64_t value, int digits = 0);

// A whole operand tile of a chapter as its descriptors see it. `member` is its array in SharedStorage.
layout::Tile operand_tile(const Kernel& k, const std::string& member, const std::string& function,
                          layout::Major major);

// The descriptor word that common/descriptor.cuh makes for a layout at `start`.
uint64_t descriptor_word(const layout::Canonical& c, uint32_t start);

// A map of shared memory as one horizontal bar with addresses; returns the y below.
struct Span {
  std::string label, cls;
  uint32_t bytes;
};
double memory_bar(svg::Canvas& c, double x, double y, double width, uint32_t base,
                  const std::vector<Span>& spans, double height = 44);

// The closing notes of a picture, below everything drawn so far.
void note(svg::Canvas& c, const std::string& text);

}  // namespace diagrams
