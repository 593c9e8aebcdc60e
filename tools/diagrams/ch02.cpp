// Chapter 2: P takes the place of S in tensor memory.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/picture.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

struct Columns {
  int s, p, o, block_n, mma_k;
};
Columns columns_of(const Kernels& kernels) {
  const Kernel& k = kernels[2];
  k.require("column += 16");
  k.require("tmem::store_x8(tmem_p + column / 2, p);");
  return {k.value("kTmemS"), k.value("kTmemP"), k.value("kTmemO"), k.value("BLOCK_N"), k.value("MMA_K")};
}

// One bar of 128 columns: P up to `written`, then stale scores up to `read`, then scores still to read.
void slot_bar(Canvas& c, Rect r, int total, int written, int read) {
  const double per = r.w / total;
  if (written > 0) c.block({r.x, r.y, written * per, r.h}, "P e", written >= 16 ? "P" : "", {.size = 11.5});
  if (read > written) {
    c.rect({r.x + written * per, r.y, (read - written) * per, r.h}, "Sl e");
    c.hatch({r.x + written * per, r.y, (read - written) * per, r.h}, "ha");
  }
  if (total > read)
    c.block({r.x + read * per, r.y, (total - read) * per, r.h}, "S e", total - read >= 16 ? "S" : "",
            {.size = 11.5});
}

Canvas in_place(const Kernels& kernels) {
  const Columns k = columns_of(kernels);
  Canvas c("S becomes P in place",
           fmt::format("Columns {}-{} of tensor memory during the second pass. A step reads 16 columns of "
                       "FP32 scores and writes 8 columns of packed BF16 pairs.",
                       k.s, k.s + k.block_n - 1),
           "Nine bars of 128 columns: P grows from the left by 8 columns a step, the reader moves by 16, "
           "stale scores lie between.");
  const double y = c.top() + 30, x = 150, w = 5 * 128, h = 24;
  c.text({x, y - 10}, "column 0", {.size = 10, .cls = "m"});
  c.text({x + w / 2, y - 10}, "64", {.size = 10, .anchor = Anchor::middle, .cls = "m"});
  c.text({x + w, y - 10}, "128", {.size = 10, .anchor = Anchor::end, .cls = "m"});
  for (int step = 0; step <= 8; ++step) {
    const double top = y + step * (h + 7);
    slot_bar(c, {x, top, w, h}, k.block_n, step * 8, step * 16);
    c.text({x - 10, top + 16}, step == 0 ? "after QK" : fmt::format("after step {}", step - 1),
           {.size = 11, .anchor = Anchor::end});
    if (step > 0) {
      c.text({x + w + 10, top + 16}, fmt::format("written {}, read {}", step * 8, step * 16),
             {.size = 9.5, .cls = "m"});
    }
  }
  c.legend({x, y + 9 * (h + 7) + 6}, {{"S e", "scores still to read"},
                                      {"url:ha", "scores read, nobody needs them"},
                                      {"P e", "P: two keys a column"}});
  note(c, fmt::format("The write pointer runs at half the speed of the read pointer, so a store only ever "
                      "meets columns already in registers (each load is waited for before the store). At the "
                      "end P fills columns {}-{}, "
                      "{}-{} hold leftovers, and the next QK overwrites all {}.",
                      k.p, k.p + k.block_n / 2 - 1, k.p + k.block_n / 2, k.s + k.block_n - 1, k.block_n));
  return c;
}

Canvas sixteen_scores(const Kernels& kernels) {
  columns_of(kernels);
  Canvas c(
      "One step: 16 scores in, 8 columns out",
      "Step 3 for one thread: two tcgen05.ld.x8, sixteen exponentials, eight cvt.rn.bf16x2, one "
      "tcgen05.st.x8.",
      "Sixteen score columns 48 to 63 above, eight packed columns 24 to 31 below, pairs joined by lines.");
  const double y = c.top() + 40, x = 60, w = 49;
  for (int i = 0; i < 16; ++i) {
    c.block({x + i * w, y, w, 34}, i < 8 ? "S e" : "Sl e", fmt::format("s{}", i), {.size = 12},
            fmt::format("column {}", 48 + i));
    c.label({x + i * w, y - 16, w, 14}, fmt::format("col {}", 48 + i), {.size = 9.5, .cls = "m"});
  }
  c.measure({x, y + 44}, {x + 8 * w, y + 44}, "first ld.32x32b.x8, wait::ld", 5, {.size = 11});
  c.measure({x + 8 * w, y + 44}, {x + 16 * w, y + 44}, "second ld.32x32b.x8, wait::ld", 5, {.size = 11});
  const double py = y + 120;
  for (int i = 0; i < 8; ++i) {
    c.block({x + i * 2 * w, py, 2 * w, 40}, "P e", fmt::format("p{} | p{}", 2 * i + 1, 2 * i), {.size = 12},
            fmt::format("column {}: key {} low, key {} high", 24 + i, 48 + 2 * i, 49 + 2 * i));
    c.label({x + i * 2 * w, py + 42, 2 * w, 14}, fmt::format("col {}", 24 + i), {.size = 9.5, .cls = "m"});
    c.arrow({{x + (2 * i + 1) * w, y + 68}, {x + (2 * i + 1) * w, py - 3}});
  }
  c.text({x, py + 76}, "one st.32x32b.x8: columns 24-31 of this thread's lane", {.size = 12});
  const double bx = x, by = py + 116;
  heading(c, bx, by - 12, "one cell of tensor memory: 32 bits, two keys");
  c.block({bx, by, 240, 34}, "P e", "bits 31-16: key 49", {.size = 12});
  c.block({bx + 240, by, 240, 34}, "P f", "bits 15-0: key 48", {.size = 12});
  c.prose({bx + 500, by + 12}, 300,
          "P = 0.75 and 0.5: 0x3F403F00\nlow half 0.5 = 0x3F00, high half 0.75 = 0x3F40", {.size = 11.5});
  note(c,
       "Even keys sit in the low half: that is the order in which the MMA reads a BF16 operand A from tensor "
       "memory. The same 16 scores of FP32 took 16 columns.");
  return c;
}

