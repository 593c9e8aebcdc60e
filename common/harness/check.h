// Comparison of what a kernel wrote with the float64 reference.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/bf16.h"
#include "harness/reference.h"

namespace harness {

// What the output holds before a launch, and afterwards where the kernel wrote nothing: a BF16 NaN that no
// instruction produces (the canonical NaN is 0x7FFF).
inline constexpr Bf16 kPoison = 0xFFFF;

inline constexpr double kMaxRelativeL2 = 4e-3;  // BF16 P and BF16 O alone cost about 1.6e-3
// A single wrong element drowns in the norm of a large tensor; in its row of 128 it does not.
inline constexpr double kMaxRowRelativeL2 = 2e-2;

struct CheckResult {
  bool compared = false;    // the four figures below are filled in
  double relative_l2 = 0;   // ||O - R|| / ||R|| over the checked tiles
  double worst_row_l2 = 0;  // the same for the row where it is greatest
  double largest_error = 0;
  int64_t unwritten = 0;  // elements that still hold the poison
  int64_t nonfinite = 0;  // others that are NaN or infinite
  std::string first_bad;  // place of the first unwritten or nonfinite element, else of the largest error
  bool pass() const {
    return unwritten == 0 && nonfinite == 0 && relative_l2 <= kMaxRelativeL2 &&
           worst_row_l2 <= kMaxRowRelativeL2;
  }
  std::string failure() const;  // why it does not pass, one line; empty where it does
};

// Looks for unwritten and nonfinite elements in the rows of `tiles`. `o` is laid out as Problem says.
CheckResult check_written(const Problem& problem, const std::vector<Bf16>& o,
                          const std::vector<OutputTile>& tiles);

// check_written, and compares each tile with its `reference` (rows x 128 values).
CheckResult check_output(const Problem& problem, const std::vector<Bf16>& o,
                         const std::vector<OutputTile>& tiles,
                         const std::vector<std::vector<double>>& reference);

// Compares a float matrix of `columns` columns; unwritten elements hold all ones. The products of BF16 are
// exact in FP32, so only the order and rounding of the sum differ: the same bounds are generous.
CheckResult check_scores(const std::vector<float>& s, const std::vector<double>& reference, int columns);

}  // namespace harness
