// CTA barriers, warp barriers, cluster barriers, mbarriers, the proxy fence.
#include <fmt/format.h>

#include <bit>

#include "gpu/processor.h"

namespace emu::gpu {

namespace {
enum BarrierKind : uint8_t { kSync, kArrive, kRedPopc, kRedAnd, kRedOr };
constexpr uint64_t kWarpBarrier = 1;  // wait_value of a fragment that waits in bar.warp.sync
enum ArriveKind : uint8_t { kPlain, kExpectTx, kDrop, kDropExpectTx, kNoComplete, kDropNoComplete };
}  // namespace

// Threads are counted by warp: a warp whose live lanes have all arrived stands for 32 threads (PTX
// ISA 9.7.13.1).
void Processor::check_cta_barrier(Cta& cta, uint32_t id, Time now) {
  NamedBarrier& barrier = cta.barriers[id];
  if (!barrier.any) return;
  uint32_t threads = 0;
  bool everyone = true;
  for (const auto& warp : cta.warps) {
    const LaneMask arrived = barrier.arrived[warp->index];
    const bool complete = (warp->live & ~arrived) == 0;
    everyone &= complete;
    if (arrived) threads += complete ? 32 : static_cast<uint32_t>(std::popcount(arrived));
  }
  if (barrier.expected == 0 ? everyone : threads >= barrier.expected) {
    complete_cta_barrier(cta, id, std::max(now, barrier.latest));
  }
}

void Processor::complete_cta_barrier(Cta& cta, uint32_t id, Time now) {
  NamedBarrier& barrier = cta.barriers[id];
  barrier.last_popc = barrier.popc;
  barrier.last_all = barrier.all;
  barrier.last_some = barrier.some;
  barrier.arrived.fill(0);
  barrier.any = false;
  barrier.latest = 0;
  barrier.expected = 0;
  barrier.popc = 0;
  barrier.all = true;
  barrier.some = false;
  if (launch_.listener && current_) {
    const Instr& last = current_->frame->program->code[current_->pc];
    launch_.listener->met(place(*current_, last), now, id, barrier.phase);
  }
  ++barrier.phase;
  note_progress();
  const Time when = now + (timed_ ? machine_.bar_sync_base : 0) + jitter(40);
  wake_all(barrier.waiting, when);
}

Outcome Processor::exec_barrier(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Warp& warp = *f.warp;
  Cta& cta = *warp.cta;
  const int lane = std::countr_zero(active);
  const uint32_t id = f.file.at<uint32_t>(in.src[0])[lane];
  if (id >= 16) {
    throw Fault{cuda::Status::kIllegalInstruction, fmt::format("barrier {}: a CTA has barriers 0 to 15", id)};
  }
  NamedBarrier& barrier = cta.barriers[id];
  const bool reduction = d.variant >= kRedPopc;
  // Woken after this barrier's phase completed?
  if (f.woken_from == observe::Stall::Barrier && f.wait_object == id && f.wait_value < barrier.phase) {
    f.woken_from = observe::Stall::None;
    if (reduction) {
      for (LaneMask rest = active; rest; rest &= rest - 1) {
        const int l = std::countr_zero(rest);
        if (d.variant == kRedPopc) {
          f.file.at<uint32_t>(in.dst[0])[l] = barrier.last_popc;
        } else {
          const bool value = d.variant == kRedAnd ? barrier.last_all : barrier.last_some;
          uint32_t& predicate = f.file.predicates[in.dst[0].raw];
          predicate = (predicate & ~(1u << l)) | (value ? 1u << l : 0);
        }
      }
    }
    return Outcome::Next;
  }
  if (d.flag && !gather(f, warp.live)) return Outcome::Retry;
  const LaneMask lanes = d.flag ? f.mask : active;
  uint32_t expected = 0;
  if (d.has_extra) {
    expected = f.file.at<uint32_t>(in.src[1])[lane];
    if (expected % 32 != 0 || expected == 0) {
      throw Fault{cuda::Status::kIllegalInstruction,
                  fmt::format("barrier {}: thread count {} is not a positive multiple of 32", id, expected)};
    }
  }
  if (barrier.any && expected && barrier.expected && expected != barrier.expected) {
    throw Fault{cuda::Status::kLaunchFailure,
                fmt::format("barrier {}: {} threads named here, {} by an earlier arrival of the same phase",
                            id, expected, barrier.expected)};
  }
  if (barrier.arrived[warp.index] & lanes) {
    throw Fault{cuda::Status::kLaunchFailure,
                fmt::format("barrier {}: warp {} arrives a second time in one phase", id, warp.index)};
  }
  if (expected) barrier.expected = expected;
  barrier.any = true;
  barrier.arrived[warp.index] |= lanes;
  note_progress();
  if (reduction) {
    LaneMask value = f.file.predicates[in.src[2].raw];
    if (d.flag3) value = ~value;
    value &= lanes;
    barrier.popc += static_cast<uint32_t>(std::popcount(value));
    barrier.all &= value == lanes;
    barrier.some |= value != 0;
  }
  const bool waits = d.variant != kArrive;
  if (timed_) {  // the SM takes one arrival after another
    Time& unit = cta.sm->barrier_free;
    unit = std::max(unit, f.time) + machine_.bar_sync_per_warp;
    barrier.latest = std::max(barrier.latest, unit + (waits ? 0 : machine_.bar_arrive));
  }
  if (waits) {
    const uint64_t phase = barrier.phase;
    block(f, observe::Stall::Barrier, id, phase);
    barrier.waiting.push_back({&f, f.serial});
  }
  check_cta_barrier(cta, id, f.time);
  return waits ? Outcome::Retry : Outcome::Next;
}

Outcome Processor::exec_barrier_warp(Fragment& f, const Instr& in, LaneMask active) {
  Warp& warp = *f.warp;
  const uint32_t needed = f.file.at<uint32_t>(in.src[0])[std::countr_zero(active)] & warp.live;
  if (f.released) {
    f.released = false;
    return Outcome::Next;
  }
  if ((needed & ~f.mask) == 0) return Outcome::Next;
  // Unlike the other .sync instructions, lanes may wait at different ones (PTX ISA 9.7.13.4).
  LaneMask present = f.mask;
  for (const Fragment* other : warp.fragments) {
    if (other != &f && other->state == Fragment::State::Blocked && other->stall == observe::Stall::Gather &&
        other->wait_value == kWarpBarrier) {
      present |= other->mask;
    }
  }
  if ((needed & ~present) != 0) {
    block(f, observe::Stall::Gather, needed, kWarpBarrier);
    return Outcome::Retry;
  }
  const uint32_t pc = f.pc;
  for (size_t i = 0; i < warp.fragments.size();) {
    Fragment* other = warp.fragments[i];
    if (other != &f && other->state == Fragment::State::Blocked && other->stall == observe::Stall::Gather &&
        other->wait_value == kWarpBarrier) {
      if (other->pc == pc && other->frame == f.frame) {
        merge(f, *other);
        i = 0;
        continue;
      }
      wake(*other, f.time);
      other->released = true;
    }
    ++i;
  }
  return Outcome::Next;
}

void Processor::check_cluster_barrier(Cluster& cluster, Time now) {
  bool any = false;
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      if (warp->live & ~warp->cluster_arrived) return;
      any |= warp->cluster_arrived != 0;
    }
  }
  if (!any) return;
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) warp->cluster_arrived = 0;
  }
  ++cluster.barrier_phase;
  note_progress();
  wake_all(cluster.barrier_waiters, now + (timed_ ? machine_.cluster_barrier : 0) + jitter(100));
}

