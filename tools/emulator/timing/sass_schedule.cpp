#include "timing/sass_schedule.h"

#include <algorithm>
#include <array>

#include "ptx/dataflow.h"
#include "ptx/flow.h"
#include "ptx/slots.h"

namespace emu::timing {

namespace {

// How far ahead of the oldest instruction not yet placed ptxas takes one, in PTX instructions. In the row
// loops of the chapters' SASS the farthest that a load or an exponential moved up is 40 to 60.
constexpr uint32_t kWindow = 64;

enum class Port : uint8_t { None, Fma, Alu, Mufu, Count };

struct Timing {
  Port port = Port::None;
  double interval = 1;
  double latency = 4;
};

Timing timing_of(const Cost& cost, const Machine& m) {
  switch (cost.pipe) {
    case CostClass::Fma:
      return {Port::Fma, m.ii_fma, m.lat_fma};
    case CostClass::FmaPacked:
      return {Port::Fma, m.ii_fma_packed, m.lat_fma};
    case CostClass::Imad:
      return {Port::Fma, m.ii_imad, m.lat_fma};
    case CostClass::ImadWide:
      return {Port::Fma, m.ii_imad_wide, m.lat_fma};
    case CostClass::IntAdd:
      return {Port::Alu, m.ii_int_add, m.lat_alu};
    case CostClass::Alu:
      return {Port::Alu, m.ii_alu, m.lat_alu};
    case CostClass::CvtPack:
      return {Port::Alu, m.ii_cvt_pack, m.lat_alu};
    case CostClass::Mufu:
    case CostClass::Xu:
      return {Port::Mufu, m.ii_mufu, m.lat_mufu};
    case CostClass::Shuffle:
      return {Port::None, 1, m.lat_shuffle};
    case CostClass::SharedLoad:
      return {Port::None, 1, m.lat_shared};
    case CostClass::GlobalLoad:
    case CostClass::Atomic:
      return {Port::None, 1, m.lat_l2};
    case CostClass::TmemLoad:
      return {Port::None, 1, m.tmem_load_fixed};
    default:
      return {Port::None, 1, m.lat_alu};
  }
}

// Loads and stores of parameters are free but must stay on their side of a call.
bool is_arithmetic(std::string_view opcode, CostClass pipe) {
  if (opcode.starts_with("ld") || opcode.starts_with("st")) return false;
  return pipe <= CostClass::Xu || pipe == CostClass::Uniform;
}

// The condition code of add.cc and its kin is a register that no operand names (PTX ISA 9.7.2).
bool touches_carry(std::string_view opcode) {
  return opcode.starts_with("addc") || opcode.starts_with("subc") || opcode.starts_with("madc") ||
         opcode.find(".cc.") != std::string_view::npos;
}

struct Node {
  std::vector<std::pair<uint32_t, double>> successors;  // node in the block, latency
  uint32_t waiting = 0;                                 // predecessors not yet placed
  double earliest = 0;
  double height = 0;  // longest latency path to the end of the block
  double slots = 0;
  Timing timing;
};

class BlockScheduler {
 public:
  BlockScheduler(const ptx::Function& function, const std::vector<Cost>& costs, const Machine& machine,
                 const ptx::Block& block)
      : function_(function),
        costs_(costs),
        machine_(machine),
        block_(block),
        nodes_(block.end - block.begin) {}

  // Fills in the block's part of `order`; returns its cycles.
  double run(std::vector<uint32_t>& order, uint32_t window) {
    connect();
    for (size_t n = nodes_.size(); n-- > 0;) {
      for (const auto& [to, latency] : nodes_[n].successors) {
        nodes_[n].height = std::max(nodes_[n].height, nodes_[to].height + latency);
      }
    }
    return place(order, window);
  }

 private:
  void edge(int32_t from, uint32_t to, double latency) {
    if (from < 0 || static_cast<uint32_t>(from) == to) return;
    nodes_[static_cast<size_t>(from)].successors.emplace_back(to, latency);
    ++nodes_[to].waiting;
  }

  double latency(int32_t from) const {
    if (from < 0) return 0;
    const auto at = static_cast<uint32_t>(from);
    const Cost& cost = costs_[block_.begin + at];
    // What folds away adds nothing to the path.
    if (cost.issue_slots() == 0) return 0;
    double total = nodes_[at].timing.latency;
    if (cost.pipe == CostClass::TmemLoad) {
      const auto& loaded = function_.operands_of(function_.instructions[block_.begin + at])[0];
      total += std::max(loaded.count, 1u) / machine_.tmem_columns_per_clk;
    }
    if (cost.extra_fma + cost.extra_alu > 0) total += machine_.lat_setp_guard + machine_.lat_fma;
    return total;
  }

