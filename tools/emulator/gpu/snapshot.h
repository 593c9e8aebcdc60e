// `emu --snapshot`: what shared or tensor memory held when a warp first reached a source line, for `layout
// snapshot`.
#pragma once

#include <cstdint>
#include <string>

namespace emu::gpu {

struct Cta;
struct Kernel;

// "smem@LINE", "tmem@LINE", with FILE: before the line and #N behind it for the N-th time a warp reaches it:
// "tmem@kernel.cu:212#3". The dump goes to snapshot_<kind>_<line>.json in the working directory.
struct SnapshotRequest {
  bool tensor_memory = false;
  std::string file;
  uint32_t line = 0;
  uint32_t occurrence = 1;
};

// Throws std::invalid_argument saying what form is expected.
SnapshotRequest parse_snapshot_request(const std::string& text);

// Marks the instructions of the line in every program of the kernel. Returns how many there are.
uint32_t watch_line(Kernel& kernel, const SnapshotRequest& request);

// Writes the dump of one CTA; returns the file's name. Shared memory is the threads' (generic) view.
std::string write_snapshot(const SnapshotRequest& request, const Cta& cta, double cycle);

}  // namespace emu::gpu
