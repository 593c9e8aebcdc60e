// cvt between integers and the floating-point types f16, bf16, f32, f64 (PTX ISA 9.7.9.21).
#include <iterator>

#include "isa/alu_round.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

#define INTEGERS "(.u8,.s8,.u16,.s16,.u32,.s32,.u64,.s64)"
#define ROUNDED "(.rn,.rz,.rm,.rp)"
#define INTEGRAL "(.rni,.rzi,.rmi,.rpi)"

// Number of an alternative of INTEGERS.
struct IntegerType {
  uint32_t number;
  int bits() const { return 8 << (number / 2); }
  bool is_signed() const { return number & 1; }
};

EMU_INLINE u64 extend(u64 value, IntegerType type) {
  const int unused = 64 - type.bits();
  return type.is_signed() ? static_cast<u64>(static_cast<s64>(value << unused) >> unused)
                          : value << unused >> unused;
}
// The low bits of a register that may be wider than the type, extended to 64 bits.
EMU_INLINE void load_integers(const LaneFile& file, const Instr& instr, IntegerType type, u64* out) {
  if ((instr.aux >> 8) == 64) {
    const u64* a = file.at<u64>(instr.src[0]);
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = extend(a[lane], type);
  } else {
    const u32* a = file.at<u32>(instr.src[0]);
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = extend(a[lane], type);
  }
}
// A register wider than the type gets the extended value.
EMU_INLINE void store_integers(const LaneFile& file, const Instr& instr, IntegerType type, const u64* value,
                               LaneMask active) {
  const int register_bits = instr.aux & 0xff;
  if (register_bits == 64) {
    u64 result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = extend(value[lane], type);
    store<u64>(file, instr.dst[0], result, active);
  } else {
    const u32 mask = register_bits == 16 ? 0xffff : ~0u;
    u32 result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] = static_cast<u32>(extend(value[lane], type)) & mask;
    store<u32>(file, instr.dst[0], result, active);
  }
}
EMU_INLINE u64 largest(IntegerType type) {
  return ~u64{0} >> (64 - type.bits() + (type.is_signed() ? 1 : 0));
}
EMU_INLINE s64 smallest(IntegerType type) {
  return type.is_signed() ? -static_cast<s64>(largest(type)) - 1 : 0;
}

// {.sat}, destination, source.
void integer_to_integer(const LaneFile& file, const Instr& instr, LaneMask active) {
  const IntegerType to{instr.modifiers / 8u % 8}, from{instr.modifiers % 8u};
  u64 value[kLanes];
  load_integers(file, instr, from, value);
  if (instr.modifiers / 64 != 0) {
    const u64 high = largest(to);
    const s64 low = smallest(to);
    for (int lane = 0; lane < kLanes; ++lane) {
      const bool negative = from.is_signed() && static_cast<s64>(value[lane]) < 0;
      const u64 positive = value[lane] < high ? value[lane] : high;
      const s64 below = static_cast<s64>(value[lane]) > low ? static_cast<s64>(value[lane]) : low;
      value[lane] = negative ? static_cast<u64>(below) : positive;
    }
  }
  store_integers(file, instr, to, value, active);
}
constexpr auto kCopy = [](auto a) { return a; };

