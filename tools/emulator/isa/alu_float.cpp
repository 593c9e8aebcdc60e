// f32, f64 and packed f32x2 arithmetic (PTX ISA 9.7.3, 9.7.5).
//
// Every routine flushes its inputs and its result for .ftz, clamps for .sat, and turns an f32 NaN into the
// canonical one. Which results count as subnormal, and which NaN an f64 operation hands on, was measured on
// an H200.
#include <iterator>

#include "isa/alu_minmax.h"
#include "isa/alu_number.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

template <bool kFlush>
EMU_INLINE double flush_input(double x) {
  return x;
}
template <bool kFlush>
EMU_INLINE float flush_input(float x) {
  return flush<kFlush>(x);
}

template <bool kFlush, bool kSaturate, typename T>
EMU_INLINE T finish(T x) {
  if constexpr (sizeof(T) == 4) x = flush<kFlush>(x);
  return kSaturate ? saturate(x) : canonical(x);
}

EMU_INLINE float fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
EMU_INLINE double fused(double x, double y, double z) { return __builtin_fma(x, y, z); }
constexpr auto kMul = [](auto x, auto y, auto) { return x * y; };
constexpr auto kFused = [](auto x, auto y, auto z) { return fused(x, y, z); };
constexpr auto kDiv = [](auto x, auto y, auto) { return x / y; };
// Whether op, a template argument, is one of these. g++ 12 calls its type const, g++ 13 does not.
template <typename Op, typename Named>
constexpr bool kIs = std::is_same_v<std::remove_cv_t<Op>, std::remove_cv_t<Named>>;

// .ftz flushes products that are subnormal before they are rounded: of those that round up to the smallest
// normal number, it looks at the exact value.
template <int kSources, bool kSaturate>
void flush_rounded_up(const u32* a, const u32* b, const u32* c, u32* result, int count) {
  for (int i = 0; i < count; ++i) {
    if ((result[i] & 0x7fffffff) != 0x00800000) continue;
    const double product = static_cast<double>(flush<true>(as_float(a[i]))) * flush<true>(as_float(b[i]));
    const double exact = kSources > 2 ? product + flush<true>(as_float(c[i])) : product;
    if (std::fabs(exact) < 0x1p-126) result[i] &= kSaturate ? 0 : 0x80000000;
  }
}

// op on kPerLane values of type T a lane (two for f32x2). Sources beyond the second are read only if present.
template <typename T, int kPerLane, int kSources, Rounding R, bool kFlush, bool kSaturate, auto op>
void arithmetic(const LaneFile& file, const Instr& instr, LaneMask active) {
  using W = WordOf<T>;
  const W* a = file.at<W>(instr.src[0]);
  const W* b = kSources > 1 ? file.at<W>(instr.src[1]) : a;
  const W* c = kSources > 2 ? file.at<W>(instr.src[2]) : a;
  alignas(64) W result[kLanes * kPerLane];
  with_rounding<R>(
      result, [&]() __attribute__((always_inline)) {
        for (int i = 0; i < kLanes * kPerLane; ++i) {
          const T x = flush_input<kFlush>(bits_as<T>(a[i]));
          const T y = flush_input<kFlush>(bits_as<T>(b[i]));
          const T z = flush_input<kFlush>(bits_as<T>(c[i]));
          T value = op(x, y, z);
          if constexpr (sizeof(T) == 8 && kSources > 1 && !kIs<decltype(op), decltype(kDiv)>)
            value = chosen_nan<kSources>(x, y, z, value);
          result[i] = bits_as<W>(finish<kFlush, kSaturate>(value));
        }
      });
  if constexpr (kFlush && (kIs<decltype(op), decltype(kMul)> || kIs<decltype(op), decltype(kFused)>)) {
    u32 edge = 0;
    for (int i = 0; i < kLanes * kPerLane; ++i) edge |= (result[i] & 0x7fffffff) == 0x00800000 ? 1 : 0;
    if (edge) flush_rounded_up<kSources, kSaturate>(a, b, c, result, kLanes * kPerLane);
  }
  if constexpr (kPerLane == 2) {
    store_lanes(file.at<u64>(instr.dst[0]), reinterpret_cast<const u64*>(result), active);
  } else {
    store<T>(file, instr.dst[0], result, active);
  }
}

EMU_INLINE float root(float x) { return __builtin_sqrtf(x); }
EMU_INLINE double root(double x) { return __builtin_sqrt(x); }

