#include "testing/catch.h"
#include "units/mbarrier.h"

using namespace emu::units;

namespace {
constexpr std::uint32_t kBar = 0x408;
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("a fresh barrier has completed the phase before its first: parity 1 passes, parity 0 waits") {
  MbarrierTable table;
  CHECK(table.init(kBar, 1).ok());
  CHECK(table.test_parity(kBar, 1).done);
  CHECK_FALSE(table.test_parity(kBar, 0).done);
  CHECK(table.find(kBar)->phase == 0);
}

TEST_CASE("a phase ends with its last arrival, and the next one expects as many") {
  MbarrierTable table;
  table.init(kBar, 3);
  auto first = table.arrive(kBar);
  CHECK_FALSE(first.phase_completed);
  CHECK_FALSE(table.arrive(kBar).phase_completed);
  CHECK_FALSE(table.test(kBar, first.token).done);
  CHECK(table.arrive(kBar).phase_completed);
  CHECK(table.test(kBar, first.token).done);
  CHECK(table.test_parity(kBar, 0).done);
  CHECK_FALSE(table.test_parity(kBar, 1).done);
  CHECK(table.find(kBar)->pending == 3);
  CHECK(table.arrive(kBar, 3).phase_completed);
  CHECK(table.test_parity(kBar, 1).done);
}

TEST_CASE("bytes hold a phase open, whether expected before or after they arrive") {
  MbarrierTable table;
  table.init(kBar, 1);
  CHECK_FALSE(table.arrive_expect_tx(kBar, 8192).phase_completed);
  CHECK_FALSE(table.complete_tx(kBar, 4096).phase_completed);
  CHECK(table.find(kBar)->tx == 4096);
  CHECK(table.complete_tx(kBar, 4096).phase_completed);
  // The copy first: the pending arrival keeps the phase open while tx is negative.
  CHECK_FALSE(table.complete_tx(kBar, 512).phase_completed);
  CHECK(table.find(kBar)->tx == -512);
  CHECK(table.arrive_expect_tx(kBar, 512).phase_completed);
  CHECK(table.find(kBar)->phase == 2);
}

TEST_CASE("neither bytes nor arrivals alone end a phase") {
  MbarrierTable table;
  table.init(kBar, 2);
  table.expect_tx(kBar, 64);
  CHECK_FALSE(table.complete_tx(kBar, 64).phase_completed);  // tx is 0, two arrivals pending
  table.expect_tx(kBar, 64);
  CHECK_FALSE(table.arrive(kBar, 2).phase_completed);  // no arrival pending, 64 bytes outstanding
  CHECK(table.complete_tx(kBar, 64).phase_completed);
}

TEST_CASE("a dropped arrival counts now and is not expected again") {
  MbarrierTable table;
  table.init(kBar, 3);
  table.arrive_drop(kBar);
  CHECK(table.arrive(kBar, 2).phase_completed);
  CHECK(table.find(kBar)->expected == 2);
  CHECK(table.arrive(kBar, 2).phase_completed);
  CHECK_FALSE(table.arrive_drop_expect_tx(kBar, 16).phase_completed);
  CHECK_FALSE(table.complete_tx(kBar, 16).phase_completed);
  CHECK(table.arrive(kBar).phase_completed);
  CHECK(table.find(kBar)->expected == 1);
}

TEST_CASE("when everybody has dropped out the barrier takes no more arrivals") {
  MbarrierTable table;
  table.init(kBar, 2);
  CHECK(table.arrive_drop(kBar, 2).phase_completed);
  CHECK(table.test_parity(kBar, 0).done);  // as an H200 answered
  CHECK_FALSE(table.test_parity(kBar, 1).done);
  CHECK_FALSE(table.arrive(kBar).ok());
}

TEST_CASE("a token holds the arrivals pending before it, as an H200 counted them") {
  MbarrierTable table;
  table.init(kBar, 5);
  CHECK(MbarrierTable::pending_count(table.arrive_no_complete(kBar, 2).token) == 5);
  CHECK(MbarrierTable::pending_count(table.arrive(kBar).token) == 3);
}

TEST_CASE("noComplete faults where it would complete the phase") {
  MbarrierTable table;
  table.init(kBar, 2);
  CHECK(table.arrive_no_complete(kBar, 1).ok());
  CHECK(says(table.arrive_no_complete(kBar, 1).fault, ".noComplete"));
  CHECK(table.expect_tx(kBar, 16).ok());
  CHECK(table.arrive_drop_no_complete(kBar, 1).ok());  // bytes are outstanding
  CHECK(table.find(kBar)->expected == 1);
}

TEST_CASE("cp.async arrivals without noinc are net zero") {
  MbarrierTable table;
  table.init(kBar, 1);
  table.increment_pending(kBar);
  CHECK_FALSE(table.arrive(kBar).phase_completed);
  CHECK(table.arrive(kBar).phase_completed);
  CHECK(table.find(kBar)->pending == 1);
}

TEST_CASE("misuse names the barrier, the count and the limit") {
  MbarrierTable table;
  CHECK(says(table.arrive(kBar).fault, "never initialised"));
  CHECK(says(table.test_parity(kBar, 0).fault, "0x408"));
  CHECK(says(table.init(0x404, 1).fault, "multiple of 8"));
  CHECK(says(table.init(kBar, 0).fault, "outside 1..1048575"));
  CHECK_FALSE(table.init(kBar, 1 << 20).ok());
  CHECK(table.init(kBar, (1 << 20) - 1).ok());
  auto again = table.init(kBar, 2);
  CHECK(again.ok());
  CHECK(says(again.warning, "live mbarrier"));
  CHECK(says(table.arrive(kBar, 3).fault, "3 arrivals are more than the 2 still pending"));
  CHECK(table.expect_tx(kBar, kMbarrierMaxCount).ok());
  CHECK(says(table.expect_tx(kBar, 1).fault, "1048576"));
  CHECK(table.inval(kBar).ok());
  CHECK(says(table.arrive(kBar).fault, "invalidated"));
  CHECK(table.find(kBar) == nullptr);
  CHECK(table.init(kBar, 1).warning.empty());
}

TEST_CASE("a waiter that fell behind is told, where its token shows it") {
  MbarrierTable table;
  table.init(kBar, 1);
  auto token = table.arrive(kBar).token;
  CHECK(table.test(kBar, token).warning.empty());
  table.arrive(kBar);
  CHECK(says(table.test(kBar, token).warning, "for phase 0, but the barrier is in phase 2"));
}

TEST_CASE("an arrival at a phase before anybody saw the last one end is reported") {
  MbarrierTable table;
  table.init(kBar, 1);
  CHECK(table.arrive(kBar).warning.empty());
  CHECK(says(table.arrive(kBar).warning, "before any wait on phase 0"));
  CHECK(table.test_parity(kBar, 1).done);
  CHECK(table.arrive(kBar).warning.empty());
}

TEST_CASE("live barriers can be listed and found by overlap") {
  MbarrierTable table;
  table.init(0x400, 1);
  table.init(0x1000, 4);
  table.arrive_expect_tx(0x1000, 100);
  CHECK(table.live().size() == 2);
  CHECK(table.overlaps(0x3FC, 8));
  CHECK_FALSE(table.overlaps(0x408, 0x100));
  CHECK(table.overlaps(0x1004, 4));
  CHECK_FALSE(table.overlaps(0x1000, 0));
  CHECK(describe(*table.find(0x1000)) ==
        "phase 0 (parity 0), 3 of 4 arrivals pending, 100 bytes outstanding");
  table.inval(0x400);
  CHECK_FALSE(table.overlaps(0x400, 8));
  CHECK(table.live().size() == 1);
}
