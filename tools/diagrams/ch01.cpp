// Chapter 1, first half: work and grid, the loop, Q and K, softmax and tensor memory.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/picture.h"
#include "layout/draw.h"
#include "layout/tmem.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

Canvas tiles_and_grid(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const int length = 512, tiles = length / k.value("BLOCK_M"), batch = 1, heads = 2;
  Canvas c("Tiles and the grid: one CTA for each tile of queries",
           fmt::format("Shape 1 x 2 x 512 (batch x heads x length): {} x {} = {} CTAs. CTAs run at the same "
                       "time; each loops over the {} key tiles of its head.",
                       tiles, batch * heads, tiles * batch * heads, tiles),
           "Two heads, each with four query tiles, four key and value tiles and four output tiles; every "
           "query tile belongs to one CTA.");
  const double y = c.top() + 34, h = 40, w = 92;
  for (int head = 0; head < heads; ++head) {
    const double x = 20 + head * 440;
    heading(c, x, y - 22, fmt::format("head {} (blockIdx.y = {})", head, head));
    const std::vector<std::pair<std::string, std::string>> columns = {
        {"Q", "Q"}, {"K", "K"}, {"V", "V"}, {"O", "O"}};
    for (size_t j = 0; j < columns.size(); ++j) {
      const double cx = x + j * (w + 14);
      for (int i = 0; i < tiles; ++i) {
        const bool mine = i == 1, walked = j == 1 || j == 2;
        c.block({cx, y + i * h, w, h}, columns[j].second + (mine || walked ? " e" : "l e"),
                fmt::format("{} rows\n{}-{}", columns[j].first, i * 128, i * 128 + 127), {.size = 10});
        if (mine && !walked) c.rect({cx, y + i * h, w, h}, "none w");
      }
    }
    c.arrow({{x + 1 * (w + 14) - 7, y + 4}, {x + 1 * (w + 14) - 7, y + tiles * h - 4}}, "hi");
    c.arrow({{x + 2 * (w + 14) - 7, y + 4}, {x + 2 * (w + 14) - 7, y + tiles * h - 4}}, "hi");
    c.text({x, y + tiles * h + 20},
           fmt::format("CTA (1, {}): Q rows 128-255, walks K and V, writes O rows 128-255", head),
           {.size = 11.5});
  }
  const double gy = y + tiles * h + 54;
  heading(c, 20, gy - 10, fmt::format("the grid: dim3({}, {})", tiles, heads));
  for (int head = 0; head < heads; ++head) {
    for (int i = 0; i < tiles; ++i) {
      c.block({20 + i * 108.0, gy + head * 34, 100, 28}, i == 1 ? "O w" : "Ol e",
              fmt::format("CTA ({}, {})", i, head), {.size = 11.5});
    }
  }
  c.prose({470, gy + 12}, 410,
          fmt::format("blockIdx.x picks the query tile, blockIdx.y the batch and head. A CTA reads one 32 KB "
                      "Q tile once, and {} K and {} V tiles, 32 KB each. "
                      "At 16 heads x 4096 queries the grid has 32 x 16 CTAs a batch.",
                      tiles, tiles),
          {.size = 12});
  return c;
}

