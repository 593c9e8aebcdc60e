// tcgen05.mma.ws: the manual's examples of zero-column masks, the layouts E and G, and what is refused.

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/tensor_core.h"
#include "units/zero_columns.h"

using namespace emu::units;

namespace {

struct Mask {
  int start[4] = {}, first[4] = {};
  int skip = 0, use = 0, shift = 0;  // fields as they stand in the descriptor
  std::uint64_t bits() const {
    std::uint64_t word = std::uint64_t{1} << 39 | static_cast<std::uint64_t>(skip) << 40 |
                         static_cast<std::uint64_t>(use) << 48 | static_cast<std::uint64_t>(shift) << 56;
    for (int i = 0; i < 4; ++i) {
      word |= static_cast<std::uint64_t>(start[i]) << 8 * i | static_cast<std::uint64_t>(first[i])
                                                                  << (32 + i);
    }
    return word;
  }
};

/// The mask of columns [first, first + digits), highest column first, as the manual prints it.
std::string printed(const std::vector<bool>& zero, int first, int digits) {
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += zero[static_cast<std::size_t>(first + i)] ? '1' : '0';
  return text;
}

}  // namespace

TEST_CASE("the manual's four examples of zero-column masks") {
  Mask mask;
  mask.skip = 4;
  mask.use = 3;
  const auto none = zero_columns(mask.bits() & ~(1ull << 39), 128, 64);
  CHECK(printed(none, 0, 64) == std::string(64, '0'));
  mask.skip = 2;
  CHECK(printed(zero_columns(mask.bits(), 128, 64), 0, 14) == "11100001110000");
  mask.first[0] = 1;
  const auto two = zero_columns(mask.bits(), 64, 128);
  CHECK(printed(two, 0, 17) == "11100001110000111");
  CHECK(printed(two, 64, 18) == "000011100001110000");
  mask = {{0, 1, 2, 1}, {1, 1, 0, 0}, 2, 3, 2};
  const auto four = zero_columns(mask.bits(), 32, 128);
  CHECK(printed(four, 0, 14) == "00001110000111");
  CHECK(printed(four, 32, 13) == "0000111000011");
  CHECK(printed(four, 64, 12) == "111000011100");
  CHECK(printed(four, 96, 13) == "1110000111000");
  CHECK(zero_columns_shift(mask.bits()) == 2);
}

TEST_CASE("a start count beyond the first span leaves one column of it") {
  Mask mask;
  mask.skip = 2;
  mask.use = 3;
  mask.first[0] = 1;
  mask.start[0] = 255;
  CHECK(printed(zero_columns(mask.bits(), 128, 64), 0, 8) == "11100001");
}

TEST_CASE("column shifts are limited by M and by the instruction descriptor") {
  Mask mask;
  mask.shift = 16;
  CHECK(zero_columns_problem(mask.bits(), 32, 32).empty());
  CHECK(zero_columns_problem(mask.bits(), 32, 8).find("exceeds the 8 that bits 30-31") != std::string::npos);
  mask.shift = 17;
  CHECK(zero_columns_problem(mask.bits(), 32, 32).find("exceeds 16, the most for M = 32") !=
        std::string::npos);
  CHECK(zero_columns_problem(mask.bits(), 64, 32).empty());
  CHECK(zero_columns_problem(1ull << 36, 128, 0).find("reserved") != std::string::npos);
}

namespace {

constexpr std::uint32_t kBytes = 96 * 1024, kStartB = 0x8000;
constexpr int kRows = 512;  // K-major without swizzle: 16-byte columns so many rows apart

std::uint16_t bf16(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}
int a_value(int m, int k) { return (m * 5 + k * 3) % 9 - 4; }
int b_value(int n, int k) { return (n * 7 + k) % 11 - 5; }

struct Stationary {
  std::vector<std::byte> shared = std::vector<std::byte>(kBytes, std::byte{0xFF});
  TensorMemory tmem;

  Stationary() {
    const auto put = [&](std::uint32_t start, int row, int k, int value) {
      const std::uint16_t word = bf16(value);
      std::memcpy(&shared[start + row % 8 * 16 + row / 8 * 128 + k / 8 * kRows * 16 + k % 8 * 2], &word, 2);
    };
    for (int k = 0; k < 16; ++k) {
      for (int m = 0; m < 128; ++m) put(0, m, k, a_value(m, k));
      for (int n = 0; n < 288; ++n) put(kStartB, n, k, b_value(n, k));
    }
  }

