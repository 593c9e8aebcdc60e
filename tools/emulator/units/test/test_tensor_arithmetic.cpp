#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/mma_arithmetic.h"
#include "units/mma_kernels.h"
#include "units/tmem.h"

using namespace emu::units;

namespace {

struct Vector {
  std::string name;
  ElementType type;
  std::vector<float> a, b;
  std::uint32_t c, d;
};

std::vector<float> elements(ElementType type, const std::string& words) {
  std::vector<float> values;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const auto bits = static_cast<std::uint32_t>(std::stoul(word, nullptr, 16));
    values.push_back(element_value(type, type == ElementType::BF16 ? bits >> 16 : bits));
  }
  return values;
}

std::vector<Vector> b200_vectors() {
  std::ifstream file(TENSOR_TEST_DATA "/b200_mma_vectors.csv");
  std::vector<Vector> vectors;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::string name, format, a, b, c, d;
    for (std::string* cell : {&name, &format, &a, &b, &c, &d}) {
      std::getline(in, *cell, ',');
    }
    const ElementType type = format == "tf32"   ? ElementType::TF32
                             : format == "bf16" ? ElementType::BF16
                                                : ElementType::F16;
    vectors.push_back({name, type, elements(type, a), elements(type, b),
                       static_cast<std::uint32_t>(std::stoul(c, nullptr, 16)),
                       static_cast<std::uint32_t>(std::stoul(d, nullptr, 16))});
  }
  return vectors;
}

std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }
float half(std::uint32_t bits) { return element_value(ElementType::F16, bits); }

std::vector<const MmaKernels*> runnable_kernels() {
  std::vector<const MmaKernels*> kernels;
  for (const char* name : {"portable", "avx2", "avx512"}) {
    if (const MmaKernels* k = find_mma_kernels(name)) {
      kernels.push_back(k);
    }
  }
  return kernels;
}

/// A 128 x 16 x depth multiply with the given operands, by `kernels`; D[column * 128 + row].
std::vector<std::uint32_t> by_kernel(const MmaKernels& kernels, const PackedOperand& a,
                                     const PackedOperand& b, std::vector<std::uint32_t> d, bool accumulate) {
  AlignedOperand exact_a, exact_b;
  kernels.prepare(a, exact_a);
  kernels.prepare(b, exact_b);
  MmaRectangle r;
  r.a = &a;
  r.b = &b;
  r.aligned_a = &exact_a;
  r.aligned_b = &exact_b;
  r.rows = a.count;
  r.columns = b.count;
  r.accumulate = accumulate;
  r.d = d.data();
  for (int g = 0; g < a.count / 16; ++g) {
    r.group_lane[g] = 16 * g;
    r.group_mask[g] = 0xFFFF;
  }
  kernels.exact(r);
  return d;
}

std::vector<std::uint32_t> by_reference(const PackedOperand& a, const PackedOperand& b,
                                        std::vector<std::uint32_t> d, bool accumulate) {
  const auto terms = [](const PackedOperand& x, int i) {
    std::vector<float> values;
    for (int k = 0; k < x.depth; ++k) {
      values.push_back(x.values[k * x.stride + i]);
    }
    return values;
  };
  for (int n = 0; n < b.count; ++n) {
    for (int m = 0; m < a.count; ++m) {
      std::uint32_t& c = d[n * kTmemLanes + m];
      c = mma_element_f32(terms(a, m), a.least_exponent, terms(b, n), b.least_exponent, accumulate ? c : 0);
    }
  }
  return d;
}

/// Random codes whose exponents lie within `spread` of the type's middle; 1 in 8 is zero, 1 in 8 subnormal.
class Source {
 public:
  Source(ElementType type, int spread, unsigned seed) : type_(type), spread_(spread), random_(seed) {}

  float operator()() {
    const std::uint32_t r = random_();
    const std::uint32_t sign = r >> 31;
    const int mode = (r >> 8) % 8;
    if (mode == 0) {
      return sign ? -0.0f : 0.0f;
    }
    const int bias = type_ == ElementType::F16 ? 15 : 127;
    const int fraction_bits = type_ == ElementType::F16 ? 10 : type_ == ElementType::BF16 ? 7 : 23;
    const int offset = static_cast<int>(random_() % (2 * spread_ + 1)) - spread_;
    const int field = mode == 1 ? 0 : std::min(2 * bias, std::max(1, bias + offset));
    const std::uint32_t fraction = random_() & ((1u << fraction_bits) - 1);
    const int width = type_ == ElementType::TF32 ? 31 : 15;
    return element_value(type_,
                         (sign << width) | (static_cast<std::uint32_t>(field) << fraction_bits) | fraction);
  }

 private:
  ElementType type_;
  int spread_;
  std::mt19937 random_;
};

