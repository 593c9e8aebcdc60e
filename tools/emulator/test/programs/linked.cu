// Half of a program in two files (nvcc -rdc=true): functions and variables of the other half.
#include "check.h"

__device__ int scaled(int value);
__device__ int through_pointer(int (*function)(int), int value);
extern __device__ int shared_counter;
extern __constant__ int table[4];

namespace {

__device__ int negated(int value) { return -value; }

__global__ void use_other_half(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  atomicAdd(&shared_counter, t);
  out[t] = scaled(t) + through_pointer(negated, t) + table[t % 4];
}

int linked() {
  int* out = device_zeros<int>(64);
  const int values[4] = {1, 20, 300, 4000};
  REQUIRE_CUDA(cudaMemcpyToSymbol(table, values, sizeof values));
  use_other_half<<<1, 64>>>(out);
  const auto got = host_copy(out, 64);
  int counter = 0;
  REQUIRE_CUDA(cudaMemcpyFromSymbol(&counter, shared_counter, sizeof counter));
  int wrong = counter != 7 + 63 * 32;
  for (int t = 0; t < 64; ++t) wrong += got[t] != 5 * t - t + values[t % 4];
  return wrong;
}

constexpr Case kCases[] = {{"linked", linked}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
