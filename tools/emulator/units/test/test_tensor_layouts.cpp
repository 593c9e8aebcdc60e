// Operands written by this file's own reading of the layouts, read by the tensor core. The first eleven pairs
// gave an exact product on an H200 (wgmma m64n64k16, the rest of shared memory filled with NaN); the same
// table serves tcgen05.

#include <cstring>
#include <vector>

#include "testing/catch.h"
#include "units/tensor_core.h"
#include "units/tmem_access.h"

using namespace emu::units;

namespace {

constexpr std::uint32_t kBase = 0x400, kBytes = 200 * 1024;
constexpr std::uint32_t kStartA = 0x1000, kStartB = 0x10000;

struct Layout {
  const char* text;
  bool mn_major;
  unsigned code;  ///< the descriptor's bits 61-63
  std::uint32_t lbo, sbo;
  std::uint32_t advance = 0;  ///< of the start address
};

std::uint64_t descriptor(const Layout& layout, std::uint32_t start) {
  std::uint64_t bits = (start + layout.advance) / 16;
  bits += static_cast<std::uint64_t>(layout.lbo / 16) << 16;
  bits += static_cast<std::uint64_t>(layout.sbo / 16) << 32;
  bits += std::uint64_t{1} << 46;
  bits += std::uint64_t{layout.code} << 61;
  return bits;
}

/// A tile seen as a stack of rows of `width` bytes, 8 (or 4) rows to an atom; a swizzle permutes the units of
/// a row by its row number, counted over the whole of shared memory.
std::uint32_t address(const Layout& layout, std::uint32_t start, int bytes, int mn, int k) {
  const int contiguous = layout.mn_major ? mn : k;
  const int other = layout.mn_major ? k : mn;
  const int offset = contiguous * bytes;
  std::uint32_t at = start + layout.advance;
  switch (layout.code) {
    case 0:  // core matrices of 8 rows of 16 bytes
      at += (offset / 16) * (layout.mn_major ? layout.sbo : layout.lbo);
      at += (other / 8) * (layout.mn_major ? layout.lbo : layout.sbo);
      return at + (other % 8) * 16 + offset % 16;
    case 1: {  // units of 32 bytes, atoms of 4 rows
      at += (offset / 128) * layout.lbo + (other / 4) * layout.sbo + (other % 4) * 128 + offset % 128;
      const std::uint32_t row = at / 128 % 4, unit = at / 32 % 4;
      return at / 128 * 128 + (unit ^ row) * 32 + at % 32;
    }
    default: {
      const std::uint32_t width = layout.code == 2 ? 128 : layout.code == 4 ? 64 : 32;
      const std::uint32_t slab = layout.mn_major ? offset / width : 0;
      at += slab * layout.lbo + (other / 8) * layout.sbo + (other % 8) * width + (offset - slab * width);
      const std::uint32_t units = width / 16;
      const std::uint32_t row = at / 128 % units, unit = at / 16 % units;
      return (at / 16 - unit + (unit ^ row)) * 16 + at % 16;
    }
  }
}

/// Shared memory of NaN, with room for a few operands.
class Shared {
 public:
  Shared() : bytes_(kBytes, std::byte{0xFF}) {}

  template <typename Word>
  void put(std::uint32_t address, Word word) {
    REQUIRE(address - kBase + sizeof word <= kBytes);
    std::memcpy(&bytes_[address - kBase], &word, sizeof word);
  }
  SharedView view() const { return {bytes_.data(), kBase, kBytes}; }

 private:
  std::vector<std::byte> bytes_;
};

int value_a(int m, int k) { return (m * 7 + k * 3) % 15 - 7; }
int value_b(int n, int k) { return (n * 5 + k * 11) % 13 - 6; }

template <typename Word>
Word as(int value) {
  const auto f = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return static_cast<Word>(sizeof(Word) == 2 ? bits >> 16 : bits);
}

/// M = 64 and N = 64 with one CTA; mismatches of 4096.
template <typename Word>
int mismatches(const Layout& a, const Layout& b, MmaPrecision precision) {
  constexpr int kDepth = 32 / sizeof(Word);
  Shared shared;
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < kDepth; ++k) {
      shared.put(address(a, kStartA, sizeof(Word), i, k), as<Word>(value_a(i, k)));
      shared.put(address(b, kStartB, sizeof(Word), i, k), as<Word>(value_b(i, k)));
    }
  }
  MmaOperation op;
  op.kind = sizeof(Word) == 2 ? MmaKind::F16 : MmaKind::TF32;
  op.a_descriptor = descriptor(a, kStartA);
  op.b_descriptor = descriptor(b, kStartB);
  op.instruction_descriptor = (sizeof(Word) == 2 ? 0x04100490u : 0x04100910u) | (a.mn_major ? 1u << 15 : 0) |
                              (b.mn_major ? 1u << 16 : 0);
  TensorMemory tmem;
  TensorMemory* const memories[] = {&tmem};
  const SharedView views[] = {shared.view()};
  start_mma(op, views, memories).complete(precision);
  int wrong = 0;
  for (int m = 0; m < 64; ++m) {
    for (int n = 0; n < 64; ++n) {
      int want = 0;
      for (int k = 0; k < kDepth; ++k) {
        want += value_a(m, k) * value_b(n, k);
      }
      wrong += tmem.at(m % 16 + 32 * (m / 16), n) != as<std::uint32_t>(want);
    }
  }
  return wrong;
}

