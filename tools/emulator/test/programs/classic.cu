// What programs asked of CUDA before tensor cores: the runtime's and the language's older half.
#include <cooperative_groups.h>

#include <cassert>
#include <cmath>

#include "check.h"

namespace cg = cooperative_groups;

namespace {

__constant__ float kScale[2];
__managed__ int managed_counter;
__device__ int device_table[4];

__global__ void scale_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = kScale[0] * a[i] + kScale[1] * b[i];
}

int vector_add() {
  const int n = 10007;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = i * 0.5f, b[i] = 3 - i;
  const float scale[2] = {2, -1};
  REQUIRE_CUDA(cudaMemcpyToSymbol(kScale, scale, sizeof scale));
  float* c = device_zeros<float>(n);
  cudaStream_t stream;
  cudaEvent_t begin, end;
  REQUIRE_CUDA(cudaStreamCreate(&stream));
  REQUIRE_CUDA(cudaEventCreate(&begin));
  REQUIRE_CUDA(cudaEventCreate(&end));
  REQUIRE_CUDA(cudaEventRecord(begin, stream));
  scale_add<<<(n + 255) / 256, 256, 0, stream>>>(device_copy(a), device_copy(b), c, n);
  REQUIRE_CUDA(cudaEventRecord(end, stream));
  REQUIRE_CUDA(cudaEventSynchronize(end));
  float ms = -1;
  REQUIRE_CUDA(cudaEventElapsedTime(&ms, begin, end));
  const auto got = host_copy(c, n);
  int wrong = ms <= 0;
  for (int i = 0; i < n; ++i) wrong += got[i] != 2 * a[i] - b[i];
  return wrong;
}

__global__ void grid_reduce(const int* in, long long* partial, long long* out, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ long long sums[32];
  long long sum = 0;
  for (unsigned long long i = grid.thread_rank(); i < static_cast<unsigned>(n); i += grid.size())
    sum += in[i];
  for (int step = 16; step; step /= 2) sum += warp.shfl_down(sum, step);
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    long long total = 0;
    for (unsigned w = 0; w < warp.meta_group_size(); ++w) total += sums[w];
    partial[blockIdx.x] = total;
  }
  grid.sync();
  if (grid.thread_rank() == 0) {
    long long total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    out[0] = total;
  }
  grid.sync();
  if (block.thread_rank() == 0) partial[blockIdx.x] += out[0];
}

int cooperative_reduce() {
  int n = 20000;
  std::vector<int> in(n);
  long long want = 0;
  for (int i = 0; i < n; ++i) want += in[i] = i * 37 % 1001 - 400;
  int blocks_per_sm = 0;
  REQUIRE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, grid_reduce, 128, 0));
  const int blocks = 12;
  int* device = device_copy(in);
  long long *partial = device_zeros<long long>(blocks), *out = device_zeros<long long>(1);
  void* arguments[] = {&device, &partial, &out, &n};
  REQUIRE_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_reduce), dim3(blocks), dim3(128),
                                           arguments, 0, nullptr));
  int wrong = blocks_per_sm < 1;
  wrong += host_copy(out, 1)[0] != want;
  long long sum = 0;
  for (long long p : host_copy(partial, blocks)) sum += p;
  return wrong + (sum != want * (blocks + 1));
}

__global__ void count_atomically(unsigned* words, float* sum, double* sum64, unsigned long long* wide) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ unsigned local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicAdd(&local, 1u);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&words[0], local);
  atomicMax(reinterpret_cast<int*>(&words[1]), static_cast<int>(i) - 100);
  atomicMin(&words[2], i + 5);
  atomicInc(&words[3], 99);
  atomicDec(&words[4], 99);
  atomicAnd(&words[5], ~(1u << (i % 32)));
  atomicOr(&words[6], 1u << (i % 31));
  atomicXor(&words[7], i);
  atomicExch(&words[8], 7u);
  unsigned old = words[9], seen;
  do {
    seen = old;
    old = atomicCAS(&words[9], seen, seen + 3);
  } while (old != seen);
  atomicSub(&words[10], 2u);
  atomicAdd_system(&words[11], 1u);
  atomicAdd(sum, 0.5f);
  atomicAdd(sum64, 0.25);
  atomicAdd(&wide[0], 1ull << 33);
  atomicMax(&wide[1], static_cast<unsigned long long>(i) << 32);
}

