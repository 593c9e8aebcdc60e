#include "ptx/slots.h"

#include <algorithm>
#include <bit>
#include <queue>

namespace emu::ptx {
namespace {

uint32_t slots_of(RegClass reg_class) {
  if (reg_class == RegClass::B64) return 2;
  return reg_class == RegClass::B128 ? 4 : 1;
}

// Free groups of slots of one size as a bit set, lowest first.
class SlotPool {
 public:
  uint32_t take() {
    while (hint_ < free_.size() && free_[hint_] == 0) ++hint_;
    if (hint_ == free_.size()) free_.push_back(~0ull);
    const auto bit = static_cast<uint32_t>(std::countr_zero(free_[hint_]));
    free_[hint_] &= ~(1ull << bit);
    const auto group = static_cast<uint32_t>(hint_ * 64) + bit;
    used_ = std::max(used_, group + 1);
    return group;
  }

  void give(uint32_t group) {
    free_[group / 64] |= 1ull << group % 64;
    hint_ = std::min<size_t>(hint_, group / 64);
  }

  uint32_t used() const { return used_; }

 private:
  std::vector<uint64_t> free_;
  size_t hint_ = 0;  // no word before it has room
  uint32_t used_ = 0;
};

struct Expiry {
  uint32_t last;
  uint32_t reg;
  bool operator>(const Expiry& other) const {
    return last != other.last ? last > other.last : reg > other.reg;
  }
};

}  // namespace

// Linear scan: ranges in order of their first instruction, each into the lowest group that is free
// throughout. Registers of different sizes never share slots: lane l of a wider register lies where lanes 2l
// and 2l + 1 of a narrower one do, and those may belong to a fragment that is elsewhere in the program.
void assign_slots(Function& function, const FlowGraph& graph) {
  const std::vector<LiveRange> ranges = live_ranges(function, graph);
  function.slot_of_register.assign(ranges.size(), kNoSlot);
  std::vector<uint32_t> order;
  for (uint32_t reg = 0; reg < ranges.size(); ++reg)
    if (ranges[reg].used()) order.push_back(reg);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return ranges[a].first < ranges[b].first; });

  SlotPool predicates, words, pairs, quads;
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> active;
  auto pool = [&](uint32_t reg) -> SlotPool& {
    const RegClass reg_class = function.registers[reg].reg_class;
    if (reg_class == RegClass::Pred) return predicates;
    const uint32_t size = slots_of(reg_class);
    return size == 1 ? words : size == 2 ? pairs : quads;
  };
  for (const uint32_t reg : order) {
    while (!active.empty() && active.top().last < ranges[reg].first) {
      const uint32_t ended = active.top().reg;
      active.pop();
      pool(ended).give(function.slot_of_register[ended]);
    }
    function.slot_of_register[reg] = pool(reg).take();
    active.push({ranges[reg].last, reg});
  }
  // Widest first, which keeps every group aligned to its size.
  const uint32_t first_pair = 4 * quads.used(), first_word = first_pair + 2 * pairs.used();
  for (const uint32_t reg : order) {
    uint32_t& slot = function.slot_of_register[reg];
    if (&pool(reg) == &words) slot += first_word;
    if (&pool(reg) == &pairs) slot = first_pair + 2 * slot;
    if (&pool(reg) == &quads) slot *= 4;
  }
  function.num_slots = first_word + words.used();
  function.num_predicates = predicates.used();
}

}  // namespace emu::ptx
