// Comparison and selection: setp, set, selp, slct (PTX ISA 9.7.6 and the half-precision 9.7.7).
#include <iterator>

#include "isa/alu_number.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

enum class Compare { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
constexpr int kIntegerCompares = 6;
constexpr int kFloatCompares = 14;

template <Compare C, typename T>
EMU_INLINE bool compare(T a, T b) {
  switch (C) {
    case Compare::Eq:
      return a == b;
    case Compare::Ne:
      return (a < b) | (a > b);
    case Compare::Lt:
      return a < b;
    case Compare::Le:
      return a <= b;
    case Compare::Gt:
      return a > b;
    case Compare::Ge:
      return a >= b;
    case Compare::Equ:
      return !((a < b) | (a > b));
    case Compare::Neu:
      return a != b;
    case Compare::Ltu:
      return !(a >= b);
    case Compare::Leu:
      return !(a > b);
    case Compare::Gtu:
      return !(a <= b);
    case Compare::Geu:
      return !(a < b);
    case Compare::Num:
      return (a == a) & (b == b);
    case Compare::Nan:
      return !((a == a) & (b == b));
  }
}

// Sources are T; kHalf 0 or 1 takes that half of a packed pair.
// Not inlined: some four hundred rows share some two hundred comparisons.
template <typename T, Compare C, bool kFlush, int kHalf = 0>
__attribute__((noinline)) LaneMask compare_lanes(const LaneFile& file, const Instr& instr) {
  const auto* a = file.at<WordOf<T>>(instr.src[0]);
  const auto* b = file.at<WordOf<T>>(instr.src[1]);
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    auto x = Lane<T>::read(a[lane] >> (16 * kHalf));
    auto y = Lane<T>::read(b[lane] >> (16 * kHalf));
    if constexpr (std::is_same_v<T, F16> && kFlush) {  // subnormal as a half, not as a float
      x = (a[lane] >> (16 * kHalf) & 0x7c00) ? x : 0;
      y = (b[lane] >> (16 * kHalf) & 0x7c00) ? y : 0;
    } else if constexpr (std::is_same_v<T, float>) {
      x = flush<kFlush>(x);
      y = flush<kFlush>(y);
    }
    result[lane] = compare<C>(x, y) ? ~0u : 0u;
  }
  return sign_mask(result);
}

// A row's alternatives are numbered compare, then .and/.or/.xor if it has them, then .ftz, then the
// destination type of set. kFlushes and kTypes say how many there are of the last two.
template <bool kCombines, int kRadix>
EMU_INLINE LaneMask combine(LaneMask mask, const LaneFile& file, const Instr& instr) {
  if constexpr (!kCombines) return mask;
  const LaneMask c = read_predicate(file, instr, 2);
  const int operation = instr.modifiers / kRadix % 3;
  return operation == 0 ? mask & c : operation == 1 ? mask | c : mask ^ c;
}

template <typename T, Compare C, bool kFlush, bool kCombines, int kRadix>
void setp(const LaneFile& file, const Instr& instr, LaneMask active) {
  const LaneMask mask = compare_lanes<T, C, kFlush>(file, instr);
  const LaneMask p = combine<kCombines, kRadix>(mask, file, instr);
  const LaneMask q = combine<kCombines, kRadix>(~mask, file, instr);
  write_predicate(file, instr.dst[0], p, active);
  write_predicate(file, instr.dst[1], q, active);
}
// The predicates belong to the low and the high half.
template <typename T, Compare C, bool kFlush, bool kCombines, int kRadix>
void setp_pair(const LaneFile& file, const Instr& instr, LaneMask active) {
  const LaneMask p = combine<kCombines, kRadix>(compare_lanes<T, C, kFlush, 0>(file, instr), file, instr);
  const LaneMask q = combine<kCombines, kRadix>(compare_lanes<T, C, kFlush, 1>(file, instr), file, instr);
  write_predicate(file, instr.dst[0], p, active);
  write_predicate(file, instr.dst[1], q, active);
}

