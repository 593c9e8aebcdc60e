#include <cstdio>
#include <cstdint>
#include <cuda_bf16.h>
__constant__ float table[16] = {1,2,3};
__device__ int counter = 7;
__managed__ int managed_value = 3;
__device__ int* pointer_to_counter = &counter;
typedef float (*op)(float);
__device__ float dbl(float x) { return x * 2; }
__device__ float sq(float x) { return x * x; }
__device__ op ops[2] = {dbl, sq};
extern __shared__ __align__(1024) char dynamic_smem[];
__device__ __noinline__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra.uni DONE;\nbra.uni LAB_WAIT;\nDONE:\n}\n" ::"r"(bar), "r"(parity));
}
__device__ __forceinline__ bool elect() {
  uint32_t pred = 0;
  asm volatile("{\n.reg .pred %%px;\nelect.sync _|%%px, %1;\n@%%px mov.s32 %0, 1;\n}\n" : "+r"(pred) : "r"(0xffffffff));
  return pred;
}
__global__ void __launch_bounds__(128, 1) kernel(float* out, const __nv_bfloat16* in, int n, float scale) {
  __shared__ uint64_t bar[2];
  __shared__ float tile[128];
  uint32_t addr = (uint32_t)__cvta_generic_to_shared(bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(addr), "r"(1));
  __syncthreads();
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float v = __bfloat162float(in[i]); if (v > 0) s += exp2f(v * scale); else s -= v; }
  tile[threadIdx.x] = s;
  wait(addr, 0); wait(addr + 8, 1);
  if (elect()) out[0] = tile[0] + table[n & 15];
  uint32_t r[8];
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : "=r"(r[0]),"=r"(r[1]),"=r"(r[2]),"=r"(r[3]),"=r"(r[4]),"=r"(r[5]),"=r"(r[6]),"=r"(r[7]) : "r"(addr));
  asm volatile("tcgen05.wait::ld.sync.aligned;");
  out[1] = __uint_as_float(r[0] ^ r[7]);
  int m = fact(n);
  out[2] = ops[n & 1](scale) + m;
  if (m == 3) printf("%d %f %s\n", m, s, "hello");
  dynamic_smem[threadIdx.x] = 1;
  out[3] = __shfl_xor_sync(~0u, s, 1);
  switch (n) { case 0: out[4] = 1; break; case 1: out[5] = 2; break; case 2: out[1] = 7; break; case 3: out[9] = 1; case 4: out[19] = 3; break; case 5: out[12]= 3; break; case 6: out[4] = 9; break; default: asm volatile("trap;"); }
  out[6] = *pointer_to_counter + managed_value + clock64();
}
