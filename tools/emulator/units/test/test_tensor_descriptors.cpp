#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/instruction_descriptor.h"
#include "units/smem_descriptor.h"

using namespace emu::units;

namespace {

bool mentions(const std::vector<std::string>& problems, const std::string& text) {
  for (const std::string& problem : problems) {
    if (problem.find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

struct Placed {
  int mn, k;
  std::uint32_t linear, physical;
};

void check_placed(const char* title, const SmemDescriptor& d, Major major, int element_bytes,
                  const std::vector<Placed>& elements) {
  INFO(title);
  for (const Placed& e : elements) {
    INFO("element (" << e.mn << ", " << e.k << ")");
    CHECK(operand_offset(d, major, element_bytes, e.mn, e.k) == e.linear);
    CHECK(operand_address(d, major, element_bytes, e.mn, e.k) - d.start == e.physical);
  }
}

SmemDescriptor tile(Swizzle swizzle, std::uint32_t leading, std::uint32_t stride,
                    std::uint32_t start = 0x1000) {
  return {0, start, leading, stride, swizzle};
}

InstructionDescriptor legal(std::uint32_t bits, MmaKind kind, int cta_group = 1) {
  const auto decoded = decode_instruction_descriptor(bits, kind, cta_group, false);
  INFO(std::hex << bits << (decoded.illegal.empty() ? "" : ": " + decoded.illegal.front()));
  CHECK(decoded.illegal.empty());
  return decoded.descriptor;
}

std::vector<std::string> illegal(std::uint32_t bits, MmaKind kind, int cta_group = 1,
                                 bool a_in_tmem = false) {
  return decode_instruction_descriptor(bits, kind, cta_group, a_in_tmem).illegal;
}

std::uint32_t with_shape(std::uint32_t bits, int m, int n) {
  return (bits & ~0x1F7E0000u) | static_cast<std::uint32_t>(n / 8) << 17 |
         static_cast<std::uint32_t>(m / 16) << 24;
}

}  // namespace

TEST_CASE("the high word of a tcgen05 descriptor names swizzle and stride") {
  struct Row {
    std::uint32_t high;
    Swizzle swizzle;
    std::uint32_t stride;
  };
  constexpr Row kRows[] = {{0x00004008, Swizzle::None, 128},
                           {0xC0004010, Swizzle::B32, 256},
                           {0x80004020, Swizzle::B64, 512},
                           {0x40004040, Swizzle::B128, 1024},
                           {0x20004020, Swizzle::B128Atom32, 512}};
  for (const Row& row : kRows) {
    const auto [d, problems] = decode_smem_descriptor(std::uint64_t{row.high} << 32 | 0x10100);
    INFO(std::hex << row.high);
    CHECK(problems.empty());
    CHECK(d.swizzle == row.swizzle);
    CHECK(d.stride_bytes == row.stride);
    CHECK(d.start == 0x1000);
    CHECK(d.leading_bytes == 16);
  }
}

TEST_CASE("whole descriptors decode to bytes") {
  const SmemDescriptor plain = decode_smem_descriptor(0x0000400800800100).descriptor;
  CHECK(plain.start == 0x1000);
  CHECK(plain.leading_bytes == 2048);
  CHECK(plain.stride_bytes == 128);
  CHECK(plain.swizzle == Swizzle::None);
  const SmemDescriptor mn = decode_smem_descriptor(0x4000404002000100).descriptor;
  CHECK(mn.leading_bytes == 8192);
  CHECK(mn.stride_bytes == 1024);
  CHECK(mn.swizzle == Swizzle::B128);
  const SmemDescriptor farthest = decode_smem_descriptor(0x00007FFF3FFF3FFF).descriptor;
  CHECK(farthest.leading_bytes == 262128);
  CHECK(farthest.stride_bytes == 262128);
  CHECK(farthest.start == 262128);
}

TEST_CASE("a wgmma descriptor keeps its swizzle in two bits and has bit 46 clear") {
  const auto [d, problems] = decode_wgmma_descriptor(0x4000004000010100);
  CHECK(problems.empty());
  CHECK(d.swizzle == Swizzle::B128);
  CHECK(d.stride_bytes == 1024);
  CHECK(decode_wgmma_descriptor(0x8000002000010100).descriptor.swizzle == Swizzle::B64);
  CHECK(decode_wgmma_descriptor(0xC000001000010100).descriptor.swizzle == Swizzle::B32);
  CHECK_FALSE(decode_wgmma_descriptor(0x4000404000010100).illegal.empty());
}

TEST_CASE("every illegal tcgen05 descriptor is refused with its reason") {
  constexpr std::uint64_t kGood = 0x4000404000010100;
  REQUIRE(decode_smem_descriptor(kGood).illegal.empty());
  const auto with_bit = [](int bit) {
    return decode_smem_descriptor(kGood ^ (std::uint64_t{1} << bit)).illegal;
  };
  CHECK(mentions(with_bit(46), "bits 46-48"));
  CHECK(mentions(with_bit(47), "bits 46-48"));
  CHECK(mentions(with_bit(48), "bits 46-48"));
  CHECK(mentions(with_bit(14), "reserved bits 14-15"));
  CHECK(mentions(with_bit(31), "reserved bits 30-31"));
  CHECK(mentions(with_bit(53), "reserved bits 53-60"));
  CHECK(mentions(with_bit(60), "reserved bits 53-60"));
  CHECK(mentions(with_bit(49), "base offset 1"));
  CHECK(mentions(with_bit(51), "base offset 4"));
  CHECK(mentions(with_bit(52), "sm_103a"));
  for (std::uint64_t code : {3, 5, 7}) {
    const auto problems = decode_smem_descriptor((kGood & ~(7ull << 61)) | code << 61).illegal;
    CHECK(mentions(problems, "swizzle mode " + std::to_string(code)));
  }
  CHECK(decode_smem_descriptor(0x6000000000010100).illegal.size() == 2);
}

TEST_CASE("K-major elements lie where the manual's layouts put them") {
  check_placed("none", tile(Swizzle::None, 2048, 128), Major::K, 2,
               {{3, 5, 58, 58}, {10, 9, 2210, 2210}, {77, 15, 3294, 3294}});
  check_placed("32B", tile(Swizzle::B32, 16, 256), Major::K, 2,
               {{3, 5, 106, 106}, {5, 9, 178, 162}, {77, 15, 2494, 2478}});
  check_placed("64B", tile(Swizzle::B64, 16, 512), Major::K, 2,
               {{3, 5, 202, 218}, {6, 9, 402, 418}, {77, 15, 4958, 4990}});
  check_placed("128B", tile(Swizzle::B128, 16, 1024), Major::K, 2,
               {{3, 5, 394, 442}, {13, 9, 1682, 1730}, {77, 15, 9886, 9934}});
  const SmemDescriptor second_step = tile(Swizzle::B128, 16, 1024, 0x1020);
  CHECK(operand_address(second_step, Major::K, 2, 3, 5) == 0x119A);
  CHECK(operand_address(second_step, Major::K, 2, 13, 9) == 0x16E2);
  CHECK(operand_address(second_step, Major::K, 2, 77, 15) == 0x36EE);
}

TEST_CASE("MN-major elements lie where the manual's layouts put them") {
  check_placed("none", tile(Swizzle::None, 1024, 128), Major::MN, 2,
               {{3, 5, 86, 86}, {10, 9, 1172, 1172}, {77, 15, 2298, 2298}});
  check_placed("32B", tile(Swizzle::B32, 2048, 256), Major::MN, 2,
               {{3, 5, 166, 182}, {20, 9, 2344, 2344}, {77, 15, 8698, 8682}});
  check_placed("64B", tile(Swizzle::B64, 4096, 512), Major::MN, 2,
               {{3, 5, 326, 358}, {20, 9, 616, 616}, {77, 15, 9178, 9194}});
  check_placed("128B", tile(Swizzle::B128, 8192, 1024), Major::MN, 2,
               {{3, 5, 646, 726}, {20, 9, 1192, 1208}, {77, 15, 10138, 10218}});
  check_placed("tf32, 128B with 32-byte atoms", tile(Swizzle::B128Atom32, 4096, 512), Major::MN, 4,
               {{3, 5, 652, 684}, {20, 2, 336, 272}, {45, 7, 5044, 5076}});
}

TEST_CASE("a swizzle undoes itself") {
  for (Swizzle swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128, Swizzle::B128Atom32}) {
    for (std::uint32_t address = 0; address < 4096; ++address) {
      CHECK(swizzled(swizzled(address, swizzle), swizzle) == address);
    }
  }
}

TEST_CASE("which widths may be MN-major depends on the swizzle") {
  for (Swizzle swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128}) {
    CHECK(layout_problem(Major::MN, swizzle, 16).empty());
    CHECK(layout_problem(Major::MN, swizzle, 8).empty());
    CHECK_FALSE(layout_problem(Major::MN, swizzle, 32).empty());
  }
  CHECK(layout_problem(Major::MN, Swizzle::B128Atom32, 32).empty());
  CHECK_FALSE(layout_problem(Major::MN, Swizzle::B128Atom32, 16).empty());
  CHECK_FALSE(layout_problem(Major::MN, Swizzle::B128, 4).empty());
  CHECK(layout_problem(Major::K, Swizzle::B128, 6).empty());
}

TEST_CASE("published instruction descriptors decode to their shapes and types") {
  const auto bf16 = legal(0x08200490, MmaKind::F16);
  CHECK((bf16.m == 128 && bf16.n == 128 && bf16.k == 16));
  CHECK((bf16.a_type == ElementType::BF16 && bf16.b_type == ElementType::BF16));
  CHECK(bf16.d_type == AccumulatorType::F32);
  CHECK((bf16.a_major == Major::K && bf16.b_major == Major::K));
  CHECK(legal(0x08100490, MmaKind::F16).n == 64);
  CHECK(legal(0x08400490, MmaKind::F16).n == 256);
  CHECK(legal(0x04200490, MmaKind::F16).m == 64);
  const auto pair = legal(0x10400490, MmaKind::F16, 2);
  CHECK((pair.m == 256 && pair.n == 256));
  CHECK(legal(0x08210490, MmaKind::F16).b_major == Major::MN);
  CHECK(legal(0x08208490, MmaKind::F16).a_major == Major::MN);
  CHECK(legal(0x08200010, MmaKind::F16).a_type == ElementType::F16);
  CHECK(legal(0x08200000, MmaKind::F16).d_type == AccumulatorType::F16);
  const auto tf32 = legal(0x08200910, MmaKind::TF32);
  CHECK((tf32.a_type == ElementType::TF32 && tf32.k == 8));
  const auto e4m3 = legal(0x08200010, MmaKind::F8F6F4);
  CHECK((e4m3.a_type == ElementType::E4M3 && e4m3.k == 32));
  const auto s8 = legal(0x082004A0, MmaKind::I8);
  CHECK((s8.a_type == ElementType::S8 && s8.d_type == AccumulatorType::S32 && s8.k == 32));
}

TEST_CASE("reserved bits and codes of another kind are refused") {
  constexpr std::uint32_t kGood = 0x08200490;
  CHECK(mentions(illegal(kGood | 1u << 6, MmaKind::F16), "reserved bit 6"));
  CHECK(mentions(illegal(kGood | 1u << 23, MmaKind::F16), "reserved bit 23"));
  CHECK(mentions(illegal(kGood | 1u << 29, MmaKind::F16), "reserved bit 29"));
  CHECK(mentions(illegal(kGood | 1u << 30, MmaKind::F16), "bits 30-31"));
  CHECK(mentions(illegal(kGood | 1u << 2, MmaKind::F16), "sparse"));
  CHECK(mentions(illegal(kGood | 1u, MmaKind::F16), "sparsity selector"));
  CHECK(mentions(illegal(kGood | 1u << 3, MmaKind::F16), "saturation"));
  CHECK(mentions(illegal(kGood, MmaKind::TF32), "A type code 1"));
  CHECK(mentions(illegal(0x08200910, MmaKind::F16), "A type code 2"));
  CHECK(mentions(illegal(kGood & ~0x30u, MmaKind::F16), "f32 D"));
  CHECK(mentions(illegal(0x08200900, MmaKind::TF32), "D type code 0"));
  CHECK(mentions(illegal(0x082004A0 | 1u << 13, MmaKind::I8), "negation"));
  CHECK(mentions(illegal(kGood | 1u << 15, MmaKind::F16, 1, true), "M-major"));
}

TEST_CASE("M and N follow the table of shapes of each kind and CTA group") {
  constexpr std::uint32_t kBf16 = 0x08200490, kS8 = 0x082004A0, kE4m3 = 0x08200010;
  for (int m : {64, 128}) CHECK(illegal(with_shape(kBf16, m, 128), MmaKind::F16).empty());
  for (int m : {16, 32, 96, 256}) CHECK_FALSE(illegal(with_shape(kBf16, m, 128), MmaKind::F16).empty());
  for (int m : {128, 256}) CHECK(illegal(with_shape(kBf16, m, 128), MmaKind::F16, 2).empty());
  CHECK_FALSE(illegal(with_shape(kBf16, 64, 128), MmaKind::F16, 2).empty());
  for (int n : {8, 24, 248, 256}) CHECK(illegal(with_shape(kBf16, 128, n), MmaKind::F16).empty());
  for (int n : {0, 264}) CHECK_FALSE(illegal(with_shape(kBf16, 128, n), MmaKind::F16).empty());
  CHECK(illegal(with_shape(kBf16, 128, 48), MmaKind::F16, 2).empty());
  CHECK_FALSE(illegal(with_shape(kBf16, 128, 24), MmaKind::F16, 2).empty());
  for (int n : {8, 16, 24, 32, 48, 256}) CHECK(illegal(with_shape(kS8, 128, n), MmaKind::I8).empty());
  CHECK_FALSE(illegal(with_shape(kS8, 128, 40), MmaKind::I8).empty());
  CHECK(illegal(with_shape(kS8, 128, 64), MmaKind::I8, 2).empty());
  CHECK_FALSE(illegal(with_shape(kS8, 128, 48), MmaKind::I8, 2).empty());
  CHECK(illegal(with_shape(kE4m3, 128, 24), MmaKind::F8F6F4).empty());
  CHECK_FALSE(illegal(with_shape(kE4m3 | 1u << 16, 128, 24), MmaKind::F8F6F4).empty());
}