  void connect() {
    std::vector<int32_t> writer(function_.registers.size(), -1);
    std::vector<std::vector<uint32_t>> readers(function_.registers.size());
    std::vector<int32_t> pending;  // registers that a tcgen05.ld has yet to deliver
    int32_t ordered = -1, last_load = -1, carry = -1;
    const auto count = static_cast<uint32_t>(nodes_.size());
    for (uint32_t n = 0; n < count; ++n) {
      const uint32_t i = block_.begin + n;
      const ptx::Instruction& instruction = function_.instructions[i];
      nodes_[n].slots = costs_[i].issue_slots();
      nodes_[n].timing = timing_of(costs_[i], machine_);
      const bool load = ptx::is_async_register_load(instruction);
      ptx::for_each_register(function_, instruction, [&](int32_t reg, ptx::Access access) {
        const auto r = static_cast<size_t>(reg);
        if (access != ptx::Access::Write) {
          edge(writer[r], n, latency(writer[r]));
          readers[r].push_back(n);
        }
        if (access != ptx::Access::Read) {
          edge(writer[r], n, 1);
          for (uint32_t reader : readers[r]) edge(static_cast<int32_t>(reader), n, 0);
          readers[r].clear();
          writer[r] = static_cast<int32_t>(n);
          if (load) pending.push_back(reg);
        }
      });
      if (!is_arithmetic(instruction.opcode, costs_[i].pipe) || n + 1 == count) {
        edge(ordered, n, 1);
        ordered = static_cast<int32_t>(n);
      }
      if (touches_carry(instruction.opcode)) {
        edge(carry, n, latency(carry));
        carry = static_cast<int32_t>(n);
      }
      if (load) last_load = static_cast<int32_t>(n);
      if (ptx::is_async_register_wait(instruction)) {
        edge(last_load, n, latency(last_load));
        for (int32_t reg : pending) writer[static_cast<size_t>(reg)] = static_cast<int32_t>(n);
        pending.clear();
      }
    }
    for (uint32_t n = 0; n + 1 < count; ++n) edge(static_cast<int32_t>(n), count - 1, 0);
  }

  double place(std::vector<uint32_t>& order, uint32_t window) {
    std::vector<bool> placed(nodes_.size(), false);
    std::array<double, static_cast<size_t>(Port::Count)> port_free{};
    double now = 0;
    uint32_t oldest = 0;
    for (uint32_t done = 0; done < nodes_.size(); ++done) {
      while (placed[oldest]) ++oldest;
      const auto last = static_cast<uint32_t>(std::min<size_t>(nodes_.size(), size_t{oldest} + window));
      int32_t best = -1;
      double best_start = 0;
      for (uint32_t n = oldest; n < last; ++n) {
        if (placed[n] || nodes_[n].waiting > 0) continue;
        const double port = nodes_[n].slots > 0 ? port_free[static_cast<size_t>(nodes_[n].timing.port)] : 0;
        const double start = std::max({now, nodes_[n].earliest, port});
        const bool sooner = best < 0 || start < best_start;
        const bool higher =
            best >= 0 && start == best_start && nodes_[n].height > nodes_[static_cast<size_t>(best)].height;
        if (sooner || higher) {
          best = static_cast<int32_t>(n);
          best_start = start;
        }
      }
      Node& node = nodes_[static_cast<size_t>(best)];
      placed[static_cast<size_t>(best)] = true;
      order[block_.begin + done] = block_.begin + static_cast<uint32_t>(best);
      if (node.slots > 0 && node.timing.port != Port::None) {
        port_free[static_cast<size_t>(node.timing.port)] = best_start + node.timing.interval;
      }
      now = best_start + node.slots + costs_[block_.begin + static_cast<uint32_t>(best)].stall;
      for (const auto& [to, latency] : node.successors) {
        nodes_[to].earliest = std::max(nodes_[to].earliest, best_start + latency);
        --nodes_[to].waiting;
      }
    }
    return now;
  }

  const ptx::Function& function_;
  const std::vector<Cost>& costs_;
  const Machine& machine_;
  const ptx::Block& block_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<uint32_t> schedule(const ptx::Function& function, const std::vector<Cost>& costs,
                               const Machine& machine) {
  std::vector<uint32_t> order(function.instructions.size());
  const ptx::FlowGraph graph = ptx::build_flow_graph(function);
  for (const ptx::Block& block : graph.blocks) {
    BlockScheduler(function, costs, machine, block).run(order, kWindow);
  }
  return order;
}

std::vector<double> block_cycles(const ptx::Function& function, const std::vector<Cost>& costs,
                                 const Machine& machine, bool scheduled) {
  std::vector<uint32_t> order(function.instructions.size());
  const ptx::FlowGraph graph = ptx::build_flow_graph(function);
  std::vector<double> cycles;
  for (const ptx::Block& block : graph.blocks) {
    cycles.push_back(BlockScheduler(function, costs, machine, block).run(order, scheduled ? kWindow : 1));
  }
  return cycles;
}

ptx::Function reordered(const ptx::Function& function, const std::vector<uint32_t>& order) {
  ptx::Function result = function;
  for (size_t i = 0; i < order.size(); ++i) {
    result.instructions[i] = function.instructions[order[i]];
    result.instructions[i].is_join = function.instructions[i].is_join;
  }
  ptx::assign_slots(result, ptx::build_flow_graph(result));
  return result;
}

}  // namespace emu::timing
