// Extended-precision integer arithmetic (PTX ISA 9.7.2): the condition code CC.CF is a hidden predicate.
#include <iterator>

#include "isa/alu_lanes.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

template <typename T>
struct Sum {
  T value;
  bool carry;
};
template <typename T>
EMU_INLINE Sum<T> add_carry(T a, T b, bool carry) {
  const T partial = a + b;
  const T sum = partial + (carry ? 1 : 0);
  return {sum, partial < a || sum < partial};
}
// CC.CF holds the borrow.
template <typename T>
EMU_INLINE Sum<T> sub_borrow(T a, T b, bool borrow) {
  const T partial = a - b;
  return {static_cast<T>(partial - (borrow ? 1 : 0)), a < b || (borrow && partial == 0)};
}

// op(addend-like sources..., carry in) for every lane; the flag is read and written as asked.
template <typename T, int kSources, bool kReads, bool kWrites, typename Op>
EMU_INLINE void with_carry(const LaneFile& file, const Instr& instr, LaneMask active, Op op) {
  const T* a = file.at<T>(instr.src[0]);
  const T* b = file.at<T>(instr.src[1]);
  const T* c = kSources == 3 ? file.at<T>(instr.src[2]) : b;
  const LaneMask carry_in = kReads ? file.predicates[kCarryPredicate] : 0;
  T result[kLanes];
  u32 carries[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const Sum<T> sum = op(a[lane], b[lane], c[lane], carry_in >> lane & 1);
    result[lane] = sum.value;
    carries[lane] = sum.carry ? ~0u : 0u;
  }
  if (kWrites) write_predicate(file, Ref::predicate(kCarryPredicate), sign_mask(carries), active);
  store<T>(file, instr.dst[0], result, active);
}

template <typename T, bool kReads, bool kWrites>
void add(const LaneFile& file, const Instr& instr, LaneMask active) {
  with_carry<T, 2, kReads, kWrites>(file, instr, active,
                                    [](T a, T b, T, bool carry) { return add_carry(a, b, carry); });
}
template <typename T, bool kReads, bool kWrites>
void sub(const LaneFile& file, const Instr& instr, LaneMask active) {
  with_carry<T, 2, kReads, kWrites>(file, instr, active,
                                    [](T a, T b, T, bool borrow) { return sub_borrow(a, b, borrow); });
}

template <typename T, bool kSigned, bool kHigh>
EMU_INLINE T product_half(T a, T b) {
  if constexpr (!kHigh) {
    return a * b;
  } else if constexpr (sizeof(T) == 4) {
    return kSigned ? static_cast<T>(s64{static_cast<s32>(a)} * static_cast<s32>(b) >> 32)
                   : static_cast<T>(u64{a} * b >> 32);
  } else {
    return kSigned ? static_cast<T>(s128{static_cast<s64>(a)} * static_cast<s64>(b) >> 64)
                   : static_cast<T>(u128{a} * b >> 64);
  }
}
template <typename T, bool kSigned, bool kHigh, bool kReads, bool kWrites>
void mad(const LaneFile& file, const Instr& instr, LaneMask active) {
  with_carry<T, 3, kReads, kWrites>(file, instr, active, [](T a, T b, T c, bool carry) {
    return add_carry(product_half<T, kSigned, kHigh>(a, b), c, carry);
  });
}

constexpr Cost kAdd64{CostClass::IntAdd, 2};
constexpr Cost kMad64{CostClass::ImadWide, 4, 2, 2};

constexpr AluForm kForms[] = {
    {"add.cc(.u32,.s32)", "w=w,w", kIntAdd, kOne<add<u32, false, true>>},
    {"add.cc(.u64,.s64)", "l=l,l", kAdd64, kOne<add<u64, false, true>>},
    {"addc(.u32,.s32)", "w=w,w", kIntAdd, kOne<add<u32, true, false>>},
    {"addc(.u64,.s64)", "l=l,l", kAdd64, kOne<add<u64, true, false>>},
    {"addc.cc(.u32,.s32)", "w=w,w", kIntAdd, kOne<add<u32, true, true>>},
    {"addc.cc(.u64,.s64)", "l=l,l", kAdd64, kOne<add<u64, true, true>>},
    {"sub.cc(.u32,.s32)", "w=w,w", kIntAdd, kOne<sub<u32, false, true>>},
    {"sub.cc(.u64,.s64)", "l=l,l", kAdd64, kOne<sub<u64, false, true>>},
    {"subc(.u32,.s32)", "w=w,w", kIntAdd, kOne<sub<u32, true, false>>},
    {"subc(.u64,.s64)", "l=l,l", kAdd64, kOne<sub<u64, true, false>>},
    {"subc.cc(.u32,.s32)", "w=w,w", kIntAdd, kOne<sub<u32, true, true>>},
    {"subc.cc(.u64,.s64)", "l=l,l", kAdd64, kOne<sub<u64, true, true>>},
    {"mad.lo.cc(.u32,.s32)", "w=w,w,w", kImad, kOne<mad<u32, false, false, false, true>>},
    {"mad.lo.cc(.u64,.s64)", "l=l,l,l", kMad64, kOne<mad<u64, false, false, false, true>>},
    {"mad.hi.cc(.u32,.s32)", "w=w,w,w", kImadWide,
     kEach<mad<u32, false, true, false, true>, mad<u32, true, true, false, true>>},
    {"mad.hi.cc(.u64,.s64)", "l=l,l,l", kMad64,
     kEach<mad<u64, false, true, false, true>, mad<u64, true, true, false, true>>},
    {"madc.lo(.u32,.s32)", "w=w,w,w", kImad, kOne<mad<u32, false, false, true, false>>},
    {"madc.lo(.u64,.s64)", "l=l,l,l", kMad64, kOne<mad<u64, false, false, true, false>>},
    {"madc.lo.cc(.u32,.s32)", "w=w,w,w", kImad, kOne<mad<u32, false, false, true, true>>},
    {"madc.lo.cc(.u64,.s64)", "l=l,l,l", kMad64, kOne<mad<u64, false, false, true, true>>},
    {"madc.hi(.u32,.s32)", "w=w,w,w", kImadWide,
     kEach<mad<u32, false, true, true, false>, mad<u32, true, true, true, false>>},
    {"madc.hi(.u64,.s64)", "l=l,l,l", kMad64,
     kEach<mad<u64, false, true, true, false>, mad<u64, true, true, true, false>>},
    {"madc.hi.cc(.u32,.s32)", "w=w,w,w", kImadWide,
     kEach<mad<u32, false, true, true, true>, mad<u32, true, true, true, true>>},
    {"madc.hi.cc(.u64,.s64)", "l=l,l,l", kMad64,
     kEach<mad<u64, false, true, true, true>, mad<u64, true, true, true, true>>},
};
}  // namespace

extern const FormTable kCarryForms;
const FormTable kCarryForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
