__device__ int bias = 11;
static __device__ int offset = 6;
__device__ __noinline__ int twice(int x) { return 2 * x + offset; }
