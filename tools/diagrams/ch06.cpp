// Chapter 6: K and V as tokens in a ring of three slots.
#include <fmt/format.h>

#include "diagrams/helpers.h"
#include "diagrams/kernel_schedules.h"
#include "diagrams/picture.h"

namespace diagrams {
namespace {

using svg::Anchor;
using svg::Canvas;
using svg::Rect;

std::string token_name(int t) { return fmt::format("{}{}", t % 2 ? "V" : "K", t / 2); }
std::string token_class(int t) { return t % 2 ? "V" : "K"; }
// Who reads a token last: both query tiles use it, tile 1 second.
std::string last_reader(int t) { return t % 2 ? fmt::format("P1V{}", t / 2) : fmt::format("Q1K{}", t / 2); }

int slots_of(const Kernels& kernels) {
  kernels[6].require("const int slot = token % kKvSlots;");
  return kernels[6].value("kKvSlots");
}

Canvas ring(const Kernels& kernels) {
  const Kernel& k = kernels[6];
  const int slots = slots_of(kernels);
  const Member& kv = k.member("kv_smem");
  const uint32_t tile = static_cast<uint32_t>(k["kTileBytes"]);
  Canvas c("The ring: three slots, two ends",
           fmt::format("kv_smem[{}] holds {} tiles of {} bytes, each K or V. The load warp fills slots in "
                       "turn, the MMA warp reads them in turn; two barriers a slot keep them apart.",
                       slots, slots, tile),
           "Load warp, three slots and the MMA warp in a line; kv_ready arrows to the right, kv_free arrows "
           "to the left.");
  const double y = c.top() + 40, sx = 300, w = 110, h = 84;
  c.block({30, y, 150, h}, "n2 f", "load warp\nfills slot t mod 3", {.size = 12.5});
  c.block({720, y, 150, h}, "n2 f", "MMA warp\nreads slot t mod 3", {.size = 12.5});
  const int shown[] = {3, 4, 2};
  for (int s = 0; s < slots; ++s) {
    const int t = shown[s];
    c.block({sx + s * w, y, w, h}, token_class(t) + (t == 4 ? "l f" : " f"),
            fmt::format("slot {}\n{}\n{}", s, token_name(t),
                        t == 4   ? "arriving"
                        : t == 2 ? "being read"
                                 : "ready"),
            {.size = 12});
    c.text({sx + s * w + 4, y + h + 14}, hex(kSharedBase + kv.offset + s * tile), {.size = 10, .cls = "m"});
  }
  c.arrow({{182, y + 24}, {sx - 4, y + 24}});
  c.text({238, y + 18}, "TMA, 32 KB", {.size = 11, .anchor = Anchor::middle});
  c.arrow({{sx + 3 * w + 4, y + 24}, {718, y + 24}});
  c.text({674, y + 18}, "kv_ready", {.size = 11, .anchor = Anchor::middle});
  c.arrow({{716, y + 60}, {sx + 3 * w + 4, y + 60}}, "hi");
  c.text({674, y + 54}, "commit", {.size = 11, .anchor = Anchor::middle, .cls = "x"});
  c.arrow({{sx - 4, y + 60}, {182, y + 60}}, "hi");
  c.text({238, y + 54}, "kv_free", {.size = 11, .anchor = Anchor::middle, .cls = "x"});
  auto at = [&](const char* name, int i) { return hex(kSharedBase + k.member(name).offset + 8 * i); };
  std::vector<std::vector<std::string>> rows = {
      {"barrier", "slot 0", "slot 1", "slot 2", "completed by", "waited for by"}};
  rows.push_back({"kv_ready[slot]", at("kv_ready", 0), at("kv_ready", 1), at("kv_ready", 2),
                  fmt::format("TMA: {} bytes have landed", tile), "MMA warp, before the MMA"});
  rows.push_back({"kv_free[slot]", at("kv_free", 0), at("kv_free", 1), at("kv_free", 2),
                  "commit after Q1K or P1V", "load warp, from token 3 on"});
  c.table({20, y + h + 40}, {130, 90, 90, 90, 230, 230}, rows, 11.5, 22);
  note(c,
       "Nothing moves in the ring: tokens 0, 3, 6… lie in slot 0, tokens 1, 4, 7… in slot 1. Because K and V "
       "are separate tokens, QK starts when K alone is there, and K's slot is refilled while V is still in "
       "use.");
  return c;
}

Canvas tokens(const Kernels& kernels) {
  const int slots = slots_of(kernels), shown = 10;
  Canvas c("Tokens and slots",
           "Token 2i is K(i), token 2i + 1 is V(i). Slot = token mod 3, phase = token / 3; what a load must "
           "wait for follows by arithmetic.",
           "A strip of ten tokens coloured by K and V over their slots; a table with slot, phase parity, "
           "what each load waits for.");
  const double y = c.top() + 30, x = 100, w = 76;
  for (int t = 0; t < shown; ++t) {
    c.block({x + t * w, y, w, 30}, token_class(t) + " e", fmt::format("{}: {}", t, token_name(t)),
            {.size = 12});
    for (int s = 0; s < slots; ++s) {
      const bool here = t % slots == s;
      c.block({x + t * w, y + 40 + s * 26, w, 26}, here ? token_class(t) + " e" : "n1 g",
              here ? token_name(t) : "", {.size = 11});
    }
  }
  c.text({x - 10, y + 19}, "token", {.size = 11, .anchor = Anchor::end});
  for (int s = 0; s < slots; ++s)
    c.text({x - 10, y + 57 + s * 26}, fmt::format("slot {}", s), {.size = 11, .anchor = Anchor::end});
  std::vector<std::vector<std::string>> rows = {
      {"token", "is", "slot", "phase", "load waits for", "read by", "frees the slot"}};
  for (int t = 0; t < shown; ++t) {
    const std::string wait = t < slots ? "nothing: slot is new"
                                       : fmt::format("kv_free[{}], parity {} ({})", t % slots,
                                                     (t / slots - 1) & 1, last_reader(t - slots));
    rows.push_back(
        {fmt::format("{}", t), token_name(t), fmt::format("{}", t % slots),
         fmt::format("{}, parity {}", t / slots, t / slots & 1), wait,
         t % 2 ? fmt::format("P0V{}, P1V{}", t / 2, t / 2) : fmt::format("Q0K{}, Q1K{}", t / 2, t / 2),
         last_reader(t)});
  }
  c.table({20, y + 134}, {60, 50, 50, 110, 250, 170, 170}, rows, 11, 20);
  note(c,
       "A token is used twice, by query tile 0 and then 1; only the second use frees it. Since the MMAs run "
       "in order, one commit after it covers both.");
  return c;
}

Canvas worked(const Kernels& kernels) {
  const Kernel& k = kernels[6];
  const int slots = slots_of(kernels), token = 5, slot = token % slots, before = token - slots;
  const uint32_t tile = static_cast<uint32_t>(k["kTileBytes"]);
  const uint32_t address = kSharedBase + k.member("kv_smem").offset + slot * tile;
  Canvas c(fmt::format("A worked step: loading token {}", token),
           fmt::format("Token {} is {}. It goes to slot {}, where token {} = {} lies until {} has read it.",
                       token, token_name(token), slot, before, token_name(before), last_reader(before)),
           "Six numbered steps from the old token's last MMA to the new token's first.");
  const double y = c.top() + 20, w = 400, h = 58;
  const std::vector<std::tuple<std::string, std::string, std::string>> steps = {
      {"MMA warp",
       fmt::format("{}: 8 MMAs read slot {}\ncommit to qk_done[1] and to kv_free[{}]", last_reader(before),
                   slot, slot),
       "S"},
      {"tensor core",
       fmt::format("the MMAs complete, the commit arrives:\nphase {} of kv_free[{}] is over", before / slots,
                   slot),
       "n2"},
      {"load warp",
       fmt::format("wait(kv_free[{}], {} / {} - 1 & 1 = {}) returns", slot, token, slots,
                   (token / slots - 1) & 1),
       "n2"},
      {"load warp",
       fmt::format("expect {} bytes on kv_ready[{}]\n2 boxes of 64 x 128 to {}", tile, slot, hex(address)),
       "V"},
      {"TMA", fmt::format("the bytes land: phase {} of kv_ready[{}] is over", token / slots, slot), "n2"},
      {"MMA warp",
       fmt::format("wait(kv_ready[{}], {} / {} & 1 = {}) returns\nP0V{}: 8 MMAs with V at {}", slot, token,
                   slots, token / slots & 1, token / 2, hex(address)),
       "O"}};
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto& [who, what, cls] = steps[i];
    const double x = i < 3 ? 40 : 480, top = y + (i % 3) * (h + 44);
    c.text({x, top - 4}, fmt::format("{}. {}", i + 1, who), {.size = 12, .bold = true});
    c.block({x, top, w - 20, h}, cls + " f", what, {.size = 11.5});
    if (i != 2 && i != 5) c.arrow({{x + w / 2 + 100, top + h + 2}, {x + w / 2 + 100, top + h + 40}});
  }
  c.arrow(
      {{422, y + 2 * (h + 44) + h / 2}, {450, y + 2 * (h + 44) + h / 2}, {450, y + h / 2}, {477, y + h / 2}},
      "hi");
  note(c, fmt::format("Between steps 4 and 6 the tensor core works on tokens {} and {}: four tile products, "
                      "about four units for a load that takes one. That is the point of three slots.",
                      token - 2, token - 1));
  return c;
}

Canvas filling(const Kernels& kernels) {
  const int slots = slots_of(kernels);
  const KernelSchedule k = ring_schedule(5, slots);
  Canvas c(
      "The pipeline filling",
      "Three loads go out at once; from then on a load follows each freed slot. Below: what each slot holds.",
      "Schedule of TMA, tensor core and row warps; under it three rows for the slots, each token from its "
      "load to its last use.");
  const double until = 30;
  const double y = k.schedule.draw(c, c.top() + 10, until, {}, 28);
  heading(c, 20, y + 14, "slots");
  const double left = k.schedule.left();
  const double unit = (svg::kWidth - svg::kMargin - left) / until;
  // The load and the last reader of each token, in issue order.
  std::vector<const Op*> loads, last(16, nullptr);
  for (const Op& o : k.schedule.ops()) {
    if (o.row == 0) loads.push_back(&o);
    if (o.label.rfind("Q1K", 0) == 0) last[2 * std::stoi(o.label.substr(3))] = &o;
    if (o.label.rfind("P1V", 0) == 0) last[2 * std::stoi(o.label.substr(3)) + 1] = &o;
  }
  for (int s = 0; s < slots; ++s) {
    const double top = y + 26 + s * 34;
    c.text({left - 8, top + 18}, fmt::format("slot {}", s), {.size = 11, .anchor = Anchor::end});
    c.rect({left, top, until * unit, 28}, "n1");
  }
  for (size_t t = 0; t < loads.size(); ++t) {
    const double from = loads[t]->start, landed = loads[t]->end();
    if (landed > until || !last[t]) continue;
    const double to = std::min(until, last[t]->end()), top = y + 26 + static_cast<double>(t % slots) * 34;
    c.rect({left + from * unit, top, (landed - from) * unit, 28}, token_class(static_cast<int>(t)) + "l e",
           token_name(static_cast<int>(t)) + " arriving");
    c.block({left + landed * unit, top, (to - landed) * unit, 28}, token_class(static_cast<int>(t)) + " e",
            (to - landed) * unit > 26 ? token_name(static_cast<int>(t)) : "", {.size = 11});
  }
  c.legend({left, y + 26 + slots * 34 + 4},
           {{"Kl e", "arriving"}, {"K e", "K: ready or in use"}, {"V e", "V: ready or in use"}});
  note(c, fmt::format("{} After the first load the tensor core never waits for TMA again; what it waits for "
                      "now is softmax.",
                      kUnitsNote));
  return c;
}

Canvas before_after(const Kernels& kernels) {
  const KernelSchedule a = two_tiles_schedule(4), b = ring_schedule(4, slots_of(kernels));
  Canvas c(
      "Loads ahead: before and after",
      "Chapter 5 above, chapter 6 below. The row of TMA moves to the left, and the gaps between turns close.",
      "Two schedules over the same time.");
  heading(c, 20, c.top() + 6, "chapter 5: K and V together, after P1V");
  const double y = a.schedule.draw(c, c.top() + 18, 34, {}, 26);
  heading(c, 20, y + 16, "chapter 6: one token at a time, three slots");
  b.schedule.draw(c, y + 28, 34, {}, 26);
  note(c, fmt::format("{} Four key tiles take {:.0f} units before and {:.0f} after.", kUnitsNote,
                      a.schedule.length(), b.schedule.length()));
  return c;
}

Canvas smem(const Kernels& kernels) {
  const Kernel& k = kernels[6];
  const uint32_t tile = static_cast<uint32_t>(k["kTileBytes"]);
  Canvas c("Why three slots and not three pairs",
           fmt::format("SharedStorage is {} bytes. The limit is 232448 bytes a CTA, seven tiles and a bit.",
                       k.shared_bytes()),
           "Three memory bars against the limit.");
  struct Plan {
    std::string name;
    int tiles;
    bool fits;
  };
  const std::vector<Plan> plans = {
      {"chapter 5: one pair", 4, true}, {"chapter 6: three slots", 5, true}, {"three pairs", 8, false}};
  const double y = c.top() + 34, x = 190, per = 78, limit = 232448.0 / tile * per;
  for (size_t i = 0; i < plans.size(); ++i) {
    const double top = y + i * 62;
    c.text({x - 10, top + 26}, plans[i].name, {.size = 12, .anchor = Anchor::end});
    for (int t = 0; t < plans[i].tiles; ++t) {
      const std::string label = t < 2        ? fmt::format("Q{}", t)
                                : i == 1     ? fmt::format("slot {}", t - 2)
                                : t % 2 == 0 ? "K"
                                             : "V";
      c.block({x + t * per, top, per, 42},
              (t < 2        ? "Q"
               : i == 1     ? "n2"
               : t % 2 == 0 ? "K"
                            : "V") +
                  std::string(" f"),
              label, {.size = 12});
    }
    c.text({x + plans[i].tiles * per + 8, top + 26}, fmt::format("{} KB", plans[i].tiles * 32), {.size = 12});
  }
  c.line({x + limit, y - 12}, {x + limit, y + 3 * 62 - 64}, "da");
  c.text({x + limit, y - 16}, "limit: 227 KB", {.size = 11, .anchor = Anchor::middle, .cls = "x"});
  note(c,
       "Three pairs with two query tiles would need 256 KB. With K and V as separate tokens three slots "
       "already keep a load one and a half turns ahead, in 160 KB. P no longer sits in K's buffer (chapter "
       "2), or no slot could be freed that early.");
  return c;
}

}  // namespace

std::vector<Picture> chapter_06() {
  return {{6, "ring", "The ring: three slots between load warp and MMA warp", ring},
          {6, "tokens", "Tokens, slots and phases", tokens},
          {6, "worked_step", "A worked step: loading token 5", worked},
          {6, "filling", "The pipeline filling, and what each slot holds", filling},
          {6, "before_after", "Loads ahead: before and after", before_after},
          {6, "smem_slots", "Why three slots and not three pairs", smem}};
}

}  // namespace diagrams
