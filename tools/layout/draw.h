// Pictures of what the layout algebra computes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/banks.h"
#include "layout/canonical.h"
#include "layout/descriptors.h"
#include "layout/snapshot.h"
#include "layout/tma.h"
#include "layout/tmem.h"
#include "svg/canvas.h"

namespace layout {

// A part of a tile: its logical rows on the left, the same chunks in address order on the right. `operand` is
// the palette class (Q, K, V, P), `step` the MMA instruction whose micro-tile is filled in. `rows` logical
// rows are drawn.
svg::Canvas draw_tile(const Tile& tile, const Filling& filling, const std::string& operand, int step,
                      int rows);

// A descriptor as a strip of bit fields with a table below.
svg::Canvas draw_word(const Decoded& d, const std::string& title);

// The 128 x 512 map with its regions and the quarters of the warps; with a shape, also which register of
// which thread meets which cell of the first columns.
svg::Canvas draw_tmem(const std::vector<Region>& regions, std::optional<Shape> shape, int n);

// One warp's accesses on the 32 banks, wavefront groups apart.
svg::Canvas draw_banks(const Access& access, const BankReport& report);

// Memory at a source line: 16-byte chunks (smem) or cells (tmem) with values, poison and wrong values in red.
// `first` and `count` select 16-byte chunks, or columns of tensor memory.
svg::Canvas draw_snapshot(const Snapshot& s, uint32_t first, uint32_t count);

// The palette class of a region or operand name: its first letter when that is one of Q K V S P O, else "n3".
std::string role_of(const std::string& name);

}  // namespace layout
