// The on-ramp: tiled matmul, row-major, the path of one tile, the two descriptors.
#include <fmt/format.h>

#include "descriptor.cuh"
#include "diagrams/helpers.h"
#include "diagrams/picture.h"
#include "layout/draw.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

void draw_plain_matmul(Canvas& c, double x, double y) {
  const double t = 34, a = 4 * t;  // tiles of 34 units
  const Rect b_box = {x + a + 30, y, a, a}, a_box = {x, y + a + 34, a, a},
             c_box = {x + a + 30, y + a + 34, a, a};
  grid(c, b_box, 4, 4, [](int, int j) { return j == 2 ? "n3 e" : "n1 e"; });
  grid(c, a_box, 4, 4, [](int i, int) { return i == 1 ? "n3 e" : "n1 e"; });
  grid(c, c_box, 4, 4, [](int i, int j) { return i == 1 && j == 2 ? "n3 e" : "n1 e"; });
  c.rect({c_box.x + 2 * t, c_box.y + t, t, t}, "none w");
  c.text({b_box.x, y - 6}, "B [K, N]");
  c.text({a_box.x, a_box.y - 6}, "A [M, K]");
  c.text({c_box.x, c_box.y - 6}, "C [M, N]");
  c.label({c_box.x + 2 * t, c_box.y + t, t, t}, "C", {.size = 12, .bold = true});
  c.arrow({{a_box.x + 5, a_box.y + 1.5 * t}, {a_box.right() - 5, a_box.y + 1.5 * t}}, "hi");
  c.arrow({{b_box.x + 2.5 * t, y + 5}, {b_box.x + 2.5 * t, y + a - 5}}, "hi");
  c.prose({x, c_box.bottom() + 26}, 400, "for kt in K tiles:\nC += A[m, kt] B[kt, n]", {.size = 12.5});
}

void draw_attention(Canvas& c, double x, double y) {
  const double t = 34, a = 4 * t;
  const Rect q = {x, y + a + 34, 46, a}, k = {x + 76, y + a - 46, a, 46}, s = {x + 76, y + a + 34, a, a};
  const Rect v = {x + 76 + a + 40, y, 46, a}, o = {x + 76 + a + 40, y + a + 34, 46, a};
  grid(c, q, 4, 1, [](int i, int) { return i == 1 ? "Q f" : "Ql e"; });
  grid(c, k, 1, 4, [](int, int) { return "K e"; });
  grid(c, s, 4, 4, [](int i, int) { return i == 1 ? "S e" : "n1 e"; });
  grid(c, v, 4, 1, [](int, int) { return "V e"; });
  grid(c, o, 4, 1, [](int i, int) { return i == 1 ? "O f" : "Ol e"; });
  for (int i = 0; i < 4; ++i) {
    c.label({k.x + i * t, k.y, t, 46}, fmt::format("K({})", i), {.size = 11, .cls = "k"});
    c.label({s.x + i * t, s.y + t, t, t}, fmt::format("S({})", i), {.size = 11, .cls = "k"});
    c.label({v.x, v.y + i * t, 46, t}, fmt::format("V({})", i), {.size = 11, .cls = "k"});
  }
  c.label({q.x, q.y + t, 46, t}, "Q", {.size = 12, .bold = true, .cls = "k"});
  c.label({o.x, o.y + t, 46, t}, "O", {.size = 12, .bold = true, .cls = "k"});
  c.arrow({{s.x + 4, s.y + t + 44}, {s.right() - 4, s.y + t + 44}}, "hi");
  c.arrow({{v.right() + 12, y + 4}, {v.right() + 12, y + a - 4}}, "hi");
  c.text({q.x, q.y - 6}, "queries");
  c.text({k.x, k.y - 6}, "keys, transposed");
  c.text({s.x, s.y - 6}, "scores");
  c.text({v.x, v.y - 6}, "values");
  c.text({o.x, o.y - 6}, "output");
  c.prose({x, s.bottom() + 26}, 410,
          "for i in key tiles:\nS = Q K(i)ᵀ;   P = exp(S - row max)\nO = O x correction + P V(i)",
          {.size = 12.5});
}

