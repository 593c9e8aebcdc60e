// Arithmetic pipes: lanes a clock of an SM from 16 warps with 8 independent chains each, and the latency of
// one chain in one warp.
#include "benchmark.h"
#include "measure.cuh"

namespace calibrate {
namespace {

constexpr int kUnrolled = 64;
constexpr int kRepeats = 16;
constexpr int kConstants = 8;

// An operation advances `v` by a step that depends on its last value. The second operand changes from step to
// step, so that ptxas cannot merge steps: max(max(v, c), c) is max(v, c).

struct Fma {
  using Value = float;
  static __device__ void step(float& v, float c) {
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v) : "f"(c));
  }
};
struct Add {
  using Value = float;
  static __device__ void step(float& v, float c) { asm volatile("add.f32 %0, %0, %1;" : "+f"(v) : "f"(c)); }
};
struct Multiply {
  using Value = float;
  static __device__ void step(float& v, float c) { asm volatile("mul.f32 %0, %0, %1;" : "+f"(v) : "f"(c)); }
};
struct Maximum {
  using Value = float;
  static __device__ void step(float& v, float c) { asm volatile("max.f32 %0, %0, %1;" : "+f"(v) : "f"(c)); }
};
struct MultiplyAdd {
  using Value = uint32_t;
  static __device__ void step(uint32_t& v, uint32_t c) {
    asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(v) : "r"(c));
  }
};
struct Logic {
  using Value = uint32_t;
  static __device__ void step(uint32_t& v, uint32_t c) {
    asm volatile("lop3.b32 %0, %0, %1, %2, 0x2d;" : "+r"(v) : "r"(c), "r"(c + 1));
  }
};
// Each sum is used twice, so that IADD3 cannot take two additions at once.
struct Integers {
  uint32_t x, y;
};
struct IntegerAdd {
  using Value = Integers;
  static __device__ void step(Integers& v, Integers) {
    asm volatile("add.u32 %0, %0, %1;" : "+r"(v.x) : "r"(v.y));
    asm volatile("add.u32 %0, %0, %1;" : "+r"(v.y) : "r"(v.x));
  }
};
struct CompareSelect {
  using Value = float;
  static __device__ void step(float& v, float c) {
    asm volatile("{ .reg .pred p; setp.gt.f32 p, %0, %1; selp.f32 %0, %2, %1, p; }"
                 : "+f"(v)
                 : "f"(c), "f"(c * 3.f));
  }
};
struct ConvertPack {
  using Value = float;
  static __device__ void step(float& v, float c) {
    asm volatile("{ .reg .b32 t; cvt.rn.bf16x2.f32 t, %0, %1; mov.b32 %0, t; }" : "+f"(v) : "f"(c));
  }
};
struct Exp2Flush {
  using Value = float;
  static __device__ void step(float& v, float) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v)); }
};
// The operand is negated because ptxas leaves out the range handling of an argument that cannot be below
// -126.
struct Exp2 {
  using Value = float;
  static __device__ void step(float& v, float) {
    asm volatile("{ .reg .f32 t; neg.f32 t, %0; ex2.approx.f32 %0, t; }" : "+f"(v));
  }
};
struct Logarithm {
  using Value = float;
  static __device__ void step(float& v, float) { asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(v)); }
};
// With an addition between, since ptxas knows that 1 / (1 / x) is x.
struct ReciprocalAndAdd {
  using Value = float;
  static __device__ void step(float& v, float c) {
    asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(v));
    Add::step(v, c);
  }
};
struct GuardedAdd {
  using Value = float;
  static __device__ void step(float& v, float c) {
    asm volatile("{ .reg .pred p; setp.gt.f32 p, %0, %1; @p add.f32 %0, %0, %2; }"
                 : "+f"(v)
                 : "f"(c), "f"(c * -3.f));
  }
};
struct Exponential {
  using Value = float;
  static __device__ void step(float& v, float) { v = __expf(v); }
};
struct PopulationCount {
  using Value = uint32_t;
  static __device__ void step(uint32_t& v, uint32_t) { asm volatile("popc.b32 %0, %0;" : "+r"(v)); }
};
struct Shuffle {
  using Value = uint32_t;
  static __device__ void step(uint32_t& v, uint32_t) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xFFFFFFFF;" : "+r"(v));
  }
};
struct Pair {
  float x, y;
};
struct Exp2With4Fma {
  using Value = Pair;
  static __device__ void step(Pair& v, Pair c) {
    Exp2Flush::step(v.x, c.x);
    for (int i = 0; i < 4; ++i) Fma::step(v.y, c.y);
  }
};
struct RangedExp2With4Fma {
  using Value = Pair;
  static __device__ void step(Pair& v, Pair c) {
    Exp2::step(v.x, c.x);
    for (int i = 0; i < 4; ++i) Fma::step(v.y, c.y);
  }
};
// One chain through two pipes.
struct FmaThenMaximum {
  using Value = float;
  static __device__ void step(float& v, float c) {
    Fma::step(v, c);
    Maximum::step(v, c);
  }
};
struct MaximumWithFma {
  using Value = Pair;
  static __device__ void step(Pair& v, Pair c) {
    Maximum::step(v.x, c.x);
    Fma::step(v.y, c.y);
  }
};
struct PackedFma {
  using Value = unsigned long long;
  static __device__ void step(Value& v, Value c) {
#if __CUDA_ARCH__ >= 1000
    asm volatile("fma.rn.f32x2 %0, %0, %1, %1;" : "+l"(v) : "l"(c));
#endif
  }
};

