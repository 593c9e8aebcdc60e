// Chapter 1, second half: V and the product P V, and the hand-offs of one iteration.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/picture.h"
#include "diagrams/schedule.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

layout::Tile p_tile(const Kernel& k) {
  return operand_tile(k, "k_smem", "k_major_descriptor", layout::Major::k);
}
layout::Tile v_tile(const Kernel& k) { return operand_tile(k, "v_smem", "issue_pv", layout::Major::mn); }

Canvas v_beside_p(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const layout::Tile p = p_tile(k), v = v_tile(k);
  Canvas c("V beside P: the same copy, another reading",
           "O = P V contracts over keys. In P the keys run along a row (K-major); in V they run down the "
           "column, and d along the row (MN-major).",
           "P with keys across, V with keys down; in both the contraction direction is marked, and the 16 "
           "bytes that lie together.");
  const double y = c.top() + 44, a = 190, px = 60, vx = 350, ox = 640;
  grid(c, {px, y, a, a}, 1, 8, [](int, int j) { return j == 1 ? "P f" : "Pl e"; });
  grid(c, {vx, y, a, a}, 8, 1, [](int i, int) { return i == 1 ? "V f" : "Vl e"; });
  c.block({ox, y, a, a}, "O f", "O\n128 queries x 128 d\ntensor memory", {.size = 13});
  heading(c, px, y - 26, "P [query][key]: operand A");
  heading(c, vx, y - 26, "V [key][d]: operand B");
  heading(c, ox, y - 26, "accumulator D");
  c.arrow({{px, y - 9}, {px + a, y - 9}}, "hi");
  c.arrow({{vx - 10, y}, {vx - 10, y + a}}, "hi");
  c.text({px + a / 2, y + a + 18}, "keys: the contraction", {.anchor = Anchor::middle, .cls = "x"});
  c.text({vx - 16, y + a / 2}, "keys", {.anchor = Anchor::middle, .cls = "x", .rotate = -90});
  c.text({vx + a / 2, y + a + 18}, "d", {.anchor = Anchor::middle});
  c.label({vx, y + a / 8, a, a / 8}, "keys 16-31", {.size = 11, .cls = "k"});
  c.label({px + a / 8 - 2, y, a / 8 + 4, a}, "keys 16-31", {.size = 11, .cls = "k", .rotate = -90});
  c.text({px + a + 50, y + a / 2 + 7}, "x", {.size = 20, .anchor = Anchor::middle});
  c.arrow({{vx + a + 20, y + a / 2}, {ox - 8, y + a / 2}});
  const double ty = y + a + 44;
  c.table(
      {20, ty}, {170, 210, 240, 240},
      {{"", "Q, K, P: K-major", "V: MN-major", "why"},
       {"16 bytes hold", "8 of the contraction", "8 of d, for one key", "what lies along a row in memory"},
       {"LBO", fmt::format("{} B: next 8 of K", p.form.lbo), fmt::format("{} B: next 8 keys", v.form.lbo),
        "next core matrix along K"},
       {"SBO", fmt::format("{} B: next 8 rows", p.form.sbo), fmt::format("{} B: next 8 of d", v.form.sbo),
        "next core matrix along M or N"},
       {"step of 16 keys", fmt::format("+{} B", p.step_offset(1)), fmt::format("+{} B", v.step_offset(1)),
        "the loop's advance"},
       {"idesc bit", "bit 15 = 0 (A)", "bit 16 = 1 (B)", "tells the MMA which reading"}},
      11.5, 22);
  note(c,
       "TMA copies V exactly as it copies Q and K: 16 slices of 16 bytes. Nobody transposes anything; the "
       "descriptor and one bit say how to read it.");
  return c;
}