Canvas tiled_matmul(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  Canvas c("Tiled matmul beside attention",
           "Both keep one output tile on the chip and walk along one dimension (red). A matmul walks its "
           "contraction; attention "
           "walks the keys, and multiplies twice on the way.",
           "Left: C tile fixed, arrows along a row of A and down a column of B. Right: one query tile, "
           "arrows along the key tiles "
           "and down the value tiles; one row of score tiles; one output tile.");
  const double y = c.top() + 30;
  heading(c, 20, y - 16, "C = A B");
  heading(c, 460, y - 16, "O = softmax(Q Kᵀ) V");
  draw_plain_matmul(c, 20, y + 14);
  draw_attention(c, 460, y + 14);
  note(c, fmt::format("Here every tile of Q, K, V and O is {} rows x {} head-dim elements of BF16 = {} "
                      "bytes; one S tile is {} x {} FP32 = "
                      "{} bytes and never leaves the chip.",
                      k["BLOCK_M"], k["HEAD_DIM"], k["kTileBytes"], k["BLOCK_M"], k["BLOCK_N"],
                      k["BLOCK_M"] * k["BLOCK_N"] * 4));
  return c;
}

Canvas row_major(const Kernels& kernels) {
  const int d = kernels[0].value("HEAD_DIM"), stride = d * 2;
  Canvas c(
      "Row-major: two strides turn (row, column) into an address",
      fmt::format(
          "A [rows, {}] BF16 matrix in global memory. The next column is 2 bytes on, the next row {} bytes.",
          d, stride),
      "Logical matrix with byte offsets, the same bytes as one line of memory, and the address of element "
      "(2, 5) worked out.");
  const double y = c.top() + 26, w = 62, h = 30, x = 80;
  heading(c, x, y - 12, "logical: what the code means");
  const int shown = 7;
  for (int j = 0; j < shown; ++j)
    c.label({x + j * w, y, w, 16}, fmt::format("column {}", j), {.size = 10, .cls = "m"});
  c.label({x + shown * w, y, 50, 16}, "…", {.cls = "m"});
  c.label({x + shown * w + 50, y, w + 8, 16}, fmt::format("column {}", d - 1), {.size = 10, .cls = "m"});
  for (int i = 0; i < 4; ++i) {
    const double top = y + 18 + i * h;
    c.text({x - 8, top + 19}, fmt::format("row {}", i), {.size = 10, .anchor = Anchor::end, .cls = "m"});
    for (int j = 0; j < shown; ++j) {
      c.block({x + j * w, top, w, h},
              i == 2 && j == 5 ? "Q w"
              : i == 2         ? "Ql e"
                               : "n1 e",
              fmt::format("+{}", i * stride + j * 2));
    }
    c.block({x + shown * w + 50, top, w + 8, h}, i == 2 ? "Ql e" : "n1 e",
            fmt::format("+{}", i * stride + (d - 1) * 2));
  }
  const double table = y + 18;
  c.prose({690, table + 14}, 195,
          fmt::format("address(row, col) =\n  base + row x {} + col x 2\n\n(2, 5):\n  2 x {} + 5 x 2 = {}",
                      stride, stride, 2 * stride + 10),
          {.size = 12.5});
  const double py = y + 190;
  heading(c, x, py - 12, "physical: memory is one line of bytes");
  const double full = 800, row_w = full / 4;
  for (int i = 0; i < 4; ++i) {
    c.block({x + i * row_w - 20, py, row_w, 40}, i == 2 ? "Ql f" : "n1 f",
            fmt::format("row {}: {} bytes", i, stride));
    c.text({x + i * row_w - 20, py + 54}, fmt::format("+{}", i * stride), {.size = 10, .cls = "m"});
  }
  const double el = x - 20 + 2 * row_w + row_w * 10 / stride;
  c.rect({el, py, 3, 40}, "Q f", "element (2, 5)");
  c.arrow({{el + 1.5, py + 88}, {el + 1.5, py + 60}}, "hi");
  c.text({el + 10, py + 86}, fmt::format("element (2, 5) at +{}", 2 * stride + 10), {.cls = "x"});
  note(c,
       "A layout is a rule like this one. The tensor core accepts a few such rules and row-major over a "
       "whole tile is not among "
       "them, so the copy into shared memory changes the order.");
  return c;
}

struct Stage {
  std::string place, holds, cls;
};
struct Way {
  std::string by, how;
};

