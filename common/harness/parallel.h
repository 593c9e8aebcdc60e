// Host-side loops over all cores.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace harness {

// Calls body(begin, end) for consecutive pieces of [0, count), each at most `grain` long, on every core.
// `body` must not throw.
template <class Body>
void parallel_for(int64_t count, int64_t grain, Body body) {
  const int64_t pieces = (count + grain - 1) / grain;
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t piece; (piece = next.fetch_add(1)) < pieces;) {
      body(piece * grain, std::min(count, (piece + 1) * grain));
    }
  };
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers(std::max<int64_t>(0, std::min(cores, pieces) - 1));
  for (std::thread& helper : helpers) helper = std::thread(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace harness