Canvas cta_loop(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  Canvas c("One CTA's loop",
           "Q stays, O grows; each turn brings one key tile and one value tile. Two matmuls with a softmax "
           "between them.",
           "Five boxes in a ring: load K and V, S = Q K transposed, softmax, O rescaled, O += P V, with the "
           "memory each result lives in.");
  const double y = c.top() + 24;
  const struct {
    const char *title, *what, *where, *cls;
    double x, w;
  } boxes[] = {
      {"load K(i), V(i)", "TMA, 2 x 32 KB", "shared memory", "Kl", 20, 150},
      {"S = Q K(i)ᵀ", "8 MMAs", "tensor memory\ncolumns 0-127", "Sl", 200, 140},
      {"new row max", "128 threads,\none row each", "registers", "n2", 370, 120},
      {"P = exp(S - max)", "and O *= correction", "P: shared memory\nO: tensor memory", "Pl", 520, 160},
      {"O += P V(i)", "8 MMAs", "tensor memory\ncolumns 128-255", "Ol", 710, 150}};
  for (const auto& b : boxes) {
    c.rect({b.x, y, b.w, 92}, std::string(b.cls) + " f", "", 4);
    c.label({b.x, y + 6, b.w, 22}, b.title, {.size = 13, .bold = true});
    c.label({b.x, y + 28, b.w, 30}, b.what, {.size = 11});
    c.label({b.x, y + 58, b.w, 32}, b.where, {.size = 10.5, .cls = "m"});
  }
  for (int i = 0; i + 1 < 5; ++i)
    c.arrow({{boxes[i].x + boxes[i].w + 2, y + 46}, {boxes[i + 1].x - 2, y + 46}});
  c.arrow({{785, y + 94}, {785, y + 124}, {95, y + 124}, {95, y + 95}}, "hi");
  c.text({430, y + 118}, "next key tile, i + 1", {.anchor = Anchor::middle, .cls = "x"});
  const double ty = y + 164;
  heading(c, 20, ty - 8, "what one thread carries for its row, worked through two tiles of two keys each");
  // Scores of one row; the arithmetic of online softmax, rounded to three decimals.
  c.table({20, ty}, {110, 110, 120, 150, 160, 210},
          {{"", "scores", "row max m", "correction", "P", "sum l, O (v = 1, 2 | 3, 4)"},
           {"tile 0", "1, 3", "3", "-", "e^-2, e^0 = 0.135, 1", "l = 1.135; O = 0.135 + 2 = 2.135"},
           {"tile 1", "5, 4", "5", "e^(3-5) = 0.135", "e^0, e^-1 = 1, 0.368",
            "l = 1.522; O = 0.289 + 4.472 = 4.760"},
           {"end", "", "", "", "", "O / l = 3.129"}},
          10.5, 22);
  note(c, fmt::format("The correction moves what was summed under the old maximum to the new one; without it "
                      "the parts of O would not fit together. "
                      "Q: {} bytes, loaded once. Per turn: {} bytes by TMA, {} MFLOP.",
                      k["kTileBytes"], 2 * k["kTileBytes"], "8.39"));
  return c;
}

Canvas q_slices(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const int slices = k.value("HEAD_DIM") / k.value("kSliceWidth");
  const int64_t bytes = k["kSliceBytes"];
  const uint32_t q = kSharedBase + k.member("q_smem").offset;
  Canvas c("Q goes to shared memory in 16-byte-wide slices",
           fmt::format("{} TMA boxes of {} columns x 128 rows. Each box lands as 128 rows of 16 bytes, {} "
                       "bytes in all, one box behind the other.",
                       slices, k["kSliceWidth"], bytes),
           "A 128 by 128 tile in global memory cut into 16 vertical slices; each goes to its own 2048-byte "
           "block of shared memory.");
  const double y = c.top() + 30, w = 36, x = 90, h = 150;
  heading(c, x, y - 14, "global memory: row-major, a row of the tile is 256 bytes");
  for (int i = 0; i < slices; ++i) {
    c.block({x + i * w, y, w, h}, i % 2 ? "Ql e" : "Q e", fmt::format("{}", i), {.size = 12},
            fmt::format("slice {}: columns {}-{}, all 128 rows", i, i * 8, i * 8 + 7));
  }
  c.measure({x - 14, y}, {x - 14, y + h}, "128 rows", -5, {.size = 11});
  c.measure({x, y + h + 10}, {x + w, y + h + 10}, "8 columns = 16 B", 4, {.size = 10.5});
  c.measure({x + 8 * w, y + h + 10}, {x + 16 * w, y + h + 10}, "", 4);
  c.text({x + 12 * w, y + h + 26}, "64 columns = 128 B", {.size = 10.5, .anchor = Anchor::middle});
  const double py = y + h + 84;
  heading(c, x, py - 12, "shared memory: slice behind slice");
  for (int i = 0; i < slices; ++i) {
    c.block({x + i * w, py, w, 44}, i % 2 ? "Ql f" : "Q f", fmt::format("{}", i), {.size = 12},
            fmt::format("slice {}: {} to {}", i, hex(q + i * bytes), hex(q + (i + 1) * bytes - 1)));
    if (i % 2 == 0) c.text({x + i * w + 1, py + 58}, hex(q + i * bytes), {.size = 9.5, .cls = "m"});
  }
  c.text({x + slices * w + 4, py + 27}, hex(q + slices * bytes), {.size = 9.5, .cls = "m"});
  c.arrow({{x + 1.5 * w, y + h + 40}, {x + 1.5 * w, py - 28}}, "hi");
  c.text({x + 1.5 * w + 12, y + h + 50}, "TMA: 1 box, 128 rows of 16 B", {.size = 11, .cls = "x"});
  c.prose({690, y + 10}, 190,
          fmt::format("box {{{}, 128}}\ncoordinates {{8 i, first row}}\nto {} + i x {}\n\nmbarrier q_ready "
                      "expects {} bytes: {} boxes of {}",
                      k["kSliceWidth"], hex(q), bytes, k["kTileBytes"], slices, bytes),
          {.size = 12});
  note(c,
       "Why slices? The tensor core wants the 16 bytes of row r + 1 right behind those of row r. A box as "
       "wide as the tile would put 256 bytes between them. K takes the same way.");
  return c;
}

