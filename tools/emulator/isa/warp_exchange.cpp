// Lanes talking to each other: shfl, vote, match, redux, elect, activemask (PTX ISA 9.7.9.6, 9.7.13).
//
// `active` holds the lanes that execute together; the engine has already gathered those the member mask
// names.
#include <iterator>

#include "isa/alu_minmax.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

enum class Shuffle { Up, Down, Butterfly, Index };

// result[lane] = from[source[lane] mod 32]
EMU_INLINE void gather(const u32* from, const u32* source, u32* result) {
#ifdef __AVX512F__
  const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 16);
  for (int half = 0; half < 2; ++half) {
    const __m512i index = _mm512_loadu_si512(source + 16 * half);
    _mm512_storeu_si512(result + 16 * half, _mm512_permutex2var_epi32(low, index, high));
  }
#else
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = from[source[lane] & 31];
#endif
}

// c packs a clamp value (bits 0-4) and a segment mask (bits 8-12); the lane reads itself where the source
// lies outside its segment, and the predicate then is false.
template <Shuffle kMode>
void shuffle(const LaneFile& file, const Instr& instr, LaneMask active) {
  const u32* b = file.at<u32>(instr.src[1]);
  const u32* c = file.at<u32>(instr.src[2]);
  alignas(64) u32 source[kLanes], in_range[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int distance = b[lane] & 31;
    const int segment = c[lane] >> 8 & 31, clamp = c[lane] & 31;
    const int limit = (lane & segment) | (clamp & ~segment);
    const int from = kMode == Shuffle::Up          ? lane - distance
                     : kMode == Shuffle::Down      ? lane + distance
                     : kMode == Shuffle::Butterfly ? lane ^ distance
                                                   : (lane & segment) | (distance & ~segment);
    const u32 inside = 0 - static_cast<u32>(kMode == Shuffle::Up ? from >= limit : from <= limit);
    in_range[lane] = inside;
    source[lane] = (static_cast<u32>(from) & inside) | (static_cast<u32>(lane) & ~inside);
  }
  alignas(64) u32 result[kLanes];
  gather(file.at<u32>(instr.src[0]), source, result);
  const LaneMask predicate = sign_mask(in_range);
  store<u32>(file, instr.dst[0], result, active);
  write_predicate(file, instr.dst[1], predicate, active);
}

EMU_INLINE void broadcast(const LaneFile& file, Ref to, u32 value, LaneMask active) {
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = value;
  store<u32>(file, to, result, active);
}

// Lanes of the member mask that also execute; all executing lanes name the same mask.
EMU_INLINE LaneMask members(const LaneFile& file, Ref mask, LaneMask active) {
  return active == 0 ? 0 : file.at<u32>(mask)[__builtin_ctz(active)] & active;
}

enum class Vote { All, Any, Uniform };
EMU_INLINE bool decide(Vote vote, LaneMask truth, LaneMask voters) {
  const LaneMask yes = truth & voters;
  if (vote == Vote::Any) return yes != 0;
  return yes == voters || (vote == Vote::Uniform && yes == 0);
}
template <Vote kVote, bool kSync>
void vote(const LaneFile& file, const Instr& instr, LaneMask active) {
  const LaneMask voters = kSync ? members(file, instr.src[1], active) : active;
  const bool verdict = decide(kVote, read_predicate(file, instr, 0), voters);
  write_predicate(file, instr.dst[0], verdict ? ~0u : 0u, active);
}
template <bool kSync>
void ballot(const LaneFile& file, const Instr& instr, LaneMask active) {
  const LaneMask voters = kSync ? members(file, instr.src[1], active) : active;
  broadcast(file, instr.dst[0], read_predicate(file, instr, 0) & voters, active);
}

template <typename T>
void match_any(const LaneFile& file, const Instr& instr, LaneMask active) {
  const T* a = file.at<T>(instr.src[0]);
  const LaneMask in = members(file, instr.src[1], active);
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    LaneMask equal = 0;
    for (int other = 0; other < kLanes; ++other) equal |= static_cast<u32>(a[lane] == a[other]) << other;
    result[lane] = equal & in;
  }
  store<u32>(file, instr.dst[0], result, active);
}
template <typename T>
void match_all(const LaneFile& file, const Instr& instr, LaneMask active) {
  const T* a = file.at<T>(instr.src[0]);
  const LaneMask in = members(file, instr.src[1], active);
  if (in == 0) return;
  const T first = a[__builtin_ctz(in)];
  bool same = true;
  for (int lane = 0; lane < kLanes; ++lane)
    if (in >> lane & 1) same &= a[lane] == first;
  broadcast(file, instr.dst[0], same ? in : 0, active);
  write_predicate(file, instr.dst[1], same ? ~0u : 0u, active);
}