int atomics() {
  const unsigned n = 256;
  std::vector<unsigned> words(12);
  words[2] = words[5] = ~0u;
  unsigned* device = device_copy(words);
  float* sum = device_zeros<float>(1);
  double* sum64 = device_zeros<double>(1);
  auto* wide = device_zeros<unsigned long long>(2);
  count_atomically<<<2, n / 2>>>(device, sum, sum64, wide);
  const auto got = host_copy(device, 12);
  unsigned parity = 0;
  for (unsigned i = 0; i < n; ++i) parity ^= i;
  // words[4]: 0 wraps to 99 on the 1st, 101st and 201st decrement, and 55 more follow.
  const unsigned want[12] = {n, n - 101, 5, n % 100, 44, 0, 0x7fffffff, parity, 7, 3 * n, 0u - 2 * n, n};
  int wrong = 0;
  for (int i = 0; i < 12; ++i) wrong += got[i] != want[i];
  wrong += host_copy(sum, 1)[0] != n / 2.0f;
  wrong += host_copy(sum64, 1)[0] != n / 4.0;
  const auto w = host_copy(wide, 2);
  return wrong + (w[0] != (static_cast<unsigned long long>(n) << 33)) +
         (w[1] != (static_cast<unsigned long long>(n - 1) << 32));
}

__global__ void count_managed(int* heap_managed) {
  atomicAdd(&managed_counter, 1);
  atomicAdd(heap_managed, 2);
  if (threadIdx.x < 4) device_table[threadIdx.x] += threadIdx.x;
}

int managed() {
  int* shared = nullptr;
  REQUIRE_CUDA(cudaMallocManaged(&shared, sizeof(int)));
  *shared = 10;
  managed_counter = 5;
  const int start[4] = {100, 100, 100, 100};
  REQUIRE_CUDA(cudaMemcpyToSymbol(device_table, start, sizeof start));
  count_managed<<<1, 64>>>(shared);
  REQUIRE_CUDA(cudaDeviceSynchronize());
  int table[4];
  REQUIRE_CUDA(cudaMemcpyFromSymbol(table, device_table, sizeof table));
  void* address = nullptr;
  REQUIRE_CUDA(cudaGetSymbolAddress(&address, device_table));
  int wrong = (managed_counter != 69) + (*shared != 138) + (address == nullptr);
  for (int i = 0; i < 4; ++i) wrong += table[i] != 100 + i;
  return wrong;
}

struct Node {
  int value;
  Node* next;
};

__global__ void build_lists(int* out) {
  Node* head = nullptr;
  for (int i = 0; i < 5; ++i) {
    auto* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (!node) {
      out[threadIdx.x] = -1;
      return;
    }
    *node = {static_cast<int>(threadIdx.x) * i, head};
    head = node;
  }
  int sum = 0;
  while (head) {
    sum += head->value;
    Node* next = head->next;
    free(head);
    head = next;
  }
  int* array = new int[8];
  for (int i = 0; i < 8; ++i) array[i] = sum + i;
  out[threadIdx.x] = array[7];
  delete[] array;
  if (threadIdx.x == 0 && malloc(size_t{1} << 40) != nullptr) out[0] = -1;
}