EMU_INLINE void store_truth(const LaneFile& file, const Instr& instr, LaneMask p, LaneMask q, u32 truth,
                            u32 high_truth, LaneMask active) {
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    result[lane] = ((p >> lane & 1) ? truth : 0) | ((q >> lane & 1) ? high_truth : 0);
  store<u32>(file, instr.dst[0], result, active);
}
// The last destination type of a row is the floating-point one, where true is kOneValue and not all ones.
template <u32 kAllOnes, u32 kOneValue, int kTypes, typename T, Compare C, bool kFlush, bool kCombines,
          int kRadix>
void set(const LaneFile& file, const Instr& instr, LaneMask active) {
  const LaneMask p = combine<kCombines, kRadix>(compare_lanes<T, C, kFlush>(file, instr), file, instr);
  const u32 truth = instr.modifiers % kTypes == kTypes - 1 ? kOneValue : kAllOnes;
  store_truth(file, instr, p, 0, truth, 0, active);
}
template <u32 kOneValue, typename T, Compare C, bool kFlush, bool kCombines, int kRadix>
void set_pair(const LaneFile& file, const Instr& instr, LaneMask active) {
  const LaneMask p = combine<kCombines, kRadix>(compare_lanes<T, C, kFlush, 0>(file, instr), file, instr);
  const LaneMask q = combine<kCombines, kRadix>(compare_lanes<T, C, kFlush, 1>(file, instr), file, instr);
  const u32 truth = instr.modifiers % 3 == 2 ? kOneValue : 0xffff;
  store_truth(file, instr, p, q, truth, truth << 16, active);
}

template <int kCombines, int kFlushes>
struct Choice {
  size_t n;
  constexpr Compare compare() const { return static_cast<Compare>(n / (kCombines * kFlushes)); }
  constexpr bool flush() const { return n % kFlushes == 1; }
};
template <typename T, int kCompares, int kCombines, int kFlushes>
constexpr const auto& kSetp = kNumbered<kCompares * kCombines * kFlushes, []<size_t n>() -> AluFn {
  constexpr Choice<kCombines, kFlushes> c{n};
  return setp<T, c.compare(), c.flush(), kCombines != 1, kFlushes>;
}>;
template <typename T, int kCombines, int kFlushes>
constexpr const auto& kSetpPair = kNumbered<kFloatCompares * kCombines * kFlushes, []<size_t n>() -> AluFn {
  constexpr Choice<kCombines, kFlushes> c{n};
  return setp_pair<T, c.compare(), c.flush(), kCombines != 1, kFlushes>;
}>;
// Only lt, le, gt, ge have unsigned names of their own: lo, ls, hi, hs.
template <typename T, int kCombines>
constexpr const auto& kSetpUnsigned = kNumbered<4 * kCombines, []<size_t n>() -> AluFn {
  constexpr Choice<kCombines, 1> c{n + 2 * kCombines};
  return setp<T, c.compare(), false, kCombines != 1, 1>;
}>;

template <u32 kAllOnes, u32 kOneValue, int kTypes, typename T, int kCompares, int kCombines, int kFlushes>
constexpr const auto& kSet = kNumbered<kCompares * kCombines * kFlushes * kTypes, []<size_t n>() -> AluFn {
  constexpr Choice<kCombines, kFlushes> c{n / kTypes};
  return set<kAllOnes, kOneValue, kTypes, T, c.compare(), c.flush(), kCombines != 1, kFlushes * kTypes>;
}>;
template <u32 kAllOnes, u32 kOneValue, int kTypes, typename T, int kCombines>
constexpr const auto& kSetUnsigned = kNumbered<4 * kCombines * kTypes, []<size_t n>() -> AluFn {
  constexpr Choice<kCombines, 1> c{n / kTypes + 2 * kCombines};
  return set<kAllOnes, kOneValue, kTypes, T, c.compare(), false, kCombines != 1, kTypes>;
}>;
template <u32 kOneValue, typename T, int kCombines, int kFlushes>
constexpr const auto& kSetPair =
    kNumbered<kFloatCompares * kCombines * kFlushes * 3, []<size_t n>() -> AluFn {
      constexpr Choice<kCombines, kFlushes> c{n / 3};
      return set_pair<kOneValue, T, c.compare(), c.flush(), kCombines != 1, kFlushes * 3>;
    }>;

