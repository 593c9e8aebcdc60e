#include "units/mbarrier.h"

#include <fmt/format.h>

namespace emu::units {
namespace {

constexpr std::uint32_t kGranule = 8;
// A token: the phase above, the pending arrivals before the arrival in the low 20 bits.
constexpr unsigned kTokenPhaseShift = 20;

std::uint64_t token_of(const Mbarrier& barrier) {
  return barrier.phase << kTokenPhaseShift | (barrier.pending & kMbarrierMaxCount);
}

}  // namespace

std::string describe(const Mbarrier& barrier) {
  return fmt::format("phase {} (parity {}), {} of {} arrivals pending, {} bytes outstanding", barrier.phase,
                     barrier.parity(), barrier.pending, barrier.expected, barrier.tx);
}

Mbarrier* MbarrierTable::access(std::uint32_t offset, const char* operation, std::string& fault) {
  if (offset % kGranule != 0) {
    fault = fmt::format("{}: the mbarrier address shared 0x{:x} is not a multiple of 8", operation, offset);
    return nullptr;
  }
  std::uint32_t slot = offset / kGranule;
  Mbarrier* barrier = slot < index_.size() && index_[slot] != 0 ? &barriers_[index_[slot] - 1u] : nullptr;
  if (barrier == nullptr || !barrier->live) {
    fault = fmt::format(
        "{}: no mbarrier at shared 0x{:x}: it {}; execute mbarrier.init first and a barrier after it",
        operation, offset, barrier ? "was invalidated" : "was never initialised");
    return nullptr;
  }
  return barrier;
}

MbarrierResult MbarrierTable::init(std::uint32_t offset, std::uint32_t count) {
  MbarrierResult result;
  if (offset % kGranule != 0) {
    result.fault = fmt::format("mbarrier.init: the address shared 0x{:x} is not a multiple of 8", offset);
    return result;
  }
  if (count == 0 || count > kMbarrierMaxCount) {
    result.fault = fmt::format("mbarrier.init at shared 0x{:x}: count {} is outside 1..{}", offset, count,
                               kMbarrierMaxCount);
    return result;
  }
  std::uint32_t slot = offset / kGranule;
  if (slot >= index_.size()) index_.resize(slot + 1);
  if (index_[slot] == 0) {
    barriers_.emplace_back();
    index_[slot] = static_cast<std::uint16_t>(barriers_.size());
  }
  Mbarrier& barrier = barriers_[index_[slot] - 1u];
  if (barrier.live) {
    result.warning = fmt::format(
        "mbarrier.init over the live mbarrier at shared 0x{:x} ({}): execute mbarrier.inval first", offset,
        describe(barrier));
  }
  barrier = {};
  barrier.offset = offset;
  barrier.live = true;
  barrier.phase_observed = true;  // there is no phase before the first to wait for
  barrier.expected = barrier.pending = count;
  return result;
}

MbarrierResult MbarrierTable::inval(std::uint32_t offset) {
  MbarrierResult result;
  if (Mbarrier* barrier = access(offset, "mbarrier.inval", result.fault)) barrier->live = false;
  return result;
}

bool MbarrierTable::add_tx(Mbarrier& barrier, std::int64_t bytes, const char* operation, std::string& fault) {
  std::int64_t tx = barrier.tx + bytes;
  constexpr std::int64_t limit = kMbarrierMaxCount;
  if (tx > limit || tx < -limit) {
    fault = fmt::format(
        "{} at shared 0x{:x}: {} outstanding bytes exceed the {} that one phase can track; expect fewer "
        "bytes a phase",
        operation, barrier.offset, tx, limit);
    return false;
  }
  barrier.tx = static_cast<std::int32_t>(tx);
  return true;
}

bool MbarrierTable::complete_if_due(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.tx != 0) return false;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.phase_observed = false;
  return true;
}

MbarrierResult MbarrierTable::expect_tx(std::uint32_t offset, std::uint32_t bytes) {
  MbarrierResult result;
  if (Mbarrier* barrier = access(offset, "mbarrier.expect_tx", result.fault)) {
    add_tx(*barrier, bytes, "mbarrier.expect_tx", result.fault);
  }
  return result;
}

MbarrierResult MbarrierTable::complete_tx(std::uint32_t offset, std::uint32_t bytes) {
  MbarrierResult result;
  Mbarrier* barrier = access(offset, "complete_tx", result.fault);
  if (barrier && add_tx(*barrier, -static_cast<std::int64_t>(bytes), "complete_tx", result.fault)) {
    result.phase_completed = complete_if_due(*barrier);
  }
  return result;
}

