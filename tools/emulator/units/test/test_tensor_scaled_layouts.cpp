// Block-scaled kinds: instruction descriptors, where scale factors are read, 4- and 6-bit operands in tensor
// memory, and what is refused. Whole products are checked by test/programs/tensor_scaled.cu.

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/block_scale.h"
#include "units/mma_arithmetic.h"
#include "units/tensor_core.h"
#include "units/tmem_copy.h"

using namespace emu::units;

namespace {

std::string first_problem(std::uint32_t bits, MmaKind kind, int cta_group = 1) {
  const auto decoded = decode_instruction_descriptor(bits, kind, cta_group, false);
  return decoded.illegal.empty() ? std::string() : decoded.illegal.front();
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("descriptors of published block-scaled kernels decode to their shapes and types") {
  const auto mx8 = decode_instruction_descriptor(0x08820480, MmaKind::MXF8F6F4, 1, false).descriptor;
  CHECK((mx8.m == 128 && mx8.n == 8 && mx8.k == 32));
  CHECK((mx8.a_type == ElementType::E5M2 && mx8.b_type == ElementType::E5M2));
  CHECK((mx8.d_type == AccumulatorType::F32 && mx8.scale_type == ScaleType::UE8M0));
  const auto nv4 = decode_instruction_descriptor(0x08020480, MmaKind::MXF4NVF4, 1, false).descriptor;
  CHECK((nv4.a_type == ElementType::E2M1 && nv4.k == 64 && nv4.scale_type == ScaleType::UE4M3));
  const auto ids =
      decode_instruction_descriptor(0x08820480 | 3u << 4 | 1u << 29, MmaKind::MXF8F6F4, 1, false);
  CHECK((ids.illegal.empty() && ids.descriptor.scale_b_id == 3 && ids.descriptor.scale_a_id == 1));
  CHECK(decode_instruction_descriptor(0x10820480, MmaKind::MXF4, 2, false).descriptor.m == 256);
}

TEST_CASE("descriptors that break a rule of their block-scaled kind are refused") {
  constexpr std::uint32_t kMx8 = 0x08820480, kMx4 = 0x08820480;
  CHECK(first_problem(kMx8, MmaKind::MXF8F6F4).empty());
  CHECK(has(first_problem(kMx8 & ~(1u << 23), MmaKind::MXF8F6F4), "ue4m3"));
  CHECK(has(first_problem(kMx4 & ~(1u << 23), MmaKind::MXF4), "ue4m3"));
  CHECK(first_problem(kMx4 & ~(1u << 23), MmaKind::MXF4NVF4).empty());
  CHECK(has(first_problem(kMx8 | 1u << 2, MmaKind::MXF8F6F4), "sparse"));
  CHECK(has(first_problem(kMx8 | 1u << 24, MmaKind::MXF8F6F4), "reserved bits 24-26"));
  CHECK(has(first_problem(kMx8 | 1u << 31, MmaKind::MXF8F6F4), "reserved bit 31"));
  CHECK(has(first_problem(kMx4 | 1u << 31, MmaKind::MXF4), "K = 96"));
  CHECK(has(first_problem(kMx4 | 1u << 16, MmaKind::MXF4NVF4), "K-major"));
  CHECK(has(first_problem(kMx4 | 1u << 12, MmaKind::MXF4), "B type code"));
  CHECK(has(first_problem(0x10820480, MmaKind::MXF4), "M = 256"));
  CHECK(has(first_problem(0x00820480, MmaKind::MXF8F6F4), "M = 0"));
}

namespace {

constexpr std::uint32_t kBytes = 64 * 1024, kStartB = 0x4000;
constexpr std::uint64_t kPlain =
    std::uint64_t{1} << 46 | std::uint64_t{128 / 16} << 32 | std::uint64_t{128 * 16 / 16} << 16;

/// Every element of A and B is 1 (e4m3), so D is the sum of products of scale factors alone.
struct Ones {
  std::vector<std::byte> shared = std::vector<std::byte>(kBytes, std::byte{0x38});
  TensorMemory tmem;
  MmaOperation op;

  Ones() {
    op.kind = MmaKind::MXF8F6F4;
    op.scale_blocks = 1;
    op.a_descriptor = kPlain;
    op.b_descriptor = kPlain | kStartB / 16;
    op.instruction_descriptor = 0x08000000 | 1u << 23 | 64u / 8 << 17;
    op.scale_a_address = 100;
    op.scale_b_address = 110;
    for (int quarter = 0; quarter < 4; ++quarter) {
      for (int row = 0; row < 128; ++row) factor(100, row, quarter) = 0x80808080;  // 2
      for (int row = 0; row < 64; ++row) factor(110, row, quarter) = 0x7E7E7E7E;   // 0.5
    }
  }
  std::uint32_t& factor(int column, int row, int quarter) {
    return tmem.at(32 * quarter + row % 32, column + row / 32);
  }
  void run() {
    const SharedView view{shared.data(), 0, kBytes};
    TensorMemory* const memory = &tmem;
    start_mma(op, {&view, 1}, {&memory, 1}).complete(MmaPrecision::Exact);
  }
  float d(int m, int n) const { return std::bit_cast<float>(tmem.at(m, n)); }
};

}  // namespace

TEST_CASE("the factor of row r lies in lane r % 32, word r / 32, and the id picks its byte") {
  Ones ones;
  for (int quarter = 0; quarter < 4; ++quarter) {
    ones.factor(100, 77, quarter) = 0x80858080;  // byte 2: 2^6
    ones.factor(110, 40, quarter) = 0x7E7E7B7E;  // byte 1: 2^-4
  }
  ones.op.instruction_descriptor |= 2u << 29 | 1u << 4;
  ones.run();
  CHECK(ones.d(0, 0) == 32);
  CHECK(ones.d(77, 0) == 32 * 32);
  CHECK(ones.d(0, 40) == 32 / 8.0f);
  CHECK(ones.d(77, 40) == 32 * 32 / 8.0f);
  CHECK((ones.d(76, 39) == 32 && ones.d(109, 8) == 32));
}

TEST_CASE("copies of a factor that differ are an error, unless the first alone is asked for") {
  Ones ones;
  ones.factor(100, 5, 3) = 0x80808081;
  std::string message;
  try {
    ones.run();
  } catch (const TensorError& error) {
    message = error.what();
  }
  CHECK(has(message, "row 5"));
  CHECK(has(message, "lane 101"));
  ones.op.first_scale_copy_only = true;
  ones.run();
  CHECK(ones.d(5, 0) == 32);
  ones.op.first_scale_copy_only = false;
  ones.op.instruction_descriptor |= 1u << 29;  // another byte, whose copies agree
  ones.run();
  CHECK(ones.d(5, 0) == 32);
}

TEST_CASE("the columns of scale factors are among those an operation reads") {
  Ones ones;
  const SharedView view{ones.shared.data(), 0, kBytes};
  TensorMemory* const memory = &ones.tmem;
  const auto ranges = start_mma(ones.op, {&view, 1}, {&memory, 1}).tmem_ranges();
  REQUIRE(ranges.size() == 3);
  CHECK((ranges[0].written && ranges[0].columns == 64));
  CHECK((!ranges[1].written && ranges[1].first_column == 100 && ranges[1].columns == 4));
  CHECK((!ranges[2].written && ranges[2].first_column == 110 && ranges[2].columns == 2));
}

TEST_CASE("scale vectors, ids and addresses that do not exist are refused") {
  Ones ones;
  const auto refusal = [&](auto change) {
    MmaOperation op = ones.op;
    change(op);
    const auto problems = mma_problems(op);
    return problems.empty() ? std::string() : problems.front();
  };
  CHECK(refusal([](MmaOperation&) {}).empty());
  CHECK(has(refusal([](MmaOperation& op) { op.scale_blocks = 2; }), "no .scale_vec::2X"));
  CHECK(has(refusal([](MmaOperation& op) { op.scale_b_address = 511; }), "run past the last"));
  CHECK(has(refusal([](MmaOperation& op) { op.scale_a_address = 1u << 16; }), "begin at lane 0"));
  CHECK(refusal([](MmaOperation& op) { op.scale_a_address |= 0xC0000000; }).empty());  // upper lane bits
  const auto fp4 = [](MmaOperation& op, MmaKind kind, int blocks, std::uint32_t more) {
    op.kind = kind;
    op.scale_blocks = blocks;
    op.instruction_descriptor = (0x08800480 | 8u << 17) ^ more;
  };
  CHECK(refusal([&](MmaOperation& op) { fp4(op, MmaKind::MXF4, 2, 2u << 29); }).empty());
  CHECK(
      has(refusal([&](MmaOperation& op) { fp4(op, MmaKind::MXF4, 2, 1u << 29); }), "scale factor id 1 of A"));
  CHECK(has(refusal([&](MmaOperation& op) { fp4(op, MmaKind::MXF4NVF4, 4, 2u << 4); }),
            "scale factor id 2 of B"));
  CHECK(has(refusal([&](MmaOperation& op) { fp4(op, MmaKind::MXF4NVF4, 2, 1u << 23); }),
            "need .scale_vec::4X"));
  CHECK(has(refusal([&](MmaOperation& op) { fp4(op, MmaKind::MXF4, 4, 0); }), "no .scale_vec::4X"));
}

TEST_CASE("tcgen05.cp expands 4 bits into bits 5 to 2 of a byte, 6 bits into bits 5 to 0") {
  std::vector<std::byte> shared(32 * 16, std::byte{0xEE});
  const std::uint8_t nibbles[8] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE};
  std::memcpy(shared.data(), nibbles, 8);
  TmemCopy copy{TmemCopyShape::Rows32x128b, 7, kPlain, TmemCopyFormat::B4};
  const SharedView view{shared.data(), 0, static_cast<std::uint32_t>(shared.size())};
  TensorMemory tmem;
  land_tmem_copy(copy, gather_tmem_copy(copy, view), tmem);
  CHECK(tmem.at(0, 7) == 0x0C080400);
  CHECK(tmem.at(96, 10) == 0x3C383430);
  // Sixteen 6-bit numbers 48, 49, ... in twelve bytes.
  unsigned __int128 packed = 0;
  for (int i = 0; i < 16; ++i) packed |= static_cast<unsigned __int128>(48 + i) << 6 * i;
  std::memcpy(shared.data(), &packed, 12);
  copy.format = TmemCopyFormat::B6;
  land_tmem_copy(copy, gather_tmem_copy(copy, view), tmem);
  CHECK(tmem.at(32, 7) == 0x33323130);
  CHECK(tmem.at(64, 10) == 0x3F3E3D3C);
}

TEST_CASE("A in tensor memory: e2m1 in bits 5 to 2 of its byte, 6-bit types in bits 5 to 0") {
  Ones ones;
  const auto with_a = [&](ElementType type, std::uint32_t code_in_descriptor, auto container) {
    ones.op.kind = MmaKind::F8F6F4;
    ones.op.instruction_descriptor = 1u << 4 | code_in_descriptor << 7 | 64u / 8 << 17 | 128u / 16 << 24;
    ones.op.a_in_tmem = true;
    ones.op.a_address = 200;
    double sum = 0;
    for (int k = 0; k < 32; ++k) {
      const std::uint32_t code =
          static_cast<std::uint32_t>(k) % (1u << (element_bits(type) - 1));  // positive
      sum += element_value(type, code);
      for (int lane = 0; lane < 128; ++lane) {
        std::uint32_t& word = ones.tmem.at(lane, 200 + k / 4);
        word = (word & ~(0xFFu << 8 * (k % 4))) | container(code) << 8 * (k % 4);
      }
    }
    ones.run();
    return ones.d(100, 33) == static_cast<float>(sum);
  };
  const auto shifted = [](std::uint32_t code) { return code << 2; };
  const auto plain = [](std::uint32_t code) { return code; };
  CHECK(with_a(ElementType::E2M3, 3, plain));
  CHECK(with_a(ElementType::E3M2, 4, plain));
  CHECK(with_a(ElementType::E2M1, 5, shifted));
}
