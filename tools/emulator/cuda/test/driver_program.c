/* A program that links libcuda.so.1 itself, as C. Exit code 0 if both libraries serve the same device. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>

#define EXPECT(condition)                                       \
  do {                                                          \
    if (!(condition)) {                                         \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);   \
      return 1;                                                 \
    }                                                           \
  } while (0)

int main(void) {
  CUdevice device = -1;
  CUdeviceptr pointer = 0;
  CUgraph graph;
  cudaGraph_t runtime_graph;
  struct cudaPointerAttributes attributes;
  CUtensorMap map;
  const cuuint64_t dims[2] = {64, 64}, strides[1] = {128};
  const cuuint32_t box[2] = {64, 8}, steps[2] = {1, 1};

  EXPECT(cuInit(0) == CUDA_SUCCESS);
  EXPECT(cuDeviceGet(&device, 0) == CUDA_SUCCESS && device == 0);
  EXPECT(cuMemAlloc(&pointer, 8192) == CUDA_SUCCESS);
  EXPECT(cudaPointerGetAttributes(&attributes, (void*)pointer) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeDevice);
  EXPECT(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void*)pointer, dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  EXPECT(cuMemFree(pointer) == CUDA_SUCCESS);
  EXPECT(cudaGetLastError() == cudaSuccess);

  /* What is not emulated says so. */
  EXPECT(cuGraphCreate(&graph, 0) == CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(cudaGraphCreate(&runtime_graph, 0) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  return 0;
}
