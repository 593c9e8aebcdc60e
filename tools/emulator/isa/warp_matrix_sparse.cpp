// mma.sp: A holds half of its elements, and metadata says which (PTX ISA 9.7.14.6). What the metadata's words
// mean was read off an H200.
#include <iterator>

#include "isa/warp_mma.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

// Four bits of metadata stand for a chunk of A's row: four elements, or four pairs of 4-bit ones, of which
// two are stored, with their indices in ascending order; or (32-bit elements) two, of which one is stored.
template <int kBits>
struct Chunk {
  static constexpr int kGroup = kBits == 4 ? 2 : 1;             // elements under one index
  static constexpr int kStored = kBits == 32 ? 1 : 2 * kGroup;  // elements of A in a register
  static constexpr int kElements = 2 * kStored;                 // columns of A
  // The column within the chunk of its stored element i.
  static EMU_INLINE int column(u32 bits, int i) {
    if constexpr (kBits == 32) return bits & 3 ? 1 : 0;
    return static_cast<int>(bits >> (2 * (i / kGroup)) & 3) * kGroup + i % kGroup;
  }
};

// The metadata of a chunk of row `row`, of kChunks a row. Lanes 4g .. 4g+3 hold that of rows g and g + 8, and
// the selector names the lane that counts, or the pair of lanes. Elements of 16 and more bits: half a word a
// row, four chunks a lane. Smaller ones: a word a row, eight chunks; sixteen need all lanes.
template <int kBits, int kChunks>
EMU_INLINE u32 chunk_metadata(const u32* metadata, u32 selector, int row, int chunk) {
  const int lane = 4 * (row % 8), selected = static_cast<int>(selector);
  if constexpr (kBits >= 16) {
    const int from = kChunks == 4 ? selected : 2 * (selected & 1) + chunk / 4;
    return metadata[lane + from] >> (16 * (row / 8) + 4 * (chunk % 4)) & 15;
  }
  const int pair = kChunks == 8 ? selected & 1 : chunk / 8;
  return metadata[lane + 2 * pair + row / 8] >> (4 * (chunk % 8)) & 15;
}

// A with zeros where nothing is stored, columns in order, as numbers of type T. `part` and `parts`: of each
// register, only that part of its elements.
template <typename E, int kBits, int kK, typename T>
EMU_INLINE void expand_a(const LaneFile& file, const Ref* refs, Ref metadata_ref, Ref selector_ref, int part,
                         int parts, T (*a)[kK]) {
  using C = Chunk<kBits>;
  constexpr int kChunks = kK / C::kElements, kPerRegister = 32 / kBits;
  const u32* metadata = file.at<u32>(metadata_ref);
  const u32 selector = file.at<u32>(selector_ref)[0] & 3;
  for (int row = 0; row < kM; ++row) {
    for (int k = 0; k < kK; ++k) a[row][k] = 0;
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const u32 bits = chunk_metadata<kBits, kChunks>(metadata, selector, row, chunk);
      for (int i = 0; i < C::kStored; ++i) {
        const int stored = chunk * C::kStored + i, word = stored / kPerRegister, at = stored % kPerRegister;
        if (at * parts / kPerRegister != part) continue;
        const u32* source = file.at<u32>(refs[word / 4 * 2 + row / 8]);
        a[row][chunk * C::kElements + C::column(bits, i)] = E::value(source[row % 8 * 4 + word % 4], at);
      }
    }
  }
}
template <typename E, int kBits, int kK, typename T>
EMU_INLINE void gather_rows_of_b(const LaneFile& file, const Ref* refs, T (*b)[kN]) {
  constexpr int kPerRegister = 32 / kBits;
  for (int k = 0; k < kK; ++k) {
    const int word = k / kPerRegister;
    const u32* source = file.at<u32>(refs[word / 4]);
    for (int n = 0; n < kN; ++n) b[k][n] = E::value(source[4 * n + word % 4], k % kPerRegister);
  }
}

