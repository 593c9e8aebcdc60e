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

// Free slots as a bit set; aligned groups of 1, 2 or 4, lowest first.
class SlotPool {
 public:
  uint32_t take(uint32_t size) {
    size_t& hint = hints_[size / 2];
    while (true) {
      if (hint == free_.size()) free_.push_back(~0ull);
      const uint64_t starts = group_starts(free_[hint], size);
      if (starts != 0) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(starts));
        free_[hint] &= ~(mask(size) << bit);
        const auto slot = static_cast<uint32_t>(hint * 64) + bit;
        used_ = std::max(used_, slot + size);
        return slot;
      }
      ++hint;
    }
  }

  void give(uint32_t slot, uint32_t size) {
    free_[slot / 64] |= mask(size) << slot % 64;
    for (size_t& hint : hints_) hint = std::min<size_t>(hint, slot / 64);
  }

  uint32_t used() const { return used_; }

 private:
  static uint64_t mask(uint32_t size) { return (1ull << size) - 1; }

  static uint64_t group_starts(uint64_t free, uint32_t size) {
    if (size == 1) return free;
    const uint64_t pairs = free & free >> 1 & 0x5555555555555555ull;
    return size == 2 ? pairs : pairs & pairs >> 2 & 0x1111111111111111ull;
  }

  std::vector<uint64_t> free_;
  size_t hints_[3] = {};  // per size, no word before it has room
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
// throughout.
void assign_slots(Function& function, const FlowGraph& graph) {
  const std::vector<LiveRange> ranges = live_ranges(function, graph);
  function.slot_of_register.assign(ranges.size(), kNoSlot);
  std::vector<uint32_t> order;
  for (uint32_t reg = 0; reg < ranges.size(); ++reg)
    if (ranges[reg].used()) order.push_back(reg);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return ranges[a].first < ranges[b].first; });

  SlotPool values, predicates;
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> active;
  auto pool = [&](uint32_t reg) -> SlotPool& {
    return function.registers[reg].reg_class == RegClass::Pred ? predicates : values;
  };
  for (const uint32_t reg : order) {
    while (!active.empty() && active.top().last < ranges[reg].first) {
      const uint32_t ended = active.top().reg;
      active.pop();
      pool(ended).give(function.slot_of_register[ended], slots_of(function.registers[ended].reg_class));
    }
    function.slot_of_register[reg] = pool(reg).take(slots_of(function.registers[reg].reg_class));
    active.push({ranges[reg].last, reg});
  }
  function.num_slots = values.used();
  function.num_predicates = predicates.used();
}

}  // namespace emu::ptx