Outcome Processor::exec_cluster_arrive(Fragment& f, const Instr& in, LaneMask active) {
  Warp& warp = *f.warp;
  if (detail(f, in).flag && !gather(f, warp.live)) return Outcome::Retry;
  const LaneMask lanes = detail(f, in).flag ? f.mask : active;
  if (warp.cluster_arrived & lanes) {
    throw Fault{cuda::Status::kLaunchFailure,
                "barrier.cluster.arrive: these threads have already arrived in this phase"};
  }
  warp.cluster_phase = warp.cta->cluster->barrier_phase;
  warp.cluster_arrived |= lanes;
  note_progress();
  check_cluster_barrier(*warp.cta->cluster, f.time);
  return Outcome::Next;
}

Outcome Processor::exec_cluster_wait(Fragment& f, const Instr& in, LaneMask) {
  Warp& warp = *f.warp;
  Cluster& cluster = *warp.cta->cluster;
  if (detail(f, in).flag && !gather(f, warp.live)) return Outcome::Retry;
  if (cluster.barrier_phase > warp.cluster_phase) return Outcome::Next;
  block(f, observe::Stall::ClusterBarrier, 0, cluster.barrier_phase);
  cluster.barrier_waiters.push_back({&f, f.serial});
  return Outcome::Retry;
}

