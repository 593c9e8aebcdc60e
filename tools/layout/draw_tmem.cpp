#include <fmt/format.h>

#include <map>

#include "layout/draw.h"

namespace layout {
namespace {

constexpr double kLeft = 96, kMapWidth = 768, kMapHeight = 220;  // 1.5 units a column

void draw_map(svg::Canvas& c, const std::vector<Region>& regions, double y) {
  const double per_column = kMapWidth / kColumns;
  c.rect({kLeft, y, kMapWidth, kMapHeight}, "n1 e", "512 columns x 128 lanes x 4 bytes = 256 KB");
  for (const Region& r : regions) {
    const svg::Rect box = {kLeft + r.first * per_column, y, r.count * per_column, kMapHeight};
    c.rect(box, role_of(r.name) + "l f",
           fmt::format("{}: columns {}-{}, 128 lanes, {} KB", r.name, r.first, r.first + r.count - 1,
                       r.count * 512 / 1024.0));
  }
  for (int w = 1; w < 4; ++w)
    c.line({kLeft, y + w * kMapHeight / 4}, {kLeft + kMapWidth, y + w * kMapHeight / 4}, "ln g");
  for (int w = 0; w < 4; ++w) {
    c.label({svg::kMargin - 6, y + w * kMapHeight / 4, kLeft - svg::kMargin, kMapHeight / 4},
            fmt::format("warp {} mod 4\nlanes {}-{}", w, 32 * w, 32 * w + 31), {.size = 10});
  }
  // A name stands over the columns that no later region covers.
  for (size_t i = 0; i < regions.size(); ++i) {
    int from = regions[i].first, to = from + regions[i].count;
    for (size_t j = i + 1; j < regions.size(); ++j) {
      const int first = regions[j].first, last = first + regions[j].count;
      if (first <= from && last > from && last < to) from = last;
      if (last >= to && first < to && first > from) to = first;
    }
    c.label({kLeft + from * per_column, y + 6, (to - from) * per_column, 26}, regions[i].name,
            {.size = 15, .bold = true});
  }
  std::map<int, bool> marks;
  marks[0] = marks[kColumns] = true;
  for (const Region& r : regions) marks[r.first] = marks[r.first + r.count] = true;
  double last = -100;
  for (const auto& [column, used] : marks) {
    const double x = kLeft + column * per_column;
    c.line({x, y + kMapHeight}, {x, y + kMapHeight + 5}, "ln e");
    if (x - last < 22) continue;
    c.text({x, y + kMapHeight + 17}, fmt::format("{}", column),
           {.size = 10, .anchor = svg::Anchor::middle, .cls = "m"});
    last = x;
  }
}

void draw_shape(svg::Canvas& c, Shape shape, int n, double y) {
  const int columns = std::min(columns_of(shape, n), 16), lanes = shape == Shape::s32x32b ? 32 : 16;
  const double wide = 50, high = 15, left = 70;
  c.text({svg::kMargin, y},
         fmt::format("tcgen05.ld/st.{}.x{}: {} registers a thread, {} columns; a cell shows thread.register",
                     name_of(shape), n, registers_of(shape, n), columns_of(shape, n)),
         {.size = 12, .bold = true});
  y += 12;
  std::map<std::pair<int, int>, std::pair<int, int>> owner;
  for (int t = 0; t < 32; ++t) {
    for (int r = 0; r < registers_of(shape, n); ++r) {
      const Cell cell = cell_of(shape, t, r, columns_of(shape, n));
      owner[{cell.lane, cell.column}] = {t, r};
    }
  }
  for (int k = 0; k < columns; ++k) {
    c.label({left + k * wide, y, wide, 14}, fmt::format("col {}", k), {.size = 9, .cls = "m"});
  }
  for (int lane = 0; lane < lanes; ++lane) {
    const double top = y + 15 + lane * high;
    c.text({left - 6, top + 11}, fmt::format("lane {}", lane),
           {.size = 9, .anchor = svg::Anchor::end, .cls = "m"});
    for (int k = 0; k < columns; ++k) {
      const auto [t, r] = owner.at({lane, k});
      c.block({left + k * wide, top, wide, high}, r % 2 ? "n2 e" : "n1 e", fmt::format("t{}.r{}", t, r),
              {.size = 9}, fmt::format("lane {}, column {}: register {} of thread {}", lane, k, r, t));
    }
  }
}

}  // namespace

svg::Canvas draw_tmem(const std::vector<Region>& regions, std::optional<Shape> shape, int n) {
  int used = 0;
  std::vector<bool> taken(kColumns, false);
  for (const Region& r : regions) {
    for (int i = 0; i < r.count; ++i) taken[r.first + i] = true;
  }
  for (bool t : taken) used += t;
  svg::Canvas c("Tensor memory: 128 lanes x 512 columns of 32 bits",
                fmt::format("{} of 512 columns used, {} KB of 256 KB", used, used / 2.0),
                "Map of tensor memory with the named column ranges and the lanes of each warp.");
  draw_map(c, regions, c.top());
  double y = c.bottom() + 24;
  for (const auto& [i, j] : aliases(regions)) {
    const Region &a = regions[i], &b = regions[j];
    const Region& packed = a.count <= b.count ? a : b;
    y = c.prose({svg::kMargin, y}, svg::kWidth - 2 * svg::kMargin,
                fmt::format("{} and {} share columns. Packed BF16: column {} of {} holds elements 0 (bits "
                            "15-0) and 1 (bits 31-16), "
                            "column {} holds {} and {}.",
                            a.name, b.name, packed.first, packed.name, packed.first + packed.count - 1,
                            2 * packed.count - 2, 2 * packed.count - 1));
  }
  if (shape) draw_shape(c, *shape, n, y + 8);
  return c;
}

}  // namespace layout
