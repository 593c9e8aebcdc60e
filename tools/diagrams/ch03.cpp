// Chapter 3: the 128-byte swizzle.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/picture.h"
#include "layout/banks.h"
#include "layout/draw.h"

namespace diagrams {
namespace {

using layout::Major;
using svg::Anchor;
using svg::Canvas;
using svg::Rect;

layout::Tile q_tile(const Kernel& k) { return operand_tile(k, "q_smem", "k_major_descriptor", Major::k); }
layout::Tile v_tile(const Kernel& k) { return operand_tile(k, "v_smem", "issue_pv", Major::mn); }

Canvas atom_shapes(const Kernels&) {
  Canvas c("Atom shapes by swizzle mode",
           "An atom is 8 rows of one span. The mode sets the span: 16, 32, 64 or 128 bytes. Drawn to scale "
           "for BF16.",
           "Four atoms for K-major and four for MN-major, with their sizes in elements and bytes.");
  const double y = c.top() + 44, unit = 22, h = 14;
  const layout::Swizzle modes[] = {layout::Swizzle::none, layout::Swizzle::b32, layout::Swizzle::b64,
                                   layout::Swizzle::b128};
  double x = 130;
  for (const layout::Swizzle mode : modes) {
    const int chunks = static_cast<int>(layout::span_bytes(mode)) / 16;
    const double w = chunks * unit;
    for (int part = 0; part < 2; ++part) {
      const double top = y + part * 210;
      const std::string cls = part == 0 ? "Q" : "V";
      for (int r = 0; r < 8; ++r) {
        for (int j = 0; j < chunks; ++j) c.rect({x + j * unit, top + r * h, unit, h}, cls + "l e");
      }
      c.rect({x, top, w, 8 * h}, "none w");
      const double centre = x + w / 2;
      c.text({centre, top + 8 * h + 17},
             std::string(mode == layout::Swizzle::none ? "none" : layout::name_of(mode)),
             {.size = 12, .anchor = Anchor::middle, .bold = true});
      c.text({centre, top + 8 * h + 33},
             part == 0 ? fmt::format("8 x {}", chunks * 8) : fmt::format("{} x 8", chunks * 8),
             {.size = 11.5, .anchor = Anchor::middle});
      c.text({centre, top + 8 * h + 48}, fmt::format("{} B", chunks * 128),
             {.size = 11, .anchor = Anchor::middle, .cls = "m"});
    }
    x += w + 52;
  }
  c.prose({20, y + 20}, 100, "K-major:\nrows of M or N down,\nK across", {.size = 11.5});
  c.prose({20, y + 230}, 100, "MN-major:\nK down,\nM or N across", {.size = 11.5});
  c.prose({x - 10, y + 14}, 180, "Each small box is 16 bytes = 8 BF16. A 16-byte piece is never broken up.",
          {.size = 11.5});
  note(c,
       "Sizes are elements (M or N) x K. Atoms begin at multiples of 128, 256, 512 and 1024 bytes. One MMA "
       "takes 32 bytes of K: two atoms wide without swizzle, a quarter of an SW128 atom.");
  return c;
}

Canvas permutation(const Kernels& kernels) {
  const layout::Tile t = q_tile(kernels[3]);
  Canvas c("The 8 x 8 permutation of SW128",
           "Inside an atom, 16-byte chunk c of row r lies at place c XOR r. Each row is a different order; "
           "each place of a column holds another chunk.",
           "Left: chunks in logical order. Right: the same rows as they lie in shared memory, computed from "
           "absolute addresses.");
  const double y = c.top() + 44, w = 46, h = 30;
  for (int side = 0; side < 2; ++side) {
    const double x = 66 + side * 440;
    heading(c, x, y - 30,
            side == 0 ? "logical: chunk c holds columns 8c..8c+7"
                      : "shared memory: which chunk lies at each place");
    for (int j = 0; j < 8; ++j) {
      c.label({x + j * w, y - 20, w, 16},
              side == 0 ? fmt::format("c {}", j) : fmt::format("b{}-{}", 4 * j, 4 * j + 3),
              {.size = 9.5, .cls = "m"});
    }
    for (int r = 0; r < 8; ++r) {
      c.text({x - 6, y + r * h + 19}, side == 0 ? fmt::format("row {}", r) : hex(t.start + r * 128),
             {.size = 9.5, .anchor = Anchor::end, .cls = "m"});
      for (int j = 0; j < 8; ++j) {
        // The chunk whose address is this place: the XOR is its own inverse.
        const int chunk =
            side == 0 ? j
                      : static_cast<int>(
                            (layout::swizzled(t.start + r * 128 + j * 16, t.form.mode) - t.start) % 128 / 16);
        c.block({x + j * w, y + r * h, w, h}, chunk == 2 ? "Q f" : "Ql e", fmt::format("{}", chunk),
                {.size = 13, .bold = chunk == 2},
                fmt::format("row {}, chunk {}: address {}", r, chunk, hex(t.start + r * 128 + j * 16)));
      }
    }
    c.rect({x, y, 8 * w, 8 * h}, "none w");
  }
  const double by = y + 8 * h + 34;
  heading(c, 66, by, "worked: row 5, chunk 2 (columns 16-23)");
  c.prose(
      {66, by + 20}, 800,
      fmt::format(
          "linear address {} + 5 x 128 + 2 x 16 = {};  bits 9-7 = 5, bits 6-4 = 2;  2 XOR 5 = 7;  address {}",
          hex(t.start), hex(t.start + 672), hex(t.address(5, 16))),
      {.size = 12});
  note(
      c,
      "The XOR uses bits of the absolute shared address, so TMA, tensor core and a thread computing by hand "
      "agree without telling each other where the tile begins. Full colour: chunk 2 wanders over all banks.");
  return c;
}

Canvas slices_and_boxes(const Kernels& kernels) {
  const Kernel& k = kernels[3];
  const layout::Tile t = q_tile(k);
  const int slices = k.value("HEAD_DIM") / k.value("kSliceWidth");
  Canvas c("Slices and boxes under SW128",
           fmt::format("A box may be at most one span wide: 64 BF16 = 128 bytes. So {} boxes of 64 x 128 "
                       "fill a tile, {} bytes each.",
                       slices, k["kSliceBytes"]),
           "A tile cut into two slices of sixteen atoms; each slice is one TMA box and one block of shared "
           "memory.");
  const double y = c.top() + 34, x = 110, w = 190, h = 13;
  heading(c, x, y - 14, "Q tile 128 x 128 in global memory");
  for (int s = 0; s < slices; ++s) {
    for (int a = 0; a < 16; ++a) {
      c.block({x + s * w, y + a * h, w, h}, s ? "Ql e" : "Q e", "", {},
              fmt::format("rows {}-{}, columns {}-{}", a * 8, a * 8 + 7, s * 64, s * 64 + 63));
    }
    c.rect({x + s * w, y, w, 16 * h}, "none w");
    c.label({x + s * w, y + 16 * h + 3, w, 16}, fmt::format("box {}: columns {}-{}", s, 64 * s, 64 * s + 63),
            {.size = 11});
  }
  c.measure({x - 12, y}, {x - 12, y + 16 * h}, "128 rows", -5, {.size = 11});
  const double sx = 600;
  heading(c, sx, y - 14, "shared memory");
  for (int s = 0; s < slices; ++s) {
    const double top = y + s * 112;
    c.block({sx, top, 200, 100}, s ? "Ql f" : "Q f",
            fmt::format("slice {}\n16 atoms x 1024 B\n= {} B", s, k["kSliceBytes"]), {.size = 12});
    c.text({sx + 208, top + 12}, hex(t.start + s * k["kSliceBytes"]), {.size = 11, .cls = "m"});
    c.arrow({{x + 2 * w + 6, top + 50}, {sx - 6, top + 50}}, "hi");
    c.label({x + 2 * w + 4, top + 26, sx - x - 2 * w - 8, 18}, "one TMA copy", {.size = 11, .cls = "x"});
  }
  c.text({sx + 208, y + 214}, hex(t.start + 2 * k["kSliceBytes"]), {.size = 11, .cls = "m"});
  note(c, fmt::format("The box stays 128 rows high: one copy brings 16 atoms. Chapter 1 needed {} boxes a "
                      "tile, now {}. The barrier still expects {} bytes.",
                      kernels[1]["HEAD_DIM"] / kernels[1]["kSliceWidth"], slices, k["kTileBytes"]));
  return c;
}

Canvas microtiles(const Kernels& kernels) {
  const layout::Tile t = q_tile(kernels[3]);
  Canvas c("Micro-tiles inside an atom",
           "One MMA takes 32 of the 128 bytes of a row: an SW128 atom holds four micro-tiles side by side. "
           "The loop steps by 32 bytes, inside the pattern.",
           "An atom of eight rows; logically the micro-tile of step 1 is two chunk columns; physically its "
           "chunks are scattered by the XOR.");
  const double y = c.top() + 46, w = 46, h = 26;
  for (int side = 0; side < 2; ++side) {
    const double x = 66 + side * 440;
    heading(c, x, y - 32, side == 0 ? "logical: step of each chunk" : "physical: where step 1 reads");
    for (int s = 0; s < 4 && side == 0; ++s)
      c.label({x + 2 * s * w, y - 22, 2 * w, 16}, fmt::format("step {}", s), {.size = 11, .bold = s == 1});
    for (int r = 0; r < 8; ++r) {
      c.text({x - 6, y + r * h + 17}, side == 0 ? fmt::format("row {}", r) : hex(t.start + r * 128),
             {.size = 9.5, .anchor = Anchor::end, .cls = "m"});
      for (int j = 0; j < 8; ++j) {
        const int chunk =
            side == 0 ? j
                      : static_cast<int>(
                            (layout::swizzled(t.start + r * 128 + j * 16, t.form.mode) - t.start) % 128 / 16);
        c.block(
            {x + j * w, y + r * h, w, h}, chunk / 2 == 1 ? "Q e" : "Ql e",
            fmt::format("{}", side == 0 ? fmt::format("{}", 16 * chunk) : fmt::format("{},{}", r, chunk * 8)),
            {.size = 10.5});
      }
    }
    c.rect({x, y, 8 * w, 8 * h}, "none w");
  }
  c.text({66, y + 8 * h + 18}, "numbers: byte offset in the row", {.size = 10.5, .cls = "m"});
  c.text({506, y + 8 * h + 18}, "numbers: row, first column of the chunk that lies there",
         {.size = 10.5, .cls = "m"});
  std::vector<std::vector<std::string>> rows = {{"step", "columns", "start address", "descriptor"}};
  for (int s = 0; s < 8; ++s) {
    const uint32_t start = t.start + t.step_offset(s);
    rows.push_back({fmt::format("{}", s), fmt::format("{}-{}", 16 * s, 16 * s + 15),
                    fmt::format("{} = tile + {}", hex(start), t.step_offset(s)),
                    hex(descriptor_word(t.form, start), 16)});
  }
  c.table({66, y + 8 * h + 36}, {80, 140, 260, 300}, rows, 11, 19);
  note(c,
       "Start addresses like 0x420 are not 1024-aligned, and need not be: the hardware adds row and chunk to "
       "the start first and applies the XOR to the sum.");
  return c;
}

Canvas sbo_sw128(const Kernels& kernels) {
  const layout::Tile t = q_tile(kernels[3]);
  Canvas c("SBO in K-major SW128; LBO has nothing to do",
           fmt::format("A slice is a stack of atoms of 1024 bytes. SBO = {} steps to the next 8 rows; the 32 "
                       "bytes of a micro-tile never leave a row of the atom.",
                       t.form.sbo),
           "A stack of atoms in slice 0 and slice 1, the SBO arrow between atoms, the start addresses of "
           "steps 0 to 7.");
  const double y = c.top() + 40, w = 240, h = 38, x = 120;
  for (int s = 0; s < 2; ++s) {
    const double left = x + s * (w + 40);
    heading(c, left, y - 14, fmt::format("slice {}: columns {}-{}", s, 64 * s, 64 * s + 63));
    for (int a = 0; a < 5; ++a) {
      const int atom = a < 4 ? a : 15;
      const double top = y + a * h + (a == 4 ? 20 : 0);
      for (int step = 0; step < 4; ++step) {
        const bool here = step == 1 && s == 0;
        c.block({left + step * w / 4, top, w / 4, h}, here ? "Q e" : "Ql e",
                atom == 0 || here ? hex(t.start + t.step_offset(4 * s + step) + atom * t.form.sbo) : "",
                {.size = 10.5});
      }
      c.rect({left, top, w, h}, "none w");
      if (s == 0)
        c.text({left - 8, top + 23}, fmt::format("rows {}-{}", atom * 8, atom * 8 + 7),
               {.size = 10.5, .anchor = Anchor::end, .cls = "m"});
    }
    for (int step = 0; step < 4; ++step)
      c.label({left + step * w / 4, y + 5 * h + 24, w / 4, 16}, fmt::format("step {}", 4 * s + step),
              {.size = 11});
    c.label({left, y + 4 * h, w, 20}, "…", {.cls = "m"});
  }
  c.arrow({{x + 66, y + 26}, {x + 66, y + h + 12}}, "hi");
  c.text({x + 72, y + h + 3}, fmt::format("SBO {}", t.form.sbo),
         {.size = 10.5, .bold = true, .cls = "x", .plate = true});
  c.prose({690, y + 10}, 190,
          fmt::format("next 8 rows: SBO = {} B\n\nnext 32 bytes of K: the loop, +32\n\nnext slice (step 3 to "
                      "4): the loop, to tile + {}\n\nLBO: ignored, the field holds {} bytes",
                      t.form.sbo, t.slab_bytes, t.form.lbo),
          {.size = 12});
  note(c,
       "On an H200 the same product came out exact with LBO fields of 16 and 4096: in swizzled K-major the "
       "field is not read. (The chunks of step 1 are drawn at their logical place; in each row the XOR moves "
       "them.)");
  return c;
}

Canvas v_sw128(const Kernels& kernels) {
  const Kernel& k = kernels[3];
  const layout::Tile t = v_tile(k);
  Canvas c("V under SW128, MN-major",
           fmt::format("An atom is 8 keys x 64 of d = 1024 bytes. A PV micro-tile, 16 keys x 128 of d, is "
                       "four atoms. LBO = {} strides d, SBO = {} strides keys.",
                       t.form.lbo, t.form.sbo),
           "V as keys down and d across, two slices of 64; four atoms of micro-tile 0 filled; arrows for "
           "LBO, SBO and the loop.");
  const double y = c.top() + 44, w = 270, h = 32, x = 110;
  for (int s = 0; s < 2; ++s) {
    const double left = x + s * (w + 30);
    heading(c, left, y - 14, fmt::format("slice {}: d {}-{}", s, 64 * s, 64 * s + 63));
    for (int g = 0; g < 7; ++g) {
      const int group = g < 6 ? g : 15;
      const double top = y + g * h + (g == 6 ? 20 : 0);
      const bool base = s == 0 && group % 2 == 0 && group < 6;
      c.block({left, top, w, h},
              base        ? "V w"
              : group < 2 ? "V e"
                          : "Vl e",
              hex(t.address(64 * s, group * 8)), {.size = 12, .bold = base});
      if (s == 0)
        c.text({left - 8, top + 20}, fmt::format("keys {}-{}", group * 8, group * 8 + 7),
               {.size = 10.5, .anchor = Anchor::end, .cls = "m"});
    }
    c.label({left, y + 6 * h, w, 20}, "…", {.cls = "m"});
  }
  c.arrow({{x + 30, y + h / 2}, {x + 30, y + 1.5 * h}}, "hi");
  c.text({x + 38, y + h + 4}, fmt::format("SBO {}", t.form.sbo),
         {.size = 10.5, .bold = true, .cls = "x", .plate = true});
  c.arrow({{x + w - 50, y + 8}, {x + w + 40, y + 8}}, "hi");
  c.text({x + w + 46, y + 12}, fmt::format("LBO {}", t.form.lbo),
         {.size = 10.5, .bold = true, .cls = "x", .plate = true});
  c.arrow({{x + w - 20, y + h / 2 + 4}, {x + w - 20, y + 2.5 * h}}, "ar");
  c.text({x + w - 26, y + 2 * h + 4}, fmt::format("loop +{}", t.step_offset(1)),
         {.size = 10.5, .anchor = Anchor::end, .bold = true, .plate = true});
  c.prose({700, y + 10}, 180,
          fmt::format("step s starts at {} + s x {}\n\nwithout swizzle LBO strode keys (128) and SBO strode "
                      "d (2048): now they have traded places",
                      hex(t.start), t.step_offset(1)),
          {.size = 12});
  c.legend({x, y + 7 * h + 34},
           {{"V w", "where a step's descriptor points"}, {"V e", "micro-tile 0"}, {"Vl e", "the rest"}});
  note(c, fmt::format("Descriptor of step 0: {}. TMA fills each slice with one box of 64 x 128, the same box "
                      "as for Q and K.",
                      hex(descriptor_word(t.form, t.start), 16)));
  return c;
}

Canvas tma_rows(const Kernels& kernels) {
  const Kernel &a = kernels[2], &b = kernels[3];
  const int64_t boxes_a = a["HEAD_DIM"] / a["kSliceWidth"], boxes_b = b["HEAD_DIM"] / b["kSliceWidth"];
  const int64_t rows_a = boxes_a * 128, rows_b = boxes_b * 128;
  Canvas c("Why it is faster: 16-byte rows against 128-byte rows",
           "TMA moves about one row of a box a cycle, however short it is. The same 32 KB tile is 2048 rows "
           "of 16 bytes or 256 rows of 128.",
           "Two bars to scale, cycles for one tile in 16-byte rows and in 128-byte rows.");
  // Marginal cost of a row, measured on an H200 from L2: 1.00 cycle up to 64 bytes, 1.18 at 128.
  const double cost_a = rows_a * 1.00, cost_b = rows_b * 1.18, scale = 640 / cost_a;
  const double y = c.top() + 30, x = 150;
  c.block({x, y, cost_a * scale, 46}, "Kl f",
          fmt::format("{} boxes x 128 rows x 16 B: {:.0f} cycles, 16 B a cycle", boxes_a, cost_a),
          {.size = 12});
  c.rect({x, y + 66, cost_b * scale, 46}, "K f");
  c.text({x + cost_b * scale + 10, y + 93},
         fmt::format("{} boxes x 128 rows x 128 B: {:.0f} cycles, {:.0f} B a cycle", boxes_b, cost_b,
                     32768 / cost_b),
         {.size = 12});
  c.text({x - 10, y + 28}, "no swizzle", {.size = 12, .anchor = Anchor::end});
  c.text({x - 10, y + 94}, "SW128", {.size = 12, .anchor = Anchor::end});
  for (int t = 0; t <= 4; ++t) {
    c.line({x + t * 512 * scale, y + 122}, {x + t * 512 * scale, y + 128}, "ln e");
    c.text({x + t * 512 * scale, y + 142}, fmt::format("{}", t * 512),
           {.size = 10, .anchor = Anchor::middle, .cls = "m"});
  }
  c.text({x + 2.5 * 512 * scale, y + 142}, "cycles", {.size = 10, .anchor = Anchor::middle, .cls = "m"});
  c.table({20, y + 166}, {240, 180, 180, 260},
          {{"per key tile (K and V)", "no swizzle", "SW128", "beside it"},
           {"boxes", fmt::format("{}", 2 * boxes_a), fmt::format("{}", 2 * boxes_b),
            "an issue takes about 56 cycles"},
           {"rows", fmt::format("{}", 2 * rows_a), fmt::format("{}", 2 * rows_b), ""},
           {"TMA cycles", fmt::format("{:.0f}", 2 * cost_a), fmt::format("{:.0f}", 2 * cost_b),
            "S and O take 2 x 512 on the tensor core"}},
          11.5, 22);
  note(c,
       "Row costs were measured on an H200 with data in L2; Blackwell's TMA is modelled alike. At 4096 "
       "cycles a turn the copies were the longest part of the loop, now they are among the shortest.");
  return c;
}

Canvas bank_view(const Kernels&) {
  Canvas c("Banks: a column of eight 16-byte chunks",
           "Eight rows, the same columns: what a core matrix is. 32 banks of 4 bytes; a chunk covers four of "
           "them. How many passes does it take?",
           "Three memory pictures: 16-byte rows packed, 128-byte rows without swizzle, 128-byte rows with "
           "SW128, with the chunk column marked and the wavefronts counted.");
  const struct {
    const char* title;
    uint32_t pitch;
    layout::Swizzle mode;
    const char* remark;
  } cases[] = {
      {"16-byte rows (chapters 1, 2)", 16, layout::Swizzle::none,
       "all banks once, but TMA pays for 16-byte rows"},
      {"128-byte rows, no swizzle", 128, layout::Swizzle::none, "cheap rows, but one set of four banks"},
      {"128-byte rows, SW128", 128, layout::Swizzle::b128, "cheap rows and all banks"}};
  const double y = c.top() + 46, w = 27, h = 20;
  for (int i = 0; i < 3; ++i) {
    const double x = 58 + i * 288;
    heading(c, x, y - 28, cases[i].title);
    layout::Access access;
    access.width = 16;
    for (int r = 0; r < 8; ++r)
      access.addresses.push_back(
          layout::swizzled(0x400 + r * cases[i].pitch + (cases[i].pitch == 128 ? 32 : 0), cases[i].mode));
    const layout::BankReport report = layout::count_wavefronts(access);
    for (int j = 0; j < 8; ++j)
      c.label({x + j * w - 2, y - 16, w + 4, 14}, fmt::format("b{}", 4 * j), {.size = 9, .cls = "m"});
    for (int line = 0; line < 8; ++line) {
      c.text({x - 4, y + line * h + 14}, hex(0x400 + line * 128),
             {.size = 9, .anchor = Anchor::end, .cls = "m"});
      for (int j = 0; j < 8; ++j) {
        int row = -1;
        for (int r = 0; r < 8; ++r) {
          if (access.addresses[r] == static_cast<uint32_t>(0x400 + line * 128 + j * 16)) row = r;
        }
        c.block({x + j * w, y + line * h, w, h}, row >= 0 ? "Q f" : "n1 e",
                row >= 0 ? fmt::format("r{}", row) : "", {.size = 10});
      }
    }
    c.text({x, y + 8 * h + 22},
           fmt::format("{} wavefront{}", report.wavefronts, report.wavefronts == 1 ? "" : "s"),
           {.size = 14, .bold = true});
    c.prose({x, y + 8 * h + 42}, 250, cases[i].remark, {.size = 11.5, .cls = "m"});
  }
  note(c,
       "Counted by tools/layout (layout banks --stride 128 --width 16 --lanes 8 --swizzle 128): a wavefront "
       "moves at most one 4-byte word of each bank. How the tensor core itself schedules its reads is not "
       "public; the count shows why the layouts exist.");
  return c;
}

}  // namespace

std::vector<Picture> chapter_03() {
  return {{3, "atom_shapes", "Atom shapes by swizzle mode", atom_shapes},
          {3, "permutation", "The 8 x 8 permutation of SW128", permutation},
          {3, "slices_and_boxes", "Two boxes of 64 x 128 fill a tile", slices_and_boxes},
          {3, "microtiles", "Micro-tiles inside an atom: steps of 32 bytes", microtiles},
          {3, "sbo_sw128", "SBO in K-major SW128, and why LBO is idle", sbo_sw128},
          {3, "v_sw128", "V in MN-major SW128: LBO and SBO trade places", v_sw128},
          {3, "banks", "A column of chunks on the banks, three ways", bank_view},
          {3, "tma_rows", "16-byte rows against 128-byte rows in TMA", tma_rows}};
}

}  // namespace diagrams
