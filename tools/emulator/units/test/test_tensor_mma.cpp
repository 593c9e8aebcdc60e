// Whole tcgen05.mma operations against a scalar model that knows neither packed operands nor vectors.

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/mma_arithmetic.h"
#include "units/tensor_core.h"
#include "units/tmem_access.h"

using namespace emu::units;

namespace {

constexpr std::uint32_t kBase = 0x400, kBytes = 128 * 1024, kStartA = 0x400, kStartB = 0x10400;
/// K-major without swizzle, 256 rows: 16-byte columns 4096 bytes apart.
constexpr std::uint64_t kPlain =
    std::uint64_t{1} << 46 | std::uint64_t{128 / 16} << 32 | std::uint64_t{4096 / 16} << 16;

struct Pair {
  std::vector<std::byte> bytes[2] = {std::vector<std::byte>(kBytes, std::byte{0xFF}),
                                     std::vector<std::byte>(kBytes, std::byte{0xFF})};
  TensorMemory tmem[2];

  void run(const MmaOperation& op, MmaPrecision precision = MmaPrecision::Exact) {
    const SharedView views[] = {{bytes[0].data(), kBase, kBytes}, {bytes[1].data(), kBase, kBytes}};
    TensorMemory* const memories[] = {&tmem[0], &tmem[1]};
    const auto ctas = static_cast<std::size_t>(op.cta_group);
    start_mma(op, std::span(views, ctas), std::span(memories, ctas)).complete(precision);
  }

  template <typename Word>
  void put(int cta, std::uint32_t start, int row, int k, Word word) {
    const std::size_t offset =
        start - kBase + row % 8 * 16 + row / 8 * 128 + k * sizeof word / 16 * 4096 + k * sizeof word % 16;
    std::memcpy(&bytes[cta][offset], &word, sizeof word);
  }
};

MmaOperation plain(MmaKind kind, std::uint32_t idesc, int cta_group = 1) {
  MmaOperation op;
  op.kind = kind;
  op.cta_group = cta_group;
  op.a_descriptor = kPlain | kStartA / 16;
  op.b_descriptor = kPlain | kStartB / 16;
  op.instruction_descriptor = idesc;
  return op;
}

std::uint32_t shape_bits(int m, int n) {
  return static_cast<std::uint32_t>(n / 8) << 17 | static_cast<std::uint32_t>(m / 16) << 24;
}

constexpr std::uint32_t kBf16 = 0x490;

std::uint16_t bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
std::uint32_t f32(float value) { return std::bit_cast<std::uint32_t>(value); }

/// Random codes of a matrix, [row * depth + k].
std::vector<std::uint32_t> codes(int rows, int depth, unsigned seed, std::uint32_t (*make)(std::mt19937&)) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> words(rows * depth);
  for (auto& word : words) {
    word = make(random);
  }
  return words;
}

std::uint32_t random_bf16(std::mt19937& random) {
  std::normal_distribution<float> normal;
  return bf16(normal(random));
}

std::uint32_t model(ElementType type, const std::vector<std::uint32_t>& a, int m,
                    const std::vector<std::uint32_t>& b, int n, int depth, std::uint32_t c) {
  std::vector<float> x, y;
  for (int k = 0; k < depth; ++k) {
    x.push_back(element_value(type, a[m * depth + k]));
    y.push_back(element_value(type, b[n * depth + k]));
  }
  return mma_element_f32(x, minimum_exponent(type), y, minimum_exponent(type), c);
}

/// Reads one row of D by tcgen05.ld.32x32b of the warp that owns its lane.
std::uint32_t read(const TensorMemory& memory, int lane, int column) {
  TmemAccess access{TmemShape::Lanes32x32b, 1, false, 0, 0};
  access.address = static_cast<std::uint32_t>(lane / 32 * 32) << 16 | static_cast<std::uint32_t>(column);
  REQUIRE(tmem_access_problem(access, lane / 32).empty());
  std::uint32_t words[32];
  std::uint32_t* const registers[] = {words};
  tmem_load(memory, access, registers);
  return words[lane % 32];
}

