// In-order issue with a scoreboard: a warp issues its next instruction when its operands are ready, its
// sub-partition's issue slot is free and the pipe takes it.
#include "gpu/issue.h"

#include <algorithm>
#include <bit>

#include "gpu/processor.h"
#include "ptx/dataflow.h"
#include "timing/sass_cost.h"

namespace emu::gpu {

CostTable cost_table(const timing::Machine& m) {
  using C = timing::CostClass;
  CostTable table{};
  const auto set = [&](C c, Pipe pipe, Time interval, Time latency, Time hold = 0) {
    table[static_cast<size_t>(c)] = {pipe, interval, latency, hold};
  };
  set(C::Free, Pipe::None, 0, 0);
  set(C::Fma, Pipe::Fma, m.ii_fma, m.lat_fma);
  set(C::FmaPacked, Pipe::Fma, m.ii_fma_packed, m.lat_fma);
  set(C::Imad, Pipe::Fma, m.ii_imad, m.lat_fma);
  set(C::ImadWide, Pipe::Fma, m.ii_imad_wide, m.lat_fma + 1);
  set(C::IntAdd, Pipe::Alu, m.ii_int_add, m.lat_alu);
  set(C::Alu, Pipe::Alu, m.ii_alu, m.lat_alu);
  set(C::CvtPack, Pipe::Alu, m.ii_cvt_pack, m.lat_alu);
  set(C::Mufu, Pipe::Mufu, m.ii_mufu, m.lat_mufu);
  set(C::Xu, Pipe::Mufu, m.ii_xu, m.lat_xu);
  set(C::Fp64, Pipe::Fp64, m.ii_fp64, m.lat_fp64);
  set(C::Vote, Pipe::Alu, m.ii_vote, m.lat_vote);
  set(C::Shuffle, Pipe::SharedPort, m.ii_shuffle_sm, m.lat_shuffle);
  set(C::Redux, Pipe::Alu, m.ii_redux, m.lat_redux);
  set(C::TensorSync, Pipe::Fma, 8, m.lat_tensor_sync);
  set(C::Param, Pipe::None, 1, m.lat_param);
  set(C::SharedLoad, Pipe::SharedPort, 1, m.lat_shared);
  set(C::SharedStore, Pipe::SharedPort, 1, 0);
  set(C::GlobalLoad, Pipe::Memory, 1, m.lat_l2);
  set(C::GlobalStore, Pipe::Memory, 1, 0);
  set(C::Local, Pipe::SharedPort, 1, m.lat_l1);
  set(C::Atomic, Pipe::Memory, 2, m.lat_l2);
  set(C::Branch, Pipe::None, 1, 0, m.branch_stall - 1);
  set(C::Call, Pipe::None, 4, 0);
  set(C::CtaBarrier, Pipe::None, 1, 0);
  set(C::WarpSync, Pipe::None, 1, 0);
  set(C::Mbarrier, Pipe::SharedPort, 1, m.mbar_arrive_issue, m.mbar_arrive_issue - 1);
  set(C::MbarrierWait, Pipe::SharedPort, 1, m.lat_mbar_test);
  set(C::Fence, Pipe::None, 1, 0);
  set(C::TmaIssue, Pipe::Uniform, 1, 0);
  set(C::AsyncCopy, Pipe::Memory, 1, 0);
  set(C::TmemLoad, Pipe::Uniform, 1, 0);
  set(C::TmemStore, Pipe::Uniform, 1, 0);
  set(C::TmemWait, Pipe::None, 1, 0);
  set(C::TmemAlloc, Pipe::None, 1, 0);
  set(C::MmaIssue, Pipe::Uniform, 1, 0);
  set(C::Commit, Pipe::Uniform, 1, 0);
  set(C::Uniform, Pipe::None, 1, m.lat_alu);
  set(C::Special, Pipe::None, 1, 18);
  set(C::Sleep, Pipe::None, 1, 0);
  return table;
}

// A result of the arithmetic pipes reaches the pipe it came from first.
ForwardingTable forwarding_table(const timing::Machine& m) {
  ForwardingTable table{};
  for (const Pipe from : {Pipe::Fma, Pipe::Alu}) {
    auto& row = table[static_cast<size_t>(from)];
    row.fill(m.lat_to_other_units);
    row[static_cast<size_t>(from)] = 0;
    row[static_cast<size_t>(from == Pipe::Fma ? Pipe::Alu : Pipe::Fma)] = m.lat_cross_pipe;
    row[static_cast<size_t>(Pipe::None)] = 0;
  }
  return table;
}

IssueInfo issue_info(const Program& program) {
  const ptx::Function& function = *program.function;
  IssueInfo info;
  info.instructions.resize(function.instructions.size());
  std::vector<timing::Cost> costs(function.instructions.size());
  for (size_t i = 0; i < costs.size(); ++i) costs[i] = program.code[i].cost;
  const std::string& target = program.module->header().target;
  timing::estimate_sass(function, costs, {.three_input_minmax = !target.starts_with("sm_90")});
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    std::vector<uint32_t> reads, writes, predicate_reads, predicate_writes;
    ptx::for_each_register(function, function.instructions[i], [&](int32_t reg, ptx::Access access) {
      const auto index = static_cast<size_t>(reg);
      const ptx::RegClass reg_class = function.registers[index].reg_class;
      const uint32_t slot = function.slot_of_register[index];
      if (slot == ptx::kNoSlot) return;
      const bool predicate = reg_class == ptx::RegClass::Pred;
      const uint32_t width = reg_class == ptx::RegClass::B64 ? 2 : reg_class == ptx::RegClass::B128 ? 4 : 1;
      for (uint32_t k = 0; k < width; ++k) {
        const uint32_t at = predicate ? isa::kFirstPredicate + slot : isa::kFirstSlot + slot + k;
        if (access != ptx::Access::Write) (predicate ? predicate_reads : reads).push_back(at);
        if (access != ptx::Access::Read) (predicate ? predicate_writes : writes).push_back(at);
      }
    });
    IssueRange& range = info.instructions[i];
    range.first = static_cast<uint32_t>(info.pool.size());
    const auto put = [&](std::vector<uint32_t>& list, uint8_t& count) {
      list.resize(std::min<size_t>(list.size(), 255));
      count = static_cast<uint8_t>(list.size());
      info.pool.insert(info.pool.end(), list.begin(), list.end());
    };
    put(reads, range.reads);
    put(writes, range.writes);
    put(predicate_reads, range.predicate_reads);
    put(predicate_writes, range.predicate_writes);
    range.cost = costs[i];
    const int32_t guard = function.instructions[i].guard;
    if (guard >= 0 && function.slot_of_register[static_cast<size_t>(guard)] != ptx::kNoSlot) {
      range.guard =
          static_cast<int32_t>(isa::kFirstPredicate + function.slot_of_register[static_cast<size_t>(guard)]);
    }
  }
  return info;
}

