#include <algorithm>
#include <bit>

#include "ptx/dataflow.h"
#include "ptx/slots.h"

namespace emu::ptx {
namespace {

// Above this many words of bit sets the ranges are not computed: every register keeps its slot throughout.
constexpr size_t kMaxSetWords = size_t{1} << 25;

// One set of registers per block.
class BlockSets {
 public:
  BlockSets(size_t blocks, size_t bits) : words_((bits + 63) / 64), data_(blocks * words_) {}
  size_t words() const { return words_; }
  uint64_t* row(size_t block) { return data_.data() + block * words_; }
  const uint64_t* row(size_t block) const { return data_.data() + block * words_; }
  void set(size_t block, size_t bit) { row(block)[bit / 64] |= 1ull << bit % 64; }
  void reset(size_t block, size_t bit) { row(block)[bit / 64] &= ~(1ull << bit % 64); }
  bool test(size_t block, size_t bit) const { return row(block)[bit / 64] >> bit % 64 & 1; }

  template <typename Visit>
  void for_each(size_t block, Visit&& visit) const {
    for (size_t w = 0; w < words_; ++w)
      for (uint64_t rest = row(block)[w]; rest != 0; rest &= rest - 1) visit(w * 64 + std::countr_zero(rest));
  }

 private:
  size_t words_;
  std::vector<uint64_t> data_;
};

class RangeBuilder {
 public:
  RangeBuilder(const Function& function, const FlowGraph& graph)
      : function_(function), graph_(graph), ranges_(function.registers.size()) {}

  std::vector<LiveRange> build() {
    scan_blocks();
    const size_t blocks = graph_.blocks.size();
    if (blocks * (2 * (exposed_.size() / 64 + 1) + 2 * (loaded_.size() / 64 + 1)) > kMaxSetWords) {
      for (LiveRange& range : ranges_)
        if (range.used()) range.cover(0, last_instruction());
      return ranges_;
    }
    propagate_values();
    propagate_loads();
    pin_register_parameters();
    return std::move(ranges_);
  }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  uint32_t last_instruction() const { return static_cast<uint32_t>(function_.instructions.size() - 1); }

  // Covers every mention, and finds which registers a block reads before writing them: only those can be live
  // across blocks, which keeps the sets small.
  void scan_blocks() {
    exposed_index_.assign(function_.registers.size(), kNone);
    loaded_index_.assign(function_.registers.size(), kNone);
    std::vector<uint32_t> written_in(function_.registers.size(), kNone);
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b) {
      for (uint32_t i = graph_.blocks[b].begin; i < graph_.blocks[b].end; ++i) {
        const Instruction& instruction = function_.instructions[i];
        const bool load = is_async_register_load(instruction);
        // Sources first: "add r, r, 1" reads the old value.
        for_each_register(function_, instruction, [&](int32_t reg, Access access) {
          ranges_[reg].cover(i, i);
          if (access == Access::Write || written_in[reg] == b) return;
          number(exposed_index_, exposed_, reg);
          reads_.push_back({b, static_cast<uint32_t>(reg)});
        });
        for_each_register(function_, instruction, [&](int32_t reg, Access access) {
          if (access == Access::Read) return;
          if (load) number(loaded_index_, loaded_, reg);
          if (access != Access::Write || written_in[reg] == b) return;
          written_in[reg] = b;
          writes_.push_back({b, static_cast<uint32_t>(reg)});
        });
      }
    }
  }

  static void number(std::vector<uint32_t>& index, std::vector<uint32_t>& list, int32_t reg) {
    if (index[reg] != kNone) return;
    index[reg] = static_cast<uint32_t>(list.size());
    list.push_back(static_cast<uint32_t>(reg));
  }