Canvas physical_order(const Kernels& kernels) {
  const layout::Tile t = operand_tile(kernels[1], "q_smem", "k_major_descriptor", layout::Major::k);
  Canvas c("Physical order before and after",
           "The same 16-byte chunks of Q, numbered by where they lie: in global memory (row after row) and "
           "in shared memory (slice after slice).",
           "Two grids of rows by chunks. Left: offsets grow along the row. Right: offsets grow down the "
           "column, then jump to the next slice.");
  const double y = c.top() + 30, w = 48, h = 24;
  const int rows = 10, columns = 7;
  for (int side = 0; side < 2; ++side) {
    const double x = 62 + side * 444;
    heading(
        c, x, y - 22,
        side == 0 ? "global memory: byte offset of each chunk" : "shared memory: byte offset of each chunk");
    for (int j = 0; j < columns; ++j)
      c.label({x + j * w, y - 14, w, 14}, fmt::format("k {}", j * 8), {.size = 9.5, .cls = "m"});
    for (int i = 0; i < rows; ++i) {
      const int row = i < 9 ? i : 127;
      const double top = y + i * h + (i == 9 ? 16 : 0);
      c.text({x - 6, top + 16}, fmt::format("row {}", row), {.size = 9.5, .anchor = Anchor::end, .cls = "m"});
      for (int j = 0; j < columns; ++j) {
        const uint32_t at = side == 0 ? row * 256 + j * 16 : t.address(row, j * 8) - t.start;
        c.block({x + j * w, top, w, h}, j % 2 ? "Ql e" : "Q e", fmt::format("{}", at), {.size = 10.5});
      }
    }
    c.text({x + columns * w + 4, y + 4 * h}, "…", {.cls = "m"});
    if (side == 0) {
      c.arrow({{x, y + 9 * h + 52}, {x + columns * w, y + 9 * h + 52}}, "hi");
      c.text({x, y + 9 * h + 70}, "order: along the row, then down", {.cls = "x"});
    } else {
      c.arrow({{x + columns * w + 12, y + 5 * h}, {x + columns * w + 12, y + 9 * h + 40}}, "hi");
      c.text({x, y + 9 * h + 70}, "order: down the slice, then across", {.cls = "x"});
    }
  }
  note(c, fmt::format("In shared memory the chunk right of +0 is +{}, a whole slice away; the one below is "
                      "+16. Eight rows of one slice make 128 contiguous bytes: a core matrix.",
                      t.form.lbo));
  return c;
}

