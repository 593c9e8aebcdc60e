// Chapter 4: warps with roles, hand-offs between those who need them.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/kernel_schedules.h"
#include "diagrams/picture.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

// One row of a table of participation: who waits (w), who signals (s), who does both (b), who is not asked
// (blank).
void participation(Canvas& c, double x, double y, const std::vector<std::string>& warps,
                   const std::vector<std::pair<std::string, std::string>>& rows, double name_width) {
  const double w = 44, h = 27;
  for (size_t i = 0; i < warps.size(); ++i)
    c.label({x + name_width + i * w, y, w, 32}, warps[i], {.size = 9.5});
  for (size_t r = 0; r < rows.size(); ++r) {
    const double top = y + 34 + r * h;
    c.text({x + name_width - 8, top + 17}, rows[r].first, {.size = 11, .anchor = Anchor::end});
    for (size_t i = 0; i < warps.size(); ++i) {
      const char mark = rows[r].second[i];
      const char* cls = mark == 'w' ? "n2 e" : mark == 's' || mark == 'b' ? "n3 e" : "n1 g";
      c.block({x + name_width + i * w, top, w, h}, cls,
              mark == 'w'   ? "waits"
              : mark == 's' ? "signals"
              : mark == 'b' ? "both"
                            : "",
              {.size = 9.5});
    }
  }
}

Canvas pairwise(const Kernels& kernels) {
  kernels[3].require("__syncthreads();");
  kernels[4].require("mbarrier::init(&shared.softmax_done, kRowWarps);");
  Canvas c("CTA-wide against pairwise hand-offs",
           "Who takes part in each hand-off of one turn. Chapter 3 asks all 128 threads every time; chapter "
           "4 asks those who need it.",
           "Two tables of hand-offs by warps; in the left one every cell is filled, in the right one most "
           "are empty.");
  const double y = c.top() + 30;
  heading(c, 20, y - 10, "chapter 3: 4 warps, all alike");
  participation(c, 20, y, {"warp 0", "warp 1", "warp 2", "warp 3"},
                {{"loads done", "bwww"}, {"QK done", "bwww"}, {"softmax done", "bbbb"}, {"PV done", "bwww"}},
                100);
  heading(c, 430, y - 10, "chapter 4: 6 warps with roles");
  participation(c, 430, y, {"row 0", "row 1", "row 2", "row 3", "load 4", "MMA 5"},
                {{"q_ready", "....sw"},
                 {"kv_ready", "....sw"},
                 {"qk_done", "wwww.s"},
                 {"softmax_done", "ssss.w"},
                 {"pv_done", "wwwwws"}},
                110);
  c.legend({20, y + 190}, {{"n3 e", "signals (or its unit does)"}, {"n2 e", "waits"}, {"n1 g", "not asked"}});
  note(c,
       "An empty cell is a warp that goes on with its own work. There is little of it yet, so nothing is "
       "faster; but two query tiles (chapter 5) and loads ahead (chapter 6) fill the gaps. "
       "kv_ready is completed by the bytes that TMA delivers, qk_done and pv_done by the tensor core; the "
       "warp named issued the work.");
  return c;
}

Canvas roles(const Kernels& kernels) {
  const Kernel& k = kernels[4];
  const int rows = k.value("kRowWarps"), load = k.value("kLoadWarp"), mma = k.value("kMmaWarp"),
            threads = k.value("kThreads");
  Canvas c("Roles: six warps",
           fmt::format("{} threads. Four row warps, because a warp reaches only its quarter of the 128 "
                       "lanes; one warp to load, one to issue MMAs, each through one elected thread.",
                       threads),
           "Six columns, one per warp, with what it does in a turn and what it touches.");
  const double y = c.top() + 16, w = 138, gap = 6;
  for (int i = 0; i < rows + 2; ++i) {
    const double x = 20 + i * (w + gap);
    const bool is_load = i == load, is_mma = i == mma;
    const char* cls = is_load || is_mma ? "n3 f" : "n2 f";
    c.block({x, y, w, 34}, cls,
            fmt::format("warp {}: {}", i,
                        is_load  ? "load"
                        : is_mma ? "MMA"
                                 : "row"),
            {.size = 13, .bold = true});
    c.rect({x, y + 34, w, 150}, "n1 e");
    const std::string text =
        is_load  ? "1 thread\n\nwait pv_done(i-1)\nexpect 65536 B\nK(i): 2 boxes\nV(i): 2 boxes"
        : is_mma ? "1 thread\n\nwait kv_ready(i)\n8 MMAs -> qk_done\nwait softmax_done(i)\n8 MMAs -> pv_done"
                 : fmt::format(
                       "32 threads\nlanes {}-{}\nwait qk_done(i)\nmax, exp, P, O\narrive softmax_done\nwait "
                       "pv_done(i)",
                       32 * i, 32 * i + 31);
    c.label({x, y + 36, w, 146}, text, {.size = 11});
  }
  c.table({20, y + 204}, {150, 200, 510},
          {{"role", "touches", "why it is its own warp"},
           {"row warps", "tensor memory, registers", "one row a thread: maximum and sum need no exchange"},
           {"load warp", "global -> shared (TMA)", "waits for free buffers without holding up anybody else"},
           {"MMA warp", "shared, tensor memory",
            "one stream of MMAs; a commit covers only the MMAs of its own thread"}},
          11.5, 22);
  note(c,
       "Warps are what the scheduler knows: a role that waits costs nothing, as long as it is not the warp "
       "that somebody else's work sits behind.");
  return c;
}

