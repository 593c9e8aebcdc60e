// f16, bf16 and their packed pairs, and f32 arithmetic with half operands (PTX ISA 9.7.4).
//
// Results are correctly rounded: f16 sums and products go through f32, which is wide enough for the second
// rounding to be harmless; fma and bf16 products first round to odd.
#include <iterator>

#include "isa/alu_minmax.h"
#include "isa/alu_number.h"
#include "isa/approx_value.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

// A 16-bit pattern whose exponent is zero becomes a zero of its sign.
EMU_INLINE u32 flush_half(u32 half) { return (half & 0x7c00) != 0 ? half : half & 0x8000; }

enum class Clamp { None, Saturate, Relu };
template <Clamp K>
EMU_INLINE float clamp(float x) {
  if constexpr (K == Clamp::Saturate) return saturate(x);
  if constexpr (K == Clamp::Relu) return x <= 0 ? 0.0f : x;  // NaN stays
  return x;
}

// .oob: a factor that is the NaN with which tensor copies fill makes the result zero.
constexpr u32 kOutOfBounds = 0x7ff7;
template <typename T, bool kFlush, Clamp K, auto op, bool kOob = false>
EMU_INLINE u32 half_value(u32 a, u32 b, u32 c) {
  if constexpr (kOob)
    if ((a & 0x7fff) == kOutOfBounds || (b & 0x7fff) == kOutOfBounds) return 0;
  if constexpr (kFlush) a = flush_half(a), b = flush_half(b), c = flush_half(c);
  float value = op(T{}, Lane<T>::read(a), Lane<T>::read(b), Lane<T>::read(c));
  // Subnormal is what lies below the smallest normal number before rounding (measured on an H200).
  if constexpr (kFlush) value = std::fabs(value) < 0x1p-14f ? as_float(bits(value) & 0x80000000) : value;
  return Lane<T>::write(clamp<K>(value));
}

// op(type tag, x, y, z) on one half per lane, or on both halves.
template <typename T, bool kPair, int kSources, bool kFlush, Clamp K, auto op, bool kOob = false>
void half_arithmetic(const LaneFile& file, const Instr& instr, LaneMask active) {
  const u32* a = file.at<u32>(instr.src[0]);
  const u32* b = kSources > 1 ? file.at<u32>(instr.src[1]) : a;
  const u32* c = kSources > 2 ? file.at<u32>(instr.src[2]) : a;
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 value = half_value<T, kFlush, K, op, kOob>(a[lane] & 0xffff, b[lane] & 0xffff, c[lane] & 0xffff);
    if constexpr (kPair)
      value |= half_value<T, kFlush, K, op, kOob>(a[lane] >> 16, b[lane] >> 16, c[lane] >> 16) << 16;
    result[lane] = value;
  }
  store<u32>(file, instr.dst[0], result, active);
}

constexpr auto kAdd = [](auto, float x, float y, float) { return x + y; };
constexpr auto kSub = [](auto, float x, float y, float) { return x - y; };
constexpr auto kMul = [](auto type, float x, float y, float) {
  if constexpr (std::is_same_v<decltype(type), F16>) {
    return x * y;
  } else {
    return odd_float(static_cast<double>(x) * y);  // the product may be subnormal in f32
  }
};
constexpr auto kFused = [](auto type, float x, float y, float z) {
  if constexpr (std::is_same_v<decltype(type), F16>) {
    return odd_sum(x * y, z);
  } else {
    return odd_float(odd_sum(static_cast<double>(x) * y, static_cast<double>(z)));
  }
};
template <bool kMax, bool kNan, bool kXorSign>
constexpr auto kMinMaxHalf =
    [](auto, float x, float y, float) { return min_max_value<kMax, kNan, kXorSign>(x, y); };
constexpr auto kEx2 = [](auto type, float x, float, float) {
  return ex2_value<!std::is_same_v<decltype(type), F16>>(x);
};
constexpr auto kTanh = [](auto, float x, float, float) { return tanh_value(x); };