Canvas v_atoms(const Kernels& kernels) {
  const layout::Tile t = v_tile(kernels[1]);
  Canvas c(
      "V's atoms, MN-major without swizzle",
      "An atom is 8 keys x 8 values of d: eight 16-byte pieces, one behind the other, 128 contiguous bytes.",
      "V as keys down and d across; atoms numbered with their offsets, and one atom enlarged with its "
      "addresses.");
  const double y = c.top() + 42, w = 62, h = 26, x = 84;
  heading(c, x, y - 26, "V in shared memory: offset of each atom");
  for (int j = 0; j < 5; ++j)
    c.label({x + j * w, y - 16, w, 14}, fmt::format("d {}-{}", 8 * j, 8 * j + 7), {.size = 9.5, .cls = "m"});
  for (int i = 0; i < 8; ++i) {
    const int group = i < 7 ? i : 15;
    const double top = y + i * h + (i == 7 ? 16 : 0);
    c.text({x - 6, top + 17}, fmt::format("keys {}-{}", group * 8, group * 8 + 7),
           {.size = 9.5, .anchor = Anchor::end, .cls = "m"});
    for (int j = 0; j < 5; ++j) {
      c.block({x + j * w, top, w, h},
              group == 1 && j == 2 ? "V w"
              : group < 2          ? "V e"
                                   : "Vl e",
              fmt::format("+{}", t.address(j * 8, group * 8) - t.start), {.size = 10.5});
    }
  }
  c.text({x + 5 * w + 5, y + 3 * h + 16}, "… 16 across", {.size = 10, .cls = "m"});
  const double ax = 560, cw = 39, ch = 25, ay = y + 6;
  heading(c, ax - 50, ay - 32, "the atom of keys 8-15, d 16-23");
  for (int e = 0; e < 8; ++e)
    c.label({ax + e * cw, ay - 16, cw, 14}, fmt::format("d {}", 16 + e), {.size = 9.5, .cls = "m"});
  for (int r = 0; r < 8; ++r) {
    c.text({ax - 6, ay + r * ch + 16}, fmt::format("key {}", 8 + r),
           {.size = 9.5, .anchor = Anchor::end, .cls = "m"});
    for (int e = 0; e < 8; ++e)
      c.block({ax + e * cw, ay + r * ch, cw, ch}, "Vl e",
              fmt::format("+{}", t.address(16 + e, 8 + r) - t.start), {.size = 9.5});
  }
  c.rect({ax, ay, 8 * cw, 8 * ch}, "none w");
  c.measure({ax, ay + 8 * ch + 12}, {ax + 8 * cw, ay + 8 * ch + 12}, "8 of d = 16 bytes", 5, {.size = 11});
  c.legend({x, y + 8 * h + 32}, {{"V e", "micro-tile 0: keys 0-15"}, {"Vl e", "the other seven"}});
  note(c, fmt::format("Down one atom (8 keys) the address grows by {}, across one (8 of d) by {}. In K-major "
                      "it was the other way round: there the slice held rows of M, here it holds keys.",
                      t.form.lbo, t.form.sbo));
  return c;
}