  // Backwards: live before a block = read there first, or live after it and not written in it.
  void propagate_values() {
    const size_t blocks = graph_.blocks.size();
    BlockSets live(blocks, exposed_.size()), written(blocks, exposed_.size());
    for (const auto& [block, reg] : reads_) live.set(block, exposed_index_[reg]);
    for (const auto& [block, reg] : writes_)
      if (exposed_index_[reg] != kNone) written.set(block, exposed_index_[reg]);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks; b-- > 0;) {
        uint64_t* row = live.row(b);
        for (const uint32_t s : graph_.blocks[b].successors) {
          const uint64_t* next = live.row(s);
          for (size_t w = 0; w < live.words(); ++w) {
            const uint64_t merged = row[w] | (next[w] & ~written.row(b)[w]);
            changed |= merged != row[w];
            row[w] = merged;
          }
        }
      }
    }
    for (size_t b = 0; b < blocks; ++b) {
      const Block& block = graph_.blocks[b];
      live.for_each(b, [&](size_t bit) { ranges_[exposed_[bit]].cover(block.begin, block.begin); });
      for (const uint32_t s : block.successors)
        live.for_each(s, [&](size_t bit) { ranges_[exposed_[bit]].cover(block.end - 1, block.end - 1); });
    }
  }

  // Forwards: which registers may still have a tcgen05.ld in flight.
  void propagate_loads() {
    if (loaded_.empty()) return;
    const size_t blocks = graph_.blocks.size();
    BlockSets entering(blocks, loaded_.size()), leaving(blocks, loaded_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = 0; b < blocks; ++b) {
        std::copy_n(entering.row(b), entering.words(), leaving.row(b));
        walk_loads(b, leaving);
        for (const uint32_t s : graph_.blocks[b].successors) {
          for (size_t w = 0; w < leaving.words(); ++w) {
            const uint64_t merged = entering.row(s)[w] | leaving.row(b)[w];
            changed |= merged != entering.row(s)[w];
            entering.row(s)[w] = merged;
          }
        }
      }
    }
    for (size_t b = 0; b < blocks; ++b) {
      const Block& block = graph_.blocks[b];
      entering.for_each(b, [&](size_t bit) { ranges_[loaded_[bit]].cover(block.begin, block.begin); });
      leaving.for_each(b, [&](size_t bit) { ranges_[loaded_[bit]].cover(block.end - 1, block.end - 1); });
      cover_waits(b, entering);
    }
  }

  void walk_loads(size_t b, BlockSets& flight) const {
    for (uint32_t i = graph_.blocks[b].begin; i < graph_.blocks[b].end; ++i) {
      const Instruction& instruction = function_.instructions[i];
      // A guarded wait may not happen.
      if (is_async_register_wait(instruction) && instruction.guard < 0)
        std::fill_n(flight.row(b), flight.words(), 0);
      else if (is_async_register_load(instruction))
        add_load(instruction, b, flight);
    }
  }

  void add_load(const Instruction& instruction, size_t b, BlockSets& flight) const {
    for_each_register(function_, instruction, [&](int32_t reg, Access access) {
      if (access != Access::Read) flight.set(b, loaded_index_[reg]);
    });
  }

  // A wait uses whatever is in flight when it is reached.
  void cover_waits(size_t b, BlockSets& flight) {
    for (uint32_t i = graph_.blocks[b].begin; i < graph_.blocks[b].end; ++i) {
      const Instruction& instruction = function_.instructions[i];
      if (is_async_register_wait(instruction)) {
        flight.for_each(b, [&](size_t bit) { ranges_[loaded_[bit]].cover(i, i); });
        if (instruction.guard < 0) std::fill_n(flight.row(b), flight.words(), 0);
      } else if (is_async_register_load(instruction)) {
        add_load(instruction, b, flight);
      }
    }
  }

  // .reg parameters hold the caller's values on entry and the results at every return.
  void pin_register_parameters() {
    for (const auto* list : {&function_.params, &function_.returns})
      for (const Parameter& parameter : *list)
        if (parameter.reg >= 0) ranges_[parameter.reg].cover(0, last_instruction());
  }

  struct Mention {
    uint32_t block;
    uint32_t reg;
  };

  const Function& function_;
  const FlowGraph& graph_;
  std::vector<LiveRange> ranges_;
  std::vector<uint32_t> exposed_, exposed_index_;  // registers read in some block before being written there
  std::vector<uint32_t> loaded_, loaded_index_;    // registers tcgen05.ld writes
  std::vector<Mention> reads_, writes_;
};

}  // namespace

std::vector<LiveRange> live_ranges(const Function& function, const FlowGraph& graph) {
  return RangeBuilder(function, graph).build();
}

}  // namespace emu::ptx
