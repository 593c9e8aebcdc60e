#include <fmt/format.h>

#include "layout/draw.h"
#include "svg/metrics.h"

namespace layout {
namespace {

std::string where(const Field& f) {
  return f.width == 1 ? fmt::format("{}", f.lo) : fmt::format("{}..{}", f.lo + f.width - 1, f.lo);
}

const char* fill_of(const Field& f) {
  if (f.name == "unused") return "bg e";
  if (f.name == "constant") return "n3 e";
  return "n2 e";
}

// One row of 32 bits, the highest on the left.
void draw_row(svg::Canvas& c, const Decoded& d, int low, double y) {
  const double left = svg::kMargin, bit = (svg::kWidth - 2 * svg::kMargin) / 32, high = 30;
  for (const Field& f : d.fields) {
    if (f.lo < low || f.lo >= low + 32) continue;
    const double x = left + (low + 32 - f.lo - f.width) * bit;
    c.rect({x, y, f.width * bit, high}, fill_of(f), f.name + ": " + f.meaning);
    for (int i = 0; i < f.width; ++i) {
      const int position = f.lo + f.width - 1 - i;
      c.label({x + i * bit, y, bit, high}, d.word >> position & 1 ? "1" : "0", {.size = 12});
    }
    c.label({x - 4, y - 15, f.width * bit + 8, 13},
            f.width == 1 || f.width * bit < 42 ? fmt::format("{}", f.lo) : where(f), {.size = 9, .cls = "m"});
    if (svg::text_width(f.name, 10) + 4 < f.width * bit) {
      c.label({x, y + high, f.width * bit, 15}, f.name, {.size = 10});
    }
  }
}

}  // namespace

svg::Canvas draw_word(const Decoded& d, const std::string& title) {
  svg::Canvas c(fmt::format("{} 0x{:0{}X}", title, d.word, d.bits / 4),
                d.problems.empty() ? "legal" : "not legal: see below",
                "Bit fields of the word with their values and meaning.");
  double y = c.top() + 14;
  for (int low = d.bits - 32; low >= 0; low -= 32) {
    draw_row(c, d, low, y);
    y += 68;
  }
  std::vector<std::vector<std::string>> rows = {{"bits", "field", "value", "meaning"}};
  for (const Field& f : d.fields) {
    if (f.name == "unused" && f.value == 0) continue;
    rows.push_back({where(f), f.name, fmt::format("0x{:X}", f.value), f.meaning});
  }
  y = c.table({svg::kMargin, y}, {70, 160, 90, 540}, rows) + 18;
  for (const std::string& p : d.problems) {
    y = c.prose({svg::kMargin, y}, svg::kWidth - 2 * svg::kMargin, "illegal: " + p,
                {.bold = true, .cls = "x"});
  }
  return c;
}

}  // namespace layout
