// The attention problem a chapter's kernel solves. Included by kernel.cu (nvcc) and by host code.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace harness {

inline constexpr int kHeadDim = 128;

// Dense, non-causal attention: O = softmax(Q K^T / sqrt(kHeadDim)) V per (batch, head).
// Q and O are [batch, heads, query_length, kHeadDim]; K and V are [batch, heads, key_length, kHeadDim].
// All four are BF16, row-major, contiguous.
struct Problem {
  int batch = 1;
  int heads = 1;
  int query_length = 0;
  int key_length = 0;

  int64_t query_rows() const { return int64_t{batch} * heads * query_length; }
  int64_t key_rows() const { return int64_t{batch} * heads * key_length; }
  int64_t query_elements() const { return query_rows() * kHeadDim; }
  int64_t key_elements() const { return key_rows() * kHeadDim; }
  // Two matrix products of 2 * Lq * Lk * 128 operations each: the count the field's TFLOPS are stated in.
  double flops() const { return 4.0 * query_rows() * key_length * kHeadDim; }

  bool operator==(const Problem&) const = default;
};

// Launches the kernel on `stream` and returns; q, k, v and o are device pointers, laid out as Problem says.
// Launch errors are left in cudaGetLastError, where the harness looks after every launch.
using Launcher = void (*)(const Problem& problem, const void* q, const void* k, const void* v, void* o,
                          cudaStream_t stream);

}  // namespace harness