// Rounding, {.sat}, source type: destination T.
template <typename T, Rounding R>
void integer_to_float(const LaneFile& file, const Instr& instr, LaneMask active) {
  const IntegerType from{instr.modifiers % 8u};
  const bool clamp = instr.modifiers / 8 % 2 != 0;
  u64 value[kLanes];
  load_integers(file, instr, from, value);
  WordOf<T> result[kLanes];
  with_rounding<R>(
      result, [&]() __attribute__((always_inline)) {
        asm volatile("" : : "r"(value) : "memory");
        for (int lane = 0; lane < kLanes; ++lane) {
          const T number =
              from.is_signed() ? static_cast<T>(static_cast<s64>(value[lane])) : static_cast<T>(value[lane]);
          result[lane] = bits(clamp ? saturate(number) : number);
        }
      });
  store<T>(file, instr.dst[0], result, active);
}
// The integer as a double whose last bit is sticky, which rounds correctly to anything short.
EMU_INLINE double sticky_double(u64 value, bool is_signed) {
  const bool negative = is_signed && static_cast<s64>(value) < 0;
  const u64 magnitude = negative ? 0 - value : value;
  const u64 sticky = (magnitude & ~u64{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
  const double number = static_cast<double>(magnitude >> 53 != 0 ? sticky : magnitude);
  return negative ? -number : number;
}
template <typename T, RoundTo R>
void integer_to_half(const LaneFile& file, const Instr& instr, LaneMask active) {
  const IntegerType from{instr.modifiers % 8u};
  const bool clamp = instr.modifiers / 8 % 2 != 0;
  u64 value[kLanes];
  load_integers(file, instr, from, value);
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const double number = sticky_double(value[lane], from.is_signed());
    result[lane] = narrow<T, R>(clamp ? saturate(number) : number, false, false);
  }
  store<u32>(file, instr.dst[0], result, active);
}

// Integral rounding, {.ftz}, {.sat}, destination type. Values outside the range clamp to it. NaN gives 0, or
// the value with only the top bit set if the source is f64 or the destination has 64 bits.
template <typename S, RoundTo R>
void float_to_integer(const LaneFile& file, const Instr& instr, LaneMask active) {
  const IntegerType to{instr.modifiers % 8u};
  const bool flushes = std::is_same_v<S, float> && instr.modifiers / 16 % 2 != 0;
  const u64 nan = std::is_same_v<S, double> || to.bits() == 64 ? u64{1} << (to.bits() - 1) : 0;
  const u64 high = largest(to);
  const u64 low = static_cast<u64>(smallest(to));
  const double limit = static_cast<double>(u64{1} << (to.bits() - 1)) * (to.is_signed() ? 1 : 2);
  const double lower_limit = static_cast<double>(smallest(to));
  const auto* a = file.at<WordOf<S>>(instr.src[0]);
  u64 value[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    double x = Lane<S>::read(a[lane]);
    x = flushes && std::fabs(x) < 0x1p-126 ? 0.0 : x;
    const double rounded = round_integral<R>(x);
    const bool above = rounded >= limit, below = rounded <= lower_limit;
    const double inside = above || below || x != x ? 0.0 : rounded;
    const u64 number = to.is_signed() ? static_cast<u64>(static_cast<s64>(inside)) : static_cast<u64>(inside);
    const u64 clamped = above ? high : below ? low : number;
    value[lane] = x != x ? nan : clamped;
  }
  store_integers(file, instr, to, value, active);
}
// f32 to 32-bit integers, the common case: integral rounding, {.ftz}, {.sat}.
template <typename D, RoundTo R, bool kFlush>
constexpr auto kFloatToWord = [](float x) -> D {
  x = flush<kFlush>(x);
  const float rounded = R == RoundTo::Nearest ? __builtin_rintf(x)
                        : R == RoundTo::Zero  ? __builtin_truncf(x)
                        : R == RoundTo::Down  ? __builtin_floorf(x)
                                              : __builtin_ceilf(x);
  constexpr bool kSigned = std::is_signed_v<D>;
  constexpr float kLimit = kSigned ? 0x1p31f : 0x1p32f;
  constexpr D kHigh = kSigned ? static_cast<D>(INT32_MAX) : static_cast<D>(~0u);
  constexpr D kLow = kSigned ? static_cast<D>(INT32_MIN) : 0;
  const bool above = rounded >= kLimit, below = rounded <= (kSigned ? -0x1p31f : 0.0f);
  const float inside = above | below | (x != x) ? 0.0f : rounded;
  const D number = static_cast<D>(static_cast<std::conditional_t<kSigned, s32, s64>>(inside));
  const D clamped = above ? kHigh : below ? kLow : number;
  return x != x ? 0 : clamped;
};
template <typename D>
constexpr const auto& kFloatToWordForms = kNumbered<16, []<size_t n>() -> AluFn {
  return lanes<kFloatToWord<D, static_cast<RoundTo>(n / 4), n / 2 % 2 == 1>, D, float>;
}>;

template <typename S, int kPerMode>
constexpr const auto& kFloatToInteger = kNumbered<4 * kPerMode, []<size_t n>() -> AluFn {
  return float_to_integer<S, static_cast<RoundTo>(n / kPerMode)>;
}>;
template <typename T>
constexpr const auto& kIntegerToFloat =
    kNumbered<64, []<size_t n>() -> AluFn { return integer_to_float<T, rounding(n / 16)>; }>;
template <typename T>
constexpr const auto& kIntegerToHalf =
    kNumbered<64, []<size_t n>() -> AluFn { return integer_to_half<T, static_cast<RoundTo>(n / 16)>; }>;

// Float to float of the same type. {integral rounding}{.ftz}{.sat}; without rounding only .ftz and .sat act.
template <typename T>
EMU_INLINE ValueOf<T> flush_number(ValueOf<T> x, bool flushes) {
  if constexpr (std::is_same_v<T, float>) return flushes ? flush<true>(x) : x;
  return x;
}
template <typename T, int kMode, bool kFlush, bool kSaturate>
constexpr auto kSameType = [](ValueOf<T> x) -> ValueOf<T> {
  x = flush_number<T>(x, kFlush);
  if constexpr (kMode != 0)
    x = static_cast<ValueOf<T>>(__builtin_copysign(round_integral<static_cast<RoundTo>(kMode - 1)>(x), x));
  return kSaturate ? saturate(x) : canonical(x);
};
template <typename T>
constexpr const auto& kSameFlushed = kNumbered<20, []<size_t n>() -> AluFn {
  return lanes<kSameType<T, static_cast<int>(n / 4), n / 2 % 2 == 1, n % 2 == 1>, T, T>;
}>;
template <typename T>
constexpr const auto& kSame = kNumbered<10, []<size_t n>() -> AluFn {
  return lanes<kSameType<T, static_cast<int>(n / 2), false, n % 2 == 1>, T, T>;
}>;

// Widening, exact. cvt.f32.bf16 is a shift in SASS and keeps NaN payloads.
template <bool kSaturate, bool kKeepNan = false>
constexpr auto kWidenToFloat = [](float x) {
  return kSaturate ? saturate(x) : kKeepNan ? x : canonical(x);
};
template <bool kFlush, bool kSaturate>
constexpr auto kFlushBfloat = [](float x) {
  x = flush<kFlush>(x);
  return kSaturate ? saturate(x) : x;
};
// With a rounding mode .ftz makes an addition of it, and a NaN canonical.
constexpr auto kRoundedFlushBfloat = [](float x) { return canonical(flush<true>(x)); };
template <bool kFlush, bool kSaturate>
constexpr auto kWidenToDouble = [](float input) {
  // With .ftz a float addition goes first in SASS, which makes a NaN canonical.
  const double x = kFlush ? canonical(flush<true>(input)) : input;
  return kSaturate ? saturate(x) : x;
};
// f64 to f32: rounding, {.ftz}, {.sat}. A NaN keeps its sign and the top of its payload.
template <Rounding R, bool kFlush, bool kSaturate>
void double_to_float(const LaneFile& file, const Instr& instr, LaneMask active) {
  const double* a = file.at<double>(instr.src[0]);
  u32 result[kLanes];
  with_rounding<R>(
      result, [&]() __attribute__((always_inline)) {
        for (int lane = 0; lane < kLanes; ++lane) {
          const float x = flush<kFlush>(static_cast<float>(a[lane]));
          result[lane] = bits(kSaturate ? saturate(x) : x);
        }
      });
  store<u32>(file, instr.dst[0], result, active);
}
constexpr const auto& kDoubleToFloat = kNumbered<16, []<size_t n>() -> AluFn {
  return double_to_float<rounding(n / 4), n / 2 % 2 == 1, n % 2 == 1>;
}>;

// To f16 or bf16 with rounding: (rounding){.ftz}{.sat} and (.rn,.rz){.relu}{.satfinite}.
template <typename T, RoundTo R, bool kFlush, bool kSaturate>
constexpr auto kToHalf = [](auto input) -> u32 {
  // An f32 that becomes f16 is not flushed: with .rm and .rp a subnormal one gives the smallest f16 (H200).
  double x = input;
  if constexpr (sizeof(input) == 4 && std::is_same_v<T, Bf16>) x = flush<kFlush>(input);
  const u32 result = narrow<T, R>(kSaturate ? saturate(x) : x, false, false);
  if constexpr (sizeof(input) == 8 && !kSaturate) {  // a NaN of f64 keeps its sign and the top of its payload
    constexpr int kMantissa = Narrow<T>::kMantissa;
    constexpr u32 kQuiet = (0x7fffu >> (kMantissa - 1)) << (kMantissa - 1);
    const u32 nan = kQuiet | static_cast<u32>(bits(input) >> 63 << 15) |
                    static_cast<u32>(bits(input) >> (52 - kMantissa) & ((1u << kMantissa) - 1));
    return input != input ? nan : result;
  }
  return result;
};
template <typename T, typename S, int kFlushes>
constexpr const auto& kHalfForms = kNumbered<8 * kFlushes, []<size_t n>() -> AluFn {
  constexpr auto kMode = static_cast<RoundTo>(n / (2 * kFlushes));
  return lanes<kToHalf<T, kMode, kFlushes == 2 && n / 2 % 2 == 1, n % 2 == 1>, u32, S>;
}>;
template <typename T, RoundTo R, bool kRelu, bool kFinite>
constexpr auto kToHalfClamped = [](float x) -> u32 { return narrow<T, R>(x, kRelu, kFinite); };
template <typename T>
constexpr const auto& kClampedHalfForms = kNumbered<8, []<size_t n>() -> AluFn {
  return lanes<kToHalfClamped<T, static_cast<RoundTo>(n / 4), n / 2 % 2 == 1, n % 2 == 1>, u32, float>;
}>;
constexpr auto kRoundHalf = [](float x) { return float_to_half(x); };
constexpr auto kRoundBfloat = [](float x) { return float_to_bfloat(x); };

constexpr Cost kXu64{CostClass::Xu, 2};
constexpr Cost kCvtHalf{CostClass::CvtPack};

constexpr AluForm kForms[] = {
    // The common integer widths first: a row that fits the registers exactly wins.
    {"cvt.u32.u16", "w=h", kAlu, kOne<lanes<kCopy, u32, u16>>},
    {"cvt.s32.s16", "w=h", kAlu, kOne<lanes<kCopy, s32, s16>>},
    {"cvt.u16.u32", "h=w", kFree, kOne<lanes<kCopy, u16, u32>>},
    {"cvt.u64.u32", "l=w", kFree, kOne<lanes<kCopy, u64, u32>>},
    {"cvt.s64.s32", "l=w", kAlu, kOne<lanes<kCopy, s64, s32>>},
    {"cvt(.u32,.s32)(.u64,.s64)", "w=l", kFree, kOne<lanes<kCopy, u32, u64>>},
    {"cvt{.sat}" INTEGERS INTEGERS, "D=S", kAlu, kOne<integer_to_integer>},

    {"cvt.rn.f32.u32", "f=w", kXu, kOne<lanes<kCopy, float, u32>>},
    {"cvt.rn.f32.s32", "f=w", kXu, kOne<lanes<kCopy, float, s32>>},
    {"cvt" ROUNDED "{.sat}.f32" INTEGERS, "f=S", kXu, kIntegerToFloat<float>},
    {"cvt" ROUNDED ".ftz{.sat}.f32" INTEGERS, "f=S", kXu, kIntegerToFloat<float>},  // no integer is subnormal
    {"cvt" ROUNDED "{.sat}.f64" INTEGERS, "d=S", kXu64, kIntegerToFloat<double>},
    {"cvt" ROUNDED "{.sat}.f16" INTEGERS, "H=S", kXu, kIntegerToHalf<F16>},
    {"cvt" ROUNDED "{.sat}.bf16" INTEGERS, "H=S", kXu, kIntegerToHalf<Bf16>},

    {"cvt" INTEGRAL "{.ftz}{.sat}.u32.f32", "w=f", kXu, kFloatToWordForms<u32>},
    {"cvt" INTEGRAL "{.ftz}{.sat}.s32.f32", "w=f", kXu, kFloatToWordForms<s32>},
    {"cvt" INTEGRAL "{.ftz}{.sat}" INTEGERS ".f32", "D=f", kXu, kFloatToInteger<float, 32>},
    {"cvt" INTEGRAL "{.sat}" INTEGERS ".f64", "D=d", kXu64, kFloatToInteger<double, 16>},
    {"cvt" INTEGRAL "{.sat}" INTEGERS ".f16", "D=H", kXu, kFloatToInteger<F16, 16>},
    {"cvt" INTEGRAL "{.sat}" INTEGERS ".bf16", "D=H", kXu, kFloatToInteger<Bf16, 16>},

    {"cvt{.rni,.rzi,.rmi,.rpi}{.ftz}{.sat}.f32.f32", "f=f", kXu, kSameFlushed<float>},
    {"cvt{.rni,.rzi,.rmi,.rpi}{.sat}.f64.f64", "d=d", kXu64, kSame<double>},
    {"cvt{.rni,.rzi,.rmi,.rpi}{.sat}.f16.f16", "H=H", kXu, kSame<F16>},
    {"cvt{.rni,.rzi,.rmi,.rpi}.bf16.bf16", "H=H", kXu,
     kEach<lanes<kSameType<Bf16, 0, false, false>, Bf16, Bf16>,
           lanes<kSameType<Bf16, 1, false, false>, Bf16, Bf16>,
           lanes<kSameType<Bf16, 2, false, false>, Bf16, Bf16>,
           lanes<kSameType<Bf16, 3, false, false>, Bf16, Bf16>,
           lanes<kSameType<Bf16, 4, false, false>, Bf16, Bf16>>},

    {"cvt{.ftz}{.sat}.f32.f16", "f=H", kAlu,
     kEach<lanes<kWidenToFloat<false>, float, F16>, lanes<kWidenToFloat<true>, float, F16>,
           lanes<kWidenToFloat<false>, float, F16>, lanes<kWidenToFloat<true>, float, F16>>},
    {"cvt{.ftz}{.sat}.f32.bf16", "f=H", kFree,
     kEach<lanes<kFlushBfloat<false, false>, float, Bf16>, lanes<kFlushBfloat<false, true>, float, Bf16>,
           lanes<kFlushBfloat<true, false>, float, Bf16>, lanes<kFlushBfloat<true, true>, float, Bf16>>},
    {"cvt" ROUNDED ".f32.bf16", "f=H", kFree, kOne<lanes<kFlushBfloat<false, false>, float, Bf16>>},
    {"cvt" ROUNDED ".ftz.f32.bf16", "f=H", kAlu, kOne<lanes<kRoundedFlushBfloat, float, Bf16>>},
    {"cvt{.ftz}{.sat}.f64.f32", "d=f", kXu64,
     kEach<lanes<kWidenToDouble<false, false>, double, float>,
           lanes<kWidenToDouble<false, true>, double, float>,
           lanes<kWidenToDouble<true, false>, double, float>,
           lanes<kWidenToDouble<true, true>, double, float>>},
    {"cvt{.sat}.f64.f16", "d=H", kXu64,
     kEach<lanes<kWidenToDouble<false, false>, double, F16>,
           lanes<kWidenToDouble<false, true>, double, F16>>},
    {"cvt{.sat}.f64.bf16", "d=H", kXu64,
     kEach<lanes<kWidenToDouble<false, false>, double, Bf16>,
           lanes<kWidenToDouble<false, true>, double, Bf16>>},
    {"cvt" ROUNDED ".f64.bf16", "d=H", kXu64, kOne<lanes<kWidenToDouble<false, false>, double, Bf16>>},
    {"cvt" ROUNDED "{.ftz}{.sat}.f32.f64", "f=d", kXu64, kDoubleToFloat},

    {"cvt.rn.f16.f32", "H=f", kCvtHalf, kOne<lanes<kRoundHalf, u32, float>>},
    {"cvt.rn.bf16.f32", "H=f", kCvtHalf, kOne<lanes<kRoundBfloat, u32, float>>},
    {"cvt" ROUNDED "{.ftz}{.sat}.f16.f32", "H=f", kCvtHalf, kHalfForms<F16, float, 2>},
    {"cvt" ROUNDED "{.ftz}{.sat}.bf16.f32", "H=f", kCvtHalf, kHalfForms<Bf16, float, 2>},
    {"cvt" ROUNDED "{.sat}.f16.f64", "H=d", kXu64, kHalfForms<F16, double, 1>},
    {"cvt" ROUNDED "{.sat}.bf16.f64", "H=d", kXu64, kHalfForms<Bf16, double, 1>},
    {"cvt.bf16.f16", "H=H", kCvtHalf, kOne<lanes<kToHalf<Bf16, RoundTo::Nearest, false, false>, u32, F16>>},
    {"cvt.f16.bf16", "H=H", kCvtHalf, kOne<lanes<kToHalf<F16, RoundTo::Nearest, false, false>, u32, Bf16>>},
    {"cvt" ROUNDED "{.sat}.bf16.f16", "H=H", kCvtHalf, kHalfForms<Bf16, F16, 1>},
    {"cvt" ROUNDED "{.sat}.f16.bf16", "H=H", kCvtHalf, kHalfForms<F16, Bf16, 1>},
    {"cvt(.rn,.rz){.relu}{.satfinite}.f16.f32", "H=f", kCvtHalf, kClampedHalfForms<F16>},
    {"cvt(.rn,.rz){.relu}{.satfinite}.bf16.f32", "H=f", kCvtHalf, kClampedHalfForms<Bf16>},
};
}  // namespace

extern const FormTable kConvertForms;
const FormTable kConvertForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
