// Logic, shifts, bit fields and byte permutation (PTX ISA 9.7.1, 9.7.8).
#include <iterator>

#include "isa/alu_lanes.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };
constexpr auto kNot = [](auto a) { return ~a; };
constexpr auto kCnot = [](auto a) { return a == 0 ? 1 : 0; };

template <auto op>
void predicate_logic(const LaneFile& file, const Instr& instr, LaneMask active) {
  write_predicate(file, instr.dst[0], op(read_predicate(file, instr, 0), read_predicate(file, instr, 1)),
                  active);
}
void predicate_not(const LaneFile& file, const Instr& instr, LaneMask active) {
  write_predicate(file, instr.dst[0], ~read_predicate(file, instr, 0), active);
}

// Shift amounts are unsigned 32-bit values; larger ones than the width shift everything out.
template <typename T>
constexpr auto kShl = [](T a, u32 amount) -> T { return amount < 8 * sizeof(T) ? a << (amount & 63) : 0; };
template <typename T>
constexpr auto kShr = [](T a, u32 amount) -> T {
  constexpr u32 kLast = 8 * sizeof(T) - 1;
  if constexpr (std::is_signed_v<T>) return a >> (amount < kLast ? amount : kLast);
  return amount <= kLast ? a >> (amount & kLast) : 0;
};
template <bool kWrap>
EMU_INLINE u32 funnel_amount(u32 c) {
  return kWrap ? c & 31 : (c < 32 ? c : 32);
}
template <bool kLeft, bool kWrap>
constexpr auto kShf = [](u32 a, u32 b, u32 c) {
  const u64 both = u64{b} << 32 | a;
  const u32 amount = funnel_amount<kWrap>(c);
  return static_cast<u32>(kLeft ? both << amount >> 32 : both >> amount);
};