Canvas by_address(const Kernels& kernels) {
  const Kernel& k = kernels[2];
  const Columns col = columns_of(kernels);
  const layout::Tile v = operand_tile(k, "v_smem", "issue_pv", layout::Major::mn);
  Canvas c("PV takes P by tensor-memory address",
           "Operand A has no descriptor any more: a step names the column where its 16 keys begin. V keeps "
           "its descriptor.",
           "P as eight groups of eight columns in tensor memory, V as eight groups of sixteen keys in shared "
           "memory, paired by step.");
  const double y = c.top() + 34, x = 90, w = 88, h = 70;
  heading(c, x, y - 14, "P in tensor memory: 128 lanes, columns 0-63");
  for (int s = 0; s < 8; ++s) {
    c.block({x + s * w, y, w, h},
            s == 2  ? "P w"
            : s % 2 ? "Pl e"
                    : "P e",
            fmt::format("columns\n{}-{}", col.p + s * 8, col.p + s * 8 + 7), {.size = 11});
    c.block({x + s * w, y + h + 84, w, h},
            s == 2  ? "V w"
            : s % 2 ? "Vl e"
                    : "V e",
            fmt::format("keys {}-{}\n{}", 16 * s, 16 * s + 15, hex(v.start + v.step_offset(s))),
            {.size = 11});
    c.label({x + s * w, y + h + 30, w, 18}, fmt::format("step {}", s), {.size = 12, .bold = true});
    c.line({x + (s + 0.5) * w, y + h + 4}, {x + (s + 0.5) * w, y + h + 28}, s == 2 ? "ln hi" : "ln e");
    c.line({x + (s + 0.5) * w, y + h + 50}, {x + (s + 0.5) * w, y + h + 80}, s == 2 ? "ln hi" : "ln e");
  }
  c.rect({x + 2 * w, y, w, h}, "none w");
  c.rect({x + 2 * w, y + h + 84, w, h}, "none w");
  heading(c, x, y + 2 * h + 104,
          fmt::format("V in shared memory from {}: 16 keys are {} bytes", hex(v.start), v.step_offset(1)));
  c.table({x, y + 2 * h + 122}, {110, 160, 220, 214},
          {{"step", "A: P address", "B: V descriptor", "keys"},
           {"0", fmt::format("tmem_p + {}", 0), hex(descriptor_word(v.form, v.start), 16), "0-15"},
           {"1", fmt::format("tmem_p + {}", col.mma_k / 2),
            hex(descriptor_word(v.form, v.start + v.step_offset(1)), 16), "16-31"},
           {"2", fmt::format("tmem_p + {}", 2 * col.mma_k / 2),
            hex(descriptor_word(v.form, v.start + v.step_offset(2)), 16), "32-47"},
           {"7", fmt::format("tmem_p + {}", 7 * col.mma_k / 2),
            hex(descriptor_word(v.form, v.start + v.step_offset(7)), 16), "112-127"}},
          11, 21);
  note(
      c,
      "16 keys = 8 columns, because a column holds two BF16. K-major and MN-major are words for shared "
      "memory only; in tensor memory operand A has one fixed form: row m in lane m, keys along the columns.");
  return c;
}

