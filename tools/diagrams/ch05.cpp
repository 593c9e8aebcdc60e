// Chapter 5: two query tiles share every key and value tile.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/kernel_schedules.h"
#include "diagrams/picture.h"
#include "layout/draw.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

Canvas two_against_one(const Kernels& kernels) {
  const Kernel& k = kernels[5];
  const int q_tiles = k.value("kQTiles");
  Canvas c("Two CTAs against one CTA with two tiles",
           fmt::format("The same {} x 128 queries. Two CTAs each load every key and value tile; one CTA with "
                       "{} tiles loads it once and uses it twice.",
                       q_tiles, q_tiles),
           "Left: two CTAs, each with its own stream of K and V. Right: one CTA with Q0 and Q1 fed by one "
           "stream.");
  const double y = c.top() + 40;
  heading(c, 20, y - 18, "chapter 4: two CTAs");
  for (int cta = 0; cta < 2; ++cta) {
    const double top = y + cta * 120;
    c.rect({20, top, 400, 104}, "n1 e", "", 4);
    c.text({30, top + 18}, fmt::format("CTA {}", cta), {.size = 11.5, .bold = true});
    c.block({30, top + 28, 80, 60}, "Q f", fmt::format("Q{}\n32 KB", cta), {.size = 12});
    for (int i = 0; i < 3; ++i) {
      c.block({140 + i * 84.0, top + 28, 36, 60}, "K e", fmt::format("K{}", i), {.size = 12});
      c.block({178 + i * 84.0, top + 28, 36, 60}, "V e", fmt::format("V{}", i), {.size = 12});
    }
    c.text({396, top + 62}, "…", {.cls = "m"});
  }
  heading(c, 470, y - 18, "chapter 5: one CTA");
  c.rect({470, y, 410, 224}, "n1 e", "", 4);
  c.text({480, y + 18}, "CTA 0", {.size = 11.5, .bold = true});
  c.block({480, y + 28, 80, 60}, "Q f", "Q0\n32 KB", {.size = 12});
  c.block({480, y + 148, 80, 60}, "Q f", "Q1\n32 KB", {.size = 12});
  for (int i = 0; i < 3; ++i) {
    const double x = 606 + i * 84.0;
    c.block({x, y + 88, 36, 60}, "K e", fmt::format("K{}", i), {.size = 12});
    c.block({x + 38, y + 88, 36, 60}, "V e", fmt::format("V{}", i), {.size = 12});
  }
  c.arrow({{602, y + 104}, {563, y + 66}}, "hi");
  c.arrow({{602, y + 132}, {563, y + 170}}, "hi");
  c.text({856, y + 122}, "…", {.cls = "m"});
  const int64_t tile = k["kTileBytes"];
  c.table({20, y + 250}, {330, 265, 265},
          {{"for 256 queries and one key tile", "two CTAs of chapter 4", "one CTA of chapter 5"},
           {"bytes of K and V by TMA", fmt::format("4 x {} = {}", tile, 4 * tile),
            fmt::format("2 x {} = {}", tile, 2 * tile)},
           {"FLOP", "4 x 4194304", "4 x 4194304"},
           {"FLOP a byte loaded", fmt::format("{}", 4 * 4194304 / (4 * tile)),
            fmt::format("{}", 4 * 4194304 / (2 * tile))},
           {"grid for 512 queries of a head", "4 CTAs", "2 CTAs"}},
          11.5, 22);
  note(c,
       "The reuse is direct, out of shared memory: nothing relies on the L2 still holding a tile. Running "
       "one query tile after the other in one CTA would not do; both must walk the keys together.");
  return c;
}

Canvas tmem_full(const Kernels& kernels) {
  const Kernel& k = kernels[5];
  const int s = k.value("kTmemS"), p = k.value("kTmemP"), o = k.value("kTmemO"), step = k.value("kTmemQTile");
  Canvas c = layout::draw_tmem({{"S0", s, 128},
                                {"S1", s + step, 128},
                                {"O0", o, 128},
                                {"O1", o + step, 128},
                                {"P0", p, 64},
                                {"P1", p + step, 64}},
                               std::nullopt, 8);
  note(c, fmt::format("All {} columns are taken. P0 overwrites S0 and P1 overwrites S1 as in chapter 2; with "
                      "P in columns of its own two tiles would need 640. A third query tile does not fit, "
                      "nor a second S a tile. "
                      "Two CTAs cannot share an SM either: the second would wait in tcgen05.alloc.",
                      k["kTmemColumns"]));
  return c;
}

