// Loads, stores and address spaces (PTX ISA 9.7.9).
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {
namespace {

__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

__global__ void vector_loads(u32* out) {
  __shared__ alignas(16) u32 s[256];
  const u32 i = threadIdx.x;
  for (u32 k = 0; k < 4; ++k) s[4 * i + k] = mix(4 * i + k);
  __syncthreads();
  const u32 at = shared_address(s + 4 * (63 - i));
  u32 a, b, c, d;
  u64 e, f;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
  asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(out + 4 * i), "r"(d), "r"(c), "r"(b), "r"(a)
               : "memory");
  asm volatile("ld.shared.v2.u64 {%0,%1}, [%2];" : "=l"(e), "=l"(f) : "r"(at));
  asm volatile("st.global.v2.u64 [%0], {%1,%2};" ::"l"(out + 256 + 4 * i), "l"(e), "l"(f) : "memory");
  asm volatile("ld.shared.v2.b16 {%0,%1}, [%2+4];" : "=r"(a), "=r"(b) : "r"(at));
}
__global__ void sub_word(u32* out) {
  __shared__ alignas(16) u32 s[64];
  const u32 i = threadIdx.x;
  s[i] = mix(i), s[i + 32] = mix(i + 32);
  __syncthreads();
  const u32 at = shared_address(s) + i * 5;
  u32 a, b;
  u16 c, d;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(a) : "r"(at));
  asm volatile("ld.shared.s8 %0, [%1];" : "=r"(b) : "r"(at));
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(c) : "r"(at & ~1u));
  asm volatile("ld.shared.s8 %0, [%1];" : "=h"(d) : "r"(at));
  u64 wide;
  asm volatile("ld.shared.s16 %0, [%1];" : "=l"(wide) : "r"(at & ~1u));
  out[6 * i] = a, out[6 * i + 1] = b, out[6 * i + 2] = c, out[6 * i + 3] = d;
  out[6 * i + 4] = (u32)wide, out[6 * i + 5] = wide >> 32;
}
__global__ void sub_word_stores(u32* out) {
  const u32 i = threadIdx.x;
  asm volatile(
      "st.global.u8 [%0], %1; st.global.u16 [%0+2], %2; st.global.v2.u8 [%0+4], {%1, %3}; st.global.v4.u8 "
      "[%0+8], {%3,%1,%3,%1};" ::"l"(out + 4 * i),
      "r"(i + 250), "h"((u16)(i * 999)), "r"(i * 7)
      : "memory");
}
__global__ void local_array(u32* out) {  // indexed by data: in local memory
  u32 a[20];
  for (int k = 0; k < 20; ++k) a[k] = mix(k + threadIdx.x * 20);
  u32 at = threadIdx.x;
  for (int k = 0; k < 50; ++k) at = a[at % 20] += k;
  u32 sum = 0;
  for (int k = 0; k < 20; ++k) sum ^= a[(k + at) % 20] * (k + 1);
  out[threadIdx.x] = sum;
}
struct Record {
  u32 a;
  unsigned char b;
  u16 c;
  double d;
  char e[5];
};
__global__ void local_record(u32* out) {
  Record r[3];
  for (u32 k = 0; k < 3; ++k)
    r[k] = {mix(k), (unsigned char)(k + threadIdx.x), (u16)(k * 300), k * 1.5, {1, 2, 3, (char)k, 5}};
  const Record& x = r[threadIdx.x % 3];
  out[threadIdx.x] = x.a + x.b * 3 + x.c * 5 + (u32)(x.d * 16) + x.e[threadIdx.x % 5] + (u32)sizeof(Record);
}
__constant__ u32 kTable[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ double kDoubles[2] = {2.718281828459045, -1e-300};
__device__ u32 g_counter[4] = {7, 8, 9, 10};
__device__ u32* g_pointer = g_counter + 2;
__global__ void constant_memory(u32* out) {
  const u32 i = threadIdx.x;
  out[i] = kTable[i % 8] * 10 + kTable[mix(i) % 8];
  const u64 d = __double_as_longlong(kDoubles[i & 1]);
  out[32 + i] = (u32)d ^ (u32)(d >> 32);
  const u32* generic = kTable;
  asm volatile("ld.u32 %0, [%1];" : "=r"(out[64 + i]) : "l"(generic + i % 8));
}
__global__ void global_variables(u32* out) {
  out[threadIdx.x] = g_counter[threadIdx.x % 4] + *g_pointer * 100;
}
__global__ void space_predicates(u32* out) {
  __shared__ u32 s;
  u32 l = threadIdx.x;
  asm volatile("" : "+r"(l));
  const void* pointers[4] = {&s, out, &l, kTable};
  for (int k = 0; k < 4; ++k) {
    u32 r;
    asm volatile(
        "{.reg .pred p; mov.u32 %0, 0; isspacep.shared p, %1; @p or.b32 %0, %0, 1; isspacep.global p, %1; @p "
        "or.b32 %0, %0, 2;"
        " isspacep.local p, %1; @p or.b32 %0, %0, 4; isspacep.const p, %1; @p or.b32 %0, %0, 8;"
        " isspacep.shared::cluster p, %1; @p or.b32 %0, %0, 16;}"
        : "=r"(r)
        : "l"(pointers[k]));
    out[4 * threadIdx.x + k] = r;
  }
}
__global__ void generic_addresses(u32* out) {
  __shared__ u32 s[32];
  u32 l[4] = {threadIdx.x, 5, 6, 7};
  s[threadIdx.x] = threadIdx.x * 2;
  out[threadIdx.x] = threadIdx.x * 3;
  u32* p = threadIdx.x % 3 == 0   ? s + threadIdx.x
           : threadIdx.x % 3 == 1 ? out + threadIdx.x
                                  : l + threadIdx.x % 4;
  u32 v;
  asm volatile("ld.u32 %0, [%1]; st.u32 [%1], %2;" : "=&r"(v) : "l"(p), "r"(threadIdx.x + 500) : "memory");
  out[32 + threadIdx.x] = v, out[64 + threadIdx.x] = s[threadIdx.x],
           out[96 + threadIdx.x] = l[0] + l[1] + l[2] + l[3];
}
__global__ void address_conversions(u32* out) {
  __shared__ alignas(16) u32 s[8];
  u64 generic, back;
  asm volatile("{.reg .u64 t; cvt.u64.u32 t, %2; cvta.shared.u64 %0, t; cvta.to.shared.u64 %1, %0;}"
               : "=l"(generic), "=l"(back)
               : "r"(shared_address(s + 3)));
  out[0] = back == shared_address(s + 3), out[1] = generic == (u64)(s + 3),
  out[2] = (shared_address(s) & 15) == 0;
  asm volatile("{.reg .u64 t; cvta.to.global.u64 t, %1; cvta.global.u64 %0, t;}" : "=l"(generic) : "l"(out));
  out[3] = generic == (u64)out;
}
__global__ void dynamic_shared(u32* out) {
  extern __shared__ __align__(16) u32 dynamic[];
  __shared__ u32 fixed[8];
  u32 bytes, total;
  if (threadIdx.x < 8) fixed[threadIdx.x] = threadIdx.x + 40;
  for (u32 k = threadIdx.x; k < 20000; k += 64) dynamic[k] = mix(k);
  __syncthreads();
  asm volatile("mov.u32 %0, %%dynamic_smem_size; mov.u32 %1, %%total_smem_size;" : "=r"(bytes), "=r"(total));
  u32 sum = fixed[threadIdx.x % 8];
  for (u32 k = threadIdx.x; k < 20000; k += 64) sum = sum * 5 + dynamic[19999 - k];
  out[threadIdx.x] = sum, out[64 + threadIdx.x] = bytes,
  out[128 + threadIdx.x] = shared_address(dynamic) >= shared_address(fixed);
}
struct Big {
  u32 a[7];
  char b[3];
  u64 c;
};
__global__ void parameters(u32* out, char a, u16 b, Big c, float d, const Big e) {
  out[threadIdx.x] = a + b * 3 + c.a[threadIdx.x % 7] + c.b[threadIdx.x % 3] + (u32)(c.c >> 32) +
                     __float_as_uint(d) + e.a[6 - threadIdx.x % 7];
}
__global__ void volatile_and_caches(u32* out) {
  const u32 i = threadIdx.x;
  u32 a, b, c, d, e;
  asm volatile(
      "st.global.wt.u32 [%0], %1; st.global.cg.u32 [%0+4], %1; st.volatile.global.u32 [%0+8], %1; "
      "st.release.gpu.global.u32 [%0+12], %1;" ::"l"(out + 4 * i),
      "r"(i * 9)
      : "memory");
  asm volatile(
      "ld.global.ca.u32 %0, [%5]; ld.global.cv.u32 %1, [%5+4]; ld.volatile.global.u32 %2, [%5+8]; "
      "ld.acquire.sys.global.u32 %3, [%5+12];"
      " ld.relaxed.cluster.global.u32 %4, [%5+12];"
      : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e)
      : "l"(out + 4 * i)
      : "memory");
  out[128 + i] = a + 2 * b + 3 * c + 4 * d + 5 * e;
}
__global__ void prefetches_and_policies(u32* out) {  // hints change nothing
  const u32 i = threadIdx.x;
  out[i] = i + 3;
  u64 policy;
  u32 v;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 0.5;" : "=l"(policy));
  asm volatile(
      "prefetch.global.L2 [%1]; prefetchu.L1 [%1]; ld.global.L2::cache_hint.L2::128B.u32 %0, [%1], %2;"
      : "=r"(v)
      : "l"(out + i), "l"(policy)
      : "memory");
  asm volatile("st.global.L1::no_allocate.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(out + 32 + i), "r"(v * 2),
               "l"(policy)
               : "memory");
}
__global__ void message_passing(u32* out) {  // two blocks: release and acquire of a flag
  volatile u32* flag = out + 130;
  if (blockIdx.x == 0) {
    out[threadIdx.x] = mix(threadIdx.x);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(out + 130) : "memory");
  } else {
    u32 seen = 0;
    if (threadIdx.x == 0) do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(out + 130) : "memory");
      while (seen != 1);
    __syncthreads();
    out[64 + threadIdx.x] = *(volatile u32*)(out + threadIdx.x) + 1;
  }
  (void)flag;
}
__global__ void stack_alloca(u32* out) {  // alloca in a loop of its own lane
  u32 n = threadIdx.x % 5 + 1;
  u64 p;
  asm volatile("{.reg .u64 t; cvt.u64.u32 t, %1; alloca.u64 %0, t, 16; cvta.local.u64 %0, %0;}"
               : "=l"(p)
               : "r"(n * 16));
  u32* words = reinterpret_cast<u32*>(p);
  for (u32 k = 0; k < 4 * n; ++k) words[k] = k * threadIdx.x;
  u32 sum = 0;
  for (u32 k = 0; k < 4 * n; ++k) sum += words[k] * (k + 1);
  out[threadIdx.x] = sum;
}
__global__ void heap(u32* out) {
  u32* p = static_cast<u32*>(malloc(16 + threadIdx.x * 8));
  for (u32 k = 0; k < 4; ++k) p[k] = threadIdx.x * 10 + k;
  __syncthreads();
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) sum = sum * 3 + p[k];
  free(p);
  out[threadIdx.x] = sum;
}
__global__ void moves(u32* out) {  // packing and unpacking of wide registers
  const u32 i = threadIdx.x;
  u32 a, b;
  u16 c, d;
  asm volatile(
      "{.reg .b64 t; .reg .b16 p, q, r, s; mov.b64 t, {%4, %5}; mov.b64 {p, q, r, s}, t; mov.b32 %0, {s, p}; "
      "mov.b64 {_, %1}, t;"
      " mov.b32 {%2, %3}, %0;}"
      : "=r"(a), "=r"(b), "=h"(c), "=h"(d)
      : "r"(mix(i)), "r"(mix(i + 99)));
  out[4 * i] = a, out[4 * i + 1] = b, out[4 * i + 2] = c, out[4 * i + 3] = d;
}
}  // namespace