// Each nibble of the selector picks one of the eight bytes of {b, a}; its top bit replicates the byte's sign.
constexpr auto kPrmt = [](u32 a, u32 b, u32 selector) {
  const u64 both = u64{b} << 32 | a;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 nibble = selector >> (4 * i);
    const u32 byte = static_cast<u32>(both >> (8 * (nibble & 7))) & 0xff;
    const u32 signs = (byte >> 7) * 0xff;
    result |= ((nibble & 8) ? signs : byte) << (8 * i);
  }
  return result;
};
// The named modes as selectors for the values 0..3 of the low bits of c.
enum PrmtMode { F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
constexpr u32 kPrmtSelector[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
    {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
};
template <int mode>
constexpr auto kPrmtNamed = [](u32 a, u32 b, u32 c) {
  constexpr const u32* s = kPrmtSelector[mode];
  const u32 even = (c & 1) ? s[1] : s[0];
  const u32 odd = (c & 1) ? s[3] : s[2];
  return kPrmt(a, b, (c & 2) ? odd : even);
};

// Truth-table logic as a tree of multiplexers on the bits of a, b and c.
EMU_INLINE u32 mux(u32 select, u32 one, u32 zero) { return (select & one) | (~select & zero); }
EMU_INLINE u32 lop3_lane(u32 a, u32 b, u32 c, const u32 (&table)[8]) {
  const u32 high = mux(b, mux(c, table[7], table[6]), mux(c, table[5], table[4]));
  const u32 low = mux(b, mux(c, table[3], table[2]), mux(c, table[1], table[0]));
  return mux(a, high, low);
}
EMU_INLINE void lop3_lanes(const LaneFile& file, const Ref* source, u32* result) {
  const u32* a = file.at<u32>(source[0]);
  const u32* b = file.at<u32>(source[1]);
  const u32* c = file.at<u32>(source[2]);
  const u32 lut = file.at<u32>(source[3])[0];  // an immediate
  u32 table[8];
  for (int i = 0; i < 8; ++i) table[i] = (lut >> i & 1) ? ~0u : 0u;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = lop3_lane(a[lane], b[lane], c[lane], table);
}
void lop3(const LaneFile& file, const Instr& instr, LaneMask active) {
  u32 result[kLanes];
  lop3_lanes(file, instr.src, result);
  store<u32>(file, instr.dst[0], result, active);
}
// p = (d != 0) BoolOp q. wide: d, p, a, b, c, lut, q.
template <bool kIsAnd>
void lop3_bool(const LaneFile& file, const Instr& instr, LaneMask active) {
  u32 result[kLanes], nonzero[kLanes];
  lop3_lanes(file, instr.wide + 2, result);
  for (int lane = 0; lane < kLanes; ++lane) nonzero[lane] = result[lane] != 0 ? ~0u : 0u;
  const LaneMask q = file.predicates[instr.wide[6].raw] ^ ((instr.negated >> 4 & 1) ? ~0u : 0u);
  const LaneMask mask = sign_mask(nonzero);
  store<u32>(file, instr.wide[0], result, active);
  write_predicate(file, instr.wide[1], kIsAnd ? mask & q : mask | q, active);
}

template <typename T>
EMU_INLINE T low_bits(u32 count) {
  return count >= 8 * sizeof(T) ? ~T(0) : static_cast<T>((T(1) << (count & (8 * sizeof(T) - 1))) - 1);
}
template <typename T>
constexpr auto kBfe = [](T a, u32 b, u32 c) -> T {
  constexpr u32 kWidth = 8 * sizeof(T);
  const u32 position = b & 0xff, length = c & 0xff;
  const T shifted = kShr<T>(a, position);
  if constexpr (std::is_signed_v<T>) {
    const u32 unused = length < kWidth ? kWidth - length : 0;
    const T extended = static_cast<T>(shifted << (unused & (kWidth - 1))) >> (unused & (kWidth - 1));
    return length == 0 ? 0 : extended;
  } else {
    return shifted & low_bits<T>(length);
  }
};
template <typename T>
void bfi(const LaneFile& file, const Instr& instr, LaneMask active) {
  const T* a = file.at<T>(instr.src[0]);
  const T* b = file.at<T>(instr.src[1]);
  const u32* c = file.at<u32>(instr.src[2]);
  const u32* d = file.at<u32>(instr.src[3]);
  T result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const u32 position = c[lane] & 0xff, length = d[lane] & 0xff;
    const T mask = kShl<T>(low_bits<T>(length), position);
    result[lane] = (b[lane] & ~mask) | (kShl<T>(a[lane], position) & mask);
  }
  store<T>(file, instr.dst[0], result, active);
}

constexpr auto kBrev32 = [](u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
};
constexpr auto kBrev64 = [](u64 x) {
  return u64{kBrev32(static_cast<u32>(x))} << 32 | kBrev32(static_cast<u32>(x >> 32));
};
constexpr auto kPopc = [](u64 x) { return __builtin_popcountll(x); };
constexpr auto kClz32 = [](u32 x) { return x == 0 ? 32 : __builtin_clz(x); };
constexpr auto kClz64 = [](u64 x) { return x == 0 ? 64 : __builtin_clzll(x); };
// Position of the most significant non-sign bit, all ones if there is none.
template <typename T, bool kShiftAmount>
constexpr auto kBfind = [](T a) -> u32 {
  constexpr u32 kLast = 8 * sizeof(T) - 1;
  const u64 value = static_cast<std::make_unsigned_t<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
  if (value == 0) return ~0u;
  const u32 position = 63 - __builtin_clzll(value);
  return kShiftAmount ? kLast - position : position;
};
// The n-th set bit at or after (before, for negative n) position `base`.
constexpr auto kFns = [](u32 mask, u32 base, s32 n) -> u32 {
  if (base > 31) return ~0u;
  if (n == 0) return (mask >> base & 1) ? base : ~0u;
  const int step = n > 0 ? 1 : -1;
  u32 remaining = n > 0 ? static_cast<u32>(n) : 0 - static_cast<u32>(n);
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step)
    if ((mask >> position & 1) && --remaining == 0) return static_cast<u32>(position);
  return ~0u;
};
template <bool kSigned, bool kWrap>
constexpr auto kSzext = [](u32 a, u32 b) -> u32 {
  const u32 width = funnel_amount<kWrap>(b);
  const u32 unused = 32 - width;
  const u32 extended = kSigned ? static_cast<u32>(static_cast<s32>(a << (unused & 31)) >> (unused & 31))
                               : a << (unused & 31) >> (unused & 31);
  return width == 0 ? 0 : extended;
};
template <bool kWrap>
constexpr auto kBmsk = [](u32 a, u32 b) {
  const u32 start = funnel_amount<kWrap>(a), width = funnel_amount<kWrap>(b);
  return static_cast<u32>(((u64{1} << width) - 1) << start);
};