Canvas pv_microsteps(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const layout::Tile p = p_tile(k), v = v_tile(k);
  Canvas c(
      "PV micro-steps and the bases of V",
      fmt::format("Eight steps of 16 keys. P's start moves two slices = {} bytes on, V's 16 keys = {} bytes.",
                  p.step_offset(1), v.step_offset(1)),
      "P cut into eight vertical strips, V into eight horizontal ones; a table with start addresses and "
      "descriptors for each step.");
  const double y = c.top() + 34, a = 200, px = 60, vx = 330;
  for (int s = 0; s < 8; ++s) {
    c.block({px + s * a / 8, y, a / 8, a},
            s == 1  ? "P w"
            : s % 2 ? "Pl e"
                    : "P e",
            fmt::format("{}", s), {.size = 12});
    c.block({vx, y + s * a / 8, a, a / 8},
            s == 1  ? "V w"
            : s % 2 ? "Vl e"
                    : "V e",
            fmt::format("keys {}-{}   base {}", 16 * s, 16 * s + 15, hex(v.start + v.step_offset(s))),
            {.size = 11});
  }
  c.rect({px + a / 8, y, a / 8, a}, "none w");
  c.rect({vx, y + a / 8, a, a / 8}, "none w");
  heading(c, px, y - 12, fmt::format("P at {}", hex(p.start)));
  heading(c, vx, y - 12, fmt::format("V at {}", hex(v.start)));
  c.prose({570, y + 16}, 310,
          fmt::format("O += P[:, 16 s .. 16 s + 15] V[16 s .. 16 s + 15, :]\n\nIn the first turn of the loop "
                      "step 0 starts O; every later step, in this and all later turns, adds to it.\n\n"
                      "All eight together: 128 x 128 x 128 x 2 = {} FLOP, {} cycles of tensor core.",
                      2 * 128 * 128 * 128, 2 * 128 * 128 * 128 / 8192),
          {.size = 12});
  std::vector<std::vector<std::string>> rows = {
      {"step", "keys", "P start", "P descriptor", "V start", "V descriptor"}};
  for (int s = 0; s < 8; ++s) {
    rows.push_back(
        {fmt::format("{}", s), fmt::format("{}-{}", 16 * s, 16 * s + 15), hex(p.start + p.step_offset(s)),
         hex(descriptor_word(p.form, p.start + p.step_offset(s)), 16), hex(v.start + v.step_offset(s)),
         hex(descriptor_word(v.form, v.start + v.step_offset(s)), 16)});
  }
  c.table({60, y + a + 26}, {60, 90, 100, 220, 100, 220}, rows);
  return c;
}

Canvas v_offsets(const Kernels& kernels) {
  const layout::Tile t = v_tile(kernels[1]);
  Canvas c("V's LBO and SBO (MN-major, no swizzle)",
           fmt::format("The micro-tile of one PV step is 16 keys x 128 of d: 2 x 16 atoms. LBO = {} strides "
                       "keys, SBO = {} strides d.",
                       t.form.lbo, t.form.sbo),
           "Two rows of atoms; LBO goes down to the second row, SBO across to the next column of atoms; the "
           "loop goes to the next two rows.");
  const double y = c.top() + 36, w = 98, h = 46, x = 104;
  for (int j = 0; j < 7; ++j) {
    const int col = j < 6 ? j : 15;
    const double left = x + j * w + (j == 6 ? 40 : 0);
    c.label({left, y - 18, w, 16}, fmt::format("d {}-{}", col * 8, col * 8 + 7), {.size = 10.5, .cls = "m"});
    for (int g = 0; g < 4; ++g) {
      const double top = y + g * h;
      const bool base = g % 2 == 0 && col == 0;
      c.block({left, top, w, h},
              base    ? "V w"
              : g < 2 ? "V e"
                      : "Vl e",
              hex(t.address(col * 8, g * 8)), {.size = 12, .bold = base});
    }
  }
  for (int g = 0; g < 4; ++g) {
    c.text({x - 8, y + g * h + 27}, fmt::format("keys {}-{}", 8 * g, 8 * g + 7),
           {.size = 10.5, .anchor = Anchor::end, .cls = "m"});
    c.label({x + 6 * w, y + g * h, 40, h}, "…", {.cls = "m"});
  }
  c.rect({x, y, 7 * w + 40, 2 * h}, "none w");
  c.rect({x, y + 2 * h, 7 * w + 40, 2 * h}, "none w");
  c.arrow({{x + 14, y + h / 2}, {x + 14, y + 1.5 * h}}, "hi");
  c.text({x + 22, y + h + 4}, fmt::format("LBO {}", t.form.lbo),
         {.size = 10.5, .bold = true, .cls = "x", .plate = true});
  c.arrow({{x + 2 * w - 16, y + 8}, {x + 2 * w + 16, y + 8}}, "hi");
  c.text({x + 2 * w + 22, y + 12}, fmt::format("SBO {}", t.form.sbo),
         {.size = 10.5, .bold = true, .cls = "x", .plate = true});
  c.arrow({{x + w - 14, y + h * 0.7}, {x + w - 14, y + 2.3 * h}}, "ar");
  c.text({x + w - 8, y + 2 * h + 4}, fmt::format("loop +{}", t.step_offset(1)),
         {.size = 10.5, .bold = true, .plate = true});
  c.legend(
      {x, y + 4 * h + 14},
      {{"V w", "where the descriptor of a step points"}, {"V e", "micro-tile 0"}, {"Vl e", "micro-tile 1"}});
  note(c, fmt::format(
              "Element (key, d) lies at base + (key / 8) x {} + (d / 8) x {} + (key % 8) x 16 + (d % 8) x 2. "
              "With a swizzle the two offsets trade places (chapter 3): that is the trap of MN-major.",
              t.form.lbo, t.form.sbo));
  return c;
}