Outcome Processor::exec_fence_proxy(Fragment& f, const Instr&, LaneMask active) {
  f.warp->cta->shared->publish(f.warp->index, active);
  if (timed_) f.time += machine_.proxy_fence;
  return Outcome::Next;
}

void Processor::check_mbarrier(const units::MbarrierResult& result) {
  if (!result.warning.empty()) launch_.warn(result.warning);
  if (!result.ok()) throw Fault{cuda::Status::kLaunchFailure, result.fault};
}

void Processor::wake_mbarrier(Cta& cta, uint32_t offset, Time now) {
  auto it = cta.mbarrier_waiters.find(offset);
  if (it == cta.mbarrier_waiters.end()) return;
  std::vector<Waiter> woken;
  woken.swap(it->second);
  for (const Waiter& waiter : woken) wake(waiter, now + (timed_ ? machine_.mbar_wake : 0) + jitter(30));
}

// After any operation on an mbarrier: checks, and wakes who waits if the phase completed.
void Processor::barrier_result(Cta& cta, uint32_t offset, const units::MbarrierResult& result, Time now,
                               const char* by) {
  check_mbarrier(result);
  note_progress();
  if (launch_.listener) {
    observe::Place at;
    if (current_ && by == std::string_view("thread")) {
      at = place(*current_, current_->frame->program->code[current_->pc]);
    }
    at.sm = cta.sm->id;
    at.cta = cta.linear;
    const units::Mbarrier* barrier = cta.mbarriers.find(offset);
    const uint64_t phase = barrier ? barrier->phase - (result.phase_completed ? 1 : 0) : 0;
    launch_.listener->arrived(at, now, memory::shared_address(cta.rank, offset), phase,
                              result.phase_completed, by);
  }
  if (result.phase_completed) wake_mbarrier(cta, offset, now);
}

void Processor::complete_tx(Cta& cta, uint32_t offset, uint32_t bytes, Time now, const char* by) {
  barrier_result(cta, offset, cta.mbarriers.complete_tx(offset, bytes), now, by);
}

Processor::Location Processor::mbarrier_at(Fragment& f, const Detail& d, const AddressOperand& operand,
                                           int lane, const char* what) {
  const uint64_t address = lane_address(f, operand, symbol_value(f, operand), lane);
  const uint32_t shared = shared_address(f, d.space, address, what);
  if (shared % 8) {
    throw Fault{cuda::Status::kMisalignedAddress,
                fmt::format("{}: mbarrier address 0x{:x} is not 8-byte aligned", what, shared)};
  }
  Location at;
  at.cta = &cta_of_shared(f, shared, what);
  at.offset = memory::cta_offset_of(shared);
  if (!at.cta->shared->contains(at.offset, 8)) {
    throw Fault{cuda::Status::kIllegalAddress,
                fmt::format("{}: mbarrier at 0x{:x} lies outside the CTA's shared memory [0x{:x}, 0x{:x})",
                            what, shared, at.cta->shared->begin(), at.cta->shared->end())};
  }
  return at;
}

Outcome Processor::exec_mbarrier_init(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Location at = mbarrier_at(f, d, d.address, lane, "mbarrier.init");
    check_mbarrier(at.cta->mbarriers.init(at.offset, f.file.at<uint32_t>(in.src[0])[lane]));
  }
  note_progress();
  return Outcome::Next;
}

Outcome Processor::exec_mbarrier_inval(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const Location at = mbarrier_at(f, d, d.address, std::countr_zero(rest), "mbarrier.inval");
    check_mbarrier(at.cta->mbarriers.inval(at.offset));
  }
  return Outcome::Next;
}

Outcome Processor::exec_mbarrier_tx(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Location at = mbarrier_at(f, d, d.address, lane, "mbarrier.expect_tx");
    const uint32_t bytes = f.file.at<uint32_t>(in.src[0])[lane];
    const auto result = d.variant == 0 ? at.cta->mbarriers.expect_tx(at.offset, bytes)
                                       : at.cta->mbarriers.complete_tx(at.offset, bytes);
    barrier_result(*at.cta, at.offset, result, f.time, "thread");
  }
  return Outcome::Next;
}

