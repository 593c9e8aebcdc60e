// Block-scaled kinds: values worked out by hand from the published rule, every kernel against the reference
// on any bit patterns, and whole operations against a float64 product with its own idea of the layouts.

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/block_scale.h"
#include "units/block_scale_arithmetic.h"
#include "units/mma_arithmetic.h"
#include "units/tensor_core.h"

using namespace emu::units;

namespace {

std::uint32_t word(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

std::vector<ScaleFactor> factors(ScaleType type, std::initializer_list<std::uint32_t> codes) {
  std::vector<ScaleFactor> result;
  for (const std::uint32_t code : codes) result.push_back(scale_factor(type, code));
  return result;
}

/// 64 elements, zero but for the given places.
std::vector<float> sparse(std::initializer_list<std::pair<int, float>> places) {
  std::vector<float> values(kFp4Depth, 0.0f);
  for (const auto& [at, value] : places) values[static_cast<std::size_t>(at)] = value;
  return values;
}

constexpr std::uint32_t kOne8m0 = 127, kOne4m3 = 0x38;

}  // namespace

TEST_CASE("scale factors have the values of the OCP tables") {
  const auto value = [](ScaleType type, std::uint32_t code) {
    const ScaleFactor f = scale_factor(type, code);
    return std::ldexp(f.significand, f.exponent);
  };
  CHECK(value(ScaleType::UE8M0, 127) == 1);
  CHECK(value(ScaleType::UE8M0, 130) == 8);
  CHECK(value(ScaleType::UE8M0, 0) == std::ldexp(1.0f, -127));
  CHECK(value(ScaleType::UE8M0, 254) == std::ldexp(1.0f, 127));
  CHECK(std::isnan(value(ScaleType::UE8M0, 255)));
  CHECK(value(ScaleType::UE4M3, 0x38) == 1);
  CHECK(value(ScaleType::UE4M3, 0x7E) == 448);
  CHECK(value(ScaleType::UE4M3, 0x01) == std::ldexp(1.0f, -9));
  CHECK(value(ScaleType::UE4M3, 0x00) == 0);
  CHECK(value(ScaleType::UE4M3, 0xB8) == 1);  // no sign
  CHECK(std::isnan(value(ScaleType::UE4M3, 0x7F)));
}

TEST_CASE("mxf4: terms are kept to 35 bits below the largest exponent of scale factors and C") {
  const auto with_exponent = [](int second) {
    const auto scales =
        factors(ScaleType::UE8M0, {kOne8m0, static_cast<std::uint32_t>(127 + second), kOne8m0, kOne8m0});
    const auto ones = factors(ScaleType::UE8M0, {kOne8m0, kOne8m0, kOne8m0, kOne8m0});
    const auto a = sparse({{0, 1.0f}, {16, 1.0f}}), b = sparse({{0, 1.0f}, {16, 1.0f}});
    return mma_element_fp4(a, scales, b, ones, word(-1));
  };
  CHECK(with_exponent(-35) == word(std::ldexp(1, -35)));
  CHECK(with_exponent(-36) == 0);
}

TEST_CASE("mxf4: 16 products are summed before they are aligned") {
  // 0.5 * 0.5 twice is 2^-1, kept at the distance where each 2^-2 alone would be lost.
  const auto far = factors(ScaleType::UE8M0, {127, 127 - 34, 127, 127});
  const auto ones = factors(ScaleType::UE8M0, {127, 127, 127, 127});
  const auto a = sparse({{0, 1.0f}, {16, 0.5f}, {17, 0.5f}}), b = sparse({{0, 1.0f}, {16, 0.5f}, {17, 0.5f}});
  CHECK(mma_element_fp4(a, far, b, ones, word(-1)) == word(std::ldexp(1, -35)));
}

TEST_CASE("mxf4: a block of zeros does not raise the exponent, one whose products cancel does") {
  const auto high = factors(ScaleType::UE8M0, {127 + 40, 127, 127, 127});
  const auto ones = factors(ScaleType::UE8M0, {127, 127, 127, 127});
  const auto b = sparse({{0, 1.0f}, {1, 1.0f}, {16, 1.0f}});
  CHECK(mma_element_fp4(sparse({{16, 1.0f}}), high, b, ones, 0) == word(1));
  CHECK(mma_element_fp4(sparse({{0, 1.0f}, {1, -1.0f}, {16, 1.0f}}), high, b, ones, 0) == 0);
}

TEST_CASE("nvf4: significands of ue4m3 factors multiply, and the result is truncated") {
  const auto a_scales = factors(ScaleType::UE4M3, {0x39, kOne4m3, kOne4m3, kOne4m3});  // 1.125
  const auto b_scales = factors(ScaleType::UE4M3, {0x3B, kOne4m3, kOne4m3, kOne4m3});  // 1.375
  const auto a = sparse({{0, 6.0f}, {15, -0.5f}}), b = sparse({{0, 6.0f}, {15, 3.0f}});
  CHECK(mma_element_fp4(a, a_scales, b, b_scales, word(0.25)) == word((36 - 1.5) * 1.125 * 1.375 + 0.25));
  // 1 + 2^-30 truncates to 1, -1 - 2^-30 to -1.
  const auto small = factors(ScaleType::UE8M0, {127 - 30, 127, 127, 127});
  const auto ones = factors(ScaleType::UE8M0, {127, 127, 127, 127});
  const auto one = sparse({{0, 1.0f}}), minus = sparse({{0, -1.0f}});
  CHECK(mma_element_fp4(one, small, one, ones, word(1)) == word(1));
  CHECK(mma_element_fp4(minus, small, one, ones, word(-1)) == word(-1));
}

TEST_CASE("block-scaled NaN and infinity: any NaN factor makes NaN, an infinite C stays") {
  const auto nan = factors(ScaleType::UE8M0, {127, 127, 255, 127});
  const auto ones = factors(ScaleType::UE8M0, {127, 127, 127, 127});
  const auto one = sparse({{0, 1.0f}});
  CHECK(mma_element_fp4(one, nan, one, ones, 0) == kMmaNan);
  CHECK(mma_element_fp4(one, ones, one, nan, word(INFINITY)) == kMmaNan);
  CHECK(mma_element_fp4(one, ones, one, ones, word(-INFINITY)) == word(-INFINITY));
  CHECK(mma_element_fp4(one, ones, one, ones, word(NAN)) == kMmaNan);
  const std::vector<float> x(32, 1.0f);
  CHECK(mma_element_scaled(x, -6, {NAN, 0}, x, -6, {1, 0}, 0) == kMmaNan);
  std::vector<float> infinite = x;
  infinite[3] = INFINITY;
  CHECK(mma_element_scaled(infinite, -14, {1, -200}, x, -14, {1, 0}, 0) == word(INFINITY));
}

TEST_CASE("mxf8f6f4: the factors' exponents join those of the products") {
  std::vector<float> a(32, 0.0f), b(32, 1.0f);
  a[0] = 1;
  CHECK(mma_element_scaled(a, -6, {1, 3}, b, -6, {1, -5}, word(1)) == word(1.25));
  // Without scales the product would be out of reach of C; and 25 bits are kept, not 23.
  CHECK(mma_element_scaled(a, -6, {1, -20}, b, -6, {1, -5}, word(-1)) ==
        word(-1 + std::ldexp(1, -24)));  // truncated toward zero
  a[1] = -1;
  CHECK(mma_element_scaled(a, -6, {1, 127}, b, -6, {1, 127}, word(1)) == 0);  // C is far below 2^254
  a[1] = 0;
  CHECK(mma_element_scaled(a, -6, {1, 127}, b, -6, {1, 127}, 0) == word(INFINITY));
  CHECK(mma_element_scaled(a, -6, {1, -100}, b, -6, {1, -49}, 0) == 1);  // the least subnormal
}

namespace {

struct Mxfp8Vector {
  const char* what;
  ElementType type;
  std::vector<std::uint32_t> a, b;  // the first of 32 elements; the others are zero
  std::uint32_t a_scale, b_scale, c, d;
};

}  // namespace

TEST_CASE("mxf8f6f4: vectors of an independent model that its authors hold against MMA-Sim") {
  constexpr ElementType k4 = ElementType::E4M3, k5 = ElementType::E5M2;
  const Mxfp8Vector vectors[] = {
      {"1 * 1 + 2 * 2 + 3 * 3 + 0.5",
       k4,
       {0x38, 0x40, 0x44},
       {0x38, 0x40, 0x44},
       127,
       127,
       0x3F000000,
       0x41680000},
      {"within 25 bits", k4, {0x38, 0x01}, {0x38, 0x01}, 127, 127, 0, 0x3F800020},
      {"beyond 25 bits", k4, {0x78, 0x01}, {0x78, 0x01}, 127, 127, 0, 0x47800000},
      {"a significand of 2.25", k4, {0x54, 0x07, 0x01}, {0x5C, 0x01, 0x01}, 127, 127, 0, 0x43900001},
      {"the same product as 1.125", k4, {0x59, 0x07, 0x01}, {0x58, 0x01, 0x01}, 127, 127, 0, 0x43900000},
      {"truncation of the sum", k5, {0x3C, 0x08}, {0x3C, 0x0C}, 127, 127, 0, 0x3F800000},
      {"a subnormal", k4, {0x01}, {0x38}, 7, 127, 0, 0x00100000},
      {"underflow keeps the sign", k4, {0x81}, {0x38}, 0, 110, 0, 0x80000000},
      {"below the floor", k4, {0x82}, {0x02}, 0, 110, 0, 0},
      {"C swamps", k4, {0x38}, {0x38}, 127, 127, 0x4B800000, 0x4B800000},
      {"NaN factor", k4, {0x38}, {0x38}, 255, 127, 0, 0x7FFFFFFF},
      {"NaN element", k4, {0x7F}, {0x38}, 127, 127, 0, 0x7FFFFFFF},
      {"infinity times zero", k5, {0x7C}, {0x00}, 127, 127, 0, 0x7FFFFFFF},
      {"both infinities", k5, {0x7C, 0xFC}, {0x3C, 0x3C}, 127, 127, 0, 0x7FFFFFFF},
      {"one infinity", k5, {0x7C}, {0x3C}, 127, 127, 0, 0x7F800000},
  };
  for (const Mxfp8Vector& v : vectors) {
    const auto values = [&](const std::vector<std::uint32_t>& codes) {
      std::vector<float> result(32, 0.0f);
      for (std::size_t i = 0; i < codes.size(); ++i) result[i] = element_value(v.type, codes[i]);
      return result;
    };
    const int least = minimum_exponent(v.type);
    INFO(v.what);
    CHECK(mma_element_scaled(values(v.a), least, scale_factor(ScaleType::UE8M0, v.a_scale), values(v.b),
                             least, scale_factor(ScaleType::UE8M0, v.b_scale), v.c) == v.d);
  }
}

namespace {

constexpr int kRows = 128, kCols = 16;

struct RandomOperand {
  PackedOperand packed;
  ScaleFactors scales;
  void fill(std::mt19937& random, ElementType type, int count, int depth, ScaleType scale, int blocks,
            bool any_scale) {
    packed.resize(count, depth);
    packed.least_exponent = minimum_exponent(type);
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < count; ++i) {
        const bool zero = random() % 4 == 0;
        packed.values[static_cast<std::size_t>(k) * packed.stride + i] =
            zero ? 0.0f : element_value(type, random() % (1u << element_bits(type)));
      }
    }
    scales.blocks = blocks;
    scales.stride = packed.stride;
    scales.significands.assign(static_cast<std::size_t>(blocks) * packed.stride, 0);
    scales.exponents.assign(scales.significands.size(), 0);
    for (std::size_t i = 0; i < scales.significands.size(); ++i) {
      const std::uint32_t near = (scale == ScaleType::UE8M0 ? 120 : 0x28) + random() % 20;
      const ScaleFactor f = scale_factor(scale, any_scale ? random() % 256 : near);
      scales.significands[i] = f.significand;
      scales.exponents[i] = f.exponent;
    }
  }
  std::vector<float> row(int i) const {
    std::vector<float> values;
    for (int k = 0; k < packed.depth; ++k)
      values.push_back(packed.values[static_cast<std::size_t>(k) * packed.stride + i]);
    return values;
  }
  std::vector<ScaleFactor> row_scales(int i, int copies) const {
    std::vector<ScaleFactor> result;
    for (int block = 0; block < scales.blocks * copies; ++block) {
      const std::size_t at = static_cast<std::size_t>(block / copies) * scales.stride + i;
      result.push_back({scales.significands[at], scales.exponents[at]});
    }
    return result;
  }
};

