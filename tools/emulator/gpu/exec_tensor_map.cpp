// Tensor maps that a kernel edits. The 128 bytes are the emulator's own encoding, which
// cuTensorMapEncodeTiled made.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "gpu/processor.h"

namespace emu::gpu {

// What is written is seen by the next copy that uses the map: a forgotten fence.proxy.tensormap is not
// reported.
Outcome Processor::exec_tensor_map_replace(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint64_t symbol = symbol_value(f, d.address);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Location at = locate(f, d.space, lane_address(f, d.address, symbol, lane), units::kTensorMapBytes,
                               lane, true, units::kTensorMapAlignment);
    const uint64_t value =
        d.flag ? f.file.at<uint64_t>(in.src[0])[lane] : f.file.at<uint32_t>(in.src[0])[lane];
    const std::string broken =
        units::replace_field(at.bytes, d.map_field, static_cast<uint32_t>(d.immediate), value);
    if (!broken.empty()) throw Fault{cuda::Status::kIllegalInstruction, "tensormap.replace: " + broken};
    if (at.cta) note_shared_write(f, at, units::kTensorMapBytes, lane, in);
  }
  note_progress();
  return Outcome::Next;
}

Outcome Processor::exec_tensor_map_copy(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  if (!gather(f, f.warp->live)) return Outcome::Retry;
  const int lane = std::countr_zero(active);
  const Location from = locate(f, ptx::Space::Shared, uniform_address(f, d.address2, active),
                               units::kTensorMapBytes, lane, false, units::kTensorMapAlignment);
  const Location to = locate(f, ptx::Space::Global, uniform_address(f, d.address, active),
                             units::kTensorMapBytes, lane, true, units::kTensorMapAlignment);
  std::memcpy(to.bytes, from.bytes, units::kTensorMapBytes);
  note_progress();
  return Outcome::Next;
}

}  // namespace emu::gpu