Canvas tile_path(const Kernels& kernels) {
  const Kernel& k = kernels[0];
  const int64_t boxes = k["HEAD_DIM"] / k["kSliceWidth"];
  Canvas c(
      "The path of one tile",
      "S = Q Kᵀ for one tile: where the numbers are at each moment, who moves them, and who waits for whom.",
      "Five places from left to right: global memory, shared memory, tensor memory, registers, global "
      "memory, with the mover "
      "between each pair.");
  const std::vector<Stage> stages = {
      {"global memory",
       fmt::format("Q and K\n{0} x {1} BF16\nrow-major\n{2} B each", k["BLOCK_M"], k["HEAD_DIM"],
                   k["kTileBytes"]),
       "Ql"},
      {"shared memory",
       fmt::format("Q at {}\nK at {}\nK-major\n{} slices", hex(kSharedBase + k.member("q_smem").offset),
                   hex(kSharedBase + k.member("k_smem").offset), boxes),
       "Kl"},
      {"tensor memory", fmt::format("S in columns\n{}-{}\n128 lanes\nFP32", k["kTmemS"], k["kTmemS"] + 127),
       "Sl"},
      {"registers", "thread t:\nrow t of S\n8 columns\nat a time", "Sl"},
      {"global memory",
       fmt::format("S\n{0} x {1} FP32\nrow-major\n{2} B", k["BLOCK_M"], k["BLOCK_N"],
                   k["BLOCK_M"] * k["BLOCK_N"] * 4),
       "Sl"}};
  const std::vector<Way> ways = {
      {"TMA", fmt::format("{} boxes of\n{} x 128", 2 * boxes, k["kSliceWidth"])},
      {"tcgen05.mma", fmt::format("{} x K = {}", k["HEAD_DIM"] / k["MMA_K"], k["MMA_K"])},
      {"tcgen05.ld", fmt::format("32x32b.x8\n{} a warp", k["BLOCK_N"] / 8)},
      {"st.global", "2 x 16 B\na chunk"}};
  const double y = c.top() + 20, w = 108, gap = 80, h = 112;
  for (size_t i = 0; i < stages.size(); ++i) {
    const double x = 20 + i * (w + gap);
    c.label({x - 10, y, w + 20, 18}, stages[i].place, {.size = 12.5, .bold = true});
    c.block({x, y + 22, w, h}, stages[i].cls + " f", stages[i].holds, {.size = 12});
    if (i + 1 == stages.size()) continue;
    c.arrow({{x + w + 4, y + 22 + h / 2}, {x + w + gap - 4, y + 22 + h / 2}});
    c.label({x + w, y + 44, gap, 16}, ways[i].by, {.size = 11.5, .bold = true});
    c.label({x + w, y + 22 + h / 2 + 6, gap, 34}, ways[i].how, {.size = 10.5, .cls = "m"});
  }
  const double by = y + 22 + h + 34;
  const std::vector<std::tuple<int, std::string, std::string>> waits = {
      {2, "wait::ld", "each warp, before it uses the registers"},
      {1, "qk_done", "the commit arrives when all 8 MMAs are complete; everybody waits"},
      {0, "qk_ready",
       fmt::format("completes when all {} bytes have landed; everybody waits", 2 * k["kTileBytes"])}};
  double ty = by;
  for (const auto& [i, name, text] : waits) {
    const double mid = 20 + i * (w + gap) + w + gap / 2;
    c.line({mid, y + 22 + h / 2 + 46}, {mid, ty - 5}, "da");
    c.line({mid, ty - 5}, {mid + 14, ty - 5}, "da");
    c.text({mid + 18, ty}, name, {.size = 12, .bold = true, .cls = "x"});
    c.text({mid + 92, ty}, text, {.size = 12});
    ty += 24;
  }
  note(c,
       "TMA, the tensor core and the threads run on their own; nothing is in order unless a barrier makes it "
       "so.");
  return c;
}