  MmaOperation operation(int m, int n) const {
    constexpr std::uint64_t kPlain =
        std::uint64_t{1} << 46 | std::uint64_t{128 / 16} << 32 | std::uint64_t{kRows} << 16;
    MmaOperation op;
    op.weight_stationary = true;
    op.a_descriptor = kPlain;
    op.b_descriptor = kPlain | kStartB / 16;
    op.instruction_descriptor =
        0x490 | static_cast<std::uint32_t>(n / 8) << 17 | static_cast<std::uint32_t>(m / 16) << 24;
    return op;
  }

  void run(const MmaOperation& op, MmaPrecision precision = MmaPrecision::Exact) {
    const SharedView view{shared.data(), 0, kBytes};
    TensorMemory* const memory = &tmem;
    start_mma(op, {&view, 1}, {&memory, 1}).complete(precision);
  }

  /// PTX ISA 9.7.16.10.5, layouts D, E and G.
  float result(int m_count, int n_count, int m, int n) const {
    const int parts = 128 / m_count, width = n_count / parts;
    return std::bit_cast<float>(tmem.at(m + n / width * m_count, n % width));
  }
};

int product(int m, int n) {
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum += a_value(m, k) * b_value(n, k);
  return sum;
}

}  // namespace

TEST_CASE(".ws: parts of the columns lie below each other, two for M = 64, four for M = 32") {
  for (const int m_count : {32, 64, 128}) {
    for (const int n_count : {64, 128, 256}) {
      for (const MmaPrecision precision : {MmaPrecision::Exact, MmaPrecision::Fast}) {
        Stationary s;
        s.run(s.operation(m_count, n_count), precision);
        int wrong = 0;
        for (int m = 0; m < m_count; ++m) {
          for (int n = 0; n < n_count; ++n) wrong += s.result(m_count, n_count, m, n) != product(m, n);
        }
        INFO(m_count << "x" << n_count);
        CHECK(wrong == 0);
        CHECK(s.tmem.at(0, n_count * m_count / 128) == kTmemPoison);
      }
    }
  }
}

TEST_CASE(".ws: an A in tensor memory is read from the lanes of each part") {
  Stationary s;
  for (int part = 0; part < 4; ++part) {
    for (int m = 0; m < 32; ++m) {
      for (int k = 0; k < 16; k += 2) {
        // Each copy is another multiple, so that it shows which one was read.
        s.tmem.at(part * 32 + m, 256 + k / 2) =
            bf16((part + 1) * a_value(m, k)) | std::uint32_t{bf16((part + 1) * a_value(m, k + 1))} << 16;
      }
    }
  }
  MmaOperation op = s.operation(32, 128);
  op.a_in_tmem = true;
  op.a_address = 256;
  s.run(op);
  int wrong = 0;
  for (int m = 0; m < 32; ++m) {
    for (int n = 0; n < 128; ++n) wrong += s.result(32, 128, m, n) != (n / 32 + 1) * product(m, n);
  }
  CHECK(wrong == 0);
}

TEST_CASE(".ws: masked columns are zero, NaN or not, and a shift starts at a later column of B") {
  Stationary s;
  Mask mask;
  mask.skip = 2;
  mask.use = 3;
  mask.shift = 5;
  MmaOperation op = s.operation(64, 128);
  op.instruction_descriptor |= 1u << 30;
  op.zero_columns = mask.bits();
  const float nan = std::bit_cast<float>(0x7FC00000);
  std::memcpy(&s.shared[kStartB + (9 / 8) * 128 + (9 % 8) * 16 + 2], reinterpret_cast<const char*>(&nan) + 2,
              2);
  s.run(op);  // column 4 of the product uses column 9 of B, which is masked
  int wrong = 0;
  for (int m = 0; m < 64; ++m) {
    for (int n = 0; n < 128; ++n) {
      wrong += s.result(64, 128, m, n) != (n % 64 % 7 < 4 ? product(m, n + 5) : 0);
    }
  }
  CHECK(wrong == 0);
  op.instruction_descriptor &= ~(3u << 30);
  CHECK(mma_problems(op).front().find("column shift 5") != std::string::npos);
}

TEST_CASE(".ws: shapes and forms that do not exist are refused") {
  Stationary s;
  const auto refusal = [](const MmaOperation& op) {
    const auto problems = mma_problems(op);
    return problems.empty() ? std::string() : problems.front();
  };
  CHECK(refusal(s.operation(32, 64)).empty());
  CHECK(refusal(s.operation(32, 96)).find("N = 96") != std::string::npos);
  CHECK(refusal(s.operation(256, 64)).find("32, 64 and 128 are") != std::string::npos);
  MmaOperation op = s.operation(64, 64);
  op.d_address = 16u << 16;
  CHECK(refusal(op).find("wants lane 0") != std::string::npos);
  op = s.operation(128, 128);
  op.kind = MmaKind::MXF4;
  CHECK(refusal(op).find("does not exist") != std::string::npos);
}