MbarrierResult MbarrierTable::arrive_with(const char* operation, std::uint32_t offset, std::uint32_t count,
                                          std::uint32_t bytes, bool drop, bool may_complete) {
  MbarrierResult result;
  Mbarrier* barrier = access(offset, operation, result.fault);
  if (barrier == nullptr) return result;
  if (count == 0 || count > kMbarrierMaxCount) {
    result.fault = fmt::format("{} at shared 0x{:x}: count {} is outside 1..{}", operation, offset, count,
                               kMbarrierMaxCount);
    return result;
  }
  if (count > barrier->pending) {
    result.fault = fmt::format("{} at shared 0x{:x}: {} arrivals are more than the {} still pending ({})",
                               operation, offset, count, barrier->pending, describe(*barrier));
    return result;
  }
  result.token = token_of(*barrier);
  if (!barrier->phase_observed) {
    result.warning =
        fmt::format("{} at shared 0x{:x} arrives at phase {} before any wait on phase {} returned true",
                    operation, offset, barrier->phase, barrier->phase - 1);
  }
  if (bytes != 0 && !add_tx(*barrier, bytes, operation, result.fault)) return result;
  if (!may_complete && count == barrier->pending && barrier->tx == 0) {
    result.fault =
        fmt::format("{} at shared 0x{:x}: the {} arrivals complete phase {}, which .noComplete may not",
                    operation, offset, count, barrier->phase);
    return result;
  }
  if (drop) barrier->expected -= count;
  barrier->pending -= count;
  result.phase_completed = complete_if_due(*barrier);
  return result;
}

MbarrierResult MbarrierTable::arrive(std::uint32_t offset, std::uint32_t count) {
  return arrive_with("mbarrier.arrive", offset, count, 0, false, true);
}

MbarrierResult MbarrierTable::arrive_expect_tx(std::uint32_t offset, std::uint32_t bytes) {
  return arrive_with("mbarrier.arrive.expect_tx", offset, 1, bytes, false, true);
}

MbarrierResult MbarrierTable::arrive_drop(std::uint32_t offset, std::uint32_t count) {
  return arrive_with("mbarrier.arrive_drop", offset, count, 0, true, true);
}

MbarrierResult MbarrierTable::arrive_drop_expect_tx(std::uint32_t offset, std::uint32_t bytes) {
  return arrive_with("mbarrier.arrive_drop.expect_tx", offset, 1, bytes, true, true);
}

MbarrierResult MbarrierTable::arrive_no_complete(std::uint32_t offset, std::uint32_t count) {
  return arrive_with("mbarrier.arrive.noComplete", offset, count, 0, false, false);
}

MbarrierResult MbarrierTable::arrive_drop_no_complete(std::uint32_t offset, std::uint32_t count) {
  return arrive_with("mbarrier.arrive_drop.noComplete", offset, count, 0, true, false);
}

MbarrierResult MbarrierTable::increment_pending(std::uint32_t offset) {
  MbarrierResult result;
  Mbarrier* barrier = access(offset, "cp.async.mbarrier.arrive", result.fault);
  if (barrier == nullptr) return result;
  if (barrier->pending == kMbarrierMaxCount) {
    result.fault = fmt::format("cp.async.mbarrier.arrive at shared 0x{:x}: more than {} pending arrivals",
                               offset, kMbarrierMaxCount);
    return result;
  }
  ++barrier->pending;
  return result;
}

MbarrierTest MbarrierTable::test(std::uint32_t offset, std::uint64_t token) {
  MbarrierTest result;
  Mbarrier* barrier = access(offset, "mbarrier.test_wait", result.fault);
  if (barrier == nullptr) return result;
  std::uint64_t phase = phase_of(token);
  result.done = barrier->phase != phase;
  if (barrier->phase < phase || barrier->phase > phase + 1) {
    result.warning = fmt::format(
        "mbarrier wait at shared 0x{:x} for phase {}, but the barrier is in phase {}: only the "
        "current and the preceding phase may be waited for",
        offset, phase, barrier->phase);
  }
  if (result.done) barrier->phase_observed = true;
  return result;
}

MbarrierTest MbarrierTable::test_parity(std::uint32_t offset, std::uint32_t parity) {
  MbarrierTest result;
  Mbarrier* barrier = access(offset, "mbarrier.test_wait.parity", result.fault);
  if (barrier == nullptr) return result;
  if (parity > 1) {
    result.warning = fmt::format(
        "mbarrier wait at shared 0x{:x}: parity {} is neither 0 nor 1; bit 0 is used", offset, parity);
  }
  result.done = barrier->parity() != (parity & 1);
  if (result.done) barrier->phase_observed = true;
  return result;
}

std::uint32_t MbarrierTable::pending_count(std::uint64_t token) {
  return static_cast<std::uint32_t>(token & kMbarrierMaxCount);
}

std::uint64_t MbarrierTable::phase_of(std::uint64_t token) { return token >> kTokenPhaseShift; }

const Mbarrier* MbarrierTable::find(std::uint32_t offset) const {
  std::uint32_t slot = offset / kGranule;
  if (offset % kGranule != 0 || slot >= index_.size() || index_[slot] == 0) return nullptr;
  const Mbarrier& barrier = barriers_[index_[slot] - 1u];
  return barrier.live ? &barrier : nullptr;
}

bool MbarrierTable::overlaps(std::uint32_t offset, std::uint32_t bytes) const {
  if (bytes == 0) return false;
  for (std::uint64_t slot = offset / kGranule;
       slot < index_.size() && slot * kGranule < std::uint64_t{offset} + bytes; ++slot) {
    if (index_[slot] != 0 && barriers_[index_[slot] - 1u].live) return true;
  }
  return false;
}

std::vector<const Mbarrier*> MbarrierTable::live() const {
  std::vector<const Mbarrier*> all;
  for (const Mbarrier& barrier : barriers_) {
    if (barrier.live) all.push_back(&barrier);
  }
  return all;
}

}  // namespace emu::units
