// The order in which each chapter's kernel issues and waits, as schedules of unit durations.
#pragma once
#include <utility>
#include <vector>

#include "diagrams/schedule.h"

namespace diagrams {

struct KernelSchedule {
  Schedule schedule;
  // Dependencies worth an arrow: hand-offs between rows.
  std::vector<std::pair<int, int>> handoffs;
  int tensor_row = 0;
};

// Chapters 1 to 4: one query tile, every hand-off waits.
KernelSchedule one_tile_schedule(int tiles, const std::vector<std::string>& rows);
// Chapter 5: two query tiles, one K and one V buffer.
KernelSchedule two_tiles_schedule(int tiles);
// Chapter 6: the same MMA order, K and V as tokens of a ring of `slots`.
KernelSchedule ring_schedule(int tiles, int slots);
// Chapter 7: Q0K(i+1) right behind P0V(i).
KernelSchedule pipelined_schedule(int tiles, int slots);

}  // namespace diagrams
