#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "layout/draw.h"
#include "svg/metrics.h"

namespace layout {
namespace {

using svg::Canvas;
using svg::Point;
using svg::Rect;

constexpr double kCell = 44, kRow = 19, kGutter = 46;
constexpr int kChunks = 8;  // chunks drawn a row: one 128-byte line

struct View {
  const Tile& tile;
  std::string operand;
  int step, rows, first_chunk;  // first_chunk along the contiguous dimension
  int box_chunks;               // width of one TMA box

  bool k_major() const { return tile.form.major == Major::k; }
  int per_chunk() const { return tile.form.unit(); }
  int chunks() const {
    const int all = (k_major() ? tile.k : tile.mn) / per_chunk();
    return std::min(kChunks, all - first_chunk);
  }
  // First element of the chunk at logical (row, chunk).
  std::pair<int, int> element(int row, int chunk) const {
    const int along = (first_chunk + chunk) * per_chunk();
    return k_major() ? std::pair{row, along} : std::pair{along, row};
  }
  // Address of the first 128-byte line drawn: where the pattern that the step starts in begins.
  uint32_t first_line() const {
    const uint32_t unit = std::max(128u, repeat_bytes(tile.form.mode));
    return (tile.start + tile.step_offset(step)) / unit * unit;
  }
  bool in_step(int row, int chunk) const {
    const auto [mn, k] = element(row, chunk);
    return k / tile.form.mma_k() == step;
  }
  std::string tip(int mn, int k) const {
    const uint32_t address = tile.address(mn, k);
    const int last = per_chunk() - 1;
    return fmt::format("element ({}, {}) to ({}, {}); offset {}; address 0x{:X}; banks {}-{}", mn, k,
                       mn + (k_major() ? 0 : last), k + (k_major() ? last : 0), address - tile.start, address,
                       address / 4 % 32, address / 4 % 32 + 3);
  }
};

void draw_logical(Canvas& c, const View& v, Point at) {
  const int chunks = v.chunks();
  for (int i = 0; i < chunks; ++i) {
    const auto [mn, k] = v.element(0, i);
    c.label({at.x + kGutter + i * kCell, at.y, kCell, 15}, fmt::format("{}", v.k_major() ? k : mn),
            {.size = 9, .cls = "m"});
  }
  for (int r = 0; r < v.rows; ++r) {
    const double y = at.y + 16 + r * kRow;
    c.text({at.x + kGutter - 6, y + 13}, fmt::format("{}", r),
           {.size = 9, .anchor = svg::Anchor::end, .cls = "m"});
    for (int i = 0; i < chunks; ++i) {
      const auto [mn, k] = v.element(r, i);
      const std::string fill = v.in_step(r, i) ? v.operand + " e" : v.operand + "l e";
      c.block({at.x + kGutter + i * kCell, y, kCell, kRow}, fill,
              fmt::format("+{}", v.tile.address(mn, k) - v.tile.start), {.size = 9.5}, v.tip(mn, k));
    }
  }
  // Where one TMA box ends and the next begins.
  const int box_chunks = v.box_chunks;
  for (int i = box_chunks - v.first_chunk % box_chunks; i < chunks; i += box_chunks) {
    const double edge = at.x + kGutter + i * kCell;
    c.line({edge, at.y + 10}, {edge, at.y + 16}, "ln hi");
    c.line({edge, at.y + 16 + v.rows * kRow}, {edge, at.y + 22 + v.rows * kRow}, "ln hi");
  }
  // Atoms: 8 (or 4) rows by one span.
  const int high = v.tile.form.mode == Swizzle::b128_32 ? 4 : 8;
  const int wide = static_cast<int>(span_bytes(v.tile.form.mode)) / 16;
  for (int r = 0; r < v.rows; r += high) {
    for (int i = 0; i < chunks; i += wide) {
      c.rect({at.x + kGutter + i * kCell, at.y + 16 + r * kRow, kCell * std::min(wide, chunks - i),
              kRow * std::min(high, v.rows - r)},
             "none w");
    }
  }
}

void draw_physical(Canvas& c, const View& v, Point at, int lines) {
  // Which chunk lies at each 16-byte address.
  std::map<uint32_t, std::pair<int, int>> at_address;
  const Tile& t = v.tile;
  const int unit = v.per_chunk();
  for (int mn = 0; mn < t.mn; mn += v.k_major() ? 1 : unit) {
    for (int k = 0; k < t.k; k += v.k_major() ? unit : 1) at_address[t.address(mn, k)] = {mn, k};
  }
  const uint32_t first = v.first_line();
  for (int i = 0; i < kChunks; ++i) {
    c.label({at.x + kGutter + i * kCell, at.y, kCell, 15}, fmt::format("{}-{}", i * 4, i * 4 + 3),
            {.size = 9, .cls = "m"});
  }
  for (int line = 0; line < lines; ++line) {
    const double y = at.y + 16 + line * kRow;
    c.text({at.x + kGutter - 4, y + 13}, fmt::format("0x{:X}", first + line * 128),
           {.size = 9, .anchor = svg::Anchor::end, .cls = "m"});
    for (int i = 0; i < kChunks; ++i) {
      const Rect box = {at.x + kGutter + i * kCell, y, kCell, kRow};
      const auto found = at_address.find(first + line * 128 + i * 16);
      if (found == at_address.end()) {
        c.rect(box, "n1 e");
        continue;
      }
      const auto [mn, k] = found->second;
      const bool filled = k / t.form.mma_k() == v.step;
      c.block(box, v.operand + (filled ? " e" : "l e"), fmt::format("{},{}", mn, k), {.size = 9.5},
              v.tip(mn, k));
    }
  }
}

// LBO or SBO as an arrow beside the 128-byte lines, when both its ends are drawn.
void draw_offset(Canvas& c, const View& v, Point at, int lines, uint32_t bytes, const std::string& name,
                 double x) {
  const uint32_t origin = v.tile.start + v.tile.step_offset(v.step), first = v.first_line();
  const int from = static_cast<int>((origin - first) / 128),
            to = static_cast<int>((origin + bytes - first) / 128);
  if (to >= lines || to == from) return;
  auto y_of = [&](int line) { return at.y + 16 + (line + 0.5) * kRow; };
  const double edge = at.x + kGutter + kChunks * kCell;
  c.arrow({{edge, y_of(from)}, {x, y_of(from)}, {x, y_of(to)}, {edge, y_of(to)}}, "hi");
  const std::string text = fmt::format("{} {} B", name, bytes);
  const double needed = svg::text_width(text, 10) + 8;
  const double middle =
      y_of(to) - y_of(from) > needed ? (y_of(from) + y_of(to)) / 2 : y_of(to) + needed / 2 + 4;
  c.text({x + 11, middle}, text, {.size = 10, .anchor = svg::Anchor::middle, .cls = "x", .rotate = -90});
}

std::string offsets_line(const Tile& t) {
  return fmt::format("SBO {} B: {}. LBO {} B: {}.", t.form.sbo, t.form.sbo_meaning(), t.form.lbo,
                     t.form.lbo_meaning());
}

}  // namespace

std::string role_of(const std::string& name) {
  const char first = name.empty() ? ' ' : name[0];
  return std::string("QKVSPO").find(first) == std::string::npos ? "n3" : std::string(1, first);
}

svg::Canvas draw_tile(const Tile& tile, const Filling& filling, const std::string& operand, int step,
                      int rows) {
  const Canonical& f = tile.form;
  const bool k_major = f.major == Major::k;
  const int unit = f.unit();
  View v{tile, operand,
         step, std::min(rows, k_major ? tile.mn : tile.k),
         0,    std::max(1, filling.box.box[0] / unit)};
  if (k_major) v.first_chunk = step * f.mma_k() / unit / kChunks * kChunks;
  Canvas c(
      fmt::format("{} tile {} x {}, {}, {}", operand, tile.mn, tile.k, name_of(f.major), name_of(f.mode)),
      fmt::format("{} bytes from 0x{:X}; element size {} B; filled by TMA boxes: {} of {} x {}, {} B each; "
                  "micro-tile of "
                  "instruction {} filled in.",
                  tile.bytes(), tile.start, f.element_bytes, filling.boxes, filling.box.box[0],
                  filling.box.box[1], filling.box.bytes(), step),
      "Logical tile on the left, each 16-byte chunk with its byte offset; shared memory on the right in "
      "address order, "
      "each chunk with its first element.");
  const double y = c.top() + 8;
  const double left = svg::kMargin, right = 456;
  c.text({left + kGutter, y},
         fmt::format("logical: rows {}, columns {}", k_major ? "MN" : "K", k_major ? "K" : "MN"),
         {.size = 12, .bold = true});
  c.text({right + kGutter, y}, "physical: 128-byte lines, banks 0-31 across", {.size = 12, .bold = true});
  draw_logical(c, v, {left, y + 10});
  draw_physical(c, v, {right, y + 10}, v.rows);
  draw_offset(c, v, {right, y + 10}, v.rows, f.sbo, "SBO", 862);
  if (f.uses_lbo()) draw_offset(c, v, {right, y + 10}, v.rows, f.lbo, "LBO", 880);
  double below = c.bottom() + 22;
  below = c.legend({left, below - 10}, {{operand + " e", fmt::format("micro-tile {}", step)},
                                        {operand + "l e", "rest of the tile"},
                                        {"none w", "one swizzle atom"},
                                        {"none hi", "red ticks: next TMA box"}}) +
          12;
  below = c.prose({left, below}, svg::kWidth - 2 * svg::kMargin, offsets_line(tile));
  const uint64_t start = (tile.start + tile.step_offset(step)) & 0x3FFFF;
  below = c.prose(
      {left, below}, svg::kWidth - 2 * svg::kMargin,
      fmt::format(
          "Descriptor of instruction {}: start 0x{:X} = tile + {}; the next one starts {} bytes further on.",
          step, start, tile.step_offset(step), tile.step_offset(step + 1) - tile.step_offset(step)));
  return c;
}

}  // namespace layout
