// tcgen05.mma.sp against products of the dense matrices. The test compresses A and writes the metadata by its
// own words: 16-bit and wider elements as JAX formats them, (8, 2, 8) rows by (2, 16) elements become lanes
// (8, 2, 8) of outer row, half of K and inner row; bytes with a row in each lane.

#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/tensor_core.h"

using namespace emu::units;

namespace {

constexpr std::uint32_t kBytes = 96 * 1024, kStartB = 0x8000;
constexpr int kRows = 256;  // K-major without swizzle: 16-byte columns so many rows apart
constexpr int kMetadata = 300, kColumnsOfA = 320;

struct Type {
  MmaKind kind;
  std::uint32_t codes;  // of the types in the instruction descriptor
  int bytes, depth;     // depth: logical K
};
constexpr Type kBf16{MmaKind::F16, 0x490, 2, 32}, kTf32{MmaKind::TF32, 0x910, 4, 16},
    kE4m3{MmaKind::F8F6F4, 0x10, 1, 64}, kS8{MmaKind::I8, 0x4A0, 1, 64};

std::uint32_t encode(const Type& type, int value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  switch (type.kind) {
    case MmaKind::F16:
      return bits >> 16;
    case MmaKind::TF32:
      return bits;
    case MmaKind::F8F6F4:  // e4m3 of a small integer: three fraction bits, bias 7
      return value == 0 ? 0 : (bits >> 31) << 7 | ((bits >> 20 & 0x7FF) - (120 << 3));
    default:
      return static_cast<std::uint8_t>(value);
  }
}

/// A row of A: its values, and what is stored of it.
struct SparseRow {
  std::vector<int> dense, stored;
  std::vector<std::uint32_t> codes;
};

SparseRow make_row(const Type& type, std::mt19937& random) {
  SparseRow row;
  row.dense.assign(static_cast<std::size_t>(type.depth), 0);
  const auto value = [&] { return static_cast<int>(random() % 4 + 1) * (random() % 2 ? 1 : -1); };
  const auto place = [&](int at) {
    row.stored.push_back(value());
    row.dense[static_cast<std::size_t>(at)] = row.stored.back();
  };
  if (type.kind == MmaKind::TF32) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      const int upper = static_cast<int>(random() % 2);
      row.codes.push_back(upper ? 0b1110 : 0b0100);
      place(2 * chunk + upper);
    }
    return row;
  }
  constexpr int kPositions[7][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 1}, {2, 3}};
  for (int chunk = 0; chunk < type.depth / 4; ++chunk) {
    const auto& [first, second] = kPositions[random() % 7];
    row.codes.push_back(static_cast<std::uint32_t>(first | second << 2));
    place(4 * chunk + first);
    place(4 * chunk + second);
  }
  return row;
}

struct Case {
  Type type;
  int cta_group = 1, m = 128, n = 64;
  bool weight_stationary = false, a_in_tmem = false;
  int lane = 0, selector = 0;
};

struct Machine {
  std::vector<std::byte> shared[2] = {std::vector<std::byte>(kBytes, std::byte{0x7F}),
                                      std::vector<std::byte>(kBytes, std::byte{0x7F})};
  TensorMemory tmem[2];
  std::vector<SparseRow> a;
  std::vector<std::vector<int>> b;
  MmaOperation op;

  explicit Machine(const Case& c) {
    std::mt19937 random(static_cast<unsigned>(c.m + c.n));
    for (int m = 0; m < c.m; ++m) a.push_back(make_row(c.type, random));
    b.resize(static_cast<std::size_t>(c.n));
    for (auto& row : b) {
      for (int k = 0; k < c.type.depth; ++k) row.push_back(static_cast<int>(random() % 7) - 3);
    }
    for (int cta = 0; cta < c.cta_group; ++cta) fill(c, cta);
    constexpr std::uint64_t kPlain =
        std::uint64_t{1} << 46 | std::uint64_t{128 / 16} << 32 | std::uint64_t{kRows} << 16;
    op.kind = c.type.kind;
    op.cta_group = c.cta_group;
    op.weight_stationary = c.weight_stationary;
    op.sparse = true;
    op.a_in_tmem = c.a_in_tmem;
    op.a_descriptor = kPlain;
    op.b_descriptor = kPlain | kStartB / 16;
    const auto at_lane = [&](int column) { return static_cast<std::uint32_t>(c.lane << 16 | column); };
    op.a_address = at_lane(kColumnsOfA);
    op.metadata_address = at_lane(kMetadata);
    op.d_address = at_lane(0);
    op.instruction_descriptor = c.type.codes | 4u | static_cast<std::uint32_t>(c.selector) |
                                static_cast<std::uint32_t>(c.n / 8) << 17 |
                                static_cast<std::uint32_t>(c.m / 16) << 24;
  }