template <typename W>
void selp(const LaneFile& file, const Instr& instr, LaneMask active) {
  const W* a = file.at<W>(instr.src[0]);
  const W* b = file.at<W>(instr.src[1]);
  const LaneMask p = read_predicate(file, instr, 2);
  W result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = (p >> lane & 1) ? a[lane] : b[lane];
  store<W>(file, instr.dst[0], result, active);
}
constexpr auto kSlct = [](auto a, auto b, auto c) { return c >= 0 ? a : b; };
constexpr auto kSlctFtz = [](auto a, auto b, float c) { return flush<true>(c) >= 0 ? a : b; };

constexpr Cost kAlu4{CostClass::Alu, 4};
#define INTEGER_COMPARES "(.eq,.ne,.lt,.le,.gt,.ge)"
#define UNSIGNED_COMPARES "(.lo,.ls,.hi,.hs)"
#define FLOAT_COMPARES "(.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan)"
#define COMBINE "(.and,.or,.xor)"

// Rows of setp and set for one integer type: T is written ".type" and has operands of shape "x".
#define SETP_INTEGER(T, type, x, c)                                                                \
  {"setp" INTEGER_COMPARES type, "p|p=" x "," x, c, kSetp<T, kIntegerCompares, 1, 1>}, {           \
    "setp" INTEGER_COMPARES COMBINE type, "p|p=" x "," x ",p", c, kSetp<T, kIntegerCompares, 3, 1> \
  }
#define SETP_UNSIGNED(T, type, x, c)                                                   \
  {"setp" UNSIGNED_COMPARES type, "p|p=" x "," x, c, kSetpUnsigned<T, 1>}, {           \
    "setp" UNSIGNED_COMPARES COMBINE type, "p|p=" x "," x ",p", c, kSetpUnsigned<T, 3> \
  }
#define SET_INTEGER(T, type, x, c)                                                \
  {"set" INTEGER_COMPARES "(.u32,.s32,.f32)" type, "w=" x "," x, c,               \
   kSet<~0u, 0x3f800000, 3, T, kIntegerCompares, 1, 1>},                          \
  {                                                                               \
    "set" INTEGER_COMPARES COMBINE "(.u32,.s32,.f32)" type, "w=" x "," x ",p", c, \
        kSet<~0u, 0x3f800000, 3, T, kIntegerCompares, 3, 1>                       \
  }
#define SETP_BITS(T, type, x, c)                                                                      \
  {"setp(.eq,.ne)" type, "p|p=" x "," x, c, kSetp<T, 2, 1, 1>},                                       \
      {"setp(.eq,.ne)" COMBINE type, "p|p=" x "," x ",p", c, kSetp<T, 2, 3, 1>},                      \
      {"set(.eq,.ne)(.u32,.s32,.f32)" type, "w=" x "," x, c, kSet<~0u, 0x3f800000, 3, T, 2, 1, 1>}, { \
    "set(.eq,.ne)" COMBINE "(.u32,.s32,.f32)" type, "w=" x "," x ",p", c,                             \
        kSet<~0u, 0x3f800000, 3, T, 2, 3, 1>                                                          \
  }
#define SET_UNSIGNED(T, type, x, c)                                                \
  {"set" UNSIGNED_COMPARES "(.u32,.s32,.f32)" type, "w=" x "," x, c,               \
   kSetUnsigned<~0u, 0x3f800000, 3, T, 1>},                                        \
  {                                                                                \
    "set" UNSIGNED_COMPARES COMBINE "(.u32,.s32,.f32)" type, "w=" x "," x ",p", c, \
        kSetUnsigned<~0u, 0x3f800000, 3, T, 3>                                     \
  }
