// Asks a Hopper GPU what tests of this folder state as recorded: where TMA puts swizzled chunks, what it
// fills and converts, what reductions compute, and which error a wrong copy ends in. Faults are sticky, so
// each case wants its own process:
//
//   nvcc -std=c++17 -arch=sm_90a -o bulk_probe bulk_probe.cu
//   for c in $(./bulk_probe list); do ./bulk_probe $c; done
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kSharedBytes = 16384;
constexpr int kMarker = 0xAA;  // what shared memory holds before a load
uint8_t *tensor, *result;      // device memory, 1 MB each

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Loads one box to `offset` and copies the first `bytes` of shared memory out.
__global__ void load(const __grid_constant__ CUtensorMap map, int c0, int c1, int expected, int offset,
                     uint8_t* out, int bytes) {
  extern __shared__ __align__(1024) uint8_t box[];
  __shared__ uint64_t barrier;
  for (int i = 0; i < kSharedBytes; ++i) box[i] = kMarker;
  uint32_t bar = shared_address(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
  asm volatile("fence.proxy.async; fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("{.reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], %1;}" ::"r"(bar), "r"(expected));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(shared_address(box) + offset),
      "l"(&map), "r"(c0), "r"(c1), "r"(bar)
      : "memory");
  int done = 0;
  for (int i = 0; i < 20000 && !done; ++i) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(bar)
                 : "memory");
  }
  if (!done) printf("the phase never completed\n");
  for (int i = 0; i < bytes; ++i) out[i] = box[i];
}

#define REDUCE_TO(n, op)                                                 \
  if (operation == n)                                                    \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op \
                 ".bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),        \
                 "r"(c0), "r"(c1), "r"(from)                             \
                 : "memory");

// operation: 0 stores, 1..8 reduce.
__global__ void store(const __grid_constant__ CUtensorMap map, int operation, int c0, int c1, int offset,
                      const uint8_t* in) {
  extern __shared__ __align__(1024) uint8_t box[];
  for (int i = 0; i < kSharedBytes; ++i) box[i] = in[i];
  uint32_t from = shared_address(box) + offset;
  asm volatile("fence.proxy.async;" ::: "memory");
  if (operation == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                 "r"(c0), "r"(c1), "r"(from)
                 : "memory");
  }
  REDUCE_TO(1, "add")
  REDUCE_TO(2, "min") REDUCE_TO(3, "max") REDUCE_TO(4, "inc") REDUCE_TO(5, "dec") REDUCE_TO(6, "and")
      REDUCE_TO(7, "or")
          REDUCE_TO(8, "xor") asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::
                                               : "memory");
}

__global__ void pending_counts() {
  __shared__ uint64_t barrier;
  uint32_t bar = shared_address(&barrier), first, second;
  uint64_t token;
  asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(bar));
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(token) : "r"(bar));
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(first) : "l"(token));
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar));
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(second) : "l"(token));
  printf("5 expected, noComplete 2: %u; then arrive: %u\n", first, second);
}

struct Map {
  int type = 9;
  uint64_t width = 64, height = 16, stride = 128;
  uint32_t box[2] = {16, 4}, steps[2] = {1, 1};
  int swizzle = 0, fill = 0;
  void* base = tensor;
};

CUtensorMap encode(const Map& m) {
  static auto encode_tiled = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult status;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &status);
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry);
  }();
  alignas(64) CUtensorMap map = {};
  uint64_t dims[2] = {m.width, m.height}, strides[1] = {m.stride};
  CUresult answer =
      encode_tiled(&map, static_cast<CUtensorMapDataType>(m.type), 2, m.base, dims, strides, m.box, m.steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(m.swizzle),
                   CU_TENSOR_MAP_L2_PROMOTION_NONE, static_cast<CUtensorMapFloatOOBfill>(m.fill));
  if (answer != CUDA_SUCCESS) printf("encode answered %d: ", answer);
  return map;
}

