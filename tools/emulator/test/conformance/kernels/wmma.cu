// wmma.load, wmma.mma and wmma.store as nvcuda::wmma makes them (PTX ISA 9.7.14.4): A from shared, B from
// global memory, C from shared, with pitches wider than the tiles. The output holds the registers of all
// fragments and the stored tile: a program may look into a fragment, so its layout counts too.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "matrix_values.cuh"

namespace conformance {
namespace {

namespace wmma = nvcuda::wmma;
using row = wmma::row_major;
using col = wmma::col_major;
namespace sub = wmma::experimental::precision;

// What an operand type is in memory: bits of an element, of its exponent, and padding of a pitch in elements.
template <typename T>
struct Memory;
#define MEMORY(TYPE, STORED, BITS, EXPONENT, PAD)                        \
  template <>                                                            \
  struct Memory<TYPE> {                                                  \
    using Stored = STORED;                                               \
    static constexpr int kBits = BITS, kExponent = EXPONENT, kPad = PAD; \
  };
MEMORY(__half, __half, 16, 5, 8)
MEMORY(__nv_bfloat16, __nv_bfloat16, 16, 8, 8)
MEMORY(wmma::precision::tf32, float, 32, 8, 4)
MEMORY(float, float, 32, 8, 4)
MEMORY(double, double, 64, 11, 2)
MEMORY(signed char, signed char, 8, 0, 16)
MEMORY(unsigned char, unsigned char, 8, 0, 16)
MEMORY(int, int, 32, 0, 4)
MEMORY(sub::s4, void, 4, 0, 32)
MEMORY(sub::u4, void, 4, 0, 32)
MEMORY(sub::b1, void, 1, 0, 128)
#undef MEMORY

// Fills a tile of `count` elements.
template <typename T>
__device__ void fill(u64* tile, int count, u32 seed) {
  using Element = Memory<T>;
  constexpr int kWidth = Element::kBits < 32 ? 32 : Element::kBits;
  for (int i = threadIdx.x; i < (count * Element::kBits + kWidth - 1) / kWidth; i += 32) {
    if constexpr (Element::kBits == 64) {
      tile[i] =
          (u64)element(2 * i + seed, Content::kNearOne, 32, Element::kExponent) << 32 | mix(2 * i + 1 + seed);
    } else {
      reinterpret_cast<u32*>(tile)[i] =
          Element::kExponent ? packed(i + seed, Content::kNearOne, Element::kBits, Element::kExponent)
                             : mix(i + seed);
    }
  }
}

template <typename T>
__device__ auto pointer(u64* tile) {
  return reinterpret_cast<typename Memory<T>::Stored*>(tile);
}

template <typename Fragment>
__host__ __device__ constexpr int words_of() {
  return sizeof(Fragment::x) / 4;
}
template <typename Fragment>
__device__ u32* dump(const Fragment& fragment, u32* out) {
  constexpr int kWords = words_of<Fragment>();
  u32 words[kWords];
  memcpy(words, fragment.x, sizeof words);
  for (int k = 0; k < kWords; ++k) out[32 * k + threadIdx.x] = words[k];
  return out + 32 * kWords;
}

// A multiplication's types: element, layouts of A and B, accumulators C and D, layout of C and D in memory.
template <int kM, int kN, int kK, typename T, typename LayoutA, typename LayoutB, typename C, typename D,
          bool kRow, bool kSaturate = false, bool kXor = false>
struct Multiply {
  using FragmentA = wmma::fragment<wmma::matrix_a, kM, kN, kK, T, LayoutA>;
  using FragmentB = wmma::fragment<wmma::matrix_b, kM, kN, kK, T, LayoutB>;
  using FragmentC = wmma::fragment<wmma::accumulator, kM, kN, kK, C>;
  using FragmentD = wmma::fragment<wmma::accumulator, kM, kN, kK, D>;
  static constexpr int kPitchA = (std::is_same_v<LayoutA, row> ? kK : kM) + Memory<T>::kPad;
  static constexpr int kPitchB = (std::is_same_v<LayoutB, row> ? kN : kK) + Memory<T>::kPad;
  static constexpr int kPitchC = (kRow ? kN : kM) + Memory<C>::kPad,
                       kPitchD = (kRow ? kN : kM) + Memory<D>::kPad;
  static constexpr int kStored = kPitchD * (kRow ? kM : kN) * Memory<D>::kBits / 32;
  static constexpr int kWords =
      32 * (words_of<FragmentA>() + words_of<FragmentB>() + words_of<FragmentC>() + words_of<FragmentD>()) +
      kStored;

