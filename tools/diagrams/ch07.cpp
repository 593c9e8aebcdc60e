// Chapter 7: the next QK right behind PV.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/kernel_schedules.h"
#include "diagrams/picture.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

int slots_of(const Kernels& kernels) { return kernels[7].value("kKvSlots"); }

Canvas before_after(const Kernels& kernels) {
  const KernelSchedule a = ring_schedule(5, slots_of(kernels)), b = pipelined_schedule(5, slots_of(kernels));
  Canvas c("Before and after",
           "Chapter 6 above, chapter 7 below. Q0K(i+1) no longer waits for P1V(i), so the row warps of tile "
           "0 get their next scores early.",
           "Two schedules over the same time; in the second the row warps wait less.");
  const double until = 36;
  heading(c, 20, c.top() + 6, "chapter 6: Q0K, Q1K, P0V, P1V");
  const double y = a.schedule.draw(c, c.top() + 18, until, {}, 26);
  heading(c, 20, y + 16, "chapter 7: P0V(i), Q0K(i+1), P1V(i), Q1K(i+1)");
  b.schedule.draw(c, y + 28, until, {}, 26);
  note(c, fmt::format("{} Five key tiles take {:.0f} units before and {:.0f} after. In units 8 to 29 the "
                      "row warps of tile 0 work {:.0f} % before and {:.0f} % after.",
                      kUnitsNote, a.schedule.length(), b.schedule.length(), 100 * a.schedule.busy(2, 8, 29),
                      100 * b.schedule.busy(2, 8, 29)));
  return c;
}

// The MMA stream as a strip of blocks.
void stream(Canvas& c, double x, double y, double w, const std::vector<std::string>& ops,
            const std::vector<int>& hot) {
  for (size_t i = 0; i < ops.size(); ++i) {
    const bool qk = ops[i][0] == 'Q';
    bool marked = false;
    for (int h : hot) marked = marked || h == static_cast<int>(i);
    c.block({x + i * w, y, w, 34}, std::string(qk ? "S" : "O") + (marked ? " w" : " e"), ops[i],
            {.size = 11});
  }
}

std::vector<std::string> order_of(int chapter, int tiles) {
  const KernelSchedule k = chapter == 6 ? ring_schedule(tiles, 3) : pipelined_schedule(tiles, 3);
  std::vector<std::string> names;
  for (const Op& o : k.schedule.ops()) {
    if (o.row == k.tensor_row) names.push_back(o.label);
  }
  return names;
}

Canvas prologue(const Kernels& kernels) {
  kernels[7].require("for (int i = 0; i + 1 < tiles; ++i) {");
  kernels[7].require("pv_step(shared, tmem + q * kTmemQTile, q, tiles - 1);");
  const int tiles = 3;
  Canvas c("Prologue, loop, drain",
           fmt::format("The order of the MMA warp for {} key tiles. The same twelve products; the loop is "
                       "cut at another place, so two QK stand before it and two PV after it.",
                       tiles),
           "Two strips of twelve blocks; above in groups of four, below with two before, two groups of four, "
           "two after.");
  const double y = c.top() + 50, x = 20, w = 71.6;
  heading(c, x, y - 32, "chapter 6");
  stream(c, x, y, w, order_of(6, tiles), {});
  for (int i = 0; i < tiles; ++i)
    c.measure({x + i * 4 * w + 3, y + 44}, {x + (i + 1) * 4 * w - 3, y + 44}, fmt::format("turn i = {}", i),
              5, {.size = 11});
  const double z = y + 130;
  heading(c, x, z - 32, "chapter 7");
  stream(c, x, z, w, order_of(7, tiles), {});
  c.measure({x + 3, z + 44}, {x + 2 * w - 3, z + 44}, "prologue", 5, {.size = 11});
  for (int i = 0; i + 1 < tiles; ++i)
    c.measure({x + (2 + i * 4) * w + 3, z + 44}, {x + (6 + i * 4) * w - 3, z + 44},
              fmt::format("turn i = {}", i), 5, {.size = 11});
  c.measure({x + 10 * w + 3, z + 44}, {x + 12 * w - 3, z + 44}, "drain", 5, {.size = 11});
  c.table({20, z + 84}, {150, 330, 380},
          {{"", "chapter 6", "chapter 7"},
           {"before the loop", "-", "Q0K(0), Q1K(0)"},
           {"turn i", "Q0K(i), Q1K(i), P0V(i), P1V(i)", "P0V(i), Q0K(i+1), P1V(i), Q1K(i+1)"},
           {"turns", "all tiles", "all tiles but the last"},
           {"after the loop", "-", "P0V(last), P1V(last)"}},
          11.5, 22);
  note(c,
       "Without the prologue the first PV would have no P; without the drain the last P would never be "
       "multiplied. With one key tile the loop does not run at all.");
  return c;
}

