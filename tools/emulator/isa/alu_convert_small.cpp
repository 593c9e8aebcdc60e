// cvt to and from packed and sub-byte floating-point formats, tf32, ue8m0, and cvt.pack (PTX
// ISA 9.7.9.21-22).
//
// Of two sources the first goes to the upper half. fp8, fp6 and fp4 conversions always saturate.
#include <iterator>

#include "isa/alu_round.h"
#include "isa/small_float.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

// Round to nearest even, saturating; NaN has no sign.
template <typename F>
EMU_INLINE u32 small_code(float x, bool relu) {
  constexpr int kShift = 23 - F::kFraction;
  constexpr u32 kRebias = static_cast<u32>(127 - F::kBias) << 23;
  constexpr u32 kSmallestNormal = kRebias + (1u << 23);
  constexpr u32 kMagic = static_cast<u32>(127 - F::kBias + 1 + kShift) << 23;
  const u32 u = bits(x);
  const u32 magnitude = u & 0x7fffffff;
  const u32 normal = (magnitude - kRebias + ((1u << (kShift - 1)) - 1) + (magnitude >> kShift & 1)) >> kShift;
  const u32 subnormal = bits(as_float(magnitude) + as_float(kMagic)) - kMagic;
  u32 code = magnitude < kSmallestNormal ? subnormal : normal;
  code = code > F::kLargest ? F::kLargest : code;
  const bool negative = (u >> 31) != 0;
  code |= negative ? F::kSign : 0;
  code = relu && negative ? 0 : code;
  return magnitude > 0x7f800000 ? F::kNan : code;
}

// Bits between the two elements of a packed result.
template <typename F>
constexpr int kElementBits = std::is_same_v<F, E2m1> ? 4 : 8;

template <typename F, bool kRelu>
constexpr auto kPackSmall = [](float a, float b) -> u32 {
  return small_code<F>(a, kRelu) << kElementBits<F> | small_code<F>(b, kRelu);
};
template <typename F, bool kRelu>
constexpr auto kSmallFromHalves =
    [](u32 a) -> u32 { return kPackSmall<F, kRelu>(half_to_float(a >> 16), half_to_float(a & 0xffff)); };
template <typename F, bool kRelu>
EMU_INLINE u32 half_of_small(u32 code) {
  const float x = small_value<F>(code);
  return float_to_half(kRelu && x <= 0 ? 0.0f : x);
}
template <typename F, bool kRelu>
constexpr auto kHalvesFromSmall = [](u32 a) -> u32 {
  return half_of_small<F, kRelu>(a & (2 * F::kSign - 1)) |
         half_of_small<F, kRelu>(a >> kElementBits<F> & (2 * F::kSign - 1)) << 16;
};
template <typename F>
constexpr const auto& kFromFloats =
    kEach<lanes<kPackSmall<F, false>, u32, float, float>, lanes<kPackSmall<F, true>, u32, float, float>>;
template <typename F>
constexpr const auto& kFromHalves =
    kEach<lanes<kSmallFromHalves<F, false>, u32, u32>, lanes<kSmallFromHalves<F, true>, u32, u32>>;
template <typename F>
constexpr const auto& kToHalves =
    kEach<lanes<kHalvesFromSmall<F, false>, u32, u16>, lanes<kHalvesFromSmall<F, true>, u32, u16>>;

// f16x2 and bf16x2 from two floats. (.rn,.rz){.relu}{.satfinite}
template <typename T, RoundTo R, bool kRelu, bool kFinite>
constexpr auto kPackHalves = [](float a, float b) -> u32 {
  return narrow<T, R>(a, kRelu, kFinite) << 16 | narrow<T, R>(b, kRelu, kFinite);
};
template <typename T>
constexpr const auto& kPackHalvesForms = kNumbered<8, []<size_t n>() -> AluFn {
  return lanes<kPackHalves<T, static_cast<RoundTo>(n / 4), n / 2 % 2 == 1, n % 2 == 1>, u32, float, float>;
}>;
constexpr auto kPackF16 = [](float a, float b) -> u32 { return float_to_half(a) << 16 | float_to_half(b); };
constexpr auto kPackBf16 = [](float a, float b) -> u32 {
  return float_to_bfloat(a) << 16 | float_to_bfloat(b);
};