  static __device__ void run(u32* out, u64* shared_a, u64* global_b, u64* shared_c) {
    fill<T>(shared_a, kPitchA * (std::is_same_v<LayoutA, row> ? kM : kK), 100);
    fill<T>(global_b, kPitchB * (std::is_same_v<LayoutB, row> ? kK : kN), 5000);
    fill<C>(shared_c, kPitchC * (kRow ? kM : kN), 9000);
    __syncwarp();
    FragmentA a;
    FragmentB b;
    FragmentC c;
    FragmentD d;
    constexpr auto kLayout = kRow ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::load_matrix_sync(a, pointer<T>(shared_a), kPitchA);
    wmma::load_matrix_sync(b, pointer<T>(global_b), kPitchB);
    wmma::load_matrix_sync(c, pointer<C>(shared_c), kPitchC, kLayout);
    if constexpr (Memory<T>::kBits == 1) {
      wmma::bmma_sync(d, a, b, c, kXor ? wmma::experimental::bmmaBitOpXOR : wmma::experimental::bmmaBitOpAND);
    } else if constexpr (kSaturate) {
      wmma::mma_sync(d, a, b, c, true);
    } else {
      wmma::mma_sync(d, a, b, c);
    }
    out = dump(d, dump(c, dump(b, dump(a, out))));
    wmma::store_matrix_sync(pointer<D>(reinterpret_cast<u64*>(out)), d, kPitchD, kLayout);
  }
};

__device__ alignas(32) u64 global_tile[768];

template <typename M>
__global__ void multiply(u32* out) {
  __shared__ alignas(32) u64 shared_a[768], shared_c[768];
  M::run(out, shared_a, global_tile, shared_c);
}

template <typename M>
void add(Table& table, const std::string& name) {
  add_kernel(table, "wmma." + name, multiply<M>, M::kWords);
}

// All layouts of A and B; those of C and D alternate.
template <int kM, int kN, int kK, typename T, typename C>
void add_layouts(Table& table, const std::string& name) {
  add<Multiply<kM, kN, kK, T, row, row, C, C, false>>(table, name + "_row_row");
  add<Multiply<kM, kN, kK, T, row, col, C, C, true>>(table, name + "_row_col");
  add<Multiply<kM, kN, kK, T, col, row, C, C, true>>(table, name + "_col_row");
  add<Multiply<kM, kN, kK, T, col, col, C, C, false>>(table, name + "_col_col");
}
template <typename T, typename C>
void add_shapes(Table& table, const std::string& name) {
  add_layouts<16, 16, 16, T, C>(table, name + "_m16n16k16");
  add_layouts<32, 8, 16, T, C>(table, name + "_m32n8k16");
  add_layouts<8, 32, 16, T, C>(table, name + "_m8n32k16");
}
template <typename C, typename D>
void add_accumulators(Table& table, const std::string& name) {
  add<Multiply<16, 16, 16, __half, row, col, C, D, true>>(table, name + "_m16n16k16");
  add<Multiply<32, 8, 16, __half, col, row, C, D, false>>(table, name + "_m32n8k16");
  add<Multiply<8, 32, 16, __half, row, row, C, D, true>>(table, name + "_m8n32k16");
}

// A scaled fragment and a filled one, as programs use them; pitches of exactly the tile.
__global__ void scaled(u32* out) {
  __shared__ alignas(32) u64 shared_a[768];
  fill<__half>(shared_a, 256, 100), fill<__half>(global_tile, 256, 5000);
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, row> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, col> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, scaled;
  wmma::load_matrix_sync(a, pointer<__half>(shared_a), 16);
  wmma::load_matrix_sync(b, pointer<__half>(global_tile), 16);
  wmma::fill_fragment(sum, 0.25f), wmma::fill_fragment(scaled, 3.0f);
  for (int k = 0; k < 3; ++k) wmma::mma_sync(sum, a, b, sum);
  for (int k = 0; k < sum.num_elements; ++k) scaled.x[k] = scaled.x[k] * 0.5f + 2.0f * sum.x[k];
  wmma::store_matrix_sync(reinterpret_cast<float*>(out), scaled, 16, wmma::mem_row_major);
}
}  // namespace

void wmma_cases(Table& table) {
  add_shapes<__half, float>(table, "f16"), add_shapes<__nv_bfloat16, float>(table, "bf16");
  add_shapes<signed char, int>(table, "s8"), add_shapes<unsigned char, int>(table, "u8");
  add_accumulators<__half, __half>(table, "f16_sum_f16"),
      add_accumulators<float, __half>(table, "f16_sum_f32_f16");
  add_accumulators<__half, float>(table, "f16_sum_f16_f32");
  add_layouts<16, 16, 8, wmma::precision::tf32, float>(table, "tf32_m16n16k8");
  add_layouts<8, 8, 4, double, double>(table, "f64_m8n8k4");
  add<Multiply<16, 16, 16, signed char, row, col, int, int, true, true>>(table, "s8_satfinite");
  add<Multiply<8, 8, 32, sub::s4, row, col, int, int, true>>(table, "s4_m8n8k32");
  add<Multiply<8, 8, 32, sub::u4, row, col, int, int, false, true>>(table, "u4_m8n8k32_satfinite");
  add<Multiply<8, 8, 128, sub::b1, row, col, int, int, true>>(table, "b1_and_m8n8k128");
  add<Multiply<8, 8, 128, sub::b1, row, col, int, int, false, false, true>>(table, "b1_xor_m8n8k128");
  add_kernel(table, "wmma.scaled", scaled, 256);
}

}  // namespace conformance