namespace {

// 128-byte wavefronts that a shared-memory access takes: the most distinct words any bank has to serve.
// 64-bit accesses are served per half warp, 128-bit ones per quarter.
uint32_t shared_wavefronts(const uint32_t* addresses, LaneMask active, uint32_t bytes) {
  const int step = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32;
  uint32_t total = 0;
  for (int first = 0; first < 32; first += step) {
    uint32_t words[32][4];
    uint8_t count[32] = {};
    uint32_t worst = 0;
    for (int lane = first; lane < first + step; ++lane) {
      if (!(active >> lane & 1)) continue;
      for (uint32_t b = 0; b < std::max(bytes, 4u); b += 4) {
        const uint32_t word = (addresses[lane] + b) / 4;
        const uint32_t bank = word % 32;
        uint8_t& n = count[bank];
        bool seen = false;
        for (uint8_t k = 0; k < std::min<uint8_t>(n, 4); ++k) seen |= words[bank][k] == word;
        if (seen) continue;
        if (n < 4) words[bank][n] = word;
        ++n;
        worst = std::max<uint32_t>(worst, n);
      }
    }
    total += worst;
  }
  return std::max(total, 1u);
}

uint32_t global_sectors(const uint64_t* addresses, LaneMask active, uint32_t bytes) {
  uint64_t sectors[64];
  uint32_t count = 0;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    for (uint64_t s = addresses[lane] / 32; s <= (addresses[lane] + bytes - 1) / 32; ++s) {
      bool seen = false;
      for (uint32_t k = count > 4 ? count - 4 : 0; k < count; ++k) seen |= sectors[k] == s;
      if (!seen && count < 64) sectors[count++] = s;
    }
  }
  return std::max(count, 1u);
}

