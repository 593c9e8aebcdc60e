// Attention in float64 from the BF16 inputs: what every chapter is held against.
#pragma once
#include <vector>

#include "harness/bf16.h"
#include "harness/inputs.h"

namespace harness {

// Query rows of one (batch, head): rows [first_row, first_row + rows).
struct OutputTile {
  int batch_head = 0;  // batch * heads + head
  int first_row = 0;
  int rows = 0;
};

// softmax(Q K^T / sqrt(128)) V of the rows of each tile, every step in float64. One vector of rows x 128
// values per tile. Uses every core. Throws std::invalid_argument where rows are not a multiple of 4 or keys
// of 8.
std::vector<std::vector<double>> reference_attention(const Problem& problem, const Inputs& inputs,
                                                     const std::vector<OutputTile>& tiles);

// S = Q K^T, unscaled, of [rows, 128] BF16 matrices: rows x rows values in float64.
std::vector<double> reference_scores(const std::vector<Bf16>& q, const std::vector<Bf16>& k);

}  // namespace harness