Canvas one_mma(const Kernels& kernels) {
  const Kernel& k = kernels[0];
  const int64_t m = k["BLOCK_M"], n = k["BLOCK_N"], mk = k["MMA_K"], d = k["HEAD_DIM"];
  Canvas c("What one tcgen05.mma multiplies",
           fmt::format("M {} x N {} x K {}: an instruction contracts {} elements, 32 bytes of each row. A "
                       "tile has {}, so a loop issues {}.",
                       m, n, mk, mk, d, d / mk),
           "A strip of Q, 128 by 16, times a strip of K transposed, 16 by 128, accumulates into the 128 by "
           "128 tile S.");
  const double y = c.top() + 60, tile = 200, strip = tile / 8;
  const double qx = 84, kx = 380, sx = 650;
  grid(c, {qx, y, tile, tile}, 1, 8, [](int, int j) { return j == 2 ? "Q f" : "Ql e"; });
  grid(c, {kx, y, tile, tile}, 8, 1, [](int i, int) { return i == 2 ? "K f" : "Kl e"; });
  c.block({sx, y, tile, tile}, "S f",
          fmt::format("S\n{} x {} FP32\nin tensor memory\n\nadds up all {} products", m, n, d / mk),
          {.size = 13});
  for (int i = 0; i < 8; ++i) {
    c.label({qx + i * strip, y + tile, strip, 16}, fmt::format("{}", i), {.size = 10.5, .cls = "m"});
    c.label({kx + tile + 2, y + i * strip, 18, strip}, fmt::format("{}", i), {.size = 10.5, .cls = "m"});
  }
  heading(c, qx, y - 32, "Q tile: operand A");
  heading(c, kx, y - 32, "K tile, read as Kᵀ: operand B");
  heading(c, sx, y - 32, "accumulator D");
  c.measure({qx + 2 * strip, y - 10}, {qx + 3 * strip, y - 10}, "", -4);
  c.text({qx + 3 * strip + 8, y - 6}, fmt::format("K = {} = 32 bytes", mk), {.size = 11});
  c.measure({qx - 14, y}, {qx - 14, y + tile}, "M 128", -5, {.size = 10});
  c.text({qx + tile + 46, y + tile / 2 + 6}, "x", {.size = 20, .anchor = Anchor::middle});
  c.arrow({{kx + tile + 26, y + tile / 2}, {sx - 6, y + tile / 2}});
  c.text({qx, y + tile + 36},
         fmt::format("step 2 (full colour) multiplies columns {}-{} of Q with columns {}-{} of K, for all {} "
                     "x {} pairs of rows",
                     2 * mk, 3 * mk - 1, 2 * mk, 3 * mk - 1, m, n),
         {.size = 12});
  note(c, fmt::format("One instruction: {} x {} x {} x 2 = {} FLOP, issued by one thread. At 8192 FLOP a "
                      "clock and SM the tensor core is busy for "
                      "{} cycles, {} for the tile. Step 0 starts S (no accumulate), steps 1 to {} add to it.",
                      m, n, mk, m * n * mk * 2, m * n * mk * 2 / 8192, m * n * d * 2 / 8192, d / mk - 1));
  return c;
}

Canvas matrix_word(const Kernels& kernels) {
  const layout::Tile t = operand_tile(kernels[0], "q_smem", "k_major_descriptor", layout::Major::k);
  const uint64_t word = descriptor_word(t.form, t.start);
  Canvas c = layout::draw_word(layout::decode_matrix_descriptor(word), "Q's matrix descriptor, step 0:");
  note(c, fmt::format("How one thread tells the tensor core where an operand lies. Made by "
                      "matrix_descriptor({}, {}, {}, none) and decoded again here. "
                      "Offsets count 16-byte units. Step 1 adds {} bytes = {} units to the start address; "
                      "nothing else changes.",
                      hex(t.start), t.form.lbo, t.form.sbo, t.step_offset(1), t.step_offset(1) >> 4));
  return c;
}

Canvas instruction_word(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const uint32_t qk =
      instruction_descriptor(k.value("BLOCK_M"), k.value("BLOCK_N"), ::Major::kK, ::Major::kK);
  const uint32_t pv =
      instruction_descriptor(k.value("BLOCK_M"), k.value("HEAD_DIM"), ::Major::kK, ::Major::kMN);
  Canvas c = layout::draw_word(layout::decode_instruction_descriptor(qk, "f16", 1),
                               "The instruction descriptor of S = Q Kᵀ:");
  note(c, fmt::format("What the MMA computes: shapes, types and which index of each operand is contiguous. "
                      "Where the operands lie is in the matrix "
                      "descriptors. PV differs in one bit: B is N-major, bit 16 = 1, so its word is {}.",
                      hex(pv, 8)));
  return c;
}

