#include "harness/check.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace harness {
namespace {

std::string element_name(const Problem& problem, const OutputTile& tile, int64_t index) {
  return fmt::format("O[{}][{}][{}][{}]", tile.batch_head / problem.heads, tile.batch_head % problem.heads,
                     tile.first_row + index / kHeadDim, index % kHeadDim);
}

// Norms of the difference to the reference, collected row by row.
class Comparison {
 public:
  // Returns the column of the largest error so far where this row holds it, else -1.
  template <class Value>
  int add_row(const Value& value, const double* reference, int columns) {
    double error = 0, norm = 0;
    int worst = -1;
    for (int i = 0; i < columns; ++i) {
      const double difference = std::abs(value(i) - reference[i]);
      error += difference * difference;
      norm += reference[i] * reference[i];
      if (difference > largest_) {
        largest_ = difference;
        worst = i;
      }
    }
    error_ += error;
    norm_ += norm;
    if (error > 0) worst_row_ = std::max(worst_row_, std::sqrt(error / norm));
    return worst;
  }

  void store(CheckResult& result) const {
    result.compared = true;
    result.relative_l2 = error_ > 0 ? std::sqrt(error_ / norm_) : 0;
    result.worst_row_l2 = worst_row_;
    result.largest_error = largest_;
  }

 private:
  double error_ = 0, norm_ = 0, worst_row_ = 0, largest_ = 0;
};

const Bf16* tile_values(const Problem& problem, const std::vector<Bf16>& o, const OutputTile& tile) {
  return &o[(int64_t{tile.batch_head} * problem.query_length + tile.first_row) * kHeadDim];
}

}  // namespace

std::string CheckResult::failure() const {
  if (unwritten > 0) {
    return fmt::format("{} elements were never written, the first is {}", unwritten, first_bad);
  }
  if (nonfinite > 0)
    return fmt::format("{} elements are NaN or infinite, the first is {}", nonfinite, first_bad);
  if (!(relative_l2 <= kMaxRelativeL2)) {
    return fmt::format("relative L2 error {:.2e} is above {:.0e}; the largest error is at {}", relative_l2,
                       kMaxRelativeL2, first_bad);
  }
  if (!(worst_row_l2 <= kMaxRowRelativeL2)) {
    return fmt::format("one row's relative L2 error is {:.2e}, above {:.0e}; the largest error is at {}",
                       worst_row_l2, kMaxRowRelativeL2, first_bad);
  }
  return "";
}

CheckResult check_written(const Problem& problem, const std::vector<Bf16>& o,
                          const std::vector<OutputTile>& tiles) {
  CheckResult result;
  for (const OutputTile& tile : tiles) {
    const Bf16* values = tile_values(problem, o, tile);
    for (int64_t i = 0; i < int64_t{tile.rows} * kHeadDim; ++i) {
      const bool finite = (values[i] & 0x7F80) != 0x7F80;
      if (finite) continue;
      if (result.unwritten + result.nonfinite == 0) result.first_bad = element_name(problem, tile, i);
      ++(values[i] == kPoison ? result.unwritten : result.nonfinite);
    }
  }
  return result;
}

CheckResult check_output(const Problem& problem, const std::vector<Bf16>& o,
                         const std::vector<OutputTile>& tiles,
                         const std::vector<std::vector<double>>& reference) {
  CheckResult result = check_written(problem, o, tiles);
  if (result.unwritten + result.nonfinite > 0) return result;
  Comparison comparison;
  for (size_t t = 0; t < tiles.size(); ++t) {
    const Bf16* values = tile_values(problem, o, tiles[t]);
    for (int64_t row = 0; row < tiles[t].rows; ++row) {
      const auto value = [&](int i) { return double{to_float(values[row * kHeadDim + i])}; };
      const int column = comparison.add_row(value, &reference[t][row * kHeadDim], kHeadDim);
      if (column >= 0) result.first_bad = element_name(problem, tiles[t], row * kHeadDim + column);
    }
  }
  comparison.store(result);
  return result;
}

CheckResult check_scores(const std::vector<float>& s, const std::vector<double>& reference, int columns) {
  CheckResult result;
  const auto name = [&](size_t i) { return fmt::format("S[{}][{}]", i / columns, i % columns); };
  for (size_t i = 0; i < s.size(); ++i) {
    if (std::isfinite(s[i])) continue;
    if (result.unwritten + result.nonfinite == 0) result.first_bad = name(i);
    ++(std::bit_cast<uint32_t>(s[i]) == 0xFFFFFFFF ? result.unwritten : result.nonfinite);
  }
  if (result.unwritten + result.nonfinite > 0) return result;
  Comparison comparison;
  for (size_t row = 0; row < s.size() / columns; ++row) {
    const auto value = [&](int i) { return double{s[row * columns + i]}; };
    const int column = comparison.add_row(value, &reference[row * columns], columns);
    if (column >= 0) result.first_bad = name(row * columns + column);
  }
  comparison.store(result);
  return result;
}

}  // namespace harness