Canvas microtile_loop(const Kernels& kernels) {
  const layout::Tile t = operand_tile(kernels[1], "q_smem", "k_major_descriptor", layout::Major::k);
  const int steps = t.k / t.form.mma_k();
  Canvas c("The loop over micro-tiles",
           fmt::format("One MMA takes K = 16, two slices. {} steps walk the tile; between them only the "
                       "start address in the descriptors moves, by {} bytes.",
                       steps, t.step_offset(1)),
           "Sixteen slices in pairs; each pair is the micro-tile of one MMA, with its start address and "
           "descriptor.");
  const double y = c.top() + 26, x = 50, w = 50, h = 120;
  for (int s = 0; s < steps; ++s) {
    for (int half = 0; half < 2; ++half) {
      c.block({x + (2 * s + half) * w, y, w, h}, s % 2 ? "Ql e" : "Q e",
              fmt::format("slice\n{}", 2 * s + half), {.size = 11});
    }
    c.rect({x + 2 * s * w, y, 2 * w, h}, "none w");
    c.label({x + 2 * s * w, y + h + 4, 2 * w, 18}, fmt::format("step {}", s), {.size = 12, .bold = true});
    c.label({x + 2 * s * w, y + h + 22, 2 * w, 16}, fmt::format("start {}", hex(t.start + t.step_offset(s))),
            {.size = 11});
    c.label({x + 2 * s * w, y + h + 38, 2 * w, 14}, fmt::format("+{}", t.step_offset(s)),
            {.size = 10, .cls = "m"});
    if (s + 1 < steps) c.arc({x + (2 * s + 0.5) * w, y - 3}, {x + (2 * s + 2.5) * w, y - 3}, 9, "hi");
  }
  const double ty = y + h + 72;
  std::vector<std::vector<std::string>> rows = {
      {"step", "Q columns", "start address", "descriptor (64 bits)", "accumulate"}};
  for (int s = 0; s < steps; ++s) {
    rows.push_back(
        {fmt::format("{}", s), fmt::format("{}-{}", 16 * s, 16 * s + 15), hex(t.start + t.step_offset(s)),
         hex(descriptor_word(t.form, t.start + t.step_offset(s)), 16), s == 0 ? "no: S starts here" : "yes"});
  }
  c.table({x, ty}, {70, 130, 160, 250, 180}, rows);
  note(c,
       "K's descriptor steps by the same amount in the same loop: both operands must present the same 16 "
       "contraction columns.");
  return c;
}

Canvas q_with_k(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const layout::Tile q = operand_tile(k, "q_smem", "k_major_descriptor", layout::Major::k);
  const layout::Tile kk = operand_tile(k, "k_smem", "k_major_descriptor", layout::Major::k);
  Canvas c(
      "Q micro-tiles with K micro-tiles",
      "Step s multiplies micro-tile s of Q with micro-tile s of K, transposed, and adds to the one S tile.",
      "Two stacks of eight micro-tiles paired by lines into the accumulator S.");
  const double y = c.top() + 30, w = 34, h = 92, qx = 90, kx = 90;
  for (int s = 0; s < 8; ++s) {
    c.block({qx + s * w * 1.5, y, w * 1.5, h}, s == 3 ? "Q w" : "Ql e", fmt::format("{}", s), {.size = 13});
    c.block({kx + s * w * 1.5, y + h + 86, w * 1.5, h}, s == 3 ? "K w" : "Kl e", fmt::format("{}", s),
            {.size = 13});
  }
  heading(c, qx, y - 12, fmt::format("Q in shared memory at {}", hex(q.start)));
  heading(c, kx, y + 2 * h + 106, fmt::format("K(i) in shared memory at {}", hex(kk.start)));
  c.measure({qx - 12, y}, {qx - 12, y + h}, "128", -5, {.size = 11});
  c.measure({qx - 12, y + h + 86}, {qx - 12, y + 2 * h + 86}, "128", -5, {.size = 11});
  const double sx = 620, sy = y + 50;
  c.block({sx, sy, 170, 170}, "S f", "S\ncolumns 0-127 of\ntensor memory\n\nrow m, column n:\nquery m, key n",
          {.size = 12.5});
  const double mid = qx + 3.5 * w * 1.5;
  c.arrow({{mid, y + h + 3}, {mid, y + h + 40}, {sx - 4, y + h + 40}}, "hi");
  c.line({mid + 12, y + h + 86}, {mid + 12, y + h + 40}, "ln hi");
  c.text({mid + 10, y + h + 33}, fmt::format("step 3: S += Q[:, 48..63] K[:, 48..63]ᵀ"),
         {.size = 12, .cls = "x"});
  c.text({sx, sy + 192}, "128 queries x 128 keys", {.size = 12});
  note(c,
       fmt::format("K is stored [key][d]. As operand B it must supply [k][n] = [d][key]; K-major says that d "
                   "runs along the row, so the tensor core reads the transpose without anybody making it. "
                   "Descriptors of step 3: Q {}, K {}.",
                   hex(descriptor_word(q.form, q.start + q.step_offset(3)), 16),
                   hex(descriptor_word(kk.form, kk.start + kk.step_offset(3)), 16)));
  return c;
}