PackedOperand operand(ElementType type, int count, int depth, int spread, unsigned seed) {
  PackedOperand x;
  x.resize(count, depth);
  x.least_exponent = minimum_exponent(type);
  Source source(type, spread, seed);
  for (int k = 0; k < depth; ++k) {
    for (int i = 0; i < count; ++i) {
      x.values[k * x.stride + i] = source();
    }
  }
  return x;
}

}  // namespace

TEST_CASE("every recorded B200 vector is reproduced bit for bit by the reference") {
  const auto vectors = b200_vectors();
  REQUIRE(vectors.size() == 23);
  for (const Vector& v : vectors) {
    INFO(v.name);
    const int least = minimum_exponent(v.type);
    CHECK(mma_element_f32(v.a, least, v.b, least, v.c) == v.d);
  }
}

TEST_CASE("every recorded B200 vector without special operands is reproduced by every kernel") {
  for (const MmaKernels* kernels : runnable_kernels()) {
    int checked = 0;
    for (const Vector& v : b200_vectors()) {
      const auto finite = [](float x) { return std::isfinite(x); };
      if (!std::all_of(v.a.begin(), v.a.end(), finite) || !std::all_of(v.b.begin(), v.b.end(), finite)) {
        continue;
      }
      INFO(kernels->name << " " << v.name);
      PackedOperand a, b;
      a.resize(64, static_cast<int>(v.a.size()));
      b.resize(8, a.depth);
      a.least_exponent = b.least_exponent = minimum_exponent(v.type);
      for (int k = 0; k < a.depth; ++k) {
        std::fill_n(&a.values[k * a.stride], 64, v.a[k]);
        std::fill_n(&b.values[k * b.stride], 8, v.b[k]);
      }
      const auto d = by_kernel(*kernels, a, b, std::vector<std::uint32_t>(8 * kTmemLanes, v.c), true);
      CHECK(d[0] == v.d);
      CHECK(d[7 * kTmemLanes + 63] == v.d);
      ++checked;
    }
    CHECK(checked == 11);
  }
}