template <auto op, typename T>
void reduce(const LaneFile& file, const Instr& instr, LaneMask active) {
  const u32* a = file.at<u32>(instr.src[0]);
  const LaneMask in = members(file, instr.src[1], active);
  if (in == 0) return;
  T total = bits_as<T>(a[__builtin_ctz(in)]);
  for (LaneMask rest = in & (in - 1); rest != 0; rest &= rest - 1)
    total = op(total, bits_as<T>(a[__builtin_ctz(rest)]));
  broadcast(file, instr.dst[0], bits_as<u32>(total), active);
}
template <bool kMax, bool kAbs, bool kNan>
void reduce_float(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr auto kValue = [](float x) { return kAbs ? std::fabs(x) : x; };
  const float* a = file.at<float>(instr.src[0]);
  const LaneMask in = members(file, instr.src[1], active);
  if (in == 0) return;
  float total = canonical(kValue(a[__builtin_ctz(in)]));
  for (LaneMask rest = in & (in - 1); rest != 0; rest &= rest - 1)
    total = min_max_value<kMax, kNan, false>(total, kValue(a[__builtin_ctz(rest)]));
  broadcast(file, instr.dst[0], bits(total), active);
}
template <bool kMax>
constexpr const auto& kReduceFloat =
    kNumbered<4, []<size_t n>() -> AluFn { return reduce_float<kMax, n / 2 == 1, n % 2 == 1>; }>;
constexpr auto kAdd = [](u32 a, u32 b) { return a + b; };
constexpr auto kAnd = [](u32 a, u32 b) { return a & b; };
constexpr auto kOr = [](u32 a, u32 b) { return a | b; };
constexpr auto kXor = [](u32 a, u32 b) { return a ^ b; };
constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kMax = [](auto a, auto b) { return a > b ? a : b; };

// The leader is the lowest lane of the mask; the register gets its number.
void elect(const LaneFile& file, const Instr& instr, LaneMask active) {
  const LaneMask in = members(file, instr.src[0], active);
  if (in == 0) return;
  broadcast(file, instr.dst[0], static_cast<u32>(__builtin_ctz(in)), active);
  write_predicate(file, instr.dst[1], in & (0 - in), active);
}
void active_mask(const LaneFile& file, const Instr& instr, LaneMask active) {
  broadcast(file, instr.dst[0], active, active);
}

constexpr AluForm kForms[] = {
    {"shfl.sync.up.b32", "w|p=w,w,w,w", kShuffle, kOne<shuffle<Shuffle::Up>>, Kind::AluSync, 3},
    {"shfl.sync.down.b32", "w|p=w,w,w,w", kShuffle, kOne<shuffle<Shuffle::Down>>, Kind::AluSync, 3},
    {"shfl.sync.bfly.b32", "w|p=w,w,w,w", kShuffle, kOne<shuffle<Shuffle::Butterfly>>, Kind::AluSync, 3},
    {"shfl.sync.idx.b32", "w|p=w,w,w,w", kShuffle, kOne<shuffle<Shuffle::Index>>, Kind::AluSync, 3},
    {"vote.sync(.all,.any,.uni).pred", "p=p,w", kVote,
     kEach<vote<Vote::All, true>, vote<Vote::Any, true>, vote<Vote::Uniform, true>>, Kind::AluSync, 1},
    {"vote.sync.ballot.b32", "w=p,w", kVote, kOne<ballot<true>>, Kind::AluSync, 1},
    {"vote(.all,.any,.uni).pred", "p=p", kVote,
     kEach<vote<Vote::All, false>, vote<Vote::Any, false>, vote<Vote::Uniform, false>>},
    {"vote.ballot.b32", "w=p", kVote, kOne<ballot<false>>},
    {"match.any.sync.b32", "w=w,w", {CostClass::Vote, 4}, kOne<match_any<u32>>, Kind::AluSync, 1},
    {"match.any.sync.b64", "w=l,w", {CostClass::Vote, 8}, kOne<match_any<u64>>, Kind::AluSync, 1},
    {"match.all.sync.b32", "w|p=w,w", {CostClass::Vote, 2}, kOne<match_all<u32>>, Kind::AluSync, 1},
    {"match.all.sync.b64", "w|p=l,w", {CostClass::Vote, 4}, kOne<match_all<u64>>, Kind::AluSync, 1},
    {"redux.sync.add(.u32,.s32)", "w=w,w", kRedux, kOne<reduce<kAdd, u32>>, Kind::AluSync, 1},
    {"redux.sync.min(.u32,.s32)", "w=w,w", kRedux, kEach<reduce<kMin, u32>, reduce<kMin, s32>>, Kind::AluSync,
     1},
    {"redux.sync.max(.u32,.s32)", "w=w,w", kRedux, kEach<reduce<kMax, u32>, reduce<kMax, s32>>, Kind::AluSync,
     1},
    {"redux.sync(.and,.or,.xor).b32", "w=w,w", kRedux,
     kEach<reduce<kAnd, u32>, reduce<kOr, u32>, reduce<kXor, u32>>, Kind::AluSync, 1},
    {"redux.sync.min{.abs}{.NaN}.f32", "f=f,w", kRedux, kReduceFloat<false>, Kind::AluSync, 1},
    {"redux.sync.max{.abs}{.NaN}.f32", "f=f,w", kRedux, kReduceFloat<true>, Kind::AluSync, 1},
    {"elect.sync", "w|p=w", kVote, kOne<elect>, Kind::AluSync, 0},
    {"activemask.b32", "w=", kVote, kOne<active_mask>},
};
}  // namespace

extern const FormTable kExchangeForms;
const FormTable kExchangeForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