std::string refusal(const MmaOperation& op) {
  Pair pair;
  try {
    pair.run(op);
  } catch (const TensorError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("M = 128: row m of D is lane m, column n is column n, eight steps chained") {
  Pair pair;
  std::vector<std::uint32_t> want(128 * 128, 0);
  for (int step = 0; step < 8; ++step) {
    const auto a = codes(128, 16, 10 + step, random_bf16), b = codes(128, 16, 30 + step, random_bf16);
    for (int i = 0; i < 128; ++i) {
      for (int k = 0; k < 16; ++k) {
        pair.put(0, kStartA, i, k, static_cast<std::uint16_t>(a[i * 16 + k]));
        pair.put(0, kStartB, i, k, static_cast<std::uint16_t>(b[i * 16 + k]));
      }
    }
    MmaOperation op = plain(MmaKind::F16, kBf16 | shape_bits(128, 128));
    op.d_address = 64;
    op.accumulate = step != 0;
    pair.run(op);
    for (int m = 0; m < 128; ++m) {
      for (int n = 0; n < 128; ++n) {
        want[m * 128 + n] = model(ElementType::BF16, a, m, b, n, 16, want[m * 128 + n]);
      }
    }
  }
  int wrong = 0;
  for (int m = 0; m < 128; ++m) {
    for (int n = 0; n < 128; ++n) {
      wrong += read(pair.tmem[0], m, 64 + n) != want[m * 128 + n];
    }
  }
  CHECK(wrong == 0);
  CHECK(pair.tmem[0].at(0, 63) == kTmemPoison);
  CHECK(pair.tmem[0].at(0, 192) == kTmemPoison);
}

TEST_CASE(
    "M = 64: sixteen rows in each quarter of the lanes, two accumulators side by side at lanes 0 and 16") {
  Pair pair;
  const auto a = codes(64, 16, 1, random_bf16), b = codes(40, 16, 2, random_bf16);
  for (int k = 0; k < 16; ++k) {
    for (int i = 0; i < 64; ++i) pair.put(0, kStartA, i, k, static_cast<std::uint16_t>(a[i * 16 + k]));
    for (int i = 0; i < 40; ++i) pair.put(0, kStartB, i, k, static_cast<std::uint16_t>(b[i * 16 + k]));
  }
  MmaOperation op = plain(MmaKind::F16, kBf16 | shape_bits(64, 40));
  op.d_address = 16u << 16;
  pair.run(op);
  CHECK(pair.tmem[0].at(15, 0) == kTmemPoison);
  int wrong = 0;
  for (int m = 0; m < 64; ++m) {
    // Warp m / 16 reads its sixteen rows as the accumulator fragment 16x256b.
    TmemAccess access{TmemShape::Lanes16x256b, 1, false, static_cast<std::uint32_t>(m / 16 * 32 + 16) << 16,
                      0};
    REQUIRE(tmem_access_problem(access, m / 16).empty());
    std::uint32_t words[4][32];
    std::uint32_t* const registers[] = {words[0], words[1], words[2], words[3]};
    for (int n = 0; n < 40; ++n) {
      access.address = (access.address & 0xFFFF0000u) | static_cast<std::uint32_t>(n / 8 * 8);
      tmem_load(pair.tmem[0], access, registers);
      const int row = m % 16;
      const std::uint32_t got = words[n % 2 + (row >= 8 ? 2 : 0)][row % 8 * 4 + n % 8 / 2];
      wrong += got != model(ElementType::BF16, a, m, b, n, 16, 0);
    }
  }
  CHECK(wrong == 0);
  op.d_address = 0;
  const std::uint32_t before = pair.tmem[0].at(16, 0);
  pair.run(op);
  CHECK(pair.tmem[0].at(16, 0) == before);
  CHECK(pair.tmem[0].at(0, 0) == before);
}

TEST_CASE("A in tensor memory: two 16-bit elements of a row in each column, low half first") {
  for (int m_size : {128, 64}) {
    for (int lane : {0, 16}) {
      if (m_size == 128 && lane) continue;
      Pair pair;
      const auto a = codes(m_size, 16, 5, random_bf16), b = codes(64, 16, 6, random_bf16);
      for (int m = 0; m < m_size; ++m) {
        const int at = m_size == 128 ? m : m % 16 + m / 16 * 32 + lane;
        for (int k = 0; k < 16; k += 2) {
          pair.tmem[0].at(at, 200 + k / 2) = a[m * 16 + k] | a[m * 16 + k + 1] << 16;
        }
      }
      for (int n = 0; n < 64; ++n) {
        for (int k = 0; k < 16; ++k) pair.put(0, kStartB, n, k, static_cast<std::uint16_t>(b[n * 16 + k]));
      }
      MmaOperation op = plain(MmaKind::F16, kBf16 | shape_bits(m_size, 64));
      op.a_in_tmem = true;
      op.a_address = static_cast<std::uint32_t>(lane) << 16 | 200;
      op.d_address = static_cast<std::uint32_t>(lane) << 16;
      pair.run(op);
      int wrong = 0;
      for (int m = 0; m < m_size; ++m) {
        const int at = m_size == 128 ? m : m % 16 + m / 16 * 32 + lane;
        for (int n = 0; n < 64; ++n)
          wrong += pair.tmem[0].at(at, n) != model(ElementType::BF16, a, m, b, n, 16, 0);
      }
      INFO("M " << m_size << " lane " << lane);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("cta_group::2 splits rows of A and columns of B between the CTAs") {
  for (int m_size : {256, 128}) {
    for (bool a_in_tmem : {false, true}) {
      constexpr int kN = 96;
      Pair pair;
      const auto a = codes(m_size, 16, 7, random_bf16), b = codes(kN, 16, 8, random_bf16);
      const int rows = m_size / 2;
      for (int k = 0; k < 16; ++k) {
        for (int m = 0; m < m_size; ++m) {
          const int cta = m / rows, row = m % rows;
          pair.put(cta, kStartA, row, k, static_cast<std::uint16_t>(a[m * 16 + k]));
          // With 64 rows in a CTA each is needed in both halves of the lanes.
          for (int lane = row; lane < 128; lane += rows) {
            std::uint32_t& word = pair.tmem[cta].at(lane, 300 + k / 2);
            word = k % 2 ? (word & 0xFFFF) | a[m * 16 + k] << 16 : a[m * 16 + k];
          }
        }
        for (int n = 0; n < kN; ++n) {
          pair.put(n / (kN / 2), kStartB, n % (kN / 2), k, static_cast<std::uint16_t>(b[n * 16 + k]));
        }
      }
      MmaOperation op = plain(MmaKind::F16, kBf16 | shape_bits(m_size, kN), 2);
      op.a_in_tmem = a_in_tmem;
      op.a_address = 300;
      op.d_address = 100;
      pair.run(op);
      int wrong = 0;
      for (int m = 0; m < m_size; ++m) {
        for (int n = 0; n < kN; ++n) {
          const bool split = m_size == 128;
          const int lane = split ? m % 64 + (n >= kN / 2 ? 64 : 0) : m % 128;
          const int column = split ? n % (kN / 2) : n;
          wrong +=
              read(pair.tmem[m / rows], lane, 100 + column) != model(ElementType::BF16, a, m, b, n, 16, 0);
        }
      }
      INFO("M " << m_size << (a_in_tmem ? " A in tensor memory" : ""));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("8-bit kinds take 32 terms: e4m3 with e5m2, and s8 with u8") {
  Pair pair;
  const auto byte = [](std::mt19937& random) { return static_cast<std::uint32_t>(random() & 0xFF); };
  const auto a = codes(128, 32, 9, byte), b = codes(16, 32, 11, byte);
  for (int k = 0; k < 32; ++k) {
    for (int m = 0; m < 128; ++m) pair.put(0, kStartA, m, k, static_cast<std::uint8_t>(a[m * 32 + k]));
    for (int n = 0; n < 16; ++n) pair.put(0, kStartB, n, k, static_cast<std::uint8_t>(b[n * 32 + k]));
  }
  pair.run(plain(MmaKind::F8F6F4, 0x10 | 1u << 10 | shape_bits(128, 16)));
  MmaOperation integers = plain(MmaKind::I8, 0x20 | 1u << 7 | shape_bits(128, 16));
  integers.d_address = 32;
  pair.run(integers);
  int wrong = 0, wrong_integers = 0;
  for (int m = 0; m < 128; ++m) {
    for (int n = 0; n < 16; ++n) {
      std::vector<float> x, y;
      int sum = 0;
      for (int k = 0; k < 32; ++k) {
        x.push_back(element_value(ElementType::E4M3, a[m * 32 + k]));
        y.push_back(element_value(ElementType::E5M2, b[n * 32 + k]));
        sum += static_cast<std::int8_t>(a[m * 32 + k]) * static_cast<int>(b[n * 32 + k]);
      }
      wrong += pair.tmem[0].at(m, n) != mma_element_f32(x, -6, y, -14, 0);
      wrong_integers += pair.tmem[0].at(m, 32 + n) != static_cast<std::uint32_t>(sum);
    }
  }
  CHECK(wrong == 0);
  CHECK(wrong_integers == 0);
}

TEST_CASE("4- and 6-bit elements lie packed at the start of each 16 bytes of 16 elements") {
  Pair pair;
  const auto code = [](std::mt19937& random) { return static_cast<std::uint32_t>(random()); };
  auto a = codes(64, 32, 13, code), b = codes(8, 32, 14, code);
  for (auto& x : a) x &= 0xF;
  for (auto& x : b) x &= 0x3F;
  const auto pack = [&](std::uint32_t start, int row, const std::uint32_t* elements, int width) {
    for (int half = 0; half < 2; ++half) {
      unsigned __int128 bits = 0;
      for (int i = 0; i < 16; ++i)
        bits |= static_cast<unsigned __int128>(elements[16 * half + i]) << (width * i);
      for (int i = 0; i < 2 * width; ++i) {
        pair.put(0, start, row, 16 * half + i, static_cast<std::uint8_t>(bits >> (8 * i)));
      }
    }
  };
  for (int m = 0; m < 64; ++m) pack(kStartA, m, &a[m * 32], 4);
  for (int n = 0; n < 8; ++n) pack(kStartB, n, &b[n * 32], 6);
  pair.run(plain(MmaKind::F8F6F4, 0x10 | 5u << 7 | 4u << 10 | shape_bits(64, 8)));
  for (int n = 0; n < 8; ++n) {
    double sum = 0;  // exact: few bits and no wide exponents
    for (int k = 0; k < 32; ++k) {
      sum += double{element_value(ElementType::E2M1, a[17 * 32 + k])} *
             element_value(ElementType::E3M2, b[n * 32 + k]);
    }
    CHECK(pair.tmem[0].at(33, n) == f32(static_cast<float>(sum)));
  }
}

TEST_CASE("f16 accumulators lie in the low half of each column and are read back by pack::16b") {
  Pair pair;
  for (int k = 0; k < 16; ++k) {
    for (int m = 0; m < 128; ++m) pair.put(0, kStartA, m, k, std::uint16_t{0x3C00});  // 1
    for (int n = 0; n < 8; ++n)
      pair.put(0, kStartB, n, k, static_cast<std::uint16_t>(0x3C00 + n));  // 1 + n/1024
  }
  pair.run(plain(MmaKind::F16, shape_bits(128, 8)));
  CHECK((pair.tmem[0].at(9, 3) & 0xFFFF) == 0x4C03);  // 16 + 3 * 16/1024
  CHECK((pair.tmem[0].at(9, 3) >> 16) == 0xFFFA);
  std::uint32_t words[4][32];
  std::uint32_t* const registers[] = {words[0], words[1], words[2], words[3]};
  tmem_load(pair.tmem[0], {TmemShape::Lanes32x32b, 4, true, 0, 0}, registers);
  CHECK(words[1][9] == 0x4C034C02);
}

TEST_CASE("negation, disabled lanes and the accumulator's scale") {
  Pair pair;
  for (int k = 0; k < 16; ++k) {
    for (int m = 0; m < 128; ++m) pair.put(0, kStartA, m, k, bf16(2));
    for (int n = 0; n < 8; ++n) pair.put(0, kStartB, n, k, bf16(3));
  }
  MmaOperation op = plain(MmaKind::F16, kBf16 | 1u << 13 | shape_bits(128, 8));
  op.disabled_lanes = {0x00000001, 0, 0x80000000, 0xFFFFFFFF};
  for (MmaPrecision precision : {MmaPrecision::Exact, MmaPrecision::Fast}) {
    pair.tmem[0] = TensorMemory();
    op.accumulate = false;
    op.scale_d_shift = 0;
    pair.run(op, precision);
    CHECK(pair.tmem[0].at(1, 7) == f32(-96));
    CHECK(pair.tmem[0].at(94, 7) == f32(-96));
    for (int lane : {0, 95, 96, 127}) {
      CHECK(pair.tmem[0].at(lane, 7) == kTmemPoison);
    }
    op.accumulate = true;
    op.scale_d_shift = 5;
    pair.run(op, precision);
    CHECK(pair.tmem[0].at(1, 7) == f32(-96 - 3));
    CHECK(pair.tmem[0].at(0, 7) == kTmemPoison);
  }
}

TEST_CASE("NaN and infinity in an operand reach their row or column and no other") {
  Pair pair;
  for (int k = 0; k < 16; ++k) {
    for (int i = 0; i < 128; ++i) pair.put(0, kStartA, i, k, bf16(1));
    for (int i = 0; i < 64; ++i) pair.put(0, kStartB, i, k, bf16(i == 9 ? 0 : 1));
  }
  pair.put(0, kStartA, 70, 3, std::uint16_t{0x7F80});
  pair.put(0, kStartA, 71, 3, std::uint16_t{0xFFFA});
  pair.put(0, kStartB, 20, 15, std::uint16_t{0xFF80});
  pair.run(plain(MmaKind::F16, kBf16 | shape_bits(128, 64)));
  const TensorMemory& d = pair.tmem[0];
  CHECK(d.at(70, 0) == 0x7F800000);
  CHECK(d.at(70, 9) == kMmaNan);   // infinity times zero
  CHECK(d.at(70, 20) == kMmaNan);  // infinities of both signs
  CHECK(d.at(0, 20) == 0xFF800000);
  CHECK(d.at(71, 5) == kMmaNan);
  CHECK(d.at(69, 5) == f32(16));
  CHECK(d.at(69, 9) == 0);
}

TEST_CASE("operands are read at the start, the accumulator at completion") {
  Pair pair;
  for (int k = 0; k < 16; ++k) {
    for (int m = 0; m < 128; ++m) pair.put(0, kStartA, m, k, bf16(1));
    for (int n = 0; n < 8; ++n) pair.put(0, kStartB, n, k, bf16(1));
  }
  MmaOperation op = plain(MmaKind::F16, kBf16 | shape_bits(128, 8));
  op.accumulate = true;
  const SharedView views[] = {{pair.bytes[0].data(), kBase, kBytes}};
  TensorMemory* const memories[] = {&pair.tmem[0]};
  MmaInFlight flight = start_mma(op, views, memories);
  pair.put(0, kStartA, 0, 0, bf16(100));
  pair.tmem[0].at(0, 0) = f32(5);
  flight.complete(MmaPrecision::Exact);
  CHECK(pair.tmem[0].at(0, 0) == f32(21));
  CHECK(pair.tmem[0].at(0, 1) == kMmaNan);  // poison is NaN
}

TEST_CASE("the shared ranges are exactly the bytes of both operands, and the columns those of A and D") {
  Pair pair;
  MmaOperation op = plain(MmaKind::F16, kBf16 | shape_bits(128, 64));
  op.a_descriptor =
      (op.a_descriptor & ~(0x3FFFull << 32 | 7ull << 61)) | 64ull << 32 | 2ull << 61;  // 128B, SBO 1024
  const SharedView views[] = {{pair.bytes[0].data(), kBase, kBytes}};
  TensorMemory* const memories[] = {&pair.tmem[0]};
  const MmaInFlight flight = start_mma(op, views, memories);
  std::set<std::uint32_t> chunks;
  flight.for_each_shared_range([&](const SharedRange& range) {
    CHECK(range.cta == 0);
    for (std::uint32_t at = range.address; at < range.address + range.bytes; at += 16) {
      CHECK(chunks.insert(at).second);
    }
  });
  CHECK(chunks.size() == 128 * 2 + 64 * 2);
  CHECK(chunks.count(kStartA) == 1);
  // Row 1's chunks 0 and 1, exchanged within the 128 bytes.
  CHECK(chunks.count(kStartA + 128) == 1);
  CHECK(chunks.count(kStartA + 128 + 32) == 0);
  CHECK(chunks.count(kStartB + 4096 + 63 / 8 * 128 + 63 % 8 * 16) == 1);
  op.a_in_tmem = true;
  op.a_address = 72;
  op.d_address = 128;
  const auto ranges = start_mma(op, views, memories).tmem_ranges();
  REQUIRE(ranges.size() == 2);
  CHECK((ranges[0].first_column == 128 && ranges[0].columns == 64 && ranges[0].written));
  CHECK((ranges[1].first_column == 72 && ranges[1].columns == 8 && !ranges[1].written));
}

TEST_CASE("an operation that breaks a rule is refused with the rule") {
  const auto says = [](const MmaOperation& op, const std::string& text) {
    INFO(refusal(op));
    CHECK(refusal(op).find(text) != std::string::npos);
  };
  const MmaOperation good = plain(MmaKind::F16, kBf16 | shape_bits(128, 128));
  CHECK(refusal(good).empty());
  MmaOperation op = good;
  op.weight_stationary = true;
  op.cta_group = 2;
  says(op, "tcgen05.mma.ws does not exist for cta_group::2");
  op = good;
  op.zero_columns = 1ull << 39;
  says(op, "tcgen05.mma.ws only");
  op = good;
  op.d_address = 400;
  says(op, "runs past the last, 511");
  op = good;
  op.d_address = 512;
  says(op, "column 512");
  op = good;
  op.d_address = 16u << 16;
  says(op, "wants lane 0");
  op = good;
  op.b_descriptor &= ~(1ull << 46);
  says(op, "bits 46-48");
  op = good;
  op.b_descriptor |= 1ull << 61;
  op.instruction_descriptor |= 1u << 16;
  says(op, "32-bit MN-major operands");
  op = good;
  op.a_descriptor = (op.a_descriptor & ~0x3FFFull) | 0x3FFF;
  says(op, "outside this CTA's");
  op = plain(MmaKind::F16, kBf16 | shape_bits(64, 64));
  op.a_in_tmem = true;
  op.a_address = 16u << 16 | 64;
  says(op, "must start at the same lane");
  op = plain(MmaKind::F8F6F4, 0x10 | shape_bits(128, 64));
  op.scale_d_shift = 1;
  says(op, "scale-input-d");
  op = good;
  op.instruction_descriptor = kBf16 | shape_bits(256, 128);
  says(op, "M = 256");
}

TEST_CASE("any bit patterns at all: NaN, infinity, subnormal and zero, chained") {
  for (ElementType type : {ElementType::BF16, ElementType::F16}) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      // With every fourth exponent shrunk to zero no accumulator survives long; seed 0 has everything, later
      // ones less.
      const auto any = [](std::mt19937& random) { return static_cast<std::uint32_t>(random() & 0xFFFF); };
      const auto calmer = [](std::mt19937& random) {
        const std::uint32_t bits = random() & 0xFFFF;
        return random() % 400 == 0 ? bits : bits & 0xBFFF;  // exponent field below the middle
      };
      Pair pair;
      const auto a = codes(128, 16, 50 + seed, seed ? +calmer : +any);
      const auto b = codes(32, 16, 60 + seed, seed ? +calmer : +any);
      for (int k = 0; k < 16; ++k) {
        for (int m = 0; m < 128; ++m) pair.put(0, kStartA, m, k, static_cast<std::uint16_t>(a[m * 16 + k]));
        for (int n = 0; n < 32; ++n) pair.put(0, kStartB, n, k, static_cast<std::uint16_t>(b[n * 16 + k]));
      }
      std::mt19937 random(seed);
      std::vector<std::uint32_t> want(128 * 32);
      for (int m = 0; m < 128; ++m) {
        for (int n = 0; n < 32; ++n) {
          const std::uint32_t c = random() >> (seed == 3 ? 1 : 0) & ~0x40000000u;
          pair.tmem[0].at(m, n) = c;
          want[m * 32 + n] = model(type, a, m, b, n, 16, model(type, a, m, b, n, 16, c));
        }
      }
      MmaOperation op = plain(MmaKind::F16, (type == ElementType::BF16 ? kBf16 : 0x10) | shape_bits(128, 32));
      op.accumulate = true;
      pair.run(op);
      pair.run(op);
      int wrong = 0;
      for (int m = 0; m < 128; ++m) {
        for (int n = 0; n < 32; ++n) wrong += pair.tmem[0].at(m, n) != want[m * 32 + n];
      }
      INFO(name(type) << " seed " << seed);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("the fast rule stays within f32 rounding of the float64 product") {
  Pair pair;
  const auto a = codes(128, 16, 70, random_bf16), b = codes(128, 16, 71, random_bf16);
  for (int k = 0; k < 16; ++k) {
    for (int m = 0; m < 128; ++m) pair.put(0, kStartA, m, k, static_cast<std::uint16_t>(a[m * 16 + k]));
    for (int n = 0; n < 128; ++n) pair.put(0, kStartB, n, k, static_cast<std::uint16_t>(b[n * 16 + k]));
  }
  pair.run(plain(MmaKind::F16, kBf16 | shape_bits(128, 128)), MmaPrecision::Fast);
  double worst = 0;
  for (int m = 0; m < 128; ++m) {
    for (int n = 0; n < 128; ++n) {
      double sum = 0, size = 0;
      for (int k = 0; k < 16; ++k) {
        const double term = double{element_value(ElementType::BF16, a[m * 16 + k])} *
                            element_value(ElementType::BF16, b[n * 16 + k]);
        sum += term;
        size += std::abs(term);
      }
      worst = std::max(worst, std::abs(std::bit_cast<float>(pair.tmem[0].at(m, n)) - sum) / size);
    }
  }
  CHECK(worst < 16 * 0x1p-24);
}

TEST_CASE("random operations are either carried out or refused, never read or write outside") {
  std::mt19937_64 random(5);
  Pair pair;
  int done = 0, refused = 0;
  for (int i = 0; i < 15000; ++i) {
    MmaOperation op;
    op.kind = static_cast<MmaKind>(random() % 7);
    op.cta_group = 1 + static_cast<int>(random() % 2);
    op.weight_stationary = random() % 8 == 0;
    op.zero_columns = op.weight_stationary ? random() & 0x3FFF'FF8F'FFFF'FFFF : 0;
    op.scale_blocks = 1 << random() % 3;
    op.scale_a_address = random() % 520;
    op.scale_b_address = random() % 520;
    op.first_scale_copy_only = random() % 2;
    op.d_address = random() % 600 | (random() % 4 ? 0 : 16u << 16);
    op.a_in_tmem = random() % 2;
    op.a_address = random() % 520;
    constexpr std::uint64_t kOffsets = 0x03FF'01FF'1FFF;  // start below 128 KB, LBO and SBO short
    const auto descriptor = [&] { return (random() & kOffsets) | 1ull << 46 | (random() % 8) << 61; };
    op.a_descriptor = descriptor();
    op.b_descriptor = descriptor();
    constexpr std::uint32_t kTypes[] = {kBf16, 0x910, 0x10, 0x4A0, 0x800000, 0x800480, 0x480};
    constexpr int kRows[] = {32, 64, 128, 256};
    const bool scaled = is_block_scaled(op.kind);
    const std::uint32_t type = kTypes[static_cast<int>(op.kind)];
    op.instruction_descriptor = type | shape_bits(kRows[random() % 4], 8 * (1 + random() % 32)) |
                                (is_packed_fp4(op.kind) ? 0 : random() % 4 << 15) |
                                (scaled ? random() % 2 << 30 | random() % 2 << 5 : random() % 2 << 30);
    op.accumulate = random() % 2;
    try {
      pair.run(op, random() % 2 ? MmaPrecision::Exact : MmaPrecision::Fast);
      ++done;
    } catch (const TensorError& error) {
      REQUIRE(std::string(error.what()).size() > 20);
      ++refused;
    }
  }
  CHECK(done > 50);
  CHECK(refused > 50);
}