std::uint32_t random_accumulator(std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return random();  // anything at all
    case 2:
      return random() & 0x807FFFFF;  // subnormal
    default:
      return word(static_cast<double>(static_cast<int>(random() % 4096)) / 16 - 128);
  }
}

MmaRectangle whole_rectangle(std::uint32_t* d, bool accumulate) {
  MmaRectangle r;
  r.rows = kRows;
  r.columns = kCols;
  r.accumulate = accumulate;
  r.d = d;
  for (int g = 0; g < kRows / kRowGroup; ++g) {
    r.group_lane[g] = g * kRowGroup;
    r.group_mask[g] = 0xFFFF;
  }
  return r;
}

}  // namespace

TEST_CASE("every mxf4 kernel agrees with the reference on any elements, factors and accumulators") {
  std::mt19937 random(21);
  for (const char* name : {"portable", "avx2", "avx512"}) {
    const MmaKernels* kernels = find_mma_kernels(name);
    if (!kernels) continue;
    for (int round = 0; round < 24; ++round) {
      const ScaleType type = round % 2 ? ScaleType::UE4M3 : ScaleType::UE8M0;
      const int blocks = round % 3 ? 4 : 2;
      RandomOperand a, b;
      a.fill(random, ElementType::E2M1, kRows, kFp4Depth, type, blocks, round % 4 < 2);
      b.fill(random, ElementType::E2M1, kCols, kFp4Depth, type, blocks, round % 4 < 2);
      const Fp4Operand fp4_a = make_fp4_operand(a.packed, a.scales);
      const Fp4Operand fp4_b = make_fp4_operand(b.packed, b.scales);
      std::vector<std::uint32_t> d(kTmemLanes * kCols), before;
      for (auto& c : d) c = random_accumulator(random);
      before = d;
      MmaRectangle r = whole_rectangle(d.data(), round % 5 != 0);
      r.fp4_a = &fp4_a;
      r.fp4_b = &fp4_b;
      kernels->exact_fp4(r);
      int wrong = 0;
      for (int j = 0; j < kCols; ++j) {
        for (int i = 0; i < kRows; ++i) {
          const std::uint32_t c = r.accumulate ? before[j * kTmemLanes + i] : 0;
          wrong += d[j * kTmemLanes + i] != mma_element_fp4(a.row(i), a.row_scales(i, 4 / blocks), b.row(j),
                                                            b.row_scales(j, 4 / blocks), c);
        }
      }
      INFO(name << " round " << round);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("every kernel agrees with the reference of mxf8f6f4 on finite elements and any finite factor") {
  std::mt19937 random(22);
  constexpr ElementType kTypes[] = {ElementType::E4M3, ElementType::E5M2, ElementType::E2M3,
                                    ElementType::E3M2, ElementType::E2M1};
  for (const char* name : {"portable", "avx2", "avx512"}) {
    const MmaKernels* kernels = find_mma_kernels(name);
    if (!kernels) continue;
    for (int round = 0; round < 25; ++round) {
      RandomOperand a, b;
      a.fill(random, kTypes[round % 5], kRows, 32, ScaleType::UE8M0, 1, round % 2);
      b.fill(random, kTypes[round / 5], kCols, 32, ScaleType::UE8M0, 1, round % 2);
      for (RandomOperand* o : {&a, &b}) {
        for (float& v : o->packed.values) v = std::isfinite(v) ? v : 1.0f;
        for (float& s : o->scales.significands) s = 1;
      }
      AlignedOperand aligned_a, aligned_b;
      kernels->prepare(a.packed, aligned_a);
      kernels->prepare(b.packed, aligned_b);
      shift_by_scales(aligned_a, a.packed, a.scales);
      shift_by_scales(aligned_b, b.packed, b.scales);
      std::vector<std::uint32_t> d(kTmemLanes * kCols), before;
      for (auto& c : d) c = random_accumulator(random);
      before = d;
      MmaRectangle r = whole_rectangle(d.data(), round % 3 != 0);
      r.a = &a.packed;
      r.b = &b.packed;
      r.aligned_a = &aligned_a;
      r.aligned_b = &aligned_b;
      kernels->exact(r);
      int wrong = 0;
      for (int j = 0; j < kCols; ++j) {
        for (int i = 0; i < kRows; ++i) {
          const std::uint32_t c = r.accumulate ? before[j * kTmemLanes + i] : 0;
          wrong += d[j * kTmemLanes + i] !=
                   mma_element_scaled(a.row(i), a.packed.least_exponent, a.row_scales(i, 1)[0], b.row(j),
                                      b.packed.least_exponent, b.row_scales(j, 1)[0], c);
        }
      }
      INFO(name << " round " << round);
      CHECK(wrong == 0);
    }
  }
}