void memory_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words, Shape shape = {}) {
    add_kernel(table, std::string("memory.") + name, kernel, words, shape);
  };
  add("vector_loads_and_stores", vector_loads, 512, {1, 64}), add("sub_word_loads", sub_word, 192);
  add("sub_word_stores", sub_word_stores, 128), add("local_array", local_array, 32),
      add("local_record", local_record, 32);
  add("constant_memory", constant_memory, 96), add("global_variables", global_variables, 32);
  add("isspacep", space_predicates, 128), add("generic_addresses", generic_addresses, 128);
  add("cvta", address_conversions, 4), add("dynamic_shared", dynamic_shared, 192, {1, 64, 1, 80000});
  add("volatile_and_cache_operators", volatile_and_caches, 160),
      add("prefetches_and_policies", prefetches_and_policies, 64);
  add("message_passing", message_passing, 132, {2, 64}), add("alloca", stack_alloca, 32),
      add("heap", heap, 64, {1, 64});
  add("moves_of_vectors", moves, 128);
  Case with_parameters;
  with_parameters.name = "memory.parameters", with_parameters.words = 32;
  with_parameters.run = [](u32* out) {
    Big c = {{1, 22, 333, 4444, 55555, 6, 7}, {8, 9, 10}, 0xabcdef0123456789}, e = c;
    for (u32& word : e.a) word *= 1001;
    launch(parameters, Shape{}, out, static_cast<char>(-3), static_cast<u16>(60000), c, 1.25f, e);
  };
  table.push_back(with_parameters);
}

}  // namespace conformance
