// Integer multiplication: mul, mad, mul24, mad24, dot products (PTX ISA 9.7.1).
#include <iterator>

#include "isa/alu_lanes.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;
template <typename T>
using Wide =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, s128, u128>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                                          std::conditional_t<std::is_signed_v<T>, s32, u32>>>;

template <typename T>
EMU_INLINE T high_half(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) * b >> (8 * sizeof(T)));
}
EMU_INLINE s32 clamp_s32(s64 x) {
  x = x < INT32_MAX ? x : INT32_MAX;
  return static_cast<s32>(x > INT32_MIN ? x : INT32_MIN);
}

constexpr auto kMulLo = [](auto a, auto b) { return a * b; };
constexpr auto kMulHi = [](auto a, auto b) { return high_half(a, b); };
constexpr auto kMulWide = [](auto a, auto b) { return static_cast<Wide<decltype(a)>>(a) * b; };
constexpr auto kMadLo = [](auto a, auto b, auto c) { return a * b + c; };
constexpr auto kMadHi = [](auto a, auto b, auto c) { return high_half(a, b) + c; };
constexpr auto kMadWide = [](auto a, auto b, auto c) { return static_cast<Wide<decltype(a)>>(a) * b + c; };
constexpr auto kMadHiSat = [](s32 a, s32 b, s32 c) { return clamp_s32(s64{high_half(a, b)} + c); };

// The low 24 bits of a 32-bit operand as a 64-bit integer.
EMU_INLINE s64 low24(s32 x) { return static_cast<s32>(static_cast<u32>(x) << 8) >> 8; }
EMU_INLINE u64 low24(u32 x) { return x & 0xffffff; }
constexpr auto kMul24Lo = [](auto a, auto b) { return low24(a) * low24(b); };
constexpr auto kMul24Hi = [](auto a, auto b) { return low24(a) * low24(b) >> 16; };
constexpr auto kMad24Lo = [](auto a, auto b, auto c) { return low24(a) * low24(b) + c; };
constexpr auto kMad24Hi = [](auto a, auto b, auto c) { return (low24(a) * low24(b) >> 16) + c; };
constexpr auto kMad24HiSat = [](s32 a, s32 b, s32 c) { return clamp_s32((low24(a) * low24(b) >> 16) + c); };

template <typename A, typename B>
constexpr auto kDp4a = [](u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<u32>(s32{static_cast<A>(a >> (8 * i))} * s32{static_cast<B>(b >> (8 * i))});
  return c;
};
// Two 16-bit values of `a` with two bytes of `b`, the low or the high pair.
template <typename A, typename B, int kShift>
constexpr auto kDp2a = [](u32 a, u32 b, u32 c) {
  for (int i = 0; i < 2; ++i)
    c += static_cast<u32>(s32{static_cast<A>(a >> (16 * i))} * s32{static_cast<B>(b >> (8 * i + kShift))});
  return c;
};
template <auto op>
constexpr AluFn kDot = lanes<op, u32, u32, u32, u32>;
using u8 = uint8_t;
using s8 = int8_t;

constexpr Cost kImad2{CostClass::Imad, 2};
constexpr Cost kImad64{CostClass::ImadWide, 1, 2, 0};
constexpr Cost kImadHi64{CostClass::ImadWide, 4, 2, 2};

