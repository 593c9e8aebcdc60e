// Pieces of run_chapter that can be tested without a device.
#pragma once
#include <vector>

#include "harness/harness.h"
#include "harness/reference.h"

namespace harness {

// All query tiles of the problem, query tile fastest, then head, then batch.
std::vector<OutputTile> all_tiles(const Chapter& chapter, const Problem& problem);

// Those of `tiles` in which at least one element is not poison: the ones that ran, where the emulator ran
// some.
std::vector<OutputTile> touched_tiles(const Problem& problem, const std::vector<Bf16>& o,
                                      const std::vector<OutputTile>& tiles);

// At most as many of `tiles` as the reference computes in some seconds, spread evenly, at least one.
std::vector<OutputTile> affordable_tiles(const std::vector<OutputTile>& tiles, const Problem& problem);

}  // namespace harness