Canvas atoms(const Kernels& kernels) {
  const layout::Tile t = operand_tile(kernels[1], "q_smem", "k_major_descriptor", layout::Major::k);
  Canvas c("Atoms in a micro-tile",
           "A micro-tile of 128 x 16 is 16 x 2 atoms. Without a swizzle an atom is 8 rows x 16 bytes = 128 "
           "contiguous bytes.",
           "Left: the micro-tile as two columns of 16 atoms with their offsets. Right: one atom with its "
           "eight rows.");
  const double y = c.top() + 30, w = 120, h = 19, x = 80;
  heading(c, x, y - 14, "micro-tile 0: two slices");
  for (int s = 0; s < 2; ++s) {
    for (int a = 0; a < 16; ++a) {
      const uint32_t at = t.address(a * 8, s * 8) - t.start;
      c.block({x + s * w, y + a * h, w, h},
              a == 2 && s == 1 ? "Q w"
              : (a + s) % 2    ? "Ql e"
                               : "Ql f",
              fmt::format("atom ({}, {})  +{}", a, s, at), {.size = 10.5},
              fmt::format("rows {}-{}, columns {}-{}: {} to {}", a * 8, a * 8 + 7, s * 8, s * 8 + 7,
                          hex(t.start + at), hex(t.start + at + 127)));
    }
    c.label({x + s * w, y + 16 * h + 2, w, 16}, fmt::format("columns {}-{}", s * 8, s * 8 + 7),
            {.size = 10.5, .cls = "m"});
  }
  c.measure({x - 12, y}, {x - 12, y + 16 * h}, "128 rows", -4, {.size = 10.5});
  const double ax = 470, cw = 48, ch = 30, ay = y + 20;
  heading(c, ax, ay - 26, "atom (2, 1): rows 16-23, columns 8-15");
  for (int r = 0; r < 8; ++r) {
    c.text({ax - 8, ay + r * ch + 20}, fmt::format("row {}", 16 + r),
           {.size = 10, .anchor = Anchor::end, .cls = "m"});
    for (int e = 0; e < 8; ++e) {
      c.block({ax + e * cw, ay + r * ch, cw, ch}, "Ql e",
              fmt::format("+{}", t.address(16 + r, 8 + e) - t.start), {.size = 10.5});
    }
  }
  c.rect({ax, ay, 8 * cw, 8 * ch}, "none w");
  c.arrow({{x + 2 * w + 3, y + 2.5 * h}, {ax - 54, y + 2.5 * h}}, "hi");
  c.measure({ax, ay + 8 * ch + 12}, {ax + 8 * cw, ay + 8 * ch + 12}, "8 BF16 = 16 bytes", 5, {.size = 11});
  note(c,
       "Inside an atom the addresses run 2 bytes a column and 16 bytes a row without a gap. The tensor core "
       "never asks for atoms one by one: it is told the first and how to step.");
  return c;
}