int device_heap() {
  int* out = device_zeros<int>(64);
  build_lists<<<1, 64>>>(out);
  const auto got = host_copy(out, 64);
  int wrong = 0;
  for (int t = 0; t < 64; ++t) wrong += got[t] != 10 * t + 7;
  return wrong;
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void recurse(int* out) {
  out[threadIdx.x] = fibonacci(threadIdx.x % 12);
  if (threadIdx.x == 0) out[32] = ackermann(2, 3);
}

int recursion() {
  int* out = device_zeros<int>(33);
  recurse<<<1, 32>>>(out);
  const auto got = host_copy(out, 33);
  const int fib[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  int wrong = got[32] != 9;
  for (int t = 0; t < 32; ++t) wrong += got[t] != fib[t % 12];
  return wrong;
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};

using Function = int (*)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ Function functions[3] = {plus, times, minus};

__global__ void dispatch(float* areas, int* results) {
  const int t = threadIdx.x;
  Shape* shape = t % 3 == 0 ? static_cast<Shape*>(new Square(t)) : new Circle(t);
  areas[t] = shape->area();
  delete shape;
  results[t] = functions[t % 3](t, 5);
}

int virtual_functions() {
  float* areas = device_zeros<float>(64);
  int* results = device_zeros<int>(64);
  dispatch<<<1, 64>>>(areas, results);
  const auto a = host_copy(areas, 64);
  const auto r = host_copy(results, 64);
  int wrong = 0;
  for (int t = 0; t < 64; ++t) {
    wrong += a[t] != (t % 3 == 0 ? t * t : 3.0f * t * t);
    wrong += r[t] != (t % 3 == 0 ? t + 5 : t % 3 == 1 ? t * 5 : t - 5);
  }
  return wrong;
}

struct Wide {
  double d[5];
  int tag;
};
__device__ __noinline__ Wide make_wide(double x, int tag) {
  Wide w;
  for (int i = 0; i < 5; ++i) w.d[i] = x * (i + 1);
  w.tag = tag;
  return w;
}

__global__ void transcendental(const float* in, float* out, double* out64) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = sinf(x) + cosf(x) * expf(-x * 0.1f) + logf(x + 1) + powf(x, 1.5f) + tanhf(x) +
                     erff(x * 0.2f) + rsqrtf(x + 1) + fmodf(x, 0.7f) + cbrtf(x);
  const Wide w = make_wide(exp(x * 0.125) + sqrt(x * 2.0) + 1.0 / (x + 3.0) + log2(x + 2.0), threadIdx.x);
  out64[threadIdx.x] = w.d[4] / w.d[0] * w.d[2] + w.tag;
}

int math() {
  std::vector<float> in(128);
  for (int i = 0; i < 128; ++i) in[i] = i * 0.37f;
  float* out = device_zeros<float>(128);
  double* out64 = device_zeros<double>(128);
  transcendental<<<1, 128>>>(device_copy(in), out, out64);
  const auto got = host_copy(out, 128);
  const auto got64 = host_copy(out64, 128);
  int wrong = 0;
  for (int i = 0; i < 128; ++i) {
    const double x = in[i];
    const double want = std::sin(x) + std::cos(x) * std::exp(-x * 0.1f) + std::log(x + 1) + std::pow(x, 1.5) +
                        std::tanh(x) + std::erf(x * 0.2f) + 1 / std::sqrt(x + 1) + std::fmod(in[i], 0.7f) +
                        std::cbrt(x);
    wrong += !(std::fabs(got[i] - want) <= 2e-6 * (1 + std::fabs(want)));
    const double wide = std::exp(x * 0.125) + std::sqrt(x * 2.0) + 1.0 / (x + 3.0) + std::log2(x + 2.0);
    wrong += !(std::fabs(got64[i] - (15 * wide + i)) <= 1e-12 * 15 * wide + 1e-9);
  }
  return wrong;
}

__global__ void large_shared(int* out) {
  extern __shared__ int memory[];
  memory[threadIdx.x] = 1;
  out[threadIdx.x] = memory[threadIdx.x];
}

// Calls that CUDA refuses without harm: each gives the code that CUDA 13 gives on an H200, and the next good
// launch works.
int errors() {
  int wrong = 0;
  const auto expect = [&](cudaError_t got, cudaError_t want, const char* what) {
    if (got != want)
      ++wrong, std::printf("  %s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
  };
  int *out = device_zeros<int>(64), *freed = device_zeros<int>(64), host = 0;
  expect(cudaFree(freed), cudaSuccess, "free");
  expect(cudaFree(freed), cudaErrorInvalidValue, "double free");
  expect(cudaFree(&host), cudaErrorInvalidValue, "free of a host pointer");
  expect(cudaMemcpy(freed, &host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "copy to freed memory");
  expect(cudaMemcpy(out, &host, 4, static_cast<cudaMemcpyKind>(77)), cudaErrorInvalidMemcpyDirection,
         "copy kind 77");
  cudaGetLastError();
  large_shared<<<1, 2048>>>(out);
  expect(cudaGetLastError(), cudaErrorInvalidValue, "2048 threads");
  large_shared<<<0, 64>>>(out);
  expect(cudaGetLastError(), cudaErrorInvalidValue, "no CTAs");
  large_shared<<<1, 64, 100 * 1024>>>(out);
  expect(cudaGetLastError(), cudaErrorInvalidValue, "100 KiB without opting in");
  expect(cudaFuncSetAttribute(large_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024),
         cudaErrorInvalidValue, "300 KiB");
  cudaGetLastError();
  void* huge = nullptr;
  expect(cudaMalloc(&huge, size_t{1} << 50), cudaErrorMemoryAllocation, "a petabyte");
  cudaGetLastError();
  large_shared<<<1, 64, 1024>>>(out);
  for (int value : host_copy(out, 64)) wrong += value != 1;
  return wrong;
}

constexpr Case kCases[] = {{"vector_add", vector_add},
                           {"cooperative_reduce", cooperative_reduce},
                           {"atomics", atomics},
                           {"managed", managed},
                           {"device_heap", device_heap},
                           {"recursion", recursion},
                           {"virtual", virtual_functions},
                           {"math", math},
                           {"errors", errors}};

__global__ void print_all(const char* text) {
  if (threadIdx.x == 1) {
    printf("%d|%5d|%-5d|%05d|%+d|%i\n", -7, 42, 42, 42, 42, 9);
    printf("%u|%x|%X|%04x|%o|%#x\n", 4000000000u, 0xbeefu, 0xbeefu, 0xabu, 8u, 255u);
    printf("%lld|%llu|%ld|%llx|%hd\n", -1234567890123ll, 12345678901234567890ull, 77l, 0xdeadbeefcafell, 12);
    printf("%f|%.3f|%10.2f|%e|%g|%a\n", 1.5, 3.14159, -2.5, 12345.678, 0.0001, 1.0);
    printf("%c|%s|%8s|%.2s|%%|%p\n", 'z', text, "right", "cut", reinterpret_cast<void*>(0x1234));
    printf("%*d|%.*f\n", 6, 5, 2, 1.0);
    printf("no argument\n");
  }
}

__global__ void fail_assertion(int value) { assert(value == 3 && "three was asked for"); }
__global__ void stop() { __trap(); }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "printf")) {
    const char text[] = "text";
    char* device = device_copy(std::vector<char>(text, text + sizeof text));
    print_all<<<1, 32>>>(device);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  if (argc > 1 && (!std::strcmp(argv[1], "assert") || !std::strcmp(argv[1], "trap"))) {
    if (argv[1][0] == 'a') fail_assertion<<<2, 32>>>(4);
    if (argv[1][0] == 't') stop<<<1, 32>>>();
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    int* out = nullptr;
    std::printf("after it: %s\n", cudaGetErrorName(cudaMalloc(&out, 4)));
    return 0;
  }
  return run_cases(kCases, argc, argv);
}