Canvas lifetimes(const Kernels& kernels) {
  kernels[1].require("issue_pv(tmem_o, shared.k_smem, shared.v_smem");
  Canvas c("Lifetimes: K and P no longer share a buffer",
           "What each piece of storage holds through one turn of the loop, before and after.",
           "Two groups of bars over the phases load, QK, softmax, PV. Before: the K buffer holds K then P "
           "until PV ends. After: it is free from the end of QK.");
  const double x = 190, w = 160, h = 28;
  const char* phases[] = {"load K, V", "QK", "softmax", "PV"};
  double y = c.top() + 40;
  auto phase_row = [&](double top) {
    for (int i = 0; i < 4; ++i) c.label({x + i * w, top, w, 16}, phases[i], {.size = 11, .bold = true});
  };
  auto bar = [&](double top, const std::string& name,
                 const std::vector<std::tuple<int, int, std::string, std::string>>& parts) {
    c.text({x - 10, top + 18}, name, {.size = 11.5, .anchor = Anchor::end});
    c.rect({x, top, 4 * w, h}, "n1");
    for (const auto& [from, to, cls, text] : parts) {
      const Rect r = {x + from * w, top, (to - from) * w, h};
      if (cls == "free") {
        c.rect(r, "n1 e");
        c.label(r, text, {.size = 11, .cls = "m"});
      } else {
        c.block(r, cls + " e", text, {.size = 11.5});
      }
    }
  };
  heading(c, 20, y - 22, "chapter 1");
  phase_row(y - 18);
  bar(y, "k_smem, 32 KB", {{0, 2, "K", "K(i)"}, {2, 4, "P", "P(i): K's buffer is held until PV ends"}});
  bar(y + 36, "v_smem, 32 KB", {{0, 4, "V", "V(i)"}});
  bar(y + 72, "tensor memory 0-127", {{0, 1, "free", "free"}, {1, 3, "S", "S(i)"}, {3, 4, "free", "dead"}});
  y += 152;
  heading(c, 20, y - 22, "chapter 2");
  phase_row(y - 18);
  bar(y, "k_smem, 32 KB", {{0, 2, "K", "K(i)"}, {2, 4, "free", "free: K(i+1) could load here"}});
  bar(y + 36, "v_smem, 32 KB", {{0, 4, "V", "V(i)"}});
  bar(y + 72, "tensor memory 0-63",
      {{0, 1, "free", "free"}, {1, 2, "S", "S(i)"}, {2, 4, "P", "P(i), written behind the reader"}});
  bar(y + 108, "tensor memory 64-127", {{0, 1, "free", "free"}, {1, 3, "S", "S(i)"}, {3, 4, "free", "dead"}});
  note(c, fmt::format("Shared memory stays at {} bytes and the loop still waits at every hand-off: nothing "
                      "is faster yet. But K is free after QK, and chapter 6 loads into that gap.",
                      kernels[2].shared_bytes()));
  return c;
}

Canvas handoff_b(const Kernels& kernels) {
  const Kernel& k = kernels[2];
  k.require("tmem::wait_store();");
  Canvas c("Handing P over: shared memory against tensor memory",
           "The same hand-off, softmax to PV, with P in each place. Fewer steps, because tensor memory "
           "belongs to no proxy.",
           "Two columns of steps from the threads' store to the tensor core's read.");
  const double y = c.top() + 34, w = 380, h = 34;
  const std::vector<std::vector<std::string>> sides = {
      {"cvt, pack 8 BF16 into 16 bytes", "st.shared.v4 to the slice of K's buffer",
       "fence.proxy.async: publish to the async proxy", "__syncthreads: 128 threads",
       "tcgen05.fence::after_thread_sync (issuer)", "tcgen05.mma [d], descriptor of P, descriptor of V"},
      {"cvt, pack 16 BF16 into 8 registers", "tcgen05.st.32x32b.x8 over the consumed scores",
       "tcgen05.wait::st: the stores are performed", "tcgen05.fence::before_thread_sync, __syncthreads",
       "tcgen05.fence::after_thread_sync (issuer)", "tcgen05.mma [d], [tmem_p + 8 s], descriptor of V"}};
  for (int side = 0; side < 2; ++side) {
    const double x = 40 + side * 430;
    heading(c, x, y - 12,
            side == 0 ? "chapter 1: hand-off (a), through shared memory"
                      : "chapter 2: hand-off (b), through tensor memory");
    for (size_t i = 0; i < sides[side].size(); ++i) {
      const double top = y + i * (h + 16);
      c.block({x, top, w, h},
              i == 0   ? "Sl f"
              : i == 5 ? "Ol f"
              : i == 1 ? "P f"
                       : "n1 f",
              sides[side][i], {.size = 11.5});
      if (i + 1 < sides[side].size()) c.arrow({{x + w / 2, top + h + 1}, {x + w / 2, top + h + 15}});
    }
  }
  note(c,
       "wait::st is not optional: tcgen05.st only queues the store, and an MMA issued too early would read "
       "scores where P should be. In chapter 1 the fence of the proxy played that part.");
  return c;
}

}  // namespace

std::vector<Picture> chapter_02() {
  return {{2, "s_to_p", "S becomes P in place: writing behind the reader", in_place},
          {2, "sixteen_scores", "One step of 16 scores, and how a cell holds two keys", sixteen_scores},
          {2, "p_by_address", "PV takes P by tensor-memory address", by_address},
          {2, "handoff", "Handing P over, before and after", handoff_b},
          {2, "lifetimes", "Lifetimes of K, S and P, before and after", lifetimes}};
}

}  // namespace diagrams