Canvas mbarrier_life(const Kernels& kernels) {
  const Kernel& k = kernels[0];
  k.require("mbarrier::init(&shared.qk_ready, 1);");
  k.require("mbarrier::arrive_expect_tx(&shared.qk_ready, 2 * kTileBytes);");
  const int64_t boxes = 2 * k["HEAD_DIM"] / k["kSliceWidth"], box = k["kSliceBytes"],
                all = 2 * k["kTileBytes"];
  Canvas c("The life of an mbarrier: qk_ready",
           fmt::format("8 bytes at {} count arrivals and bytes. A phase is over when both are down to zero; "
                       "then the next phase begins by itself.",
                       hex(kSharedBase + k.member("qk_ready").offset)),
           "Six states from left to right: initialised, expecting bytes, bytes arriving, last byte, phase "
           "over, with counts and what a wait answers.");
  struct State {
    std::string event, who;
    int64_t arrivals, bytes;
    int phase;
  };
  const std::vector<State> states = {{"init, count 1", "leader thread", 1, 0, 0},
                                     {fmt::format("expect_tx\n{} B, arrive", all), "leader thread", 0, all, 0},
                                     {"box 1 lands", "TMA", 0, all - box, 0},
                                     {fmt::format("box {} lands", boxes - 1), "TMA", 0, box, 0},
                                     {fmt::format("box {} lands", boxes), "TMA", 1, 0, 1}};
  const double y = c.top() + 24, x = 150, w = 146, h = 32;
  const char* names[] = {"what happens", "arrivals missing", "bytes missing", "current phase",
                         "wait(…, parity 0)"};
  for (int r = 0; r < 5; ++r)
    c.text({x - 12, y + 38 + r * (h + 6) + (r > 0 ? 10 : 3)}, names[r],
           {.size = 11.5, .anchor = Anchor::end});
  for (size_t i = 0; i < states.size(); ++i) {
    const State& s = states[i];
    const double left = x + i * w, cell = w - 10;
    c.label({left, y - 4, cell, 18}, s.who, {.size = 11, .bold = true});
    c.block({left, y + 14, cell, h + 12}, "n2 f", s.event, {.size = 11.5});
    const std::string cells[] = {fmt::format("{}", s.arrivals), fmt::format("{}", s.bytes),
                                 fmt::format("{}", s.phase), s.phase == 0 ? "waits" : "returns"};
    for (int r = 0; r < 4; ++r) {
      const double top = y + 34 + (r + 1) * (h + 6);
      const char* cls = r < 2                    ? ((r == 0 ? s.arrivals : s.bytes) == 0 ? "n1 e" : "n3 e")
                        : r == 3 && s.phase == 1 ? "n1 w"
                                                 : "n1 e";
      c.block({left, top - 6, cell, h}, cls, cells[r], {.size = 12.5, .bold = r == 3 && s.phase == 1});
    }
    if (i + 1 < states.size()) c.arrow({{left + cell + 1, y + 36}, {left + w - 1, y + 36}});
  }
  note(c, fmt::format(
              "{} boxes of {} bytes make {}. The bytes of a box may be credited in any order and before or "
              "after the expectation; only the sum counts. wait(parity 0) asks whether phase 0 is over; "
              "a barrier used once per key tile is asked for parity i & 1 in turn i. When a phase ends the "
              "count of arrivals is back at {}.",
              boxes, box, all, 1));
  return c;
}

}  // namespace

std::vector<Picture> chapter_00() {
  return {
      {0, "tiled_matmul", "Tiled matmul beside attention: what stays on the chip and what is walked along",
       tiled_matmul},
      {0, "row_major", "Row-major storage: strides turn a row and a column into a byte address", row_major},
      {0, "tile_path", "One tile's path: global, shared, tensor memory, registers, and the barriers between",
       tile_path},
      {0, "mbarrier", "The life of an mbarrier: arrivals, bytes, phase", mbarrier_life},
      {0, "one_mma", "One tcgen05.mma takes 32 bytes of each row; eight make a tile", one_mma},
      {0, "matrix_descriptor", "The 64 bits that tell the tensor core where Q lies", matrix_word},
      {0, "instruction_descriptor", "The 32 bits that say what the MMA computes", instruction_word}};
}

}  // namespace diagrams
