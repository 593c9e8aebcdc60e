#include "gpu/run_times.h"

#include <random>
#include <vector>

#include "testing/catch.h"

using emu::gpu::kNever;
using emu::gpu::RunTimes;
using emu::gpu::Time;

TEST_CASE("the earliest fragment, the lowest of equals, and the second earliest agree with a search") {
  RunTimes times;
  std::vector<Time> plain;
  std::mt19937 random(7);
  CHECK(times.first_time() == kNever);
  for (int step = 0; step < 20000; ++step) {
    const auto time = static_cast<Time>(random() % 16);
    const uint32_t what = random() % 8;
    if (plain.empty() || (what == 0 && plain.size() < 100)) {
      times.push_back(time);
      plain.push_back(time);
    } else if (what == 1) {
      const size_t hole = random() % plain.size();
      times[hole] = times[plain.size() - 1];
      plain[hole] = plain.back();
      times.pop_back();
      plain.pop_back();
    } else {
      const size_t index = random() % plain.size();
      times[index] = time;
      plain[index] = time;
    }
    size_t best = 0;
    Time first = kNever, second = kNever;
    for (size_t i = 0; i < plain.size(); ++i) {
      if (plain[i] < first) {
        second = first;
        first = plain[i];
        best = i;
      } else {
        second = std::min(second, plain[i]);
      }
    }
    REQUIRE(times.size() == plain.size());
    REQUIRE(times.first_time() == first);
    if (!plain.empty()) REQUIRE(times.first() == best);
    REQUIRE(times.second_time() == second);
  }
}