template <class Value>
__device__ Value value_of(float x) {
  return static_cast<Value>(x);
}
template <>
__device__ Pair value_of<Pair>(float x) {
  return {x, x + 1};
}
template <>
__device__ Integers value_of<Integers>(float x) {
  return {static_cast<uint32_t>(x * 8), static_cast<uint32_t>(x * 3)};
}
__device__ float number(float v) { return v; }
__device__ float number(uint32_t v) { return static_cast<float>(v); }
__device__ float number(unsigned long long v) { return static_cast<float>(v); }
__device__ float number(Integers v) { return static_cast<float>(v.x ^ v.y); }
__device__ float number(Pair v) { return v.x + v.y; }

// The first pass warms the instruction cache, the second is stamped.
template <class Op, int kChains>
__global__ void __launch_bounds__(512) chains(Stamp* stamps, const float* constants, float* sink) {
  using Value = typename Op::Value;
  Value v[kChains], c[kConstants];
  for (int i = 0; i < kConstants; ++i) c[i] = value_of<Value>(constants[i]);
  for (int i = 0; i < kChains; ++i) v[i] = value_of<Value>(constants[i] + threadIdx.x);
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRepeats; ++r) {
#pragma unroll
      for (int k = 0; k < kUnrolled / kChains; ++k) {
#pragma unroll
        for (int i = 0; i < kChains; ++i) Op::step(v[i], c[k % kConstants]);
      }
    }
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {begin, end};
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) sum += number(v[i]);
  sink[threadIdx.x] = sum;
}

// A loop whose jump depends on the value just computed.
__global__ void dependent_loop(Stamp* stamps, float turns, const float* constants, float* sink) {
  float v = 0;
  const float one = constants[0];
  for (int pass = 0; pass < 2; ++pass) {
    v = 0;
    const long long begin = clock64();
#pragma unroll 1
    do {
      Add::step(v, one);
    } while (v < turns);
    stamps[0] = {begin, clock64()};
  }
  sink[threadIdx.x] = v;
}

template <class Op, int kChains>
double steps_per_clock(int threads) {
  const DeviceArray<float> constants(std::vector<float>{.5f, .75f, 1.25f, 1.5f, 2.5f, .25f, 3.f, .125f});
  const DeviceArray<float> sink(512);
  const auto stamps = stamps_of(chains<Op, kChains>, threads, 0, constants.data(), sink.data());
  return static_cast<double>(threads) * kUnrolled * kRepeats / span(stamps);
}

template <class Op>
void add(std::vector<Benchmark>& list, const std::string& name, bool latency = true,
         const char* of = "lanes") {
  list.push_back({"pipe." + name, std::string(of) + "/cyc/SM", [] { return steps_per_clock<Op, 8>(512); }});
  if (latency) {
    list.push_back({"latency." + name, "cyc", [] { return 32 / steps_per_clock<Op, 1>(32); }});
  }
}

}  // namespace

std::vector<Benchmark> pipe_benchmarks(const Target& target) {
  std::vector<Benchmark> list;
  add<Fma>(list, "fma.f32");
  add<Add>(list, "add.f32");
  add<Multiply>(list, "mul.f32");
  add<MultiplyAdd>(list, "mad.lo.u32");
  add<IntegerAdd>(list, "add.u32", true, "pairs");
  add<Logic>(list, "lop3");
  add<Maximum>(list, "max.f32");
  add<CompareSelect>(list, "setp+selp", true, "pairs");
  add<ConvertPack>(list, "cvt.rn.bf16x2");
  add<Exp2Flush>(list, "ex2.approx.ftz");
  add<Exp2>(list, "ex2.approx");
  add<Logarithm>(list, "lg2.approx.ftz");
  add<ReciprocalAndAdd>(list, "rcp.ftz+add", true, "pairs");
  add<GuardedAdd>(list, "setp+guarded_add", true, "pairs");
  add<Exponential>(list, "__expf");
  add<PopulationCount>(list, "popc");
  add<Shuffle>(list, "shfl.bfly");
  add<Exp2With4Fma>(list, "ex2.ftz+4fma", false, "groups");
  add<RangedExp2With4Fma>(list, "ex2+4fma", false, "groups");
  add<MaximumWithFma>(list, "max+fma", false, "pairs");
  add<FmaThenMaximum>(list, "fma_then_max", true, "pairs");
  if (target.blackwell) add<PackedFma>(list, "fma.f32x2");
  list.push_back({"issue.one_warp", "cyc/fma", [] { return 32 / steps_per_clock<Fma, 8>(32); }});
  list.push_back({"issue.two_warps_per_smsp", "lanes/cyc/SM", [] { return steps_per_clock<Fma, 8>(256); }});
  list.push_back(
      {"control.dependent_loop", "cyc/turn", [] {
         const DeviceArray<float> constants(std::vector<float>{1.f, 1.f}), sink(std::vector<float>(32));
         return span(stamps_of(dependent_loop, 32, 0, 512.f, constants.data(), sink.data())) / 512;
       }});
  return list;
}

}  // namespace calibrate