Canvas base_sbo_lbo(const Kernels& kernels) {
  const layout::Tile t = operand_tile(kernels[1], "q_smem", "k_major_descriptor", layout::Major::k);
  const layout::MatrixDescriptor d = layout::decode_matrix_descriptor(descriptor_word(t.form, t.start));
  Canvas c("Descriptor: base, SBO, LBO (K-major, no swizzle)",
           fmt::format("Three numbers reach every atom of a micro-tile: base {}, SBO {} bytes (next 8 rows), "
                       "LBO {} bytes (next 8 columns).",
                       hex(d.start), d.sbo, d.lbo),
           "Micro-tile as two columns of atoms. SBO arrows go down a column, the LBO arrow goes to the next "
           "column, the step arrow to the next micro-tile.");
  const double y = c.top() + 34, w = 150, h = 30, x = 120;
  for (int s = 0; s < 4; ++s) {
    for (int a = 0; a < 6; ++a) {
      const int row = a < 5 ? a : 15;
      const double top = y + a * h + (a == 5 ? 22 : 0);
      const bool base = s % 2 == 0 && a == 0;
      const uint32_t at = t.address(row * 8, s * 8);
      c.block({x + s * (w + (s >= 2 ? 0 : 0)), top, w, h},
              base    ? "Q w"
              : s < 2 ? "Ql e"
                      : "n1 e",
              hex(at), {.size = 12, .bold = base},
              fmt::format("rows {}-{}, columns {}-{}", row * 8, row * 8 + 7, s * 8, s * 8 + 7));
    }
    c.label({x + s * w, y - 18, w, 16}, fmt::format("columns {}-{}", s * 8, s * 8 + 7),
            {.size = 10.5, .cls = "m"});
  }
  for (int a = 0; a < 6; ++a) {
    const int row = a < 5 ? a : 15;
    c.text({x - 8, y + a * h + (a == 5 ? 22 : 0) + 19}, fmt::format("rows {}-{}", row * 8, row * 8 + 7),
           {.size = 10, .anchor = Anchor::end, .cls = "m"});
  }
  for (int s = 0; s < 4; ++s) c.label({x + s * w, y + 5 * h, w, 20}, "…", {.cls = "m"});
  c.rect({x, y, 2 * w, 6 * h + 22}, "none w");
  c.rect({x + 2 * w, y, 2 * w, 6 * h + 22}, "none w");
  const double by = y + 6 * h + 50;
  c.arrow({{x + 16, y + h / 2}, {x + 16, y + 1.5 * h}}, "hi");
  c.text({x + 26, y + h + 4}, fmt::format("SBO {}", d.sbo),
         {.size = 10.5, .bold = true, .cls = "x", .plate = true});
  c.arrow({{x + w - 22, y + 2.3 * h}, {x + w + 22, y + 2.3 * h}}, "hi");
  c.text({x + w, y + 2.8 * h + 6}, fmt::format("LBO {}", d.lbo),
         {.size = 10.5, .anchor = Anchor::middle, .bold = true, .cls = "x", .plate = true});
  c.legend(
      {x, by - 14},
      {{"Q w", "where the descriptor of a step points"}, {"Ql e", "micro-tile 0"}, {"n1 e", "micro-tile 1"}});
  std::vector<std::vector<std::string>> rows = {
      {"from -> to", "bytes", "who knows it"},
      {"atom -> atom below", fmt::format("{}", d.sbo), "SBO in the descriptor: 8 rows x 16 bytes"},
      {"slice -> next slice", fmt::format("{}", d.lbo), "LBO in the descriptor: 128 rows x 16 bytes"},
      {"micro-tile -> next", fmt::format("{}", t.step_offset(1)),
       "the loop: it adds this to the start address"}};
  c.table({x, by + 20}, {190, 80, 360}, rows, 11.5, 22);
  note(c, fmt::format("atom (a, s) lies at base + a x SBO + s x LBO, a = 0..15, s = 0..1: the last one at {} "
                      "+ 15 x {} + {} = {}.",
                      hex(d.start), d.sbo, d.lbo, hex(d.start + 15 * d.sbo + d.lbo)));
  return c;
}

Canvas tmem_map(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  Canvas c =
      layout::draw_tmem({{"S", k.value("kTmemS"), 128}, {"O", k.value("kTmemO"), 128}}, std::nullopt, 8);
  note(c, fmt::format(
              "Warp 0 allocates {} columns, a power of two from 32 to 512; every column brings all 128 "
              "lanes. Lane = row of the tile. S is written anew each turn, O grows through the whole loop. "
              "An address is lane << 16 | column: row 40 of O starts at 40 << 16 | {} = {}.",
              k["kTmemColumns"], k["kTmemO"], hex(uint64_t{40} << 16 | k["kTmemO"])));
  return c;
}