// Alternatives of a row: (.f16,.f16x2) or (.bf16,.bf16x2) are separate rows, since their operands differ.
template <bool kPair, int kSources, auto op>  // {.rn}{.ftz}{.sat}
constexpr const auto& kHalfSat = kNumbered<8, []<size_t n>() -> AluFn {
  return half_arithmetic < F16, kPair, kSources, n / 2 % 2 == 1, n % 2 == 1 ? Clamp::Saturate : Clamp::None,
         op > ;
}>;
template <bool kPair, auto op>  // .rn{.ftz}{.sat}
constexpr const auto& kHalfFused = kNumbered<4, []<size_t n>() -> AluFn {
  return half_arithmetic < F16, kPair, 3, n / 2 == 1, n % 2 == 1 ? Clamp::Saturate : Clamp::None, op > ;
}>;
template <bool kPair, int kSources, auto op>  // {.ftz}(.relu)
constexpr const auto& kHalfRelu = kNumbered<2, []<size_t n>() -> AluFn {
  return half_arithmetic<F16, kPair, kSources, n % 2 == 1, Clamp::Relu, op>;
}>;
template <bool kPair, int kSources, auto op>  // {.relu}
constexpr const auto& kBfloatRelu = kNumbered<2, []<size_t n>() -> AluFn {
  return half_arithmetic < Bf16, kPair, kSources, false, n % 2 == 1 ? Clamp::Relu : Clamp::None, op > ;
}>;
template <typename T, bool kPair>  // {.relu}
constexpr const auto& kFusedOob = kEach<half_arithmetic<T, kPair, 3, false, Clamp::None, kFused, true>,
                                        half_arithmetic<T, kPair, 3, false, Clamp::Relu, kFused, true>>;
template <typename T, bool kPair, int kSources, auto op>
constexpr const auto& kPlain = kOne<half_arithmetic<T, kPair, kSources, false, Clamp::None, op>>;
template <typename T, bool kPair, bool kMax>  // {.ftz}{.NaN}{.xorsign.abs}
constexpr const auto& kHalfMinMax = kNumbered<8, []<size_t n>() -> AluFn {
  return half_arithmetic<T, kPair, 2, n / 4 == 1, Clamp::None, kMinMaxHalf<kMax, n / 2 % 2 == 1, n % 2 == 1>>;
}>;
template <bool kPair, bool kMax>  // {.NaN}{.xorsign.abs}
constexpr const auto& kBfloatMinMax = kNumbered<4, []<size_t n>() -> AluFn {
  return half_arithmetic<Bf16, kPair, 2, false, Clamp::None, kMinMaxHalf<kMax, n / 2 == 1, n % 2 == 1>>;
}>;

// neg and abs work on the sign bits, .ftz first flushes, and a NaN becomes canonical.
template <u32 kInfinity, bool kFlush>
EMU_INLINE u32 change_sign(u32 half, u32 flip, u32 keep) {
  if (kFlush) half = flush_half(half);
  return (half & 0x7fff) > kInfinity ? 0x7fff : (half ^ flip) & keep;
}
template <u32 kInfinity, u32 kFlip, u32 kKeep, bool kFlush>
constexpr auto kSigns = [](u32 a) {
  const u32 low = change_sign<kInfinity, kFlush>(a & 0xffff, kFlip & 0xffff, kKeep & 0xffff);
  if constexpr (kKeep >> 16 == 0) return low;
  return low | change_sign<kInfinity, kFlush>(a >> 16, kFlip >> 16, kKeep >> 16) << 16;
};
template <u32 kFlip, u32 kKeep>
constexpr const auto& kSignForms = kEach<lanes<kSigns<0x7c00, kFlip, kKeep, false>, u32, u32>,
                                         lanes<kSigns<0x7c00, kFlip, kKeep, true>, u32, u32>>;