constexpr auto kAdd = [](auto x, auto y, auto) { return x + y; };
constexpr auto kSub = [](auto x, auto y, auto) { return x - y; };
constexpr auto kRcp = [](auto x, auto, auto) { return 1 / x; };
constexpr auto kSqrt = [](auto x, auto, auto) { return root(x); };
// The approximate division multiplies by a reciprocal, which underflows for divisors beyond 2^126: the result
// is 0, or NaN for an infinite dividend (PTX ISA 9.7.3, div).
constexpr auto kDivApprox = [](float x, float y, float) {
  const float magnitude = std::fabs(y);
  const bool vanishes = (magnitude > 0x1p126f) & (magnitude <= 0x1.fffffep127f);
  const float zero = as_float(bits(y) & 0x80000000);
  return vanishes ? x * zero : x / y;
};

// Alternatives: rounding (optional or mandatory), then .ftz, then .sat.
template <auto op, int kSources>
constexpr const auto& kOptionalFloat = kNumbered<20, []<size_t n>() -> AluFn {
  return arithmetic<float, 1, kSources, rounding_or_nearest(n / 4), n / 2 % 2 == 1, n % 2 == 1, op>;
}>;
template <auto op, int kSources>
constexpr const auto& kRoundedFloatSat = kNumbered<16, []<size_t n>() -> AluFn {
  return arithmetic<float, 1, kSources, rounding(n / 4), n / 2 % 2 == 1, n % 2 == 1, op>;
}>;
template <auto op, int kSources>
constexpr const auto& kRoundedFloat = kNumbered<8, []<size_t n>() -> AluFn {
  return arithmetic<float, 1, kSources, rounding(n / 2), n % 2 == 1, false, op>;
}>;
template <auto op, int kSources>
constexpr const auto& kNearestFloat = kNumbered<2, []<size_t n>() -> AluFn {
  return arithmetic<float, 1, kSources, Rounding::Nearest, n % 2 == 1, false, op>;
}>;
template <auto op, int kSources>
constexpr const auto& kOptionalPair = kNumbered<10, []<size_t n>() -> AluFn {
  return arithmetic<float, 2, kSources, rounding_or_nearest(n / 2), n % 2 == 1, false, op>;
}>;
template <auto op, int kSources>
constexpr const auto& kRoundedPair = kNumbered<8, []<size_t n>() -> AluFn {
  return arithmetic<float, 2, kSources, rounding(n / 2), n % 2 == 1, false, op>;
}>;
template <auto op, int kSources>
constexpr const auto& kOptionalDouble = kNumbered<5, []<size_t n>() -> AluFn {
  return arithmetic<double, 1, kSources, rounding_or_nearest(n), false, false, op>;
}>;
template <auto op, int kSources>
constexpr const auto& kRoundedDouble = kNumbered<4, []<size_t n>() -> AluFn {
  return arithmetic<double, 1, kSources, rounding(n), false, false, op>;
}>;

// min and max. Alternatives: .ftz, .NaN, then .xorsign.abs (two sources) or .abs (three).
template <bool kMax, bool kFlush, bool kNan, bool kXorSign>
void min_max(const LaneFile& file, const Instr& instr, LaneMask active) {
  map2<float, float, float>(file, instr, active, [](float x, float y) {
    return min_max_value<kMax, kNan, kXorSign>(flush<kFlush>(x), flush<kFlush>(y));
  });
}
template <bool kMax, bool kFlush, bool kNan, bool kAbs>
void min_max3(const LaneFile& file, const Instr& instr, LaneMask active) {
  map3<float, float, float, float>(file, instr, active, [](float x, float y, float z) {
    x = flush<kFlush>(x), y = flush<kFlush>(y), z = flush<kFlush>(z);
    if (kAbs) x = std::fabs(x), y = std::fabs(y), z = std::fabs(z);
    return min_max_value<kMax, kNan, false>(min_max_value<kMax, kNan, false>(x, y), z);
  });
}
template <bool kMax>
constexpr const auto& kMinMax =
    kNumbered<8, []<size_t n>() -> AluFn { return min_max<kMax, n / 4 == 1, n / 2 % 2 == 1, n % 2 == 1>; }>;
template <bool kMax>
constexpr const auto& kMinMax3 =
    kNumbered<8, []<size_t n>() -> AluFn { return min_max3<kMax, n / 4 == 1, n / 2 % 2 == 1, n % 2 == 1>; }>;