constexpr AluForm kForms[] = {
    {"mul.lo(.u16,.s16)", "h=h,h", kImad, kOne<lanes<kMulLo, u32, u16, u16>>},
    {"mul.lo(.u32,.s32)", "w=w,w", kImad, kOne<lanes<kMulLo, u32, u32, u32>>},
    {"mul.lo(.u64,.s64)", "l=l,l", kImad64, kOne<lanes<kMulLo, u64, u64, u64>>},
    {"mul.hi(.u16,.s16)", "h=h,h", kImad2, kBinary<kMulHi, u16, s16>},
    {"mul.hi(.u32,.s32)", "w=w,w", kImadWide, kBinary<kMulHi, u32, s32>},
    {"mul.hi(.u64,.s64)", "l=l,l", kImadHi64, kBinary<kMulHi, u64, s64>},
    {"mul.wide(.u16,.s16)", "w=h,h", kImad,
     kEach<lanes<kMulWide, u32, u16, u16>, lanes<kMulWide, s32, s16, s16>>},
    {"mul.wide(.u32,.s32)", "l=w,w", kImadWide,
     kEach<lanes<kMulWide, u64, u32, u32>, lanes<kMulWide, s64, s32, s32>>},
    {"mad.lo(.u16,.s16)", "h=h,h,h", kImad, kOne<lanes<kMadLo, u16, u16, u16, u16>>},
    {"mad.lo(.u32,.s32)", "w=w,w,w", kImad, kOne<lanes<kMadLo, u32, u32, u32, u32>>},
    {"mad.lo(.u64,.s64)", "l=l,l,l", kImad64, kOne<lanes<kMadLo, u64, u64, u64, u64>>},
    {"mad.hi(.u16,.s16)", "h=h,h,h", kImad2, kTernary<kMadHi, u16, s16>},
    {"mad.hi(.u32,.s32)", "w=w,w,w", kImadWide, kTernary<kMadHi, u32, s32>},
    {"mad.hi.sat.s32", "w=w,w,w", {CostClass::ImadWide, 1, 0, 2}, kOne<lanes<kMadHiSat, s32, s32, s32, s32>>},
    {"mad.hi(.u64,.s64)", "l=l,l,l", kImadHi64, kTernary<kMadHi, u64, s64>},
    {"mad.wide(.u16,.s16)", "w=h,h,w", kImad,
     kEach<lanes<kMadWide, u32, u16, u16, u32>, lanes<kMadWide, s32, s16, s16, s32>>},
    {"mad.wide(.u32,.s32)", "l=w,w,l", kImadWide,
     kEach<lanes<kMadWide, u64, u32, u32, u64>, lanes<kMadWide, s64, s32, s32, s64>>},
    {"mul24.lo(.u32,.s32)", "w=w,w", kImad2, kBinary<kMul24Lo, u32, s32>},
    {"mul24.hi(.u32,.s32)", "w=w,w", kImad2, kBinary<kMul24Hi, u32, s32>},
    {"mad24.lo(.u32,.s32)", "w=w,w,w", kImad2, kTernary<kMad24Lo, u32, s32>},
    {"mad24.hi(.u32,.s32)", "w=w,w,w", kImad2, kTernary<kMad24Hi, u32, s32>},
    {"mad24.hi.sat.s32", "w=w,w,w", kImad2, kOne<lanes<kMad24HiSat, s32, s32, s32, s32>>},
    {"dp4a(.u32,.s32)(.u32,.s32)", "w=w,w,w", kImad,
     kEach<kDot<kDp4a<u8, u8>>, kDot<kDp4a<u8, s8>>, kDot<kDp4a<s8, u8>>, kDot<kDp4a<s8, s8>>>},
    {"dp2a.lo(.u32,.s32)(.u32,.s32)", "w=w,w,w", kImad,
     kEach<kDot<kDp2a<u16, u8, 0>>, kDot<kDp2a<u16, s8, 0>>, kDot<kDp2a<s16, u8, 0>>,
           kDot<kDp2a<s16, s8, 0>>>},
    {"dp2a.hi(.u32,.s32)(.u32,.s32)", "w=w,w,w", kImad,
     kEach<kDot<kDp2a<u16, u8, 16>>, kDot<kDp2a<u16, s8, 16>>, kDot<kDp2a<s16, u8, 16>>,
           kDot<kDp2a<s16, s8, 16>>>},
};
}  // namespace

extern const FormTable kMultiplyForms;
const FormTable kMultiplyForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