Canvas roles(const Kernels& kernels) {
  const Kernel& k = kernels[5];
  const int q_tiles = k.value("kQTiles"), row = k.value("kRowWarps");
  Canvas c("Ten warps",
           fmt::format("{} threads: two groups of four row warps, a load warp, an MMA warp. Warp w reaches "
                       "lanes 32 (w mod 4) to 32 (w mod 4) + 31.",
                       k["kThreads"]),
           "Ten boxes for the warps and, below, tensor memory with the quarter and columns that each row "
           "warp works on.");
  const double y = c.top() + 14, w = 82, gap = 4;
  for (int i = 0; i < q_tiles * row + 2; ++i) {
    const bool is_row = i < q_tiles * row;
    const std::string what =
        is_row ? fmt::format("row, Q{}\nlanes {}-{}", i / row, 32 * (i % 4), 32 * (i % 4) + 31)
        : i == k.value("kLoadWarp") ? "load\n1 thread"
                                    : "MMA\n1 thread";
    c.block({20 + i * (w + gap), y, w, 62}, is_row ? "n2 f" : "n3 f", fmt::format("warp {}\n{}", i, what),
            {.size = 11});
  }
  const double my = y + 96, x = 110, width = 4 * 180;
  const char* names[] = {"S0 / P0", "S1 / P1", "O0", "O1"};
  const char* cls[] = {"S", "S", "O", "O"};
  for (int j = 0; j < 4; ++j) {
    for (int b = 0; b < 4; ++b) {
      c.block({x + j * 180.0, my + b * 40, 180, 40}, std::string(cls[j]) + (j % 2 ? "l e" : " e"),
              fmt::format("warp {}", b + (j % 2) * row), {.size = 11.5});
    }
    c.label({x + j * 180.0, my - 20, 180, 18},
            fmt::format("{}: columns {}-{}", names[j], j * 128, j * 128 + 127), {.size = 11.5, .bold = true});
  }
  for (int b = 0; b < 4; ++b)
    c.label({20, my + b * 40, 86, 40}, fmt::format("lanes\n{}-{}", 32 * b, 32 * b + 31),
            {.size = 10.5, .cls = "m"});
  c.line({x, my + 166}, {x + width, my + 166}, "ln g");
  note(c,
       "Both groups use all 128 lanes, on different columns, so they never meet. There is still one MMA "
       "warp: the SM has one tensor core, and one thread can keep it fed.");
  return c;
}

Canvas barriers(const Kernels& kernels) {
  const Kernel& k = kernels[5];
  const int q_tiles = k.value("kQTiles");
  Canvas c("Barriers of chapter 5: shared and per query tile",
           "q_ready and kv_ready serve both tiles; qk_done, softmax_done and pv_done exist once for each, so "
           "the two streams do not wait for each other.",
           "Load warp, MMA warp and two groups of row warps, with arrows named after the barriers.");
  const double y = c.top() + 24;
  c.block({30, y + 56, 150, 80}, "n2 f", "load warp 8", {.size = 13});
  c.block({375, y + 36, 150, 120}, "n2 f", "MMA warp 9", {.size = 13});
  c.block({720, y, 150, 80}, "n2 f", "row warps 0-3\nQ0", {.size = 13});
  c.block({720, y + 112, 150, 80}, "n2 f", "row warps 4-7\nQ1", {.size = 13});
  c.arrow({{182, y + 74}, {373, y + 74}});
  c.text({277, y + 69}, "q_ready", {.size = 11.5, .anchor = Anchor::middle});
  c.arrow({{182, y + 98}, {373, y + 98}});
  c.text({277, y + 93}, "kv_ready", {.size = 11.5, .anchor = Anchor::middle});
  c.arrow({{373, y + 122}, {182, y + 122}}, "hi");
  c.text({277, y + 117}, "pv_done[1]", {.size = 11.5, .anchor = Anchor::middle, .cls = "x"});
  for (int q = 0; q < 2; ++q) {
    const double t = y + (q == 0 ? 18 : 124);
    const double m = y + (q == 0 ? 46 : 104);
    const double from[3] = {m, m + 20, m + 40}, to[3] = {t, t + 24, t + 48};
    const char* names[] = {"qk_done", "softmax_done", "pv_done"};
    for (int i = 0; i < 3; ++i) {
      const bool back = i == 1;
      if (back) {
        c.arrow({{718, to[i]}, {620, to[i]}, {570, from[i]}, {527, from[i]}}, "hi");
      } else {
        c.arrow({{527, from[i]}, {570, from[i]}, {620, to[i]}, {718, to[i]}});
      }
      c.text({668, to[i] - 4}, fmt::format("{}[{}]", names[i], q),
             {.size = 10.5, .anchor = Anchor::middle, .cls = back ? "x" : "t"});
    }
  }
  auto at = [&](const char* name) { return hex(kSharedBase + k.member(name).offset); };
  c.table({20, y + 222}, {130, 90, 60, 330, 250},
          {{"barrier", "address", "barriers", "arrivals that complete a phase", "who waits"},
           {"q_ready", at("q_ready"), "1",
            fmt::format("1 expect_tx, then {} bytes", q_tiles * k["kTileBytes"]), "MMA warp, once"},
           {"kv_ready", at("kv_ready"), "1", fmt::format("1 expect_tx, then {} bytes", 2 * k["kTileBytes"]),
            "MMA warp"},
           {"qk_done[q]", at("qk_done"), "2", "1: commit after the 8 MMAs of QqK", "row warps of q"},
           {"softmax_done[q]", at("softmax_done"), "2",
            fmt::format("{}: one lane of each row warp of q", k["kRowWarps"]), "MMA warp"},
           {"pv_done[q]", at("pv_done"), "2", "1: commit after the 8 MMAs of PqV",
            "row warps of q; [1] also load warp"}},
          11, 21);
  note(c,
       "K and V are free once the last query tile has used them, so the load warp waits for pv_done[1] only: "
       "that commit also covers P0V, issued before by the same thread.");
  return c;
}