Canvas barriers(const Kernels& kernels) {
  const Kernel& k = kernels[4];
  Canvas c("Barriers of chapter 4",
           "Five mbarriers in shared memory. An arrow goes from who completes a phase to who waits for it.",
           "Three boxes for load warp, MMA warp and row warps with arrows named after the barriers; a table "
           "with addresses and counts.");
  const double y = c.top() + 30, h = 74;
  c.block({30, y, 170, h}, "n2 f", "load warp 4\n1 thread + TMA", {.size = 13});
  c.block({365, y, 170, h}, "n2 f", "MMA warp 5\n1 thread + tensor core", {.size = 13});
  c.block({700, y, 170, h}, "n2 f", "row warps 0-3\n128 threads", {.size = 13});
  c.arrow({{202, y + 16}, {363, y + 16}});
  c.text({282, y + 10}, "q_ready", {.size = 11.5, .anchor = Anchor::middle});
  c.arrow({{202, y + 42}, {363, y + 42}});
  c.text({282, y + 36}, "kv_ready", {.size = 11.5, .anchor = Anchor::middle});
  c.arrow({{363, y + 66}, {202, y + 66}}, "hi");
  c.text({282, y + 61}, "pv_done", {.size = 11.5, .anchor = Anchor::middle, .cls = "x"});
  c.arrow({{537, y + 16}, {698, y + 16}});
  c.text({617, y + 10}, "qk_done", {.size = 11.5, .anchor = Anchor::middle});
  c.arrow({{698, y + 42}, {537, y + 42}}, "hi");
  c.text({617, y + 36}, "softmax_done", {.size = 11.5, .anchor = Anchor::middle, .cls = "x"});
  c.arrow({{537, y + 66}, {698, y + 66}});
  c.text({617, y + 61}, "pv_done", {.size = 11.5, .anchor = Anchor::middle});
  auto at = [&](const char* name) { return hex(kSharedBase + k.member(name).offset); };
  c.table({20, y + h + 30}, {110, 80, 330, 180, 160},
          {{"barrier", "address", "arrivals that complete a phase", "who waits", "phases"},
           {"q_ready", at("q_ready"), "1 expect_tx, then 32768 bytes", "MMA warp", "1"},
           {"kv_ready", at("kv_ready"), "1 expect_tx, then 65536 bytes", "MMA warp", "one a key tile"},
           {"qk_done", at("qk_done"), "1: the commit after 8 MMAs of QK", "row warps", "one a key tile"},
           {"softmax_done", at("softmax_done"), fmt::format("{}: one lane of each row warp", k["kRowWarps"]),
            "MMA warp", "one a key tile"},
           {"pv_done", at("pv_done"), "1: the commit after 8 MMAs of PV", "load and row warps",
            "one a key tile"}},
          11.5, 22);
  note(c,
       "Phase i belongs to key tile i: whoever waits for it asks for parity i & 1. softmax_done says two "
       "things at once: P is in place, and O is rescaled and may be added to.");
  return c;
}

Canvas schedule(const Kernels&) {
  const KernelSchedule k = one_tile_schedule(3, {"load warp / TMA", "MMA warp / tensor core", "row warps"});
  Canvas c("Still one thing at a time",
           "Three independent roles, but each has nothing to do until another has finished: a chain of "
           "hand-offs through one K, one V and one S buffer.",
           "Three rows of blocks that never overlap, joined by arrows.");
  k.schedule.draw(c, c.top() + 10, 24, k.handoffs, 36);
  note(c, fmt::format("{} Tensor core busy: {:.0f} %. The same figure as in chapter 1: this step changes who "
                      "waits, not how long.",
                      kUnitsNote, 100 * k.schedule.busy(1, 0, 24)));
  return c;
}

}  // namespace

std::vector<Picture> chapter_04() {
  return {{4, "pairwise", "CTA-wide against pairwise hand-offs", pairwise},
          {4, "roles", "Roles: four row warps, a load warp, an MMA warp", roles},
          {4, "barriers", "Five barriers: who completes them, who waits", barriers},
          {4, "schedule", "The schedule: roles are free, the work is still a chain", schedule}};
}

}  // namespace diagrams