Outcome Processor::exec_mbarrier_arrive(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Location at = mbarrier_at(f, d, d.address, lane, "mbarrier.arrive");
    const uint32_t operand = d.has_extra ? f.file.at<uint32_t>(in.src[0])[lane] : 1;
    units::MbarrierTable& table = at.cta->mbarriers;
    units::MbarrierResult result;
    switch (d.variant) {
      case kPlain:
        result = table.arrive(at.offset, operand);
        break;
      case kExpectTx:
        result = table.arrive_expect_tx(at.offset, operand);
        break;
      case kDrop:
        result = table.arrive_drop(at.offset, operand);
        break;
      case kDropExpectTx:
        result = table.arrive_drop_expect_tx(at.offset, operand);
        break;
      case kNoComplete:
        result = table.arrive_no_complete(at.offset, operand);
        break;
      default:
        result = table.arrive_drop_no_complete(at.offset, operand);
        break;
    }
    if (d.has_destination) f.file.at<uint64_t>(in.dst[0])[lane] = result.token;
    barrier_result(*at.cta, at.offset, result, f.time + (timed_ ? machine_.mbar_visible : 0), "thread");
  }
  return Outcome::Next;
}

Outcome Processor::exec_mbarrier_pending(Fragment& f, const Instr& in, LaneMask active) {
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    f.file.at<uint32_t>(in.dst[0])[lane] =
        units::MbarrierTable::pending_count(f.file.at<uint64_t>(in.src[0])[lane]);
  }
  return Outcome::Next;
}

// try_wait suspends until the phase can have changed or its time limit passes; test_wait never does, except
// that a loop that only tests costs nothing: after a few failures in a row it sleeps for a short limit as
// well.
namespace {

template <typename T>
bool lanes_agree(const T* values, LaneMask active) {
  const T first = values[std::countr_zero(active)];
  T differ = 0;
  for (LaneMask rest = active; rest; rest &= rest - 1) differ |= values[std::countr_zero(rest)] ^ first;
  return differ == 0;
}

}  // namespace

Outcome Processor::exec_mbarrier_test(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  LaneMask done = 0;
  Location blocked_on;
  // A whole warp asks for the same phase of the same barrier nearly always: once for all then.
  const bool one_barrier =
      !d.address.has_base || (d.address.wide ? lanes_agree(f.file.at<uint64_t>(d.address.base), active)
                                             : lanes_agree(f.file.at<uint32_t>(d.address.base), active));
  const bool one_phase = d.flag2 ? lanes_agree(f.file.at<uint32_t>(in.src[0]), active)
                                 : lanes_agree(f.file.at<uint64_t>(in.src[0]), active);
  const bool together = one_barrier && one_phase;
  for (LaneMask rest = active; rest; rest = together ? 0 : rest & (rest - 1)) {
    const int lane = std::countr_zero(rest);
    const Location at = mbarrier_at(f, d, d.address, lane, "mbarrier wait");
    const auto result = d.flag2
                            ? at.cta->mbarriers.test_parity(at.offset, f.file.at<uint32_t>(in.src[0])[lane])
                            : at.cta->mbarriers.test(at.offset, f.file.at<uint64_t>(in.src[0])[lane]);
    if (!result.warning.empty()) launch_.warn(result.warning);
    if (!result.ok()) throw Fault{cuda::Status::kLaunchFailure, result.fault};
    if (result.done) {
      done |= together ? active : 1u << lane;
    } else {
      blocked_on = at;
    }
  }
  const bool expired = f.wait_expired;
  f.wait_expired = false;
  constexpr uint32_t kFreeTests = 4;
  if (done == active) {
    f.failed_tests = 0;
  } else if (!expired && (d.flag || f.failed_tests >= kFreeTests)) {
    Time limit = d.flag ? machine_.mbar_try_limit : 256;
    if (d.flag && d.has_extra) {
      const double hint = f.file.at<uint32_t>(in.src[1])[std::countr_zero(active)] * machine_.clock_ghz;
      limit = std::clamp<double>(hint, 64, 20000);
    }
    const units::Mbarrier* barrier = blocked_on.cta->mbarriers.find(blocked_on.offset);
    block(f, observe::Stall::Mbarrier, memory::shared_address(blocked_on.cta->rank, blocked_on.offset),
          barrier ? barrier->phase : 0);
    f.wait_cta = blocked_on.cta;
    blocked_on.cta->mbarrier_waiters[blocked_on.offset].push_back({&f, f.serial});
    limit_wait(f, f.time + limit);
    return Outcome::Retry;
  } else {
    ++f.failed_tests;
  }
  uint32_t& result = f.file.predicates[in.dst[0].raw];
  result = (result & ~active) | done;
  return Outcome::Next;
}

}  // namespace emu::gpu
