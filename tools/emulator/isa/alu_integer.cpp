// Integer addition, division and comparison-like arithmetic (PTX ISA 9.7.1).
#include <iterator>

#include "isa/alu_lanes.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSub = [](auto a, auto b) { return a - b; };
constexpr auto kNeg = [](auto a) { return -a; };
constexpr auto kAbs = [](auto a) { return a < 0 ? -a : a; };
constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kMax = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kMinRelu = [](s32 a, s32 b) { return kMax(kMin(a, b), 0); };
constexpr auto kMaxRelu = [](s32 a, s32 b) { return kMax(kMax(a, b), 0); };
constexpr auto kSad = [](auto a, auto b, auto c) { return c + (a < b ? b - a : a - b); };

EMU_INLINE s32 clamp_s32(s64 x) {
  x = x < INT32_MAX ? x : INT32_MAX;
  return static_cast<s32>(x > INT32_MIN ? x : INT32_MIN);
}
constexpr auto kAddSat = [](s32 a, s32 b) { return clamp_s32(s64{a} + b); };
constexpr auto kSubSat = [](s32 a, s32 b) { return clamp_s32(s64{a} - b); };

// Applies an operation to both 16-bit halves.
template <typename T, auto op>
constexpr auto kHalves = [](u32 a, u32 b) {
  const u32 low = static_cast<u16>(op(static_cast<T>(a), static_cast<T>(b)));
  const u32 high = static_cast<u16>(op(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return low | high << 16;
};
constexpr auto kMinRelu16 = [](s16 a, s16 b) { return kMinRelu(a, b); };
constexpr auto kMaxRelu16 = [](s16 a, s16 b) { return kMaxRelu(a, b); };

// Quotients of 32-bit integers are exact in double: a quotient q = a / b that is no integer is at least 1/b
// away from the next one, more than half a unit in its last place. Division by zero gives all ones, which is
// what the hardware's expansion leaves (the manual leaves it open).
constexpr auto kDivSmall = [](auto a, auto b) {
  const double quotient = static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b);
  const auto result = static_cast<u32>(static_cast<s64>(quotient));
  return b == 0 ? ~u32{0} : result;
};
// A zero divisor gives all ones, as the quotient does (measured on an H200; the manual leaves it open).
constexpr auto kRemSmall = [](auto a, auto b) {
  return b == 0 ? ~u32{0} : static_cast<u32>(a) - kDivSmall(a, b) * static_cast<u32>(b);
};
constexpr auto kDivWide = [](auto a, auto b) -> u64 {
  if (b == 0) return ~u64{0};
  if (b == static_cast<decltype(b)>(-1) && static_cast<s64>(b) == -1 && decltype(b)(-1) < 0)
    return -static_cast<u64>(a);  // INT64_MIN / -1 would trap on the host
  return static_cast<u64>(a / b);
};
constexpr auto kRemWide = [](auto a, auto b) -> u64 {
  return b == 0 ? ~u64{0} : static_cast<u64>(a) - kDivWide(a, b) * static_cast<u64>(b);
};

// Expansion lengths of ptxas for sm_100: reciprocal on the MUFU/XU path plus multiply and fix-up.
constexpr Cost kDiv16{CostClass::Xu, 2, 4, 4};
constexpr Cost kDiv32{CostClass::Xu, 2, 8, 8};
constexpr Cost kDiv64{CostClass::Xu, 3, 40, 40};

constexpr AluForm kForms[] = {
    {"add(.u16,.s16)", "h=h,h", kIntAdd, kOne<lanes<kAdd, u16, u16, u16>>},
    {"add(.u32,.s32)", "w=w,w", kIntAdd, kOne<lanes<kAdd, u32, u32, u32>>},
    {"add(.u64,.s64)", "l=l,l", {CostClass::IntAdd, 2}, kOne<lanes<kAdd, u64, u64, u64>>},
    {"add(.u16x2,.s16x2)", "w=w,w", kAlu, kOne<lanes<kHalves<u16, kAdd>, u32, u32, u32>>},
    {"add.sat.s32", "w=w,w", kAlu2, kOne<lanes<kAddSat, s32, s32, s32>>},
    {"sub(.u16,.s16)", "h=h,h", kIntAdd, kOne<lanes<kSub, u16, u16, u16>>},
    {"sub(.u32,.s32)", "w=w,w", kIntAdd, kOne<lanes<kSub, u32, u32, u32>>},
    {"sub(.u64,.s64)", "l=l,l", {CostClass::IntAdd, 2}, kOne<lanes<kSub, u64, u64, u64>>},
    {"sub.sat.s32", "w=w,w", kAlu2, kOne<lanes<kSubSat, s32, s32, s32>>},
    {"neg.s16", "h=h", kAlu, kOne<lanes<kNeg, s16, s16>>},
    {"neg.s32", "w=w", kAlu, kOne<lanes<kNeg, s32, s32>>},
    {"neg.s64", "l=l", kAlu2, kOne<lanes<kNeg, s64, s64>>},
    {"abs.s16", "h=h", kAlu, kOne<lanes<kAbs, s16, s16>>},
    {"abs.s32", "w=w", kAlu, kOne<lanes<kAbs, s32, s32>>},
    {"abs.s64", "l=l", kAlu2, kOne<lanes<kAbs, s64, s64>>},
    {"sad(.u16,.s16)", "h=h,h,h", kAlu2, kTernary<kSad, u16, s16>},
    {"sad(.u32,.s32)", "w=w,w,w", kAlu2, kTernary<kSad, u32, s32>},
    {"sad(.u64,.s64)", "l=l,l,l", {CostClass::Alu, 4}, kTernary<kSad, u64, s64>},
    {"min(.u16,.s16)", "h=h,h", kAlu, kBinary<kMin, u16, s16>},
    {"min(.u32,.s32)", "w=w,w", kAlu, kBinary<kMin, u32, s32>},
    {"min(.u64,.s64)", "l=l,l", {CostClass::Alu, 4}, kBinary<kMin, u64, s64>},
    {"min.relu.s32", "w=w,w", kAlu, kOne<lanes<kMinRelu, s32, s32, s32>>},
    {"min(.u16x2,.s16x2)", "w=w,w", kAlu,
     kEach<lanes<kHalves<u16, kMin>, u32, u32, u32>, lanes<kHalves<s16, kMin>, u32, u32, u32>>},
    {"min.relu.s16x2", "w=w,w", kAlu, kOne<lanes<kHalves<s16, kMinRelu16>, u32, u32, u32>>},
    {"max(.u16,.s16)", "h=h,h", kAlu, kBinary<kMax, u16, s16>},
    {"max(.u32,.s32)", "w=w,w", kAlu, kBinary<kMax, u32, s32>},
    {"max(.u64,.s64)", "l=l,l", {CostClass::Alu, 4}, kBinary<kMax, u64, s64>},
    {"max.relu.s32", "w=w,w", kAlu, kOne<lanes<kMaxRelu, s32, s32, s32>>},
    {"max(.u16x2,.s16x2)", "w=w,w", kAlu,
     kEach<lanes<kHalves<u16, kMax>, u32, u32, u32>, lanes<kHalves<s16, kMax>, u32, u32, u32>>},
    {"max.relu.s16x2", "w=w,w", kAlu, kOne<lanes<kHalves<s16, kMaxRelu16>, u32, u32, u32>>},
    {"div(.u16,.s16)", "h=h,h", kDiv16, kBinary<kDivSmall, u16, s16>},
    {"div(.u32,.s32)", "w=w,w", kDiv32, kBinary<kDivSmall, u32, s32>},
    {"div(.u64,.s64)", "l=l,l", kDiv64, kBinary<kDivWide, u64, s64>},
    {"rem(.u16,.s16)", "h=h,h", kDiv16, kBinary<kRemSmall, u16, s16>},
    {"rem(.u32,.s32)", "w=w,w", kDiv32, kBinary<kRemSmall, u32, s32>},
    {"rem(.u64,.s64)", "l=l,l", kDiv64, kBinary<kRemWide, u64, s64>},
};
}  // namespace

extern const FormTable kIntegerForms;
const FormTable kIntegerForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