// wide: D, A, B, C, metadata, selector.
template <int kBits, int kK, int kSums>
struct SparseOperands {
  static constexpr int kA = kK / 4 * kBits / 32, kB = kK / 4 * kBits / 32;
  const Ref *a, *b, *c, *metadata, *selector;
  explicit SparseOperands(const Instr& instr)
      : a(instr.wide + kSums), b(a + kA), c(b + kB), metadata(c + kSums), selector(metadata + 1) {}
};

template <typename E, int kBits, int kK, bool kHalfSum>
void mma_sparse(const LaneFile& file, const Instr& instr, LaneMask active) {
  const SparseOperands<kBits, kK, kHalfSum ? 2 : 4> refs(instr);
  alignas(64) double a[kM][kK], b[kK][kN], c[kM][kN], d[kM][kN], scale_a[kM][kK], scale_b[kK][kN];
  expand_a<E, kBits, kK>(file, refs.a, *refs.metadata, *refs.selector, 0, 1, a);
  gather_rows_of_b<E, kBits, kK>(file, refs.b, b);
  kHalfSum ? gather_half(file, refs.c, c) : gather_float(file, refs.c, c);
  for (int m = 0; m < kM; ++m)
    for (int k = 0; k < kK; ++k) scale_a[m][k] = scale<E::kMinExponent>(a[m][k]);
  for (int k = 0; k < kK; ++k)
    for (int n = 0; n < kN; ++n) scale_b[k][n] = scale<E::kMinExponent>(b[k][n]);
  for (int m = 0; m < kM; ++m) multiply_row<kK>(a[m], b, scale_a[m], scale_b, c[m], d[m]);
  kHalfSum ? scatter_half(file, instr.wide, d, active) : scatter_float(file, instr.wide, d, active);
}

// fp8 as f16, as in the dense form: the lower halves of A's registers from zero, then the upper ones, then C.
template <typename A, typename B>
void mma_sparse_small(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr int kK = 64;
  const SparseOperands<8, kK, 4> refs(instr);
  alignas(64) double a[kM][kK], b[kK][kN], sum[kM][kN] = {}, next[kM][kN], scale_a[kM][kK], scale_b[kK][kN];
  gather_rows_of_b<B, 8, kK>(file, refs.b, b);
  for (int k = 0; k < kK; ++k)
    for (int n = 0; n < kN; ++n) scale_b[k][n] = scale<ElementF16::kMinExponent>(b[k][n]);
  for (int part = 0; part < 2; ++part) {
    expand_a<A, 8, kK>(file, refs.a, *refs.metadata, *refs.selector, part, 2, a);
    for (int m = 0; m < kM; ++m)
      for (int k = 0; k < kK; ++k) scale_a[m][k] = scale<ElementF16::kMinExponent>(a[m][k]);
    for (int m = 0; m < kM; ++m) multiply_row<kK>(a[m], b, scale_a[m], scale_b, sum[m], next[m]);
    for (int m = 0; m < kM; ++m)
      for (int n = 0; n < kN; ++n) sum[m][n] = truncated_float(next[m][n]);
  }
  u32 result[4][kLanes];
  for (int r = 0; r < 4; ++r) {
    const float* c = file.at<float>(refs.c[r]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const double product = sum[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2];
      result[r][lane] = bits(canonical(c[lane] + static_cast<float>(product)));
    }
  }
  for (int r = 0; r < 4; ++r) store<u32>(file, instr.wide[r], result[r], active);
}
constexpr const auto& kMmaSparseSmall = kNumbered<8, []<size_t n>() -> AluFn {
  return mma_sparse_small<std::conditional_t<n / 2 % 2 == 0, ElementSmall<E4m3>, ElementSmall<E5m2>>,
                          std::conditional_t<n % 2 == 0, ElementSmall<E4m3>, ElementSmall<E5m2>>>;
}>;

