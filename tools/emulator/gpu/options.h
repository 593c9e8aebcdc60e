// What the `emu` command line asks of the engine; read from the environment variable EMU_OPTIONS (flat JSON).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "timing/machine.h"
#include "units/tensor_core.h"

namespace emu::gpu {

struct Options {
  timing::Machine machine;
  std::optional<uint64_t> jitter;  // seed: delays that the rules leave open are drawn at random
  bool timed = true;               // full cost model; otherwise every instruction costs one cycle
  units::MmaPrecision mma = units::MmaPrecision::Exact;
  bool lenient = false;  // stores are visible to the async proxy at once
  bool stats = false;
  std::string trace;     // file for the Perfetto trace, empty: none
  std::string snapshot;  // "smem@LINE" or "tmem@LINE"
  double timeout_s = 0;  // host seconds per launch, 0: no limit
  int workers = 0;       // host threads, 0: one per core
  uint32_t sample = 0;   // timed: SMs simulated for grids that exceed them, 0: automatic
  bool sample_off = false;
};

// Throws std::invalid_argument naming the key at fault.
Options options_from_json(const std::string& json);
// From EMU_OPTIONS, or the defaults when it is not set.
Options options_from_environment();

}  // namespace emu::gpu