Canvas walk_s(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const int chunks = k.value("BLOCK_N") / 8;
  Canvas c("How four warps walk S",
           fmt::format("Each warp owns the 32 lanes of its quarter. tcgen05.ld.32x32b.x8 gives thread t of "
                       "the warp 8 columns of lane t; {} loads cover a row.",
                       chunks),
           "S in tensor memory in four bands of 32 lanes; a column of 8 is loaded at once; on the right one "
           "thread's eight registers.");
  const double y = c.top() + 30, x = 120, w = 26, h = 42;
  heading(c, x, y - 16, "S: 128 lanes x 128 columns");
  for (int b = 0; b < 4; ++b) {
    for (int j = 0; j < chunks; ++j) {
      c.block({x + j * w, y + b * h, w, h}, j == 3 ? "S f" : "Sl e", j == 3 ? "" : "", {},
              fmt::format("warp {}: lanes {}-{}, columns {}-{}", b, 32 * b, 32 * b + 31, 8 * j, 8 * j + 7));
    }
    c.label({20, y + b * h, x - 26, h}, fmt::format("warp {}\nlanes {}-{}", b, 32 * b, 32 * b + 31),
            {.size = 10.5});
    c.arrow({{x + 4 * w + 4, y + b * h + h / 2}, {x + chunks * w - 4, y + b * h + h / 2}}, "ar");
  }
  for (int j = 0; j < chunks; j += 2)
    c.label({x + j * w - 4, y + 4 * h + 2, w + 8, 14}, fmt::format("{}", 8 * j), {.size = 9.5, .cls = "m"});
  c.text({x, y + 4 * h + 34},
         fmt::format("one .x8 load of all four warps: 128 lanes x 8 columns; {} in a row", chunks),
         {.size = 11.5});
  const double rx = 590, ry = y + 20;
  heading(c, rx, ry - 20, "warp 1 reads columns 24-31");
  const std::vector<int> lanes = {32, 33, 34, 63};
  for (size_t i = 0; i < lanes.size(); ++i) {
    const double top = ry + i * 30 + (i == 3 ? 16 : 0);
    c.text({rx + 62, top + 18}, fmt::format("thread {}", lanes[i]), {.size = 10.5, .anchor = Anchor::end});
    for (int r = 0; r < 8; ++r) {
      const layout::Cell cell = layout::cell_of(layout::Shape::s32x32b, lanes[i] - 32, r);
      c.block({rx + 68 + r * 27, top, 27, 26}, "S e", fmt::format("r{}", r), {.size = 10},
              fmt::format("thread {}, register {}: lane {}, column {}", lanes[i], r, 32 + cell.lane,
                          24 + cell.column));
    }
  }
  c.text({rx, ry + 166}, fmt::format("address = 32 << 16 | 24 = {}", hex(uint64_t{32} << 16 | 24)),
         {.size = 11.5});
  c.text({rx, ry + 184}, "thread t: row t of the tile, lane t", {.size = 11.5});
  note(
      c,
      "A thread always meets the same row, so its maximum and sum are two registers and no thread has to ask "
      "another. S is walked twice: first for the row maximum, then for P; 16 loads of 8 registers each time, "
      "because 128 scores a thread would not leave registers for anything else. The same walk rescales O "
      "between the two.");
  return c;
}

Canvas p_into_smem(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  const layout::Tile p = operand_tile(k, "k_smem", "k_major_descriptor", layout::Major::k);
  k.require("slice[row] = pack_bf16x8(s);");
  Canvas c("P into shared memory",
           fmt::format("8 scores in registers become 8 BF16 = 16 bytes, one st.shared of 16 bytes per "
                       "thread, into the buffer that held K(i): {}.",
                       hex(p.start)),
           "A chunk of S of 128 rows by 8 columns becomes a slice of P: 128 rows of 16 bytes.");
  const double y = c.top() + 34;
  heading(c, 20, y - 14, "registers of thread 5 (row 5), chunk 2");
  for (int r = 0; r < 8; ++r)
    c.block({20 + r * 50.0, y, 50, 30}, "S e", fmt::format("s[{}]", r), {.size = 11});
  c.text({20, y + 46}, "columns 16-23, FP32", {.size = 10.5, .cls = "m"});
  c.arrow({{220, y + 54}, {220, y + 82}});
  c.text({234, y + 73}, "exp(s x scale - max), then 4 x cvt.rn.bf16x2.f32", {.size = 11.5});
  for (int r = 0; r < 4; ++r)
    c.block({120 + r * 50.0, y + 88, 50, 30}, "P e", fmt::format("p{},{}", 2 * r, 2 * r + 1), {.size = 11});
  c.text({120, y + 134}, "one uint4: 16 bytes", {.size = 10.5, .cls = "m"});
  const double sx = 560;
  heading(c, sx, y - 14, "slice 2 of P in shared memory");
  for (int r = 0; r < 9; ++r) {
    const int row = r < 8 ? r : 127;
    const double top = y + r * 20 + (r == 8 ? 14 : 0);
    c.text({sx - 6, top + 14}, fmt::format("row {}", row), {.size = 9.5, .anchor = Anchor::end, .cls = "m"});
    c.block({sx, top, 180, 20}, row == 5 ? "P f" : "Pl e", fmt::format("{}", hex(p.address(row, 16))),
            {.size = 10.5}, fmt::format("row {}, keys 16-23", row));
  }
  c.arrow({{324, y + 103}, {440, y + 103}, {sx - 48, y + 110}}, "hi");
  c.prose({sx + 200, y + 10}, 130,
          fmt::format("slice j starts at {} + j x {}; thread t writes 16 bytes at + t x 16", hex(p.start),
                      p.form.lbo),
          {.size = 11.5});
  const double by = y + 220;
  std::vector<std::vector<std::string>> rows = {
      {"step", "who", "why"},
      {"st.shared", "each thread", "an ordinary store: the generic proxy"},
      {"fence.proxy.async", "each thread",
       "the tensor core reads through the async proxy and would miss the store"},
      {"__syncthreads", "all 128 threads", "all rows are written before one thread issues PV"},
      {"fence::after_thread_sync", "issuing thread", "keeps the MMA behind the barrier"}};
  c.table({20, by}, {200, 150, 510}, rows, 11.5, 22);
  note(c,
       "K(i) is dead once qk_done has completed, so P may take its place; the price is that the next K "
       "cannot load before PV has read P. Chapter 2 removes that.");
  return c;
}