template <int kBits, bool kSigned>
struct ElementNarrow {
  static EMU_INLINE s32 value(u32 word, int i) {
    const u32 high = word << (32 - kBits * (i + 1));
    return kSigned ? static_cast<s32>(high) >> (32 - kBits) : static_cast<s32>(high >> (32 - kBits));
  }
};
template <int kBits, int kK, bool kSignedA, bool kSignedB, bool kSaturates>
void mma_sparse_integer(const LaneFile& file, const Instr& instr, LaneMask active) {
  const SparseOperands<kBits, kK, 4> refs(instr);
  s32 a[kM][kK], b[kK][kN];
  expand_a<ElementNarrow<kBits, kSignedA>, kBits, kK>(file, refs.a, *refs.metadata, *refs.selector, 0, 1, a);
  gather_rows_of_b<ElementNarrow<kBits, kSignedB>, kBits, kK>(file, refs.b, b);
  u32 result[4][kLanes];
  for (int r = 0; r < 4; ++r) {
    const s32* c = file.at<s32>(refs.c[r]);
    for (int lane = 0; lane < kLanes; ++lane) {
      s64 sum = c[lane];
      for (int k = 0; k < kK; ++k) sum += a[lane / 4 + 8 * (r / 2)][k] * b[k][2 * (lane % 4) + r % 2];
      if (kSaturates) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      result[r][lane] = static_cast<u32>(sum);
    }
  }
  for (int r = 0; r < 4; ++r) store<u32>(file, instr.wide[r], result[r], active);
}
template <int kBits, int kK>
constexpr const auto& kMmaSparseInteger = kNumbered<16, []<size_t n>() -> AluFn {
  return mma_sparse_integer<kBits, kK, n / 2 % 2 == 1, n % 2 == 1, n / 4 % 2 == 1>;
}>;

// Both ways of writing .sp make the same routine; alternatives count twice.
template <int kK>
constexpr const auto& kMmaSparseHalves =
    kEach<mma_sparse<ElementF16, 16, kK, false>, mma_sparse<ElementBf16, 16, kK, false>,
          mma_sparse<ElementF16, 16, kK, false>, mma_sparse<ElementBf16, 16, kK, false>>;

constexpr AluForm kForms[] = {
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k16.row.col.f32(.f16.f16,.bf16.bf16).f32",
     "{ffff}={ww},{ww},{ffff},w,w", kMmaHalf, kMmaSparseHalves<16>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k32.row.col.f32(.f16.f16,.bf16.bf16).f32",
     "{ffff}={wwww},{wwww},{ffff},w,w", kMma, kMmaSparseHalves<32>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
     "{ww}={ww},{ww},{ww},w,w", kMmaHalf, kOne<mma_sparse<ElementF16, 16, 16, true>>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k32.row.col.f16.f16.f16.f16",
     "{ww}={wwww},{wwww},{ww},w,w", kMma, kOne<mma_sparse<ElementF16, 16, 32, true>>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     "{ffff}={ww},{ww},{ffff},w,w", kMmaHalf, kOne<mma_sparse<ElementTf32, 32, 8, false>>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
     "{ffff}={wwww},{wwww},{ffff},w,w", kMma, kOne<mma_sparse<ElementTf32, 32, 16, false>>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k64.row.col.f32(.e4m3,.e5m2)(.e4m3,.e5m2).f32",
     "{ffff}={wwww},{wwww},{ffff},w,w", kMma, kMmaSparseSmall, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k32.row.col{.satfinite}.s32(.u8,.s8)(.u8,.s8).s32",
     "{wwww}={ww},{ww},{wwww},w,w", kMmaHalf, kMmaSparseInteger<8, 32>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k64.row.col{.satfinite}.s32(.u8,.s8)(.u8,.s8).s32",
     "{wwww}={wwww},{wwww},{wwww},w,w", kMma, kMmaSparseInteger<8, 64>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k64.row.col{.satfinite}.s32(.u4,.s4)(.u4,.s4).s32",
     "{wwww}={ww},{ww},{wwww},w,w", kMma, kMmaSparseInteger<4, 64>, Kind::AluSync},
    {"mma(.sp,.sp::ordered_metadata).sync.aligned.m16n8k128.row.col{.satfinite}.s32(.u4,.s4)(.u4,.s4).s32",
     "{wwww}={wwww},{wwww},{wwww},w,w", kMma, kMmaSparseInteger<4, 128>, Kind::AluSync},
};
}  // namespace

extern const FormTable kMatrixSparseForms;
const FormTable kMatrixSparseForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
