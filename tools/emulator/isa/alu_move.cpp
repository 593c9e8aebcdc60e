// mov: plain, packing and unpacking (PTX ISA 9.7.9.2, 9.7.9.3).
#include <iterator>

#include "isa/alu_lanes.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

constexpr auto kCopy = [](auto a) { return a; };

void move_predicate(const LaneFile& file, const Instr& instr, LaneMask active) {
  write_predicate(file, instr.dst[0], read_predicate(file, instr, 0), active);
}

struct Quad {
  u64 low, high;
};
EMU_INLINE void store_quads(Quad* to, const Quad* result, LaneMask active) {
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = (active >> lane & 1) ? result[lane] : to[lane];
}
void move_quad(const LaneFile& file, const Instr& instr, LaneMask active) {
  Quad result[kLanes];
  std::memcpy(result, file.at<Quad>(instr.src[0]), sizeof result);
  store_quads(file.at<Quad>(instr.dst[0]), result, active);
}

// Parts of kPartBits each become one value; the first is the least significant.
template <typename D, typename S, int kParts, int kPartBits>
void pack(const LaneFile& file, const Instr& instr, LaneMask active) {
  D result[kLanes] = {};
  for (int part = 0; part < kParts; ++part) {
    const S* source = file.at<S>(instr.src[part]);
    constexpr S kMask = kPartBits == 8 * sizeof(S) ? ~S(0) : static_cast<S>((S(1) << (kPartBits % 32)) - 1);
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] |= static_cast<D>(source[lane] & kMask) << (part * kPartBits);
  }
  store_lanes(file.at<D>(instr.dst[0]), result, active);
}
template <typename D, typename S, int kParts, int kPartBits>
void unpack(const LaneFile& file, const Instr& instr, LaneMask active) {
  const Ref* to = kParts > 2 ? instr.wide : instr.dst;
  S value[kLanes];  // a destination may be the source's own slot
  std::memcpy(value, file.at<S>(kParts > 2 ? instr.wide[kParts] : instr.src[0]), sizeof value);
  for (int part = 0; part < kParts; ++part) {
    constexpr D kMask = kPartBits == 8 * sizeof(D) ? ~D(0) : static_cast<D>((D(1) << (kPartBits % 32)) - 1);
    D result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] = static_cast<D>(value[lane] >> (part * kPartBits)) & kMask;
    store_lanes(file.at<D>(to[part]), result, active);
  }
}

// 128-bit values: T is u32 or u64, kParts of them.
template <typename T, int kParts>
void pack_quad(const LaneFile& file, const Instr& instr, LaneMask active) {
  T result[kLanes][kParts];
  for (int part = 0; part < kParts; ++part) {
    const T* source = file.at<T>(instr.src[part]);
    for (int lane = 0; lane < kLanes; ++lane) result[lane][part] = source[lane];
  }
  store_quads(file.at<Quad>(instr.dst[0]), reinterpret_cast<const Quad*>(result), active);
}
template <typename T, int kParts>
void unpack_quad(const LaneFile& file, const Instr& instr, LaneMask active) {
  const Ref* to = kParts > 2 ? instr.wide : instr.dst;
  T value[kLanes][kParts];
  std::memcpy(value, file.at<Quad>(kParts > 2 ? instr.wide[kParts] : instr.src[0]), sizeof value);
  for (int part = 0; part < kParts; ++part) {
    T result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = value[lane][part];
    store_lanes(file.at<T>(to[part]), result, active);
  }
}

constexpr AluForm kForms[] = {
    {"mov.pred", "p=p", kFree, kOne<move_predicate>},
    {"mov(.b16,.u16,.s16)", "h=h", kFree, kOne<lanes<kCopy, u16, u16>>},
    {"mov(.b32,.u32,.s32)", "w=w", kFree, kOne<lanes<kCopy, u32, u32>>},
    {"mov.f32", "f=f", kFree, kOne<lanes<kCopy, u32, u32>>},
    {"mov(.b64,.u64,.s64)", "l=l", kFree, kOne<lanes<kCopy, u64, u64>>},
    {"mov.f64", "d=d", kFree, kOne<lanes<kCopy, u64, u64>>},
    {"mov.b128", "q=q", kFree, kOne<move_quad>},

    {"mov.b16", "h={hh}", kAlu, kOne<pack<u32, u32, 2, 8>>},
    {"mov.b32", "w={hh}", kAlu, kOne<pack<u32, u32, 2, 16>>},
    {"mov.b32", "w={hhhh}", kAlu, kOne<pack<u32, u32, 4, 8>>},
    {"mov.b64", "l={ww}", kFree, kOne<pack<u64, u32, 2, 32>>},
    {"mov.b64", "l={hhhh}", kAlu2, kOne<pack<u64, u32, 4, 16>>},
    {"mov.b128", "q={ll}", kFree, kOne<pack_quad<u64, 2>>},
    {"mov.b128", "q={wwww}", kFree, kOne<pack_quad<u32, 4>>},

    {"mov.b16", "{hh}=h", kAlu, kOne<unpack<u32, u32, 2, 8>>},
    {"mov.b32", "{hh}=w", kAlu, kOne<unpack<u32, u32, 2, 16>>},
    {"mov.b32", "{hhhh}=w", kAlu, kOne<unpack<u32, u32, 4, 8>>},
    {"mov.b64", "{ww}=l", kFree, kOne<unpack<u32, u64, 2, 32>>},
    {"mov.b64", "{hhhh}=l", kAlu2, kOne<unpack<u32, u64, 4, 16>>},
    {"mov.b128", "{ll}=q", kFree, kOne<unpack_quad<u64, 2>>},
    {"mov.b128", "{wwww}=q", kFree, kOne<unpack_quad<u32, 4>>},
};
}  // namespace

extern const FormTable kMoveForms;
const FormTable kMoveForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