// f32 arithmetic with f16 or bf16 operands. Alternatives: rounding, .sat.
template <typename T, Rounding R, bool kSaturate, int kSign>
void mixed_add(const LaneFile& file, const Instr& instr, LaneMask active) {
  const u32* a = file.at<u32>(instr.src[0]);
  const u32* c = file.at<u32>(instr.src[1]);
  u32 result[kLanes];
  with_rounding<R>(
      result, [&]() __attribute__((always_inline)) {
        for (int lane = 0; lane < kLanes; ++lane) {
          const float z = as_float(c[lane]);
          const float sum = kSign > 0 ? Lane<T>::read(a[lane]) + z : Lane<T>::read(a[lane]) - z;
          result[lane] = bits(kSaturate ? saturate(sum) : canonical(sum));
        }
      });
  store<u32>(file, instr.dst[0], result, active);
}
template <typename T, Rounding R, bool kSaturate>
void mixed_fma(const LaneFile& file, const Instr& instr, LaneMask active) {
  const u32* a = file.at<u32>(instr.src[0]);
  const u32* b = file.at<u32>(instr.src[1]);
  const u32* c = file.at<u32>(instr.src[2]);
  u32 result[kLanes];
  with_rounding<R>(
      result, [&]() __attribute__((always_inline)) {
        for (int lane = 0; lane < kLanes; ++lane) {
          const float sum = __builtin_fmaf(Lane<T>::read(a[lane]), Lane<T>::read(b[lane]), as_float(c[lane]));
          result[lane] = bits(kSaturate ? saturate(sum) : canonical(sum));
        }
      });
  store<u32>(file, instr.dst[0], result, active);
}
template <int kSign>  // {rounding}{.sat}.f32(.f16,.bf16)
constexpr const auto& kMixedAdd = kNumbered<20, []<size_t n>() -> AluFn {
  return mixed_add<std::conditional_t<n % 2 == 0, F16, Bf16>, rounding_or_nearest(n / 4), n / 2 % 2 == 1,
                   kSign>;
}>;
constexpr const auto& kMixedFma = kNumbered<16, []<size_t n>() -> AluFn {
  return mixed_fma<std::conditional_t<n % 2 == 0, F16, Bf16>, rounding(n / 4), n / 2 % 2 == 1>;
}>;

constexpr Cost kEx2Pair{CostClass::Mufu, 2};