struct Pair {
  Layout a, b;
};

}  // namespace

TEST_CASE("the eleven pairs of layouts measured on an H200 multiply exactly") {
  const Layout k_sw128{"K 128B", false, 2, 16, 1024};
  const Pair pairs[] = {
      {{"K none", false, 0, 2048, 128}, {"K none", false, 0, 1024, 128}},
      {{"K none, LBO 128 SBO 256", false, 0, 128, 256}, {"the same", false, 0, 128, 256}},
      {k_sw128, k_sw128},
      {{"K 128B + 32 bytes", false, 2, 16, 1024, 32}, {"K 128B + 96 bytes", false, 2, 16, 1024, 96}},
      {{"K 128B, SBO 2048", false, 2, 16, 2048}, {"K 128B, LBO ignored", false, 2, 4096, 2048}},
      {{"K 64B + 32 bytes", false, 4, 16, 512, 32}, {"K 32B", false, 6, 16, 256}},
      {{"MN none", true, 0, 1024, 128}, {"the same", true, 0, 1024, 128}},
      {{"MN 128B", true, 2, 8192, 1024}, {"the same", true, 2, 8192, 1024}},
      {{"MN 128B, SBO 2048, + 2048", true, 2, 8192, 2048, 2048},
       {"MN 128B, SBO 4096", true, 2, 8192, 4096, 2048}},
      {{"MN 64B", true, 4, 4096, 512}, {"MN 32B", true, 6, 2048, 256}},
      {k_sw128, {"MN none, LBO 128 SBO 512", true, 0, 128, 512}},
  };
  for (const Pair& pair : pairs) {
    INFO(pair.a.text << " with " << pair.b.text);
    CHECK(mismatches<std::uint16_t>(pair.a, pair.b, MmaPrecision::Exact) == 0);
    CHECK(mismatches<std::uint16_t>(pair.a, pair.b, MmaPrecision::Fast) == 0);
  }
}

TEST_CASE("tf32 operands: K-major in every swizzle, MN-major with 32-byte atoms") {
  const Layout mn{"MN 128B, 32-byte atoms", true, 1, 4096, 512};
  CHECK(mismatches<std::uint32_t>(mn, mn, MmaPrecision::Exact) == 0);
  for (unsigned code : {0u, 2u, 4u, 6u}) {
    const Layout k{"K", false, code, 1024, code == 2 ? 1024u : code == 4 ? 512u : code == 6 ? 256u : 128u};
    INFO("swizzle code " << code);
    CHECK(mismatches<std::uint32_t>(k, mn, MmaPrecision::Exact) == 0);
  }
}

TEST_CASE("a wrong stride meets the NaN around the operand") {
  const Layout good{"K 128B", false, 2, 16, 1024};
  Layout wrong = good;
  Shared shared;
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < 16; ++k) {
      shared.put(address(good, kStartA, 2, i, k), as<std::uint16_t>(1));
      shared.put(address(good, kStartB, 2, i, k), as<std::uint16_t>(1));
    }
  }
  wrong.sbo = 2048;
  MmaOperation op;
  op.a_descriptor = descriptor(wrong, kStartA);
  op.b_descriptor = descriptor(good, kStartB);
  op.instruction_descriptor = 0x04100490;
  TensorMemory tmem;
  TensorMemory* const memories[] = {&tmem};
  const SharedView views[] = {shared.view()};
  start_mma(op, views, memories).complete(MmaPrecision::Exact);
  CHECK(tmem.at(0, 0) == as<std::uint32_t>(16));
  CHECK(tmem.at(15 + 96, 0) == 0x7FFFFFFF);
}