  /// Lane of local row `m` in copy `copy`: spread over the quarters where a CTA has 64 rows of D in half its
  /// lanes, else one below the other.
  static int lane_of(const Case& c, int m, int copy) {
    const int rows = c.m / c.cta_group;
    return rows == 64 && !c.weight_stationary ? c.lane + m % 16 + m / 16 * 32 : m + copy * rows;
  }
  static int copies(const Case& c) { return c.weight_stationary ? 128 / c.m : 1; }

  void fill(const Case& c, int cta) {
    const auto put = [&](std::uint32_t start, int row, int k, int value) {
      const std::uint32_t word = encode(c.type, value);
      const int byte = k * c.type.bytes;
      std::memcpy(&shared[cta][start + row % 8 * 16 + row / 8 * 128 + byte / 16 * kRows * 16 + byte % 16],
                  &word, static_cast<std::size_t>(c.type.bytes));
    };
    const int rows = c.m / c.cta_group, columns = c.n / c.cta_group;
    for (int n = 0; n < columns; ++n) {
      for (int k = 0; k < c.type.depth; ++k)
        put(kStartB, n, k, b[static_cast<std::size_t>(cta * columns + n)][static_cast<std::size_t>(k)]);
    }
    for (int m = 0; m < rows; ++m) {
      const SparseRow& row = a[static_cast<std::size_t>(cta * rows + m)];
      for (std::size_t i = 0; i < row.stored.size(); ++i) put(0, m, static_cast<int>(i), row.stored[i]);
      for (int copy = 0; copy < copies(c); ++copy) {
        put_in_tmem(c, tmem[cta], row, lane_of(c, m, copy));
        put_metadata(c, tmem[cta], row, m, copy);
      }
    }
  }

  static void put_in_tmem(const Case& c, TensorMemory& memory, const SparseRow& row, int lane) {
    const int per_column = 4 / c.type.bytes;
    for (int column = 0; column < 8; ++column) {
      std::uint32_t word = 0;
      for (int i = 0; i < per_column; ++i)
        word |= encode(c.type, row.stored[static_cast<std::size_t>(column * per_column + i)])
                << 8 * c.type.bytes * i;
      memory.at(lane, kColumnsOfA + column) = word;
    }
  }

  static void put_metadata(const Case& c, TensorMemory& memory, const SparseRow& row, int m, int copy) {
    for (std::size_t chunk = 0; chunk < row.codes.size(); ++chunk) {
      int lane = lane_of(c, m, copy), column = kMetadata + static_cast<int>(chunk / 8);
      int bit = static_cast<int>(chunk % 8) * 4;
      if (row.codes.size() == 8) {  // rows m and m + 8 together
        lane += static_cast<int>(chunk / 4) * 8 - (m % 16 >= 8 ? 8 : 0);
        bit = (m % 16 >= 8 ? 16 : 0) + static_cast<int>(chunk % 4) * 4;
        column = kMetadata + c.selector;
      }
      std::uint32_t& word = memory.at(lane, column);
      word = (word & ~(0xFu << bit)) | row.codes[chunk] << bit;
    }
  }

  void run(MmaPrecision precision = MmaPrecision::Exact) {
    const SharedView views[] = {{shared[0].data(), 0, kBytes}, {shared[1].data(), 0, kBytes}};
    TensorMemory* const memories[] = {&tmem[0], &tmem[1]};
    const auto ctas = static_cast<std::size_t>(op.cta_group);
    start_mma(op, std::span(views, ctas), std::span(memories, ctas)).complete(precision);
  }