constexpr AluForm kForms[] = {
    {"add{.rn}{.ftz}{.sat}.f16", "h=h,h", kFma, kHalfSat<false, 2, kAdd>},
    {"add{.rn}{.ftz}{.sat}.f16x2", "w=w,w", kFmaPacked, kHalfSat<true, 2, kAdd>},
    {"add{.rn}.bf16", "h=h,h", kFma, kPlain<Bf16, false, 2, kAdd>},
    {"add{.rn}.bf16x2", "w=w,w", kFmaPacked, kPlain<Bf16, true, 2, kAdd>},
    {"sub{.rn}{.ftz}{.sat}.f16", "h=h,h", kFma, kHalfSat<false, 2, kSub>},
    {"sub{.rn}{.ftz}{.sat}.f16x2", "w=w,w", kFmaPacked, kHalfSat<true, 2, kSub>},
    {"sub{.rn}.bf16", "h=h,h", kFma, kPlain<Bf16, false, 2, kSub>},
    {"sub{.rn}.bf16x2", "w=w,w", kFmaPacked, kPlain<Bf16, true, 2, kSub>},
    {"mul{.rn}{.ftz}{.sat}.f16", "h=h,h", kFma, kHalfSat<false, 2, kMul>},
    {"mul{.rn}{.ftz}{.sat}.f16x2", "w=w,w", kFmaPacked, kHalfSat<true, 2, kMul>},
    {"mul{.rn}.bf16", "h=h,h", kFma, kPlain<Bf16, false, 2, kMul>},
    {"mul{.rn}.bf16x2", "w=w,w", kFmaPacked, kPlain<Bf16, true, 2, kMul>},
    {"fma.rn{.ftz}{.sat}.f16", "h=h,h,h", kFma, kHalfFused<false, kFused>},
    {"fma.rn{.ftz}{.sat}.f16x2", "w=w,w,w", kFmaPacked, kHalfFused<true, kFused>},
    {"fma.rn{.ftz}.relu.f16", "h=h,h,h", kFma, kHalfRelu<false, 3, kFused>},
    {"fma.rn{.ftz}.relu.f16x2", "w=w,w,w", kFmaPacked, kHalfRelu<true, 3, kFused>},
    {"fma.rn{.relu}.bf16", "h=h,h,h", kFma, kBfloatRelu<false, 3, kFused>},
    {"fma.rn{.relu}.bf16x2", "w=w,w,w", kFmaPacked, kBfloatRelu<true, 3, kFused>},

    {"fma.rn.oob{.relu}.f16", "h=h,h,h", kFma, kFusedOob<F16, false>},
    {"fma.rn.oob{.relu}.f16x2", "w=w,w,w", kFmaPacked, kFusedOob<F16, true>},
    {"fma.rn.oob{.relu}.bf16", "h=h,h,h", kFma, kFusedOob<Bf16, false>},
    {"fma.rn.oob{.relu}.bf16x2", "w=w,w,w", kFmaPacked, kFusedOob<Bf16, true>},
    {"min{.ftz}{.NaN}{.xorsign.abs}.f16", "h=h,h", kAlu, kHalfMinMax<F16, false, false>},
    {"min{.ftz}{.NaN}{.xorsign.abs}.f16x2", "w=w,w", kAlu, kHalfMinMax<F16, true, false>},
    {"max{.ftz}{.NaN}{.xorsign.abs}.f16", "h=h,h", kAlu, kHalfMinMax<F16, false, true>},
    {"max{.ftz}{.NaN}{.xorsign.abs}.f16x2", "w=w,w", kAlu, kHalfMinMax<F16, true, true>},
    {"min{.NaN}{.xorsign.abs}.bf16", "h=h,h", kAlu, kBfloatMinMax<false, false>},
    {"min{.NaN}{.xorsign.abs}.bf16x2", "w=w,w", kAlu, kBfloatMinMax<true, false>},
    {"max{.NaN}{.xorsign.abs}.bf16", "h=h,h", kAlu, kBfloatMinMax<false, true>},
    {"max{.NaN}{.xorsign.abs}.bf16x2", "w=w,w", kAlu, kBfloatMinMax<true, true>},
    {"neg{.ftz}.f16", "h=h", kAlu, kSignForms<0x8000, 0xffff>},
    {"neg{.ftz}.f16x2", "w=w", kAlu, kSignForms<0x80008000, 0xffffffff>},
    {"neg.bf16", "h=h", kAlu, kOne<lanes<kSigns<0x7f80, 0x8000, 0xffff, false>, u32, u32>>},
    {"neg.bf16x2", "w=w", kAlu, kOne<lanes<kSigns<0x7f80, 0x80008000, 0xffffffff, false>, u32, u32>>},
    {"abs{.ftz}.f16", "h=h", kAlu, kSignForms<0, 0x7fff>},
    {"abs{.ftz}.f16x2", "w=w", kAlu, kSignForms<0, 0x7fff7fff>},
    {"abs.bf16", "h=h", kAlu, kOne<lanes<kSigns<0x7f80, 0, 0x7fff, false>, u32, u32>>},
    {"abs.bf16x2", "w=w", kAlu, kOne<lanes<kSigns<0x7f80, 0, 0x7fff7fff, false>, u32, u32>>},

    {"ex2.approx.f16", "h=h", kMufu, kPlain<F16, false, 1, kEx2>},
    {"ex2.approx.f16x2", "w=w", kEx2Pair, kPlain<F16, true, 1, kEx2>},
    {"ex2.approx.ftz.bf16", "h=h", kMufu, kPlain<Bf16, false, 1, kEx2>},
    {"ex2.approx.ftz.bf16x2", "w=w", kEx2Pair, kPlain<Bf16, true, 1, kEx2>},
    {"tanh.approx.f16", "h=h", kMufu, kPlain<F16, false, 1, kTanh>},
    {"tanh.approx.f16x2", "w=w", kEx2Pair, kPlain<F16, true, 1, kTanh>},
    {"tanh.approx.bf16", "h=h", kMufu, kPlain<Bf16, false, 1, kTanh>},
    {"tanh.approx.bf16x2", "w=w", kEx2Pair, kPlain<Bf16, true, 1, kTanh>},

    {"add{.rn,.rz,.rm,.rp}{.sat}.f32(.f16,.bf16)", "f=h,f", kFma, kMixedAdd<1>},
    {"sub{.rn,.rz,.rm,.rp}{.sat}.f32(.f16,.bf16)", "f=h,f", kFma, kMixedAdd<-1>},
    {"fma(.rn,.rz,.rm,.rp){.sat}.f32(.f16,.bf16)", "f=h,h,f", kFma, kMixedFma},
};
}  // namespace

extern const FormTable kHalfForms;
const FormTable kHalfForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
