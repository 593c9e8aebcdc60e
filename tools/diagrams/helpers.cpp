#include "diagrams/helpers.h"

#include <fmt/format.h>

#include "descriptor.cuh"

namespace diagrams {

void heading(svg::Canvas& c, double x, double y, const std::string& text) {
  c.text({x, y}, text, {.size = 13, .bold = true});
}

std::string hex(uint64_t value, int digits) { return fmt::format("0x{:0{}X}", value, digits); }

layout::Tile operand_tile(const Kernel& k, const std::string& member, const std::string& function,
                          layout::Major major) {
  layout::Tile t;
  t.form = k.descriptor_in(function, major);
  t.mn = 128;
  t.k = 128;
  t.start = kSharedBase + k.member(member).offset;
  t.slab_bytes = static_cast<uint32_t>(k["kSliceBytes"]);
  return t;
}

uint64_t descriptor_word(const layout::Canonical& c, uint32_t start) {
  const ::Swizzle mode = c.mode == layout::Swizzle::b128  ? ::Swizzle::k128B
                         : c.mode == layout::Swizzle::b64 ? ::Swizzle::k64B
                         : c.mode == layout::Swizzle::b32 ? ::Swizzle::k32B
                                                          : ::Swizzle::kNone;
  return matrix_descriptor(start, c.lbo, c.sbo, mode);
}

double memory_bar(svg::Canvas& c, double x, double y, double width, uint32_t base,
                  const std::vector<Span>& spans, double height) {
  uint32_t total = 0;
  for (const Span& s : spans) total += s.bytes;
  uint32_t at = 0;
  double left = x;
  for (const Span& s : spans) {
    // Small spans get a width that can hold their label.
    const double w = width * s.bytes / total;
    c.block(
        {left, y, w, height}, s.cls + " f", s.label, {.size = 12},
        fmt::format("{}: 0x{:X} to 0x{:X}, {} bytes", s.label, base + at, base + at + s.bytes - 1, s.bytes));
    c.text({left + 1, y + height + 12}, hex(base + at), {.size = 9.5, .cls = "m"});
    left += w;
    at += s.bytes;
  }
  return y + height + 18;
}

void note(svg::Canvas& c, const std::string& text) {
  c.prose({svg::kMargin, c.bottom() + 24}, svg::kWidth - 2 * svg::kMargin, text, {.size = 12});
}

}  // namespace diagrams
