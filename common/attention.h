// What every chapter computes, and the one function every chapter's kernel.cu defines.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

// O = softmax(Q K^T / sqrt(kHeadDim)) V for each of batch x heads, without a mask.
// All tensors are dense BF16 in device memory: q and o [batch, heads, q_length, 128],
// k and v [batch, heads, kv_length, 128], head dimension innermost.
// kv_length is a multiple of 128; q_length a multiple of the rows one CTA owns (128, or 256 from chapter 5).
struct AttentionProblem {
  const __nv_bfloat16* q;
  const __nv_bfloat16* k;
  const __nv_bfloat16* v;
  __nv_bfloat16* o;
  int batch;
  int heads;
  int q_length;
  int kv_length;
};

inline constexpr int kHeadDim = 128;

// Enqueues the chapter's kernel on `stream` and returns at once. Throws std::runtime_error when the tensor maps or
// the launch are refused; faults of the kernel itself surface at the next synchronisation.
void launch(const AttentionProblem& problem, cudaStream_t stream);