// set of integers into f16: one row a type.
#define SET_HALF(T, type, x, compares, count)                                                          \
  {"set" compares ".f16" type, "h=" x "," x, kAlu2, kSet<~0u, 0x3c00, 1, T, count, 1, 1>}, {           \
    "set" compares COMBINE ".f16" type, "h=" x "," x ",p", kAlu2, kSet<~0u, 0x3c00, 1, T, count, 3, 1> \
  }
#define SET_HALF_UNSIGNED(T, type, x)                                                               \
  {"set" UNSIGNED_COMPARES ".f16" type, "h=" x "," x, kAlu2, kSetUnsigned<~0u, 0x3c00, 1, T, 1>}, { \
    "set" UNSIGNED_COMPARES COMBINE ".f16" type, "h=" x "," x ",p", kAlu2,                          \
        kSetUnsigned<~0u, 0x3c00, 1, T, 3>                                                          \
  }

constexpr AluForm kForms[] = {
    SETP_INTEGER(u16, ".u16", "h", kAlu),
    SETP_INTEGER(s16, ".s16", "h", kAlu),
    SETP_INTEGER(u32, ".u32", "w", kAlu),
    SETP_INTEGER(s32, ".s32", "w", kAlu),
    SETP_INTEGER(u64, ".u64", "l", kAlu2),
    SETP_INTEGER(s64, ".s64", "l", kAlu2),
    SETP_UNSIGNED(u16, ".u16", "h", kAlu),
    SETP_UNSIGNED(u32, ".u32", "w", kAlu),
    SETP_UNSIGNED(u64, ".u64", "l", kAlu2),
    SETP_BITS(u16, ".b16", "h", kAlu),
    SETP_BITS(u32, ".b32", "w", kAlu),
    SETP_BITS(u64, ".b64", "l", kAlu2),
    SET_INTEGER(u16, ".u16", "h", kAlu2),
    SET_INTEGER(s16, ".s16", "h", kAlu2),
    SET_INTEGER(u32, ".u32", "w", kAlu2),
    SET_INTEGER(s32, ".s32", "w", kAlu2),
    SET_INTEGER(u64, ".u64", "l", kAlu4),
    SET_INTEGER(s64, ".s64", "l", kAlu4),
    SET_UNSIGNED(u16, ".u16", "h", kAlu2),
    SET_UNSIGNED(u32, ".u32", "w", kAlu2),
    SET_UNSIGNED(u64, ".u64", "l", kAlu4),
    SET_HALF(u16, ".u16", "h", INTEGER_COMPARES, kIntegerCompares),
    SET_HALF(s16, ".s16", "h", INTEGER_COMPARES, kIntegerCompares),
    SET_HALF(u16, ".b16", "h", "(.eq,.ne)", 2),
    SET_HALF(u32, ".u32", "w", INTEGER_COMPARES, kIntegerCompares),
    SET_HALF(s32, ".s32", "w", INTEGER_COMPARES, kIntegerCompares),
    SET_HALF(u32, ".b32", "w", "(.eq,.ne)", 2),
    SET_HALF(u64, ".u64", "l", INTEGER_COMPARES, kIntegerCompares),
    SET_HALF(s64, ".s64", "l", INTEGER_COMPARES, kIntegerCompares),
    SET_HALF(u64, ".b64", "l", "(.eq,.ne)", 2),
    SET_HALF_UNSIGNED(u16, ".u16", "h"),
    SET_HALF_UNSIGNED(u32, ".u32", "w"),
    SET_HALF_UNSIGNED(u64, ".u64", "l"),

    {"setp" FLOAT_COMPARES "{.ftz}.f32", "p|p=f,f", kAlu, kSetp<float, kFloatCompares, 1, 2>},
    {"setp" FLOAT_COMPARES COMBINE "{.ftz}.f32", "p|p=f,f,p", kAlu, kSetp<float, kFloatCompares, 3, 2>},
    {"setp" FLOAT_COMPARES ".f64", "p|p=d,d", kFp64, kSetp<double, kFloatCompares, 1, 1>},
    {"setp" FLOAT_COMPARES COMBINE ".f64", "p|p=d,d,p", kFp64, kSetp<double, kFloatCompares, 3, 1>},
    {"setp" FLOAT_COMPARES "{.ftz}.f16", "p=h,h", kAlu, kSetp<F16, kFloatCompares, 1, 2>},
    {"setp" FLOAT_COMPARES COMBINE "{.ftz}.f16", "p=h,h,p", kAlu, kSetp<F16, kFloatCompares, 3, 2>},
    {"setp" FLOAT_COMPARES "{.ftz}.f16x2", "p|p=w,w", kAlu, kSetpPair<F16, 1, 2>},
    {"setp" FLOAT_COMPARES COMBINE "{.ftz}.f16x2", "p|p=w,w,p", kAlu, kSetpPair<F16, 3, 2>},
    {"setp" FLOAT_COMPARES ".bf16", "p=h,h", kAlu, kSetp<Bf16, kFloatCompares, 1, 1>},
    {"setp" FLOAT_COMPARES COMBINE ".bf16", "p=h,h,p", kAlu, kSetp<Bf16, kFloatCompares, 3, 1>},
    {"setp" FLOAT_COMPARES ".bf16x2", "p|p=w,w", kAlu, kSetpPair<Bf16, 1, 1>},
    {"setp" FLOAT_COMPARES COMBINE ".bf16x2", "p|p=w,w,p", kAlu, kSetpPair<Bf16, 3, 1>},

    {"set" FLOAT_COMPARES "{.ftz}(.u32,.s32,.f32).f32", "w=f,f", kAlu2,
     kSet<~0u, 0x3f800000, 3, float, kFloatCompares, 1, 2>},
    {"set" FLOAT_COMPARES COMBINE "{.ftz}(.u32,.s32,.f32).f32", "w=f,f,p", kAlu2,
     kSet<~0u, 0x3f800000, 3, float, kFloatCompares, 3, 2>},
    {"set" FLOAT_COMPARES "(.u32,.s32,.f32).f64", "w=d,d", kFp64,
     kSet<~0u, 0x3f800000, 3, double, kFloatCompares, 1, 1>},
    {"set" FLOAT_COMPARES COMBINE "(.u32,.s32,.f32).f64", "w=d,d,p", kFp64,
     kSet<~0u, 0x3f800000, 3, double, kFloatCompares, 3, 1>},
    {"set" FLOAT_COMPARES "{.ftz}(.u32,.s32).f16", "w=h,h", kAlu2,
     kSet<~0u, ~0u, 2, F16, kFloatCompares, 1, 2>},
    {"set" FLOAT_COMPARES "{.ftz}(.u16,.s16,.f16).f16", "h=h,h", kAlu2,
     kSet<0xffff, 0x3c00, 3, F16, kFloatCompares, 1, 2>},
    {"set" FLOAT_COMPARES COMBINE "{.ftz}(.u16,.s16,.f16).f16", "h=h,h,p", kAlu2,
     kSet<0xffff, 0x3c00, 3, F16, kFloatCompares, 3, 2>},
    {"set" FLOAT_COMPARES "{.ftz}(.u32,.s32,.f16x2).f16x2", "w=w,w", kAlu2, kSetPair<0x3c00, F16, 1, 2>},
    {"set" FLOAT_COMPARES COMBINE "{.ftz}(.u32,.s32,.f16x2).f16x2", "w=w,w,p", kAlu2,
     kSetPair<0x3c00, F16, 3, 2>},
    {"set" FLOAT_COMPARES "(.u32,.s32).bf16", "w=h,h", kAlu2, kSet<~0u, ~0u, 2, Bf16, kFloatCompares, 1, 1>},
    {"set" FLOAT_COMPARES "(.u16,.s16,.bf16).bf16", "h=h,h", kAlu2,
     kSet<0xffff, 0x3f80, 3, Bf16, kFloatCompares, 1, 1>},
    {"set" FLOAT_COMPARES COMBINE "(.u16,.s16,.bf16).bf16", "h=h,h,p", kAlu2,
     kSet<0xffff, 0x3f80, 3, Bf16, kFloatCompares, 3, 1>},
    {"set" FLOAT_COMPARES "(.u32,.s32,.bf16x2).bf16x2", "w=w,w", kAlu2, kSetPair<0x3f80, Bf16, 1, 1>},
    {"set" FLOAT_COMPARES COMBINE "(.u32,.s32,.bf16x2).bf16x2", "w=w,w,p", kAlu2,
     kSetPair<0x3f80, Bf16, 3, 1>},

    {"selp(.b16,.u16,.s16)", "h=h,h,p", kAlu, kOne<selp<u32>>},
    {"selp(.b32,.u32,.s32)", "w=w,w,p", kAlu, kOne<selp<u32>>},
    {"selp.f32", "f=f,f,p", kAlu, kOne<selp<u32>>},
    {"selp(.b64,.u64,.s64)", "l=l,l,p", kAlu2, kOne<selp<u64>>},
    {"selp.f64", "d=d,d,p", kAlu2, kOne<selp<u64>>},
    {"slct(.b16,.u16,.s16).s32", "h=h,h,w", kAlu, kOne<lanes<kSlct, u32, u32, u32, s32>>},
    {"slct(.b32,.u32,.s32).s32", "w=w,w,w", kAlu, kOne<lanes<kSlct, u32, u32, u32, s32>>},
    {"slct.f32.s32", "f=f,f,w", kAlu, kOne<lanes<kSlct, u32, u32, u32, s32>>},
    {"slct(.b64,.u64,.s64).s32", "l=l,l,w", kAlu2, kOne<lanes<kSlct, u64, u64, u64, s32>>},
    {"slct.f64.s32", "d=d,d,w", kAlu2, kOne<lanes<kSlct, u64, u64, u64, s32>>},
    {"slct(.b16,.u16,.s16).f32", "h=h,h,f", kAlu, kOne<lanes<kSlct, u32, u32, u32, float>>},
    {"slct.ftz(.b16,.u16,.s16).f32", "h=h,h,f", kAlu, kOne<lanes<kSlctFtz, u32, u32, u32, float>>},
    {"slct(.b32,.u32,.s32).f32", "w=w,w,f", kAlu, kOne<lanes<kSlct, u32, u32, u32, float>>},
    {"slct.ftz(.b32,.u32,.s32).f32", "w=w,w,f", kAlu, kOne<lanes<kSlctFtz, u32, u32, u32, float>>},
    {"slct{.ftz}.f32.f32", "f=f,f,f", kAlu,
     kEach<lanes<kSlct, u32, u32, u32, float>, lanes<kSlctFtz, u32, u32, u32, float>>},
    {"slct(.b64,.u64,.s64).f32", "l=l,l,f", kAlu2, kOne<lanes<kSlct, u64, u64, u64, float>>},
    {"slct.ftz(.b64,.u64,.s64).f32", "l=l,l,f", kAlu2, kOne<lanes<kSlctFtz, u64, u64, u64, float>>},
    {"slct.f64.f32", "d=d,d,f", kAlu2, kOne<lanes<kSlct, u64, u64, u64, float>>},
    {"slct.ftz.f64.f32", "d=d,d,f", kAlu2, kOne<lanes<kSlctFtz, u64, u64, u64, float>>},
};
}  // namespace

extern const FormTable kCompareForms;
const FormTable kCompareForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