template <bool kMax>
constexpr auto kMinMaxDouble = [](double x, double y) {
  const double tie = as_double(kMax ? bits(x) & bits(y) : bits(x) | bits(y));
  const double ordered = (kMax ? x > y : x < y) ? x : y;
  const double number = x == y ? tie : ordered;
  return y != y ? (x != x ? quiet(y) : x) : number;
};

// These are additions in SASS: a NaN becomes canonical (f32) or quiet (f64, sign kept).
constexpr auto kNeg = [](float x) { return canonical(as_float(bits(x) ^ 0x80000000)); };
constexpr auto kNegFtz = [](float x) { return canonical(as_float(bits(flush<true>(x)) ^ 0x80000000)); };
constexpr auto kAbs = [](float x) { return canonical(as_float(bits(x) & 0x7fffffff)); };
constexpr auto kAbsFtz = [](float x) { return canonical(as_float(bits(flush<true>(x)) & 0x7fffffff)); };
constexpr auto kNegDouble = [](double x) { return x != x ? quiet(x) : as_double(bits(x) ^ u64{1} << 63); };
constexpr auto kAbsDouble = [](double x) { return x != x ? quiet(x) : as_double(bits(x) & ~(u64{1} << 63)); };
constexpr auto kCopySign = [](u32 a, u32 b) { return (a & 0x80000000) | (b & 0x7fffffff); };
constexpr auto kCopySignDouble = [](u64 a, u64 b) {
  constexpr u64 kSign = u64{1} << 63;
  return (a & kSign) | (b & ~kSign);
};

enum class Property { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <typename W, Property P>
void testp(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr W kInfinity = sizeof(W) == 4 ? 0x7f800000 : W(0x7ff0000000000000);
  constexpr W kSmallestNormal = sizeof(W) == 4 ? 0x00800000 : W(0x0010000000000000);
  const W* a = file.at<W>(instr.src[0]);
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const W magnitude = a[lane] & (~W(0) >> 1);
    bool truth = false;
    switch (P) {
      case Property::Finite:
        truth = magnitude < kInfinity;
        break;
      case Property::Infinite:
        truth = magnitude == kInfinity;
        break;
      case Property::Number:
        truth = magnitude <= kInfinity;
        break;
      case Property::NotANumber:
        truth = magnitude > kInfinity;
        break;
      case Property::Normal:
        // Zero counts as normal (measured on an H200).
        truth = magnitude == 0 || (magnitude >= kSmallestNormal && magnitude < kInfinity);
        break;
      case Property::Subnormal:
        truth = magnitude != 0 && magnitude < kSmallestNormal;
        break;
    }
    result[lane] = truth ? ~0u : 0u;
  }
  write_predicate(file, instr.dst[0], sign_mask(result), active);
}
template <typename W>
constexpr const auto& kTestp =
    kNumbered<6, []<size_t n>() -> AluFn { return testp<W, static_cast<Property>(n)>; }>;

// Issue slots of the expansions that ptxas makes for IEEE division, reciprocal and square root.
constexpr Cost kDivApproxCost{CostClass::Mufu, 1, 1, 1};
constexpr Cost kDivFullCost{CostClass::Mufu, 1, 3, 4};
constexpr Cost kDivCost{CostClass::Mufu, 1, 7, 3};
constexpr Cost kRcpCost{CostClass::Mufu, 1, 3, 2};
constexpr Cost kSqrtCost{CostClass::Mufu, 1, 5, 3};
constexpr Cost kDoubleDiv{CostClass::Fp64, 10, 2, 6};
constexpr Cost kDoubleRcp{CostClass::Fp64, 6, 1, 4};
#define ROUNDED "(.rn,.rz,.rm,.rp)"
#define OPTIONAL_ROUNDED "{.rn,.rz,.rm,.rp}"
#define PROPERTIES "(.finite,.infinite,.number,.notanumber,.normal,.subnormal)"

