#include "harness/reference.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "harness/parallel.h"

namespace harness {
namespace {

constexpr int kKeyBlock = 128;  // keys converted to float64 at a time; 128 KB each for K and V

// Wider vectors where the machine has them. A sanitizer is not ready when the loader resolves clones.
#if defined(__SANITIZE_ADDRESS__)
#define HARNESS_CLONES
#else
#define HARNESS_CLONES __attribute__((target_clones("default", "avx2,fma", "avx512f")))
#endif

// C += A B for 4 rows of A and 8 columns of B; strides in elements. Small enough to stay in registers.
HARNESS_CLONES void multiply_add_4x8(int depth, const double* a, int a_stride, const double* b, int b_stride,
                                     double* c, int c_stride) {
  typedef double Vector __attribute__((vector_size(64), aligned(8)));
  Vector sum[4] = {};
  for (int k = 0; k < depth; ++k) {
    const Vector column = *reinterpret_cast<const Vector*>(b + int64_t{k} * b_stride);
    for (int r = 0; r < 4; ++r) sum[r] += a[r * a_stride + k] * column;
  }
  for (int r = 0; r < 4; ++r) *reinterpret_cast<Vector*>(c + r * c_stride) += sum[r];
}

void multiply_add(int rows, int columns, int depth, const double* a, int a_stride, const double* b,
                  int b_stride, double* c, int c_stride) {
  for (int column = 0; column < columns; column += 8) {
    for (int row = 0; row < rows; row += 4) {
      multiply_add_4x8(depth, a + row * a_stride, a_stride, b + column, b_stride, c + row * c_stride + column,
                       c_stride);
    }
  }
}

// Turns scores into weights that are yet to be divided by the returned sum.
double softmax_numerators(double* scores, int count) {
  double maximum = scores[0];
  for (int j = 1; j < count; ++j) maximum = std::max(maximum, scores[j]);
  double sum = 0;
  for (int j = 0; j < count; ++j)
    sum += scores[j] = std::exp((scores[j] - maximum) / std::sqrt(double{kHeadDim}));
  return sum;
}

std::vector<double> attend(const Problem& problem, const Inputs& inputs, const OutputTile& tile) {
  const int keys = problem.key_length;
  const Bf16* q = &inputs.q[(int64_t{tile.batch_head} * problem.query_length + tile.first_row) * kHeadDim];
  const Bf16* k = &inputs.k[int64_t{tile.batch_head} * keys * kHeadDim];
  const Bf16* v = &inputs.v[int64_t{tile.batch_head} * keys * kHeadDim];

  std::vector<double> queries(tile.rows * kHeadDim);
  for (size_t i = 0; i < queries.size(); ++i) queries[i] = to_float(q[i]);

  std::vector<double> scores(int64_t{tile.rows} * keys, 0.0);
  std::vector<double> block(kKeyBlock * kHeadDim);
  for (int first = 0; first < keys; first += kKeyBlock) {
    const int count = std::min(kKeyBlock, keys - first);
    for (int j = 0; j < count; ++j) {
      for (int d = 0; d < kHeadDim; ++d)
        block[d * kKeyBlock + j] = to_float(k[int64_t{first + j} * kHeadDim + d]);
    }
    multiply_add(tile.rows, count, kHeadDim, queries.data(), kHeadDim, block.data(), kKeyBlock,
                 &scores[first], keys);
  }

  std::vector<double> sums(tile.rows);
  for (int row = 0; row < tile.rows; ++row)
    sums[row] = softmax_numerators(&scores[int64_t{row} * keys], keys);

  std::vector<double> out(tile.rows * kHeadDim, 0.0);
  for (int first = 0; first < keys; first += kKeyBlock) {
    const int count = std::min(kKeyBlock, keys - first);
    for (int i = 0; i < count * kHeadDim; ++i) block[i] = to_float(v[int64_t{first} * kHeadDim + i]);
    multiply_add(tile.rows, kHeadDim, count, &scores[first], keys, block.data(), kHeadDim, out.data(),
                 kHeadDim);
  }
  for (int row = 0; row < tile.rows; ++row) {
    for (int d = 0; d < kHeadDim; ++d) out[row * kHeadDim + d] /= sums[row];
  }
  return out;
}

}  // namespace

std::vector<std::vector<double>> reference_attention(const Problem& problem, const Inputs& inputs,
                                                     const std::vector<OutputTile>& tiles) {
  for (const OutputTile& tile : tiles) {
    if (tile.rows % 4 != 0 || problem.key_length % 8 != 0) {
      throw std::invalid_argument(fmt::format("reference: {} rows and {} keys; it takes multiples of 4 and 8",
                                              tile.rows, problem.key_length));
    }
  }
  std::vector<std::vector<double>> out(tiles.size());
  parallel_for(static_cast<int64_t>(tiles.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = attend(problem, inputs, tiles[i]);
  });
  return out;
}

std::vector<double> reference_scores(const std::vector<Bf16>& q, const std::vector<Bf16>& k) {
  const size_t q_rows = q.size() / kHeadDim, k_rows = k.size() / kHeadDim;
  std::vector<double> out(q_rows * k_rows, 0.0);
  for (size_t i = 0; i < q_rows; ++i) {
    for (size_t j = 0; j < k_rows; ++j) {
      for (int d = 0; d < kHeadDim; ++d) {
        out[i * k_rows + j] += double{to_float(q[i * kHeadDim + d])} * to_float(k[j * kHeadDim + d]);
      }
    }
  }
  return out;
}

}  // namespace harness
