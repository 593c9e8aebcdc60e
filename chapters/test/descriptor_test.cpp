// The operand layouts of the chapters: what TMA writes must be what the descriptors of common/descriptor.cuh
// read, by the layout rules as tools/layout states them.
#include "descriptor.cuh"

#include "layout/canonical.h"
#include "layout/descriptors.h"
#include "layout/tma.h"
#include "testing/catch.h"

namespace {

constexpr uint32_t kStart = 0x8400;  // a tile behind the kilobyte that CUDA keeps and one 32 KB tile

// A 128 x 128 BF16 tile as load_tile of the kernels leaves it: slices `width` elements wide, one after the
// other.
struct Slices {
  int width;
  layout::Swizzle mode;

  uint32_t address(int row, int column) const {
    const layout::TensorBox box{.box = {width, 128}, .element_bytes = 2, .mode = mode};
    const uint32_t slice = kStart + column / width * box.bytes();
    return box.address(slice, {column % width, row});
  }
};

// The address at which an MMA with this descriptor looks for element (mn, k) of its operand.
uint32_t read_address(uint64_t word, layout::Major major, int mn, int k) {
  const layout::MatrixDescriptor d = layout::decode_matrix_descriptor(word);
  REQUIRE(d.problems.empty());
  const layout::Canonical form{
      .major = major, .mode = d.mode, .element_bytes = 2, .lbo = d.lbo, .sbo = d.sbo};
  form.validate();
  return form.address(d.start, mn, k);
}

constexpr Slices kPlain{8, layout::Swizzle::none};
constexpr Slices kSwizzled{64, layout::Swizzle::b128};

}  // namespace

TEST_CASE("unswizzled Q and K are read K-major as TMA wrote them") {
  const uint64_t start = matrix_descriptor(kStart, 2048, 128, Swizzle::kNone);
  for (int row = 0; row < 128; ++row) {
    for (int d = 0; d < 128; ++d) {
      const uint64_t step = advance(start, d / 16 * 4096);
      REQUIRE(read_address(step, layout::Major::k, row, d % 16) == kPlain.address(row, d));
    }
  }
}

TEST_CASE("unswizzled V is read MN-major from the same slices") {
  const uint64_t start = matrix_descriptor(kStart, 128, 2048, Swizzle::kNone);
  for (int key = 0; key < 128; ++key) {
    for (int d = 0; d < 128; ++d) {
      const uint64_t step = advance(start, key / 16 * 256);
      REQUIRE(read_address(step, layout::Major::mn, d, key % 16) == kPlain.address(key, d));
    }
  }
}

TEST_CASE("swizzled Q and K are read K-major, 32 bytes a step inside an atom") {
  const uint64_t start = matrix_descriptor(kStart, 16, 1024, Swizzle::k128B);
  for (int row = 0; row < 128; ++row) {
    for (int d = 0; d < 128; ++d) {
      const uint64_t step = advance(start, d / 64 * 16384 + d % 64 / 16 * 32);
      REQUIRE(read_address(step, layout::Major::k, row, d % 16) == kSwizzled.address(row, d));
    }
  }
}

TEST_CASE("swizzled V is read MN-major, LBO from slice to slice and SBO from atom to atom") {
  const uint64_t start = matrix_descriptor(kStart, 16384, 1024, Swizzle::k128B);
  for (int key = 0; key < 128; ++key) {
    for (int d = 0; d < 128; ++d) {
      const uint64_t step = advance(start, key / 16 * 2048);
      REQUIRE(read_address(step, layout::Major::mn, d, key % 16) == kSwizzled.address(key, d));
    }
  }
}

TEST_CASE("offsets with their roles exchanged miss the tile") {
  const uint64_t exchanged = matrix_descriptor(kStart, 1024, 16384, Swizzle::k128B);
  CHECK(read_address(exchanged, layout::Major::mn, 64, 0) != kSwizzled.address(0, 64));
  CHECK(read_address(exchanged, layout::Major::mn, 0, 8) != kSwizzled.address(8, 0));
}

TEST_CASE("instruction descriptors say M, N and majors") {
  const auto qk =
      layout::decode_instruction_descriptor(instruction_descriptor(128, 128, Major::kK, Major::kK), "f16", 1);
  CHECK(qk.problems.empty());
  CHECK(qk.m == 128);
  CHECK(qk.n == 128);
  CHECK(qk.b_major == layout::Major::k);
  const auto pv = layout::decode_instruction_descriptor(
      instruction_descriptor(128, 128, Major::kK, Major::kMN), "f16", 1);
  CHECK(pv.problems.empty());
  CHECK(pv.a_major == layout::Major::k);
  CHECK(pv.b_major == layout::Major::mn);
}
