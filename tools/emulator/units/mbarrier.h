// The mbarrier objects of one CTA: phases, arrivals and transaction bytes (PTX ISA 9.7.13.15).
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace emu::units {

inline constexpr std::uint32_t kMbarrierMaxCount = (1u << 20) - 1;  // arrivals, and bytes of one phase

// One live object. `pending` arrivals and `tx` bytes are what the current phase still waits for.
struct Mbarrier {
  std::uint32_t offset = 0;  // CTA-relative shared address
  bool live = false;
  bool phase_observed = false;  // a wait on the phase before the current one has returned true
  std::uint64_t phase = 0;      // completed phases since init
  std::uint32_t expected = 0;
  std::uint32_t pending = 0;
  std::int32_t tx = 0;  // bytes expected and not yet delivered; negative if delivered first
  std::uint32_t parity() const { return phase & 1; }
};

// What an operation did. `fault`: the launch fails (undefined behaviour or a measured fault). `warning`:
// hardware carries on, the manual forbids it: a report for strict runs.
struct MbarrierResult {
  std::uint64_t token = 0;       // arrive forms: the phase before the arrival
  bool phase_completed = false;  // waiters of this barrier can be woken
  std::string fault;
  std::string warning;
  bool ok() const { return fault.empty(); }
};

struct MbarrierTest {
  bool done = false;
  std::string fault;
  std::string warning;
  bool ok() const { return fault.empty(); }
};

// Offsets are CTA-relative shared addresses, 8-byte aligned. The objects live beside the memory: the bytes
// themselves are opaque to a program, and so untouched here.
class MbarrierTable {
 public:
  // count: 1 .. 2^20-1 arrivals a phase. Over a live object: initialises it and warns.
  MbarrierResult init(std::uint32_t offset, std::uint32_t count);
  MbarrierResult inval(std::uint32_t offset);

  MbarrierResult expect_tx(std::uint32_t offset, std::uint32_t bytes);
  MbarrierResult complete_tx(std::uint32_t offset, std::uint32_t bytes);
  MbarrierResult arrive(std::uint32_t offset, std::uint32_t count = 1);
  MbarrierResult arrive_expect_tx(std::uint32_t offset, std::uint32_t bytes);
  MbarrierResult arrive_drop(std::uint32_t offset, std::uint32_t count = 1);
  MbarrierResult arrive_drop_expect_tx(std::uint32_t offset, std::uint32_t bytes);
  // The .noComplete forms fault if they would complete the phase.
  MbarrierResult arrive_no_complete(std::uint32_t offset, std::uint32_t count);
  MbarrierResult arrive_drop_no_complete(std::uint32_t offset, std::uint32_t count);

  // cp.async.mbarrier.arrive without .noinc, at issue: one more pending arrival, which the later arrive()
  // takes back. With .noinc only the later arrive() is needed.
  MbarrierResult increment_pending(std::uint32_t offset);

  // True iff the phase the token was taken in has completed. Warns if more than one phase has completed
  // since.
  MbarrierTest test(std::uint32_t offset, std::uint64_t token);
  // True iff the phase of this parity has completed: parity 1 on a fresh barrier is true at once.
  MbarrierTest test_parity(std::uint32_t offset, std::uint32_t parity);

  // mbarrier.pending_count: the arrivals that were pending when the token was taken.
  static std::uint32_t pending_count(std::uint64_t token);
  static std::uint64_t phase_of(std::uint64_t token);

  // The live object at an offset, or null.
  const Mbarrier* find(std::uint32_t offset) const;
  // Whether a live object overlaps [offset, offset + bytes): ordinary loads and stores may not touch one.
  bool overlaps(std::uint32_t offset, std::uint32_t bytes) const;
  std::vector<const Mbarrier*> live() const;

 private:
  Mbarrier* access(std::uint32_t offset, const char* operation, std::string& fault);
  MbarrierResult arrive_with(const char* operation, std::uint32_t offset, std::uint32_t count,
                             std::uint32_t bytes, bool drop, bool may_complete);
  static bool complete_if_due(Mbarrier& barrier);
  static bool add_tx(Mbarrier& barrier, std::int64_t bytes, const char* operation, std::string& fault);

  std::deque<Mbarrier> barriers_;     // addresses stay valid
  std::vector<std::uint16_t> index_;  // offset / 8 -> position in barriers_ + 1, 0 for none
};

// "phase 3 (parity 1), 2 of 4 arrivals pending, 4096 bytes outstanding": for the deadlock report.
std::string describe(const Mbarrier& barrier);

}  // namespace emu::units