constexpr AluForm kForms[] = {
    {"add" OPTIONAL_ROUNDED "{.ftz}{.sat}.f32", "f=f,f", kFma, kOptionalFloat<kAdd, 2>},
    {"sub" OPTIONAL_ROUNDED "{.ftz}{.sat}.f32", "f=f,f", kFma, kOptionalFloat<kSub, 2>},
    {"mul" OPTIONAL_ROUNDED "{.ftz}{.sat}.f32", "f=f,f", kFma, kOptionalFloat<kMul, 2>},
    {"fma" ROUNDED "{.ftz}{.sat}.f32", "f=f,f,f", kFma, kRoundedFloatSat<kFused, 3>},
    {"mad" ROUNDED "{.ftz}{.sat}.f32", "f=f,f,f", kFma, kRoundedFloatSat<kFused, 3>},
    {"add" OPTIONAL_ROUNDED "{.ftz}.f32x2", "l=l,l", kFmaPacked, kOptionalPair<kAdd, 2>},
    {"sub" OPTIONAL_ROUNDED "{.ftz}.f32x2", "l=l,l", kFmaPacked, kOptionalPair<kSub, 2>},
    {"mul" OPTIONAL_ROUNDED "{.ftz}.f32x2", "l=l,l", kFmaPacked, kOptionalPair<kMul, 2>},
    {"fma" ROUNDED "{.ftz}.f32x2", "l=l,l,l", kFmaPacked, kRoundedPair<kFused, 3>},
    {"add" OPTIONAL_ROUNDED ".f64", "d=d,d", kFp64, kOptionalDouble<kAdd, 2>},
    {"sub" OPTIONAL_ROUNDED ".f64", "d=d,d", kFp64, kOptionalDouble<kSub, 2>},
    {"mul" OPTIONAL_ROUNDED ".f64", "d=d,d", kFp64, kOptionalDouble<kMul, 2>},
    {"fma" ROUNDED ".f64", "d=d,d,d", kFp64, kRoundedDouble<kFused, 3>},
    {"mad" ROUNDED ".f64", "d=d,d,d", kFp64, kRoundedDouble<kFused, 3>},

    {"div.approx{.ftz}.f32", "f=f,f", kDivApproxCost, kNearestFloat<kDivApprox, 2>},
    {"div.full{.ftz}.f32", "f=f,f", kDivFullCost, kNearestFloat<kDiv, 2>},
    {"div" ROUNDED "{.ftz}.f32", "f=f,f", kDivCost, kRoundedFloat<kDiv, 2>},
    {"div" ROUNDED ".f64", "d=d,d", kDoubleDiv, kRoundedDouble<kDiv, 2>},
    {"rcp.approx{.ftz}.f32", "f=f", kMufu, kNearestFloat<kRcp, 1>},
    {"rcp" ROUNDED "{.ftz}.f32", "f=f", kRcpCost, kRoundedFloat<kRcp, 1>},
    {"rcp" ROUNDED ".f64", "d=d", kDoubleRcp, kRoundedDouble<kRcp, 1>},
    {"sqrt.approx{.ftz}.f32", "f=f", kMufu, kNearestFloat<kSqrt, 1>},
    {"sqrt" ROUNDED "{.ftz}.f32", "f=f", kSqrtCost, kRoundedFloat<kSqrt, 1>},
    {"sqrt" ROUNDED ".f64", "d=d", kDoubleDiv, kRoundedDouble<kSqrt, 1>},

    {"min{.ftz}{.NaN}{.xorsign.abs}.f32", "f=f,f", kAlu, kMinMax<false>},
    {"max{.ftz}{.NaN}{.xorsign.abs}.f32", "f=f,f", kAlu, kMinMax<true>},
    {"min{.ftz}{.NaN}{.abs}.f32", "f=f,f,f", kAlu, kMinMax3<false>},
    {"max{.ftz}{.NaN}{.abs}.f32", "f=f,f,f", kAlu, kMinMax3<true>},
    {"min.f64", "d=d,d", kFp64, kOne<lanes<kMinMaxDouble<false>, double, double, double>>},
    {"max.f64", "d=d,d", kFp64, kOne<lanes<kMinMaxDouble<true>, double, double, double>>},
    {"neg{.ftz}.f32", "f=f", kAlu, kEach<lanes<kNeg, float, float>, lanes<kNegFtz, float, float>>},
    {"abs{.ftz}.f32", "f=f", kAlu, kEach<lanes<kAbs, float, float>, lanes<kAbsFtz, float, float>>},
    {"neg.f64", "d=d", kAlu, kOne<lanes<kNegDouble, double, double>>},
    {"abs.f64", "d=d", kAlu, kOne<lanes<kAbsDouble, double, double>>},
    {"copysign.f32", "f=f,f", kAlu, kOne<lanes<kCopySign, u32, u32, u32>>},
    {"copysign.f64", "d=d,d", kAlu, kOne<lanes<kCopySignDouble, u64, u64, u64>>},
    {"testp" PROPERTIES ".f32", "p=f", kAlu2, kTestp<u32>},
    {"testp" PROPERTIES ".f64", "p=d", kAlu2, kTestp<u64>},
};
}  // namespace

extern const FormTable kFloatForms;
const FormTable kFloatForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
