// Pieces of run_chapter that can be tested without a device.
#pragma once
#include <optional>
#include <vector>

#include "harness/harness.h"

namespace harness {

// The query tiles CTAs write: all of them, or those of the sampled CTAs, each once.
std::vector<OutputTile> written_tiles(const Chapter& chapter, const Problem& problem,
                                      const std::optional<std::vector<int64_t>>& sampled);

// At most as many of `tiles` as the reference computes in some seconds, spread evenly, at least one.
std::vector<OutputTile> affordable_tiles(const std::vector<OutputTile>& tiles, const Problem& problem);

}  // namespace harness
