extern __device__ int bias;
extern __device__ int twice(int);
static __device__ int offset = 5;
__global__ void apply(int* data) { data[threadIdx.x] = twice(data[threadIdx.x]) + bias + offset; }