// An expansion is a chain: ex2 without .ftz compares, scales under that guard, and scales back; a division
// refines its reciprocal by multiply-adds.
Time expansion_latency(const timing::Cost& cost, const timing::Machine& m) {
  return cost.extra_fma * m.lat_fma + (cost.extra_fma && cost.extra_alu ? m.lat_setp_guard : 0);
}

}  // namespace

// Extra cycles a memory instruction holds its port, and what that adds to its latency.
Time Processor::port_cycles(Fragment& f, const Instr& in, LaneMask active) {
  if (in.kind != isa::Kind::Engine || !active) return 1;
  const Op op = static_cast<Op>(in.op);
  if (op != Op::Load && op != Op::Store) return 1;
  const Detail& d = detail(f, in);
  const uint64_t symbol = symbol_value(f, d.address);
  const uint32_t bytes = uint32_t{d.bytes} * d.count;
  uint64_t addresses[32];
  bool shared = d.space == ptx::Space::Shared;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    addresses[lane] = lane_address(f, d.address, symbol, lane);
  }
  if (d.space == ptx::Space::Generic) {
    shared = memory::classify(addresses[std::countr_zero(active)]).space == memory::Space::Shared;
  }
  if (shared) {
    uint32_t offsets[32];
    for (int lane = 0; lane < 32; ++lane) offsets[lane] = static_cast<uint32_t>(addresses[lane]);
    return shared_wavefronts(offsets, active, bytes);
  }
  if (d.space == ptx::Space::Global || d.space == ptx::Space::Generic) {
    return std::max(1.0, global_sectors(addresses, active, bytes) * 32 / machine_.l2_bytes_per_clk);
  }
  return 1;
}

