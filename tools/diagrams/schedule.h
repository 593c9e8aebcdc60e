// A small scheduler for pictures of who waits for whom: every operation starts when its row is free and all
// it depends on is done. Durations are round units, not measurements; pictures drawn from it say so.
#pragma once
#include <string>
#include <vector>

#include "svg/canvas.h"

namespace diagrams {

// Durations in units of one MMA of 128 x 128 x 128, which keeps a B200's tensor core about 512 cycles (8192
// FLOP a clock). TMA takes about as long for one 32 KB tile from L2. A softmax of 128 x 128 scores needs 2
// units for its exponentials alone (16 a clock); two walks over S, the conversion and the rescaling of O are
// counted as 2 more.
struct Units {
  double load = 1, mma = 1, softmax = 4;
};

struct Op {
  std::string label;
  int row = 0;
  double duration = 1;
  std::vector<int> after;  // indices of earlier operations
  std::string cls;         // palette class of the block
  double start = 0;
  double end() const { return start + duration; }
};

class Schedule {
 public:
  explicit Schedule(std::vector<std::string> rows) : rows_(std::move(rows)) {}
  // Adds an operation behind what its row already holds; returns its index.
  int add(std::string label, int row, double duration, std::vector<int> after, std::string cls);
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<std::string>& rows() const { return rows_; }
  double length() const;
  // Where the rows begin on the page.
  double left() const;
  // Share of `from`..`to` in which the row works.
  double busy(int row, double from, double to) const;

  // Draws rows from y downwards, `until` units wide; returns the y below. `marks` lists operations whose
  // dependency arrows are drawn as (from, to) indices.
  double draw(svg::Canvas& c, double y, double until, const std::vector<std::pair<int, int>>& arrows = {},
              double row_height = 30) const;

 private:
  std::vector<std::string> rows_;
  std::vector<Op> ops_;
};

// The line under every picture of a schedule.
inline constexpr const char* kUnitsNote =
    "Schedule by dependency, unit durations: an MMA of 128 x 128 x 128 and a tile load take 1, a softmax 4. "
    "Order and waiting are exact, lengths are not; the timelines show modelled cycles.";

}  // namespace diagrams