Canvas order_kept(const Kernels& kernels) {
  kernels[7].require("qk_step(shared, tmem + q * kTmemQTile, q, i + 1);");
  Canvas c("Within a tile nothing is turned around",
           "Each query tile still goes QK(i), softmax(i), PV(i), QK(i+1). Only the two streams are "
           "interleaved differently on the one tensor core.",
           "Two chains of blocks, one per query tile, and the merged order of the tensor core between them, "
           "with arrows from each block to its place.");
  const double y = c.top() + 40, x = 110, w = 62, gap = 12;
  const std::vector<std::string> order = order_of(7, 3);
  for (int q = 0; q < 2; ++q) {
    const double top = y + q * 190;
    c.text({x - 12, top + 22}, fmt::format("query tile {}", q),
           {.size = 12, .anchor = Anchor::end, .bold = true});
    for (int i = 0; i < 3; ++i) {
      const double left = x + i * 3 * (w + gap) + (q == 1 ? 40 : 0);
      c.block({left, top, w, 34}, "S e", fmt::format("Q{}K{}", q, i), {.size = 11.5});
      c.block({left + w + gap, top, w, 34}, "P e", fmt::format("softmax {}", i), {.size = 10});
      c.block({left + 2 * (w + gap), top, w, 34}, "O e", fmt::format("P{}V{}", q, i), {.size = 11.5});
      for (int j = 0; j < (i < 2 ? 3 : 2); ++j) {
        const double ax = left + j * (w + gap) + w;
        c.arrow({{ax + 1, top + 17}, {ax + gap - 1, top + 17}});
      }
    }
  }
  c.text({x - 12, y + 117}, "tensor core", {.size = 12, .anchor = Anchor::end, .bold = true});
  stream(c, x, y + 95, 63, order, {});
  for (size_t i = 0; i < order.size(); ++i) {
    const int q = order[i][1] - '0', tile = order[i][3] - '0';
    const double left =
        x + tile * 3 * (w + gap) + (q == 1 ? 40 : 0) + (order[i][0] == 'P' ? 2 * (w + gap) : 0) + w / 2;
    const double here = x + i * 63 + 31;
    if (q == 0) {
      c.line({left, y + 35}, {here, y + 94}, "ln e");
    } else {
      c.line({left, y + 189}, {here, y + 130}, "ln e");
    }
  }
  note(c,
       "Q0K(i+1) overwrites the columns from which P0V(i) reads P0. It is safe because the tensor core runs "
       "the MMAs of one thread in the order of issue; the manual promises that only for MMAs that share an "
       "accumulator, so the kernel's comment names this as trust, and chapter 6 shows the version that "
       "waits.");
  return c;
}

Canvas softmax_busy(const Kernels& kernels) {
  const int slots = slots_of(kernels), tiles = 8;
  Canvas c(
      "What each chapter keeps busy",
      "Share of time in which tensor core and row warps work, in the same unit schedules, eight key tiles.",
      "Bars for chapters 1 to 4, 5, 6 and 7: tensor core and row warps.");
  struct Line {
    std::string name;
    double tensor, rows, units;
  };
  std::vector<Line> lines;
  auto add = [&](const std::string& name, const KernelSchedule& k, int per_cta) {
    const double end = k.schedule.length();
    double rows = 0;
    const int first = k.tensor_row + 1, count = static_cast<int>(k.schedule.rows().size()) - first;
    for (int r = 0; r < count; ++r) rows += k.schedule.busy(first + r, 0, end) / count;
    lines.push_back({name, k.schedule.busy(k.tensor_row, 0, end), rows, end / (tiles * per_cta)});
  };
  add("chapters 1-4", one_tile_schedule(tiles, {"TMA", "tensor core", "rows"}), 1);
  add("chapter 5", two_tiles_schedule(tiles), 2);
  add("chapter 6", ring_schedule(tiles, slots), 2);
  add("chapter 7", pipelined_schedule(tiles, slots), 2);
  const double y = c.top() + 26, x = 130, full = 520;
  for (size_t i = 0; i < lines.size(); ++i) {
    const double top = y + i * 64;
    c.text({x - 10, top + 28}, lines[i].name, {.size = 12, .anchor = Anchor::end, .bold = true});
    c.rect({x, top, full, 20}, "n1");
    c.rect({x, top, full * lines[i].tensor, 20}, "O e");
    c.text({x + full + 10, top + 15}, fmt::format("tensor core {:.0f} %", 100 * lines[i].tensor),
           {.size = 11.5});
    c.rect({x, top + 24, full, 20}, "n1");
    c.rect({x, top + 24, full * lines[i].rows, 20}, "P e");
    c.text({x + full + 10, top + 39},
           fmt::format("row warps {:.0f} %;  {:.2f} units a tile", 100 * lines[i].rows, lines[i].units),
           {.size = 11.5});
  }
  c.legend({x, y + 4 * 64 + 4}, {{"O e", "tensor core"}, {"P e", "row warps (each query tile's group)"}});
  note(c, fmt::format("{} A tile is one query tile times one key tile: two MMAs and a softmax. What remains "
                      "is softmax itself: that is where the next step would begin.",
                      kUnitsNote));
  return c;
}

}  // namespace

std::vector<Picture> chapter_07() {
  return {{7, "before_after", "The schedule before and after", before_after},
          {7, "prologue_drain", "Prologue, loop and drain of the MMA warp", prologue},
          {7, "order", "Within a query tile the order stays QK, softmax, PV", order_kept},
          {7, "busy", "What each chapter keeps busy", softmax_busy}};
}

}  // namespace diagrams