Canvas smem_map(const Kernels& kernels) {
  const Kernel& k = kernels[1];
  Canvas c("Shared memory of one CTA",
           fmt::format("SharedStorage is {} bytes: three tiles of {}, four barriers and the tensor-memory "
                       "address. The limit is 232448 bytes a CTA.",
                       k.shared_bytes(), k["kTileBytes"]),
           "A bar with Q, K then P, V and the barriers, with addresses.");
  const double y = c.top() + 26;
  std::vector<Span> spans;
  const char* cls[] = {"Q", "K", "V"};
  const char* text[] = {"q_smem: Q, whole kernel", "k_smem: K(i), then P(i)", "v_smem: V(i)"};
  for (int i = 0; i < 3; ++i) spans.push_back({text[i], cls[i], k.shared()[i].bytes});
  const double below = memory_bar(c, 20, y, 860, kSharedBase, spans, 54);
  const uint32_t end = kSharedBase + k.shared()[3].offset;
  c.text({880, y + 66}, hex(end), {.size = 9.5, .anchor = Anchor::end, .cls = "m"});
  std::vector<std::vector<std::string>> rows = {{"address", "bytes", "name", "what it is"}};
  const std::vector<std::pair<std::string, std::string>> meaning = {
      {"q_ready", "mbarrier: Q has landed (32768 bytes)"},
      {"kv_ready", "mbarrier: K(i) and V(i) have landed (65536 bytes)"},
      {"qk_done", "mbarrier: the MMAs of S are complete"},
      {"pv_done", "mbarrier: the MMAs of O are complete"},
      {"tmem_base", "where tcgen05.alloc wrote its address"}};
  for (const auto& [name, what] : meaning) {
    const Member& m = k.member(name);
    rows.push_back({hex(kSharedBase + m.offset), fmt::format("{}", m.bytes), name, what});
  }
  c.table({20, below + 14}, {110, 80, 150, 520}, rows, 11.5, 22);
  note(c, fmt::format("The launch asks for {} bytes, more than half of an SM's 228 KB, so that one CTA has "
                      "the SM to itself. "
                      "The first byte of a CTA's shared memory has address 0x400: 1 KB below it is reserved. "
                      "Tiles start at "
                      "multiples of 1024, where every swizzle pattern begins.",
                      k["kSharedBytes"]));
  return c;
}

}  // namespace

std::vector<Picture> chapter_01() {
  return {
      {1, "tiles_and_grid", "Tiles and the grid: one CTA for each tile of queries", tiles_and_grid},
      {1, "cta_loop", "One CTA's loop, and online softmax worked through on two tiles", cta_loop},
      {1, "smem_map", "Shared memory of one CTA, byte by byte", smem_map},
      {1, "q_slices", "Q from global to shared memory in sixteen slices", q_slices},
      {1, "physical_order", "Physical order of Q before and after the copy", physical_order},
      {1, "microtile_loop", "The loop over micro-tiles: eight descriptors, 4096 bytes apart", microtile_loop},
      {1, "q_with_k", "Q and K micro-tiles meet in one S tile", q_with_k},
      {1, "atoms", "Atoms in a micro-tile: 8 rows x 16 bytes", atoms},
      {1, "base_sbo_lbo", "Descriptor base, SBO and LBO in K-major without swizzle", base_sbo_lbo},
      {1, "tmem_map", "Tensor memory: S and O, and which warp may touch what", tmem_map},
      {1, "walk_s", "How four warps, lanes and registers walk S", walk_s},
      {1, "p_into_smem", "P into shared memory, over the dead K tile", p_into_smem}};
}

}  // namespace diagrams