Canvas handoffs(const Kernels& kernels) {
  kernels[1].require("mbarrier::wait(&shared.pv_done, parity)");
  const Units u;
  Schedule s({"TMA", "tensor core", "128 threads"});
  std::vector<std::pair<int, int>> arrows;
  int previous = -1;
  for (int i = 0; i < 3; ++i) {
    const std::vector<int> after = previous < 0 ? std::vector<int>{} : std::vector<int>{previous};
    const int k = s.add(fmt::format("K({})", i), 0, u.load, after, "K"),
              v = s.add(fmt::format("V({})", i), 0, u.load, {}, "V");
    const int qk = s.add(fmt::format("QK({})", i), 1, u.mma, {k, v}, "S");
    const int sm = s.add(fmt::format("softmax({})", i), 2, u.softmax, {qk}, "P");
    const int pv = s.add(fmt::format("PV({})", i), 1, u.mma, {sm}, "O");
    if (previous >= 0) arrows.emplace_back(previous, k);
    arrows.insert(arrows.end(), {{v, qk}, {qk, sm}, {sm, pv}});
    previous = pv;
  }
  Canvas c("One iteration's hand-offs",
           "Every hand-off waits at once, so one thing happens at a time. Each arrow is a barrier that all "
           "128 threads wait for.",
           "Three rows: TMA, tensor core, threads. Blocks never overlap in time; arrows lead from each block "
           "to the next.");
  const double below = s.draw(c, c.top() + 10, 24, arrows, 34);
  c.table({20, below + 6}, {120, 190, 250, 300},
          {{"arrow", "barrier", "who completes it", "what it protects"},
           {"load -> QK", "kv_ready", "TMA: 65536 bytes have landed", "(d) the MMA reads what TMA wrote"},
           {"QK -> softmax", "qk_done", "tensor core: the commit arrives",
            "(c) the loads of S see finished sums"},
           {"softmax -> PV", "__syncthreads + fences", "all 128 threads",
            "(a) P in shared memory, (b) O in tensor memory"},
           {"PV -> next load", "pv_done", "tensor core: the commit arrives",
            "(e) TMA may overwrite K, P and V; (c) O"}},
          11, 21);
  note(c, fmt::format("{} In this chapter the tensor core works {:.0f} % of the time.", kUnitsNote,
                      100 * s.busy(1, 0, 24)));
  return c;
}

}  // namespace

std::vector<Picture> chapter_01_pv() {
  return {{1, "v_beside_p", "V beside P: K-major and MN-major", v_beside_p},
          {1, "v_atoms", "V's atoms in MN-major", v_atoms},
          {1, "pv_microsteps", "PV micro-steps and the bases of V", pv_microsteps},
          {1, "v_lbo_sbo", "V's LBO and SBO", v_offsets},
          {1, "handoffs", "One iteration's hand-offs: one thing at a time", handoffs}};
}

}  // namespace diagrams