Canvas smem(const Kernels& kernels) {
  const Kernel& k = kernels[5];
  Canvas c("Shared memory: four tiles",
           fmt::format("{} bytes of at most 232448. One K and one V buffer serve both query tiles.",
                       k.shared_bytes()),
           "A bar with Q0, Q1, K and V.");
  const uint32_t tile = static_cast<uint32_t>(k["kTileBytes"]);
  const double below = memory_bar(c, 20, c.top() + 16, 860, kSharedBase,
                                  {{"Q0, whole kernel", "Q", tile},
                                   {"Q1, whole kernel", "Ql", tile},
                                   {"K(i)", "K", tile},
                                   {"V(i)", "V", tile}},
                                  54);
  const double y = below + 46, x = 130, w = 150, h = 40;
  heading(c, 20, y - 22, "who reads K(i) and V(i), in order");
  const char* steps[] = {"Q0K(i)", "Q1K(i)", "P0V(i)", "P1V(i)"};
  const char* cls[] = {"S", "S", "O", "O"};
  for (int i = 0; i < 4; ++i)
    c.block({x + i * (w + 20), y, w, h}, std::string(cls[i]) + " f", steps[i], {.size = 13});
  for (int i = 0; i < 3; ++i)
    c.arrow({{x + i * (w + 20) + w + 2, y + h / 2}, {x + (i + 1) * (w + 20) - 2, y + h / 2}});
  c.block({x, y + 66, 2 * w + 20, 30}, "K e", "K(i) in use: two QK", {.size = 12});
  c.block({x + 2 * (w + 20), y + 66, 2 * w + 20, 30}, "V e", "V(i) in use: two PV", {.size = 12});
  c.rect({x + 2 * (w + 20), y + 104, 2 * w + 20, 30}, "n1 e");
  c.hatch({x + 2 * (w + 20), y + 104, 2 * w + 20, 30}, "ha");
  c.rect({x, y + 104, 2 * w + 20, 30}, "n1 e");
  c.hatch({x, y + 104, 2 * w + 20, 30}, "hb");
  c.legend({x, y + 144}, {{"url:ha", "K's buffer idle: K(i) is dead, K(i+1) not asked for"},
                          {"url:hb", "V's buffer full, waiting"}});
  note(c, "This chapter frees K and V together, after P1V. The hatched time is what chapter 6 uses.");
  return c;
}

Canvas schedule(const Kernels&) {
  const KernelSchedule one = one_tile_schedule(5, {"TMA", "tensor core", "row warps"});
  const KernelSchedule two = two_tiles_schedule(4);
  Canvas c("While one tile computes, the other multiplies",
           "Chapter 4 above, chapter 5 below, the same 32 units. While the row warps of one tile compute, "
           "the tensor core serves the "
           "other.",
           "Two schedules over the same time; in the second the tensor core row has fewer gaps.");
  heading(c, 20, c.top() + 6, "chapter 4: one query tile");
  const double y = one.schedule.draw(c, c.top() + 18, 32, {}, 26);
  heading(c, 20, y + 16, "chapter 5: two query tiles");
  two.schedule.draw(c, y + 28, 32, {}, 26);
  int mma_one = 0, mma_two = 0;
  for (const Op& o : one.schedule.ops()) mma_one += o.row == one.tensor_row && o.end() <= 32;
  for (const Op& o : two.schedule.ops()) mma_two += o.row == two.tensor_row && o.end() <= 32;
  note(c, fmt::format("{} In 32 units: {} tile products against {}. Each turn still begins with "
                      "a load that everybody waits for.",
                      kUnitsNote, mma_one, mma_two));
  return c;
}

}  // namespace

std::vector<Picture> chapter_05() {
  return {
      {5, "two_against_one", "Two CTAs against one CTA with two query tiles: K and V reuse", two_against_one},
      {5, "tmem_map", "Tensor memory at 512 columns", tmem_full},
      {5, "roles", "Ten warps, and which cells of tensor memory each works on", roles},
      {5, "smem_map", "Shared memory: four tiles, and who reads K and V", smem},
      {5, "barriers", "Barriers: shared ones and one set for each query tile", barriers},
      {5, "schedule", "While one tile computes, the other multiplies", schedule}};
}

}  // namespace diagrams
