// The other half of linked.cu.
__device__ int shared_counter = 7;
__constant__ int table[4];
__device__ __noinline__ int scaled(int value) { return value * 5; }
__device__ __noinline__ int through_pointer(int (*function)(int), int value) { return function(value); }