// Stochastic rounding adds random bits below the last kept one and truncates. Each source has its half of
// the random word, of which f16 uses the low 13 bits, the number of fraction bits it drops.
template <typename T>
EMU_INLINE u32 stochastic(float x, u32 random, bool relu, bool finite) {
  constexpr int kDropped = std::is_same_v<T, F16> ? 13 : 16;
  // Scaling by the exponent of the source keeps the addition exact; subnormal results drop more bits.
  const u32 u = bits(x) & 0x7fffffff;
  const double magnitude = as_float(u);
  const double value_exponent = as_double(bits(magnitude) & 0x7ff0000000000000);
  const double smallest = as_double(u64{1023 + Narrow<T>::kMinExponent} << 52);
  const double exponent = value_exponent > smallest ? value_exponent : smallest;
  const double quantum = exponent * as_double(u64{1023 - Narrow<T>::kMantissa} << 52);
  const double share = static_cast<double>(random & ((1u << kDropped) - 1)) / (1 << kDropped);
  const double sum = __builtin_copysign(magnitude + share * quantum, static_cast<double>(x));
  return narrow<T, RoundTo::Zero>(u >= 0x7f800000 ? static_cast<double>(x) : sum, relu, finite);
}
template <typename T, bool kRelu, bool kFinite>
constexpr auto kPackStochastic = [](float a, float b, u32 random) -> u32 {
  return stochastic<T>(a, random >> 16, kRelu, kFinite) << 16 |
         stochastic<T>(b, random & 0xffff, kRelu, kFinite);
};
template <typename T>
constexpr const auto& kStochasticForms = kNumbered<4, []<size_t n>() -> AluFn {
  return lanes<kPackStochastic<T, n / 2 == 1, n % 2 == 1>, u32, float, float, u32>;
}>;

template <RoundTo R, bool kRelu, bool kFinite>
constexpr auto kToTf32 = [](float x) -> u32 { return narrow<Tf32, R>(x, kRelu, kFinite); };
// .rna works on the bits, NaN included: it adds half a unit and cuts; .satfinite steps back from what is not
// finite (measured on an H200).
template <bool kFinite>
constexpr auto kToTf32Away = [](float x) -> u32 {
  const u32 magnitude = bits(x) & 0x7fffffff;
  u32 result = (magnitude >= 0x7ffff000 ? magnitude : magnitude + 0x1000) & 0xffffe000;
  if (kFinite) result = result >= 0x7f800000 ? result - 0x2000 : result;
  return result | (bits(x) & 0x80000000);
};
constexpr const auto& kTf32Forms = kNumbered<8, []<size_t n>() -> AluFn {
  return lanes<kToTf32<static_cast<RoundTo>(n / 4), n % 2 == 1, n / 2 % 2 == 1>, u32, float>;
}>;
constexpr const auto& kTf32ReluFirst = kNumbered<2, []<size_t n>() -> AluFn {
  return lanes<kToTf32<static_cast<RoundTo>(n), true, true>, u32, float>;
}>;

// ue8m0 is the exponent byte of |x|, 0xff for NaN. .rp rounds up unless |x| is a power of two, with 2^-127
// the smallest.
template <bool kUp, bool kFinite>
EMU_INLINE u32 exponent_code(float x) {
  const u32 u = bits(x) & 0x7fffffff;
  const u32 code = u >> 23;
  const bool rounds_up = kUp && (u & 0x7fffff) != 0 && u > 0x00400000 && u < 0x7f800000;
  u32 result = code + (rounds_up ? 1 : 0);
  result = kFinite && result == 0xff ? 0xfe : result;
  return u > 0x7f800000 ? 0xff : result;
}
template <bool kUp, bool kFinite>
constexpr auto kPackExponents = [](float a, float b) -> u32 {
  return exponent_code<kUp, kFinite>(a) << 8 | exponent_code<kUp, kFinite>(b);
};
template <bool kUp, bool kFinite>
constexpr auto kExponentsOfBfloats = [](u32 a) -> u32 {
  return kPackExponents<kUp, kFinite>(bfloat_to_float(a >> 16), bfloat_to_float(a & 0xffff));
};
EMU_INLINE u32 bfloat_of_exponent(u32 code) {
  const u32 value = code == 0 ? 0x0040 : code << 7;  // 2^-127 is subnormal in bf16
  return code == 0xff ? 0x7fff : value;
}
constexpr auto kBfloatsOfExponents = [](u32 a) -> u32 {
  return bfloat_of_exponent(a & 0xff) | bfloat_of_exponent(a >> 8 & 0xff) << 16;
};

// cvt.pack: two saturated integers side by side, the first one higher, above them the low part of c.
EMU_INLINE u32 saturated(s32 value, bool is_signed, int bits) {
  const s32 high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  const s32 low = is_signed ? -(1 << (bits - 1)) : 0;
  const s32 clamped = value > high ? high : value < low ? low : value;
  return static_cast<u32>(clamped) & ((1u << bits) - 1);
}
template <bool kSigned, int kBits>
constexpr auto kPackIntegers =
    [](s32 a, s32 b) -> u32 { return saturated(a, kSigned, kBits) << kBits | saturated(b, kSigned, kBits); };
template <bool kSigned, int kBits>
constexpr auto kPackIntegersAbove =
    [](s32 a, s32 b, u32 c) -> u32 { return c << (2 * kBits) | kPackIntegers<kSigned, kBits>(a, b); };
template <bool kSigned, int kBits>
constexpr AluFn kPackAbove = lanes<kPackIntegersAbove<kSigned, kBits>, u32, s32, s32, u32>;