bool finished() {
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) printf("%s\n", cudaGetErrorName(error));
  return error == cudaSuccess;
}

void print_words(const void* words, int bytes, int each) {
  auto* at = static_cast<const uint8_t*>(words);
  for (int i = 0; i < bytes; i += each) {
    printf(" ");
    for (int j = each; j-- > 0;) printf("%02x", at[i + j]);
  }
  printf("\n");
}

int element_bytes(int type) {
  return type == 6 || type == 9 || type == 1   ? 2
         : type == 4 || type == 5 || type == 8 ? 8
         : type == 0                           ? 1
                                               : 4;
}

void print_load(const Map& m, int c0, int c1, int expected, int offset, int bytes) {
  load<<<1, 1, kSharedBytes>>>(encode(m), c0, c1, expected, offset, result, bytes);
  std::vector<uint8_t> host(bytes);
  if (!finished()) return;
  cudaMemcpy(host.data(), result, bytes, cudaMemcpyDefault);
  print_words(host.data(), bytes, element_bytes(m.type));
}

void placement(int swizzle, int offset, uint32_t inner) {
  std::vector<uint8_t> host(16 * 128);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint8_t>(i / 16);
  cudaMemcpy(tensor, host.data(), host.size(), cudaMemcpyDefault);
  Map m;
  m.type = 0, m.width = 128, m.box[0] = inner, m.box[1] = 16, m.swizzle = swizzle;
  load<<<1, 1, kSharedBytes>>>(encode(m), 0, 0, inner * 16, offset, result, 4096);
  host.resize(4096);
  if (!finished()) return;
  cudaMemcpy(host.data(), result, 4096, cudaMemcpyDefault);
  for (int i = 0; i < 4096; i += 16) {
    if (host[i] != kMarker) printf(" %d:%d", (i - offset) / 16, host[i]);
  }
  printf("\n");
}

const uint16_t kA16[] = {0x3c00, 0x8001, 0x7e00, 0x7c01, 0x0000, 0x8000, 0x7bff, 0x3f80,
                         0x7f80, 0x0001, 0xff81, 0x7fc0, 0x4049, 0x0400, 0x7bff, 0xfc00};
const uint16_t kB16[] = {0x3c01, 0x8001, 0x3c00, 0x3c00, 0x8000, 0x0000, 0x7bff, 0x3f81,
                         0xff80, 0x0001, 0x3f80, 0x7fff, 0xc049, 0x83ff, 0x0fff, 0x7c00};
const uint32_t kA32[] = {0x3f800000, 1,          0x7fc00000, 0x80000000, 0x00800000, 5,
                         10,         0xffffffff, 0x7f800001, 0x807fffff, 7,          0,
                         3,          0x7fffffff, 0x80000000, 1};
const uint32_t kB32[] = {0x33800000, 2,          0x3f800000, 0, 0x80400000, 4, 10,         1,
                         0x3f800000, 0x80000001, 0,          7, 2,          1, 0xffffffff, 0x0fffffff};
const double kA64[] = {1, 2, -3, 0, 1e308, 5e-324, 0, 0}, kB64[] = {1e-16, 2, 3, -0.0, 1e308, 5e-324, 0, 0};
const uint32_t kTf32[] = {0x3f800001, 0x3f801000, 0x3f803000, 0x3f801001, 1,          0x807fffff,
                          0x7f800001, 0xffc12345, 0x7f7fffff, 0x3f800fff, 0x3f802fff, 0x00802001,
                          0x1000,     0x80003000, 0x7fbfffff, 0x7f800000};