bool Processor::issue(Fragment& f, const Instr& in, LaneMask active, Time limit) {
  const IssueInfo& info = f.frame->program->issue;
  const IssueRange& range = info.instructions[in.source];
  const uint32_t* pool = info.pool.data() + range.first;
  const uint32_t* writes = pool + range.reads;
  const uint32_t* predicate_reads = writes + range.writes;
  const uint32_t* predicate_writes = predicate_reads + range.predicate_reads;
  Frame& frame = *f.frame;
  Sm& sm = *f.warp->cta->sm;
  Smsp& smsp = sm.smsp[f.warp->smsp];
  const ClassCost& cost = costs_[static_cast<size_t>(range.cost.pipe)];
  Time ready = f.time;
  for (uint32_t i = 0; i < range.reads; ++i) {
    const uint32_t slot = pool[i];
    ready = std::max(
        ready, frame.slot_ready[slot] + forwarding_[frame.slot_pipe[slot]][static_cast<size_t>(cost.pipe)]);
  }
  for (uint32_t i = 0; i < range.predicate_reads; ++i) {
    ready = std::max(ready, frame.predicate_ready[predicate_reads[i]]);
  }
  if (range.guard >= 0) ready = std::max(ready, frame.guard_ready[static_cast<size_t>(range.guard)]);
  if (range.cost.issue_slots() == 0) {  // folded away: the value is there when its sources are
    Time source = 0;
    uint8_t source_pipe = 0;
    for (uint32_t k = 0; k < range.reads; ++k) {
      if (frame.slot_ready[pool[k]] <= source) continue;
      source = frame.slot_ready[pool[k]];
      source_pipe = frame.slot_pipe[pool[k]];
    }
    for (uint32_t k = 0; k < range.predicate_reads; ++k) {
      source = std::max(source, frame.predicate_ready[predicate_reads[k]]);
    }
    for (uint32_t i = 0; i < range.writes; ++i) {
      frame.slot_ready[writes[i]] = source;
      frame.slot_pipe[writes[i]] = source_pipe;
    }
    for (uint32_t i = 0; i < range.predicate_writes; ++i) {
      frame.predicate_ready[predicate_writes[i]] = source;
      frame.guard_ready[predicate_writes[i]] = source;
    }
    return true;
  }
  const bool sm_wide = cost.pipe >= Pipe::SharedPort;
  Time* pipe = cost.pipe == Pipe::None ? nullptr
               : sm_wide               ? &sm.shared_pipe_free[static_cast<size_t>(cost.pipe)]
                                       : &smsp.pipe_free[static_cast<size_t>(cost.pipe)];
  const Time start = std::max({ready, smsp.issue_free, pipe ? *pipe : 0});
  const auto why = [&] {
    return ready >= start           ? observe::Stall::Dependency
           : pipe && *pipe >= start ? observe::Stall::Pipe
                                    : observe::Stall::Issue;
  };
  if (start > limit) {
    if (launch_.listener && start > f.time) {
      launch_.listener->stalled(place(f, in), why(), f.time, start, 0, 0);
    }
    f.time = start;
    return false;
  }
  if (launch_.listener && start > f.time) {
    launch_.listener->stalled(place(f, in), why(), f.time, start, 0, 0);
  }
  const double slots = range.cost.issue_slots();
  const Time port = sm_wide ? port_cycles(f, in, active) : 1;
  if (pipe) *pipe = start + cost.interval * port * range.cost.slots;
  // The parts of an expansion on other pipes.
  if (range.cost.extra_fma) {
    Time& fma = smsp.pipe_free[static_cast<size_t>(Pipe::Fma)];
    fma = std::max(fma, start) + range.cost.extra_fma * machine_.ii_fma;
  }
  if (range.cost.extra_alu) {
    Time& alu = smsp.pipe_free[static_cast<size_t>(Pipe::Alu)];
    alu = std::max(alu, start) + range.cost.extra_alu * machine_.ii_alu;
  }
  smsp.issue_free = start + slots;
  ++smsp.issued;
  const Time done = start + cost.latency + (port - 1) +
                    (std::max<int>(range.cost.slots, 1) - 1) * cost.interval +
                    expansion_latency(range.cost, machine_);
  for (uint32_t i = 0; i < range.writes; ++i) {
    frame.slot_ready[writes[i]] = done;
    frame.slot_pipe[writes[i]] = static_cast<uint8_t>(cost.pipe);
  }
  for (uint32_t i = 0; i < range.predicate_writes; ++i) {
    const bool compare = range.cost.pipe == timing::CostClass::Alu;
    frame.predicate_ready[predicate_writes[i]] = done;
    frame.guard_ready[predicate_writes[i]] = compare ? std::max(done, start + machine_.lat_setp_guard) : done;
  }
  f.time = start + slots + range.cost.stall + cost.hold;
  if (launch_.listener) {
    static_assert(static_cast<size_t>(Pipe::Count) == observe::kPipes);
    observe::PipeCycles cycles{};
    cycles[static_cast<size_t>(cost.pipe)] = cost.interval * port * range.cost.slots;
    cycles[static_cast<size_t>(Pipe::Fma)] += range.cost.extra_fma * machine_.ii_fma;
    cycles[static_cast<size_t>(Pipe::Alu)] += range.cost.extra_alu * machine_.ii_alu;
    launch_.listener->issued(place(f, in), start, static_cast<uint32_t>(slots),
                             static_cast<uint8_t>(range.cost.pipe), cycles);
  }
  return true;
}

}  // namespace emu::gpu