  int wrong(const Case& c) const {
    int count = 0;
    const int rows = c.m / c.cta_group, width = c.n / copies(c);
    for (int m = 0; m < c.m; ++m) {
      for (int n = 0; n < c.n; ++n) {
        int want = 0;
        for (std::size_t k = 0; k < b[0].size(); ++k)
          want += a[static_cast<std::size_t>(m)].dense[k] * b[static_cast<std::size_t>(n)][k];
        const std::uint32_t got = tmem[m / rows].at(lane_of(c, m % rows, n / width), n % width);
        count += c.type.kind == MmaKind::I8 ? static_cast<int>(got) != want
                                            : std::bit_cast<float>(got) != static_cast<float>(want);
      }
    }
    return count;
  }
};

void check(const Case& c) {
  for (const MmaPrecision precision : {MmaPrecision::Exact, MmaPrecision::Fast}) {
    Machine machine(c);
    machine.run(precision);
    INFO(name(c.type.kind) << " cta_group::" << c.cta_group << (c.weight_stationary ? ".ws " : " ") << c.m
                           << "x" << c.n << " lane " << c.lane << (c.a_in_tmem ? " TS" : " SS"));
    CHECK(machine.wrong(c) == 0);
  }
}

}  // namespace

TEST_CASE("a sparse A multiplies as the dense matrix it stands for, in every kind, shape and CTA group") {
  for (const Type& type : {kBf16, kTf32, kE4m3, kS8}) {
    for (const bool a_in_tmem : {false, true}) {
      check({type, 1, 128, 64, false, a_in_tmem});
      check({type, 1, 128, 256, false, a_in_tmem});
      check({type, 1, 64, 32, false, a_in_tmem, 0});
      check({type, 1, 64, 32, false, a_in_tmem, 16});
      check({type, 2, 256, 128, false, a_in_tmem});
      check({type, 2, 128, 64, false, a_in_tmem, 0});
      check({type, 2, 128, 64, false, a_in_tmem, 16});
      for (const int m : {32, 64, 128}) check({type, 1, m, 128, true, a_in_tmem});
    }
  }
}

TEST_CASE("the sparsity selector of f16 and tf32 picks the odd column of metadata") {
  check({kBf16, 1, 128, 64, false, false, 0, 1});
  check({kTf32, 1, 128, 64, false, true, 0, 1});
}

TEST_CASE("codes of one position twice count where a stored element is zero, as compressors write them") {
  const Case c{kBf16};
  Machine machine(c);
  SparseRow& row = machine.a[5];
  row.dense.assign(32, 0);
  row.stored.assign(16, 0);
  row.codes.assign(8, 0);
  row.dense[4] = row.stored[2] = 3;  // code 0b0000: both elements at position 0, the second a zero
  row.dense[9] = row.stored[4] = -2;
  row.codes[2] = 0b0001;  // position 1, then 0
  machine.fill(c, 0);
  machine.run();
  CHECK(machine.wrong(c) == 0);
}

TEST_CASE("sparse forms that break a rule are refused with the rule") {
  const Case good{kBf16};
  const auto refusal = [&](const Case& c, auto change) {
    Machine machine(c);
    change(machine);
    try {
      machine.run();
    } catch (const TensorError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(refusal(good, [](Machine&) {}).empty());
  CHECK(has(refusal(good, [](Machine& m) { m.op.sparse = false; }), "is for .sp only"));
  CHECK(has(refusal(good, [](Machine& m) { m.op.instruction_descriptor &= ~4u; }), "bit 2 must be set"));
  CHECK(has(refusal(good, [](Machine& m) { m.op.instruction_descriptor |= 2u; }), "selector 2"));
  CHECK(has(refusal({kE4m3}, [](Machine& m) { m.op.instruction_descriptor |= 1u; }),
            "must be 0 for kind::f8f6f4"));
  CHECK(has(refusal(good, [](Machine& m) { ++m.op.metadata_address; }), "must be even"));
  CHECK(has(refusal({kBf16, 1, 64}, [](Machine& m) { m.op.metadata_address |= 16u << 16; }), "same lane"));
  CHECK(has(refusal(good, [](Machine& m) { m.tmem[0].at(3, kMetadata) = 0; }), "0b0000"));
  CHECK(has(refusal({kBf16, 1, 64, 256, true}, [](Machine&) {}), "N = 256"));
  CHECK(has(refusal(good, [](Machine& m) { m.op.kind = MmaKind::MXF4; }),
            ".sp is not implemented for kind::mxf4"));
}