constexpr Cost kCvtPack2{CostClass::CvtPack, 2};

constexpr AluForm kForms[] = {
    {"cvt.rn.f16x2.f32", "w=f,f", kCvtPack, kOne<lanes<kPackF16, u32, float, float>>},
    {"cvt.rn.bf16x2.f32", "w=f,f", kCvtPack, kOne<lanes<kPackBf16, u32, float, float>>},
    {"cvt(.rn,.rz){.relu}{.satfinite}.f16x2.f32", "w=f,f", kCvtPack, kPackHalvesForms<F16>},
    {"cvt(.rn,.rz){.relu}{.satfinite}.bf16x2.f32", "w=f,f", kCvtPack, kPackHalvesForms<Bf16>},
    {"cvt.rs{.relu}{.satfinite}.f16x2.f32", "w=f,f,w", kCvtPack2, kStochasticForms<F16>},
    {"cvt.rs{.relu}{.satfinite}.bf16x2.f32", "w=f,f,w", kCvtPack2, kStochasticForms<Bf16>},
    {"cvt(.rn,.rz){.satfinite}{.relu}.tf32.f32", "w=f", kCvtPack, kTf32Forms},
    {"cvt(.rn,.rz).relu.satfinite.tf32.f32", "w=f", kCvtPack, kTf32ReluFirst},
    {"cvt.rna{.satfinite}.tf32.f32", "w=f", kCvtPack,
     kEach<lanes<kToTf32Away<false>, u32, float>, lanes<kToTf32Away<true>, u32, float>>},

    {"cvt.rn.satfinite{.relu}.e4m3x2.f32", "h=f,f", kCvtPack, kFromFloats<E4m3>},
    {"cvt.rn.satfinite{.relu}.e5m2x2.f32", "h=f,f", kCvtPack, kFromFloats<E5m2>},
    {"cvt.rn.satfinite{.relu}.e2m3x2.f32", "h=f,f", kCvtPack, kFromFloats<E2m3>},
    {"cvt.rn.satfinite{.relu}.e3m2x2.f32", "h=f,f", kCvtPack, kFromFloats<E3m2>},
    {"cvt.rn.satfinite{.relu}.e2m1x2.f32", "h=f,f", kCvtPack, kFromFloats<E2m1>},
    {"cvt.rn.satfinite{.relu}.e4m3x2.f16x2", "h=w", kCvtPack, kFromHalves<E4m3>},
    {"cvt.rn.satfinite{.relu}.e5m2x2.f16x2", "h=w", kCvtPack, kFromHalves<E5m2>},
    {"cvt.rn{.relu}.f16x2.e4m3x2", "w=h", kCvtPack, kToHalves<E4m3>},
    {"cvt.rn{.relu}.f16x2.e5m2x2", "w=h", kCvtPack, kToHalves<E5m2>},
    {"cvt.rn{.relu}.f16x2.e2m3x2", "w=h", kCvtPack, kToHalves<E2m3>},
    {"cvt.rn{.relu}.f16x2.e3m2x2", "w=h", kCvtPack, kToHalves<E3m2>},
    {"cvt.rn{.relu}.f16x2.e2m1x2", "w=h", kCvtPack, kToHalves<E2m1>},

    {"cvt(.rz,.rp){.satfinite}.ue8m0x2.f32", "h=f,f", kCvtPack,
     kEach<lanes<kPackExponents<false, false>, u32, float, float>,
           lanes<kPackExponents<false, true>, u32, float, float>,
           lanes<kPackExponents<true, false>, u32, float, float>,
           lanes<kPackExponents<true, true>, u32, float, float>>},
    {"cvt(.rz,.rp){.satfinite}.ue8m0x2.bf16x2", "h=w", kCvtPack,
     kEach<lanes<kExponentsOfBfloats<false, false>, u32, u32>,
           lanes<kExponentsOfBfloats<false, true>, u32, u32>,
           lanes<kExponentsOfBfloats<true, false>, u32, u32>,
           lanes<kExponentsOfBfloats<true, true>, u32, u32>>},
    {"cvt.rn.bf16x2.ue8m0x2", "w=h", kCvtPack, kOne<lanes<kBfloatsOfExponents, u32, u16>>},

    {"cvt.pack.sat(.u16,.s16).s32", "w=w,w", kCvtPack,
     kEach<lanes<kPackIntegers<false, 16>, u32, s32, s32>, lanes<kPackIntegers<true, 16>, u32, s32, s32>>},
    {"cvt.pack.sat(.u2,.s2,.u4,.s4,.u8,.s8).s32.b32", "w=w,w,w", kCvtPack,
     kEach<kPackAbove<false, 2>, kPackAbove<true, 2>, kPackAbove<false, 4>, kPackAbove<true, 4>,
           kPackAbove<false, 8>, kPackAbove<true, 8>>},
};
}  // namespace

extern const FormTable kSmallConvertForms;
const FormTable kSmallConvertForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