TEST_CASE("the kernels agree with the reference on random operands of narrow and wide range") {
  struct Case {
    ElementType type;
    int depth, spread;
  };
  constexpr Case kCases[] = {
      {ElementType::BF16, 16, 4},   {ElementType::BF16, 16, 13}, {ElementType::BF16, 16, 40},
      {ElementType::BF16, 16, 127}, {ElementType::F16, 16, 3},   {ElementType::F16, 16, 15},
      {ElementType::TF32, 8, 10},   {ElementType::TF32, 8, 127}, {ElementType::F16, 32, 15}};
  for (const MmaKernels* kernels : runnable_kernels()) {
    for (const Case& c : kCases) {
      for (unsigned seed = 1; seed <= 6; ++seed) {
        PackedOperand a = operand(c.type, 128, c.depth, c.spread, seed);
        PackedOperand b = operand(c.type, 16, c.depth, c.spread, seed + 100);
        if (seed == 6) {  // tiny operands: subnormal results
          for (float& x : a.values) x *= 0x1p-70f;
          for (float& x : b.values) x *= c.type == ElementType::F16 ? 0x1p-60f : 0x1p-66f;
          a.least_exponent = b.least_exponent = -126;
        }
        Source source(ElementType::TF32, seed % 2 ? c.spread : 2, seed + 200);
        std::vector<std::uint32_t> d(16 * kTmemLanes);
        for (auto& x : d) x = word(seed == 6 ? source() * 0x1p-126f : source());
        d[5] = word(std::numeric_limits<float>::infinity());
        d[130] = 0xFF800000u;
        d[700] = 0xFFBAFFBAu;
        for (bool accumulate : {true, false}) {
          INFO(kernels->name << " " << name(c.type) << " spread " << c.spread << " seed " << seed);
          const auto got = by_kernel(*kernels, a, b, d, accumulate);
          const auto want = by_reference(a, b, d, accumulate);
          int wrong = 0;
          for (std::size_t i = 0; i < d.size(); ++i) {
            if (got[i] != want[i] && wrong++ < 3) {
              UNSCOPED_INFO("row " << i % 128 << " column " << i / 128 << std::hex << " got " << got[i]
                                   << " want " << want[i]);
            }
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("the kernels mark rows and columns that hold NaN or infinity") {
  for (const MmaKernels* kernels : runnable_kernels()) {
    PackedOperand a = operand(ElementType::BF16, 128, 16, 3, 1);
    a.values[3 * a.stride + 77] = std::numeric_limits<float>::quiet_NaN();
    a.values[15 * a.stride + 4] = -std::numeric_limits<float>::infinity();
    AlignedOperand aligned;
    kernels->prepare(a, aligned);
    CHECK(aligned.any_special);
    for (int i = 0; i < 128; ++i) {
      CHECK((aligned.special[i] != 0) == (i == 77 || i == 4));
    }
  }
}

TEST_CASE("terms are truncated 25 bits below the largest exponent, before they are summed") {
  // 1 + 16 terms of 2^-26: each is cut to nothing, though together they are 2^-22.
  const std::vector<float> ones(16, 1.0f);
  CHECK(mma_element_f32(std::vector<float>(16, 0x1p-13f), -14, std::vector<float>(16, 0x1p-13f), -14,
                        word(1.0f)) == word(1.0f));
  // Of 2^-25 each keeps its one bit: 16 of them are 2^-21.
  CHECK(mma_element_f32(std::vector<float>(16, 0x1p-13f), -14, std::vector<float>(16, 0x1p-12f), -14,
                        word(1.0f)) == word(1.0f + 0x1p-21f));
  // The f32 result is truncated too: 1 + 2^-24 + 2^-25 is 1.
  std::vector<float> two = {1.0f, 0x1p-12f, 0x1p-13f};
  CHECK(mma_element_f32(two, -14, std::vector<float>{1.0f, 0x1p-12f, 0x1p-12f}, -14, 0) == word(1.0f));
}

TEST_CASE("an f16 accumulator is rounded to nearest even") {
  const std::vector<float> one = {1.0f};
  CHECK(mma_element_f16(std::vector<float>{0x1p-11f}, -14, one, -14, 0x3C00) == 0x3C00);      // tie to even
  CHECK(mma_element_f16(std::vector<float>{3 * 0x1p-11f}, -14, one, -14, 0x3C00) == 0x3C02);  // tie to even
  CHECK(mma_element_f16(std::vector<float>{0x1p-11f + 0x1p-14f}, -14, one, -14, 0x3C00) ==
        0x3C01);                                                                              // above half
  CHECK(mma_element_f16(std::vector<float>{half(0x7BFF)}, -14, one, -14, 0x4C00) == 0x7C00);  // 65504 + 16
  CHECK(mma_element_f16(std::vector<float>{half(0x7BFF)}, -14, one, -14, 0x4BFF) == 0x7BFF);  // 65504 + 15.99
  CHECK(mma_element_f16(std::vector<float>{half(0x0001)}, -14, one, -14, 0x0001) == 0x0002);
  CHECK(mma_element_f16(std::vector<float>{half(0x7C00)}, -14, one, -14, 0xFC00) == 0x7FFF);
}

TEST_CASE("elements of 8, 6 and 4 bits have the values of the OCP tables") {
  CHECK(element_value(ElementType::E4M3, 0x7E) == 448.0f);
  CHECK(std::isnan(element_value(ElementType::E4M3, 0xFF)));
  CHECK(element_value(ElementType::E4M3, 0x01) == 0x1p-9f);
  CHECK(element_value(ElementType::E4M3, 0xB8) == -1.0f);
  CHECK(element_value(ElementType::E5M2, 0x7B) == 57344.0f);
  CHECK(std::isinf(element_value(ElementType::E5M2, 0x7C)));
  CHECK(element_value(ElementType::E5M2, 0x01) == 0x1p-16f);
  CHECK(element_value(ElementType::E2M3, 0x1F) == 7.5f);
  CHECK(element_value(ElementType::E2M3, 0x01) == 0.125f);
  CHECK(element_value(ElementType::E3M2, 0x1F) == 28.0f);
  CHECK(element_value(ElementType::E3M2, 0x21) == -0.0625f);
  CHECK(element_value(ElementType::E2M1, 0x7) == 6.0f);
  CHECK(element_value(ElementType::E2M1, 0x9) == -0.5f);
  CHECK_THROWS_AS(element_value(ElementType::S8, 0), TensorError);
}

TEST_CASE("integer sums wrap, or clamp when asked to saturate") {
  const std::vector<std::int32_t> a(32, 127), b(32, 127);
  CHECK(mma_element_s32(a, b, 5, false) == 32 * 127 * 127 + 5);
  CHECK(mma_element_s32(a, b, 2147483647, true) == 2147483647);
  CHECK(mma_element_s32(a, b, 2147483647, false) == static_cast<std::int32_t>(2147483647u + 32 * 127 * 127));
}

TEST_CASE("scale-input-d divides the accumulator by a power of two") {
  CHECK(scaled_accumulator(word(3.0f), 4) == word(3.0f / 16));
  CHECK(scaled_accumulator(word(-0x1p-126f), 2) == word(-0x1p-128f));
  CHECK(scaled_accumulator(word(0x1p-140f), 3) == word(0x1p-143f));
  CHECK(scaled_accumulator(0x7F800000u, 9) == 0x7F800000u);
}