void reduction(int operation, int type) {
  int each = element_bytes(type), bytes = each == 2 ? 32 : 64;
  const void* a = each == 2   ? static_cast<const void*>(kA16)
                  : each == 8 ? static_cast<const void*>(kA64)
                              : kA32;
  const void* b = each == 2   ? static_cast<const void*>(kB16)
                  : each == 8 ? static_cast<const void*>(kB64)
                              : kB32;
  cudaMemcpy(tensor, a, bytes, cudaMemcpyDefault);
  cudaMemcpy(result, b, bytes, cudaMemcpyDefault);
  Map m;
  m.type = type, m.width = bytes / each, m.height = 1, m.box[0] = bytes / each, m.box[1] = 1;
  store<<<1, 1, kSharedBytes>>>(encode(m), operation, 0, 0, 0, result);
  uint8_t host[64];
  if (!finished()) return;
  cudaMemcpy(host, tensor, bytes, cudaMemcpyDefault);
  print_words(host, bytes, each);
}

void store_at(int c0, int c1, int offset) {
  store<<<1, 1, kSharedBytes>>>(encode(Map{}), 0, c0, c1, offset, result);
  if (finished()) printf("done\n");
}

std::map<std::string, std::function<void()>> all_cases() {
  std::map<std::string, std::function<void()>> cases;
  for (int swizzle : {1, 2, 3}) {
    for (int offset : {0, 128, 640}) {
      for (uint32_t inner = 16; inner <= 16u << swizzle; inner *= 2) {
        cases["placement-" + std::to_string(swizzle) + "-" + std::to_string(offset) + "-" +
              std::to_string(inner)] = [=] { placement(swizzle, offset, inner); };
      }
    }
  }
  for (int type : {6, 7, 8, 9, 10, 11, 12}) {
    cases["fill-" + std::to_string(type)] = [=] {
      Map m;
      m.type = type, m.height = 4, m.stride = 512, m.box[0] = 64 / element_bytes(type), m.box[1] = 2,
      m.fill = 1;
      print_load(m, 0, 3, 128, 0, 128);
    };
  }
  for (int type : {7, 10, 11, 12}) {
    cases["convert-" + std::to_string(type)] = [=] {
      cudaMemcpy(tensor, kTf32, 64, cudaMemcpyDefault);
      Map m;
      m.type = type, m.width = 16, m.height = 1, m.stride = 64, m.box[1] = 1;
      print_load(m, 0, 0, 64, 0, 64);
    };
  }
  for (int operation = 1; operation <= 8; ++operation) {
    for (int type = 0; type <= 12; ++type) {
      cases["reduce-" + std::to_string(operation) + "-" + std::to_string(type)] = [=] {
        reduction(operation, type);
      };
    }
  }
  for (int offset : {8, 16, 32, 64}) {
    cases["load-to-" + std::to_string(offset)] = [=] { print_load(Map{}, 0, 0, 128, offset, 16); };
    cases["store-from-" + std::to_string(offset)] = [=] { store_at(0, 0, offset); };
  }
  cases["store-row-minus-2"] = [] { store_at(0, -2, 0); };
  cases["store-column-minus-8"] = [] { store_at(-8, 0, 0); };
  cases["store-row-20-of-16"] = [] { store_at(0, 20, 0); };
  cases["load-unmapped"] = [] {
    Map m;
    m.base = reinterpret_cast<void*>(0x7000000000);
    print_load(m, 0, 0, 128, 0, 16);
  };
  cases["pending-count"] = [] {
    pending_counts<<<1, 1>>>();
    finished();
  };
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  auto cases = all_cases();
  std::string name = argc == 2 ? argv[1] : "";
  if (name == "list") {
    for (const auto& [each, run] : cases) printf("%s\n", each.c_str());
    return 0;
  }
  if (cases.count(name) == 0) {
    fprintf(stderr, "usage: bulk_probe list | CASE\n");
    return 2;
  }
  cudaMalloc(&tensor, 1 << 20);
  cudaMalloc(&result, 1 << 20);
  cudaMemset(tensor, 0, 1 << 20);
  printf("%s: ", name.c_str());
  fflush(stdout);
  cases[name]();
  cudaDeviceSynchronize();
}