constexpr Cost kShift64{CostClass::Alu, 3};
constexpr Cost kXu2{CostClass::Xu, 2};
template <auto op>
constexpr AluFn kWord3 = lanes<op, u32, u32, u32, u32>;

constexpr AluForm kForms[] = {
    {"and.b16", "h=h,h", kAlu, kOne<lanes<kAnd, u32, u32, u32>>},
    {"and.b32", "w=w,w", kAlu, kOne<lanes<kAnd, u32, u32, u32>>},
    {"and.b64", "l=l,l", kAlu2, kOne<lanes<kAnd, u64, u64, u64>>},
    {"and.pred", "p=p,p", kAlu, kOne<predicate_logic<kAnd>>},
    {"or.b16", "h=h,h", kAlu, kOne<lanes<kOr, u32, u32, u32>>},
    {"or.b32", "w=w,w", kAlu, kOne<lanes<kOr, u32, u32, u32>>},
    {"or.b64", "l=l,l", kAlu2, kOne<lanes<kOr, u64, u64, u64>>},
    {"or.pred", "p=p,p", kAlu, kOne<predicate_logic<kOr>>},
    {"xor.b16", "h=h,h", kAlu, kOne<lanes<kXor, u32, u32, u32>>},
    {"xor.b32", "w=w,w", kAlu, kOne<lanes<kXor, u32, u32, u32>>},
    {"xor.b64", "l=l,l", kAlu2, kOne<lanes<kXor, u64, u64, u64>>},
    {"xor.pred", "p=p,p", kAlu, kOne<predicate_logic<kXor>>},
    {"not.b16", "h=h", kAlu, kOne<lanes<kNot, u16, u16>>},
    {"not.b32", "w=w", kAlu, kOne<lanes<kNot, u32, u32>>},
    {"not.b64", "l=l", kAlu2, kOne<lanes<kNot, u64, u64>>},
    {"not.pred", "p=p", kAlu, kOne<predicate_not>},
    {"cnot.b16", "h=h", kAlu2, kOne<lanes<kCnot, u16, u16>>},
    {"cnot.b32", "w=w", kAlu2, kOne<lanes<kCnot, u32, u32>>},
    {"cnot.b64", "l=l", kShift64, kOne<lanes<kCnot, u64, u64>>},
    {"shl.b16", "h=h,w", kAlu, kOne<lanes<kShl<u16>, u16, u16, u32>>},
    {"shl.b32", "w=w,w", kAlu, kOne<lanes<kShl<u32>, u32, u32, u32>>},
    {"shl.b64", "l=l,w", kShift64, kOne<lanes<kShl<u64>, u64, u64, u32>>},
    {"shr(.b16,.u16)", "h=h,w", kAlu, kOne<lanes<kShr<u16>, u16, u16, u32>>},
    {"shr.s16", "h=h,w", kAlu, kOne<lanes<kShr<s16>, s16, s16, u32>>},
    {"shr(.b32,.u32)", "w=w,w", kAlu, kOne<lanes<kShr<u32>, u32, u32, u32>>},
    {"shr.s32", "w=w,w", kAlu, kOne<lanes<kShr<s32>, s32, s32, u32>>},
    {"shr(.b64,.u64)", "l=l,w", kShift64, kOne<lanes<kShr<u64>, u64, u64, u32>>},
    {"shr.s64", "l=l,w", kShift64, kOne<lanes<kShr<s64>, s64, s64, u32>>},
    {"shf(.l,.r)(.clamp,.wrap).b32", "w=w,w,w", kAlu,
     kEach<kWord3<kShf<true, false>>, kWord3<kShf<true, true>>, kWord3<kShf<false, false>>,
           kWord3<kShf<false, true>>>},
    {"prmt.b32", "w=w,w,w", kAlu, kOne<kWord3<kPrmt>>},
    {"prmt.b32(.f4e,.b4e,.rc8,.ecl,.ecr,.rc16)", "w=w,w,w", kAlu,
     kEach<kWord3<kPrmtNamed<F4e>>, kWord3<kPrmtNamed<B4e>>, kWord3<kPrmtNamed<Rc8>>, kWord3<kPrmtNamed<Ecl>>,
           kWord3<kPrmtNamed<Ecr>>, kWord3<kPrmtNamed<Rc16>>>},
    {"lop3.b32", "w=w,w,w,w", kAlu, kOne<lop3>},
    {"lop3(.or,.and).b32", "w|p=w,w,w,w,p", kAlu, kEach<lop3_bool<false>, lop3_bool<true>>},
    {"bfe(.u32,.s32)", "w=w,w,w", kAlu2,
     kEach<lanes<kBfe<u32>, u32, u32, u32, u32>, lanes<kBfe<s32>, s32, s32, u32, u32>>},
    {"bfe(.u64,.s64)",
     "l=l,w,w",
     {CostClass::Alu, 6},
     kEach<lanes<kBfe<u64>, u64, u64, u32, u32>, lanes<kBfe<s64>, s64, s64, u32, u32>>},
    {"bfi.b32", "w=w,w,w,w", kAlu2, kOne<bfi<u32>>},
    {"bfi.b64", "l=l,l,w,w", {CostClass::Alu, 8}, kOne<bfi<u64>>},
    {"brev.b32", "w=w", kXu, kOne<lanes<kBrev32, u32, u32>>},
    {"brev.b64", "l=l", kXu2, kOne<lanes<kBrev64, u64, u64>>},
    {"popc.b32", "w=w", kXu, kOne<lanes<kPopc, u32, u32>>},
    {"popc.b64", "w=l", kXu2, kOne<lanes<kPopc, u32, u64>>},
    {"clz.b32", "w=w", kXu, kOne<lanes<kClz32, u32, u32>>},
    {"clz.b64", "w=l", kXu2, kOne<lanes<kClz64, u32, u64>>},
    {"bfind(.u32,.s32)", "w=w", kXu,
     kEach<lanes<kBfind<u32, false>, u32, u32>, lanes<kBfind<s32, false>, u32, s32>>},
    {"bfind(.u64,.s64)", "w=l", kXu2,
     kEach<lanes<kBfind<u64, false>, u32, u64>, lanes<kBfind<s64, false>, u32, s64>>},
    {"bfind.shiftamt(.u32,.s32)", "w=w", kXu,
     kEach<lanes<kBfind<u32, true>, u32, u32>, lanes<kBfind<s32, true>, u32, s32>>},
    {"bfind.shiftamt(.u64,.s64)", "w=l", kXu2,
     kEach<lanes<kBfind<u64, true>, u32, u64>, lanes<kBfind<s64, true>, u32, s64>>},
    {"fns.b32", "w=w,w,w", {CostClass::Xu, 4, 0, 16}, kOne<lanes<kFns, u32, u32, u32, s32>>},
    {"szext(.clamp,.wrap)(.u32,.s32)", "w=w,w", kAlu,
     kEach<lanes<kSzext<false, false>, u32, u32, u32>, lanes<kSzext<true, false>, u32, u32, u32>,
           lanes<kSzext<false, true>, u32, u32, u32>, lanes<kSzext<true, true>, u32, u32, u32>>},
    {"bmsk(.clamp,.wrap).b32", "w=w,w", kAlu,
     kEach<lanes<kBmsk<false>, u32, u32, u32>, lanes<kBmsk<true>, u32, u32, u32>>},
};
}  // namespace

extern const FormTable kBitForms;
const FormTable kBitForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
