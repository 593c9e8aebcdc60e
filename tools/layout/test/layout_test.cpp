#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "layout/banks.h"
#include "layout/canonical.h"
#include "layout/descriptors.h"
#include "layout/snapshot.h"
#include "layout/tma.h"
#include "layout/tmem.h"
#include "testing/catch.h"

using namespace layout;

namespace {

struct Example {
  Canonical form;
  uint32_t start;
  int mn, k;
  uint32_t linear, physical;  // from `origin`
};
constexpr uint32_t kOrigin = 0x1000;

Canonical k_major(Swizzle mode, uint32_t lbo, uint32_t sbo) { return {Major::k, mode, 2, lbo, sbo}; }
Canonical mn_major(Swizzle mode, uint32_t lbo, uint32_t sbo, int es = 2) {
  return {Major::mn, mode, es, lbo, sbo};
}

// Offsets that were reproduced against the CuTe layouts and the five figures of PTX ISA 9.7.16.3.
const std::vector<Example> kExamples = {
    {k_major(Swizzle::none, 2048, 128), 0x1000, 3, 5, 58, 58},
    {k_major(Swizzle::none, 2048, 128), 0x1000, 10, 9, 2210, 2210},
    {k_major(Swizzle::none, 2048, 128), 0x1000, 77, 15, 3294, 3294},
    {k_major(Swizzle::b32, 0, 256), 0x1000, 3, 5, 106, 106},
    {k_major(Swizzle::b32, 0, 256), 0x1000, 5, 9, 178, 162},
    {k_major(Swizzle::b32, 0, 256), 0x1000, 77, 15, 2494, 2478},
    {k_major(Swizzle::b64, 0, 512), 0x1000, 3, 5, 202, 218},
    {k_major(Swizzle::b64, 0, 512), 0x1000, 6, 9, 402, 418},
    {k_major(Swizzle::b64, 0, 512), 0x1000, 77, 15, 4958, 4990},
    {k_major(Swizzle::b128, 0, 1024), 0x1000, 3, 5, 394, 442},
    {k_major(Swizzle::b128, 0, 1024), 0x1000, 13, 9, 1682, 1730},
    {k_major(Swizzle::b128, 0, 1024), 0x1000, 77, 15, 9886, 9934},
    // The second K step: the descriptor starts 32 bytes into the atom.
    {k_major(Swizzle::b128, 0, 1024), 0x1020, 3, 5, 394, 0x119A - 0x1000},
    {k_major(Swizzle::b128, 0, 1024), 0x1020, 13, 9, 1682, 0x16E2 - 0x1000},
    {k_major(Swizzle::b128, 0, 1024), 0x1020, 77, 15, 9886, 0x36EE - 0x1000},
    {mn_major(Swizzle::none, 1024, 128), 0x1000, 3, 5, 86, 86},
    {mn_major(Swizzle::none, 1024, 128), 0x1000, 10, 9, 1172, 1172},
    {mn_major(Swizzle::none, 1024, 128), 0x1000, 77, 15, 2298, 2298},
    {mn_major(Swizzle::b32, 2048, 256), 0x1000, 3, 5, 166, 182},
    {mn_major(Swizzle::b32, 2048, 256), 0x1000, 20, 9, 2344, 2344},
    {mn_major(Swizzle::b32, 2048, 256), 0x1000, 77, 15, 8698, 8682},
    {mn_major(Swizzle::b64, 4096, 512), 0x1000, 3, 5, 326, 358},
    {mn_major(Swizzle::b64, 4096, 512), 0x1000, 20, 9, 616, 616},
    {mn_major(Swizzle::b64, 4096, 512), 0x1000, 77, 15, 9178, 9194},
    {mn_major(Swizzle::b128, 8192, 1024), 0x1000, 3, 5, 646, 726},
    {mn_major(Swizzle::b128, 8192, 1024), 0x1000, 20, 9, 1192, 1208},
    {mn_major(Swizzle::b128, 8192, 1024), 0x1000, 77, 15, 10138, 10218},
    {mn_major(Swizzle::b128_32, 4096, 512, 4), 0x1000, 3, 5, 652, 684},
    {mn_major(Swizzle::b128_32, 4096, 512, 4), 0x1000, 20, 2, 336, 272},
    {mn_major(Swizzle::b128_32, 4096, 512, 4), 0x1000, 45, 7, 5044, 5076},
};

}  // namespace

TEST_CASE("every canonical layout places the worked examples") {
  for (const Example& e : kExamples) {
    INFO(name_of(e.form.major) << ' ' << name_of(e.form.mode) << " (" << e.mn << ',' << e.k << ')');
    CHECK(e.form.linear(e.mn, e.k) == e.linear);
    CHECK(e.form.address(e.start, e.mn, e.k) - kOrigin == e.physical);
  }
}

TEST_CASE("SW128 puts a thread's chunk where hand-written stores put it") {
  // Independent form: base + row * 128 + ((chunk ^ (row & 7)) << 4) for a 1024-aligned base.
  for (uint32_t row = 0; row < 64; ++row) {
    for (uint32_t chunk = 0; chunk < 8; ++chunk) {
      CHECK(swizzled(0x4000 + row * 128 + chunk * 16, Swizzle::b128) ==
            0x4000 + row * 128 + ((chunk ^ (row & 7)) << 4));
    }
  }
}

namespace {

// One operand of the eleven products that an H200 computed without a mismatch, the rest of shared memory NaN.
struct Measured {
  Canonical form;
  uint32_t start;
  int mn;  // extent; the contraction is 16
};
const std::vector<Measured> kMeasured = {
    {k_major(Swizzle::none, 2048, 128), 0, 64},      {k_major(Swizzle::none, 1024, 128), 0, 64},
    {k_major(Swizzle::none, 128, 256), 0, 64},       {k_major(Swizzle::b128, 16, 1024), 0, 64},
    {k_major(Swizzle::b128, 16, 1024), 32, 64},      {k_major(Swizzle::b128, 16, 1024), 96, 64},
    {k_major(Swizzle::b128, 16, 2048), 0, 64},       {k_major(Swizzle::b128, 4096, 2048), 0, 64},
    {k_major(Swizzle::b64, 16, 512), 32, 64},        {k_major(Swizzle::b32, 16, 256), 0, 64},
    {mn_major(Swizzle::none, 1024, 128), 0, 64},     {mn_major(Swizzle::b128, 8192, 1024), 0, 64},
    {mn_major(Swizzle::b128, 8192, 2048), 2048, 64}, {mn_major(Swizzle::b128, 8192, 4096), 2048, 64},
    {mn_major(Swizzle::b64, 4096, 512), 0, 64},      {mn_major(Swizzle::b32, 2048, 256), 0, 64},
    {mn_major(Swizzle::none, 128, 512), 0, 64},
};

}  // namespace

TEST_CASE("the layouts measured on an H200 give every element an address of its own, 2-byte aligned") {
  for (const Measured& m : kMeasured) {
    INFO(name_of(m.form.major) << ' ' << name_of(m.form.mode) << " LBO " << m.form.lbo << " SBO "
                               << m.form.sbo);
    std::vector<uint32_t> seen;
    for (int mn = 0; mn < m.mn; ++mn) {
      for (int k = 0; k < 16; ++k) seen.push_back(m.form.address(0x8000 + m.start, mn, k));
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    CHECK(std::all_of(seen.begin(), seen.end(), [](uint32_t a) { return a % 2 == 0; }));
  }
}

TEST_CASE("LBO is ignored in swizzled K-major, as an H200 showed") {
  const Canonical a = k_major(Swizzle::b128, 16, 2048), b = k_major(Swizzle::b128, 4096, 2048);
  for (int mn = 0; mn < 64; ++mn) {
    for (int k = 0; k < 16; ++k) CHECK(a.address(0, mn, k) == b.address(0, mn, k));
  }
  CHECK_FALSE(a.uses_lbo());
}

TEST_CASE("LBO and SBO swap roles in MN-major, as an H200 showed") {
  // Without swizzle LBO strides K, with it LBO strides MN.
  const Canonical plain = mn_major(Swizzle::none, 1024, 128), sw = mn_major(Swizzle::b128, 8192, 1024);
  CHECK(plain.linear(0, 8) == 1024);
  CHECK(plain.linear(8, 0) == 128);
  CHECK(sw.linear(64, 0) == 8192);
  CHECK(sw.linear(0, 8) == 1024);
}

TEST_CASE("stepping a K-major SW128 tile by 32 bytes, then by slab, finds every element that TMA wrote") {
  const Tile t = packed_tile(Major::k, Swizzle::b128, 2, 128, 128, 0x400);
  CHECK(t.step_offset(3) == 96);
  CHECK(t.step_offset(4) == 128 * 128);
  CHECK(t.form.sbo == 1024);
}

TEST_CASE("boxes and descriptors meet for every packed tile") {
  for (Major major : {Major::k, Major::mn}) {
    for (Swizzle mode : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      const Tile t = packed_tile(major, mode, 2, 128, 128, 0x400 * 4);
      const Agreement a = compare(t, natural_filling(t));
      INFO(name_of(major) << ' ' << name_of(mode));
      CHECK(a.elements == 128 * 128);
      CHECK(a.wrong == 0);
    }
  }
}

TEST_CASE("a box of another swizzle is noticed") {
  Tile t = packed_tile(Major::k, Swizzle::b128, 2, 128, 64, 0x1000);
  Filling f = natural_filling(t);
  f.box.mode = Swizzle::none;
  const Agreement a = compare(t, f);
  CHECK(a.wrong == 128 * 64 * 7 / 8);  // only row 0 of each atom stays where it was
  REQUIRE(a.first);
  CHECK(a.first->mn == 1);
}

TEST_CASE("TMA boxes keep the limits that hardware keeps") {
  CHECK_THROWS_WITH((TensorBox{{128, 128}, 2, Swizzle::b128}.validate()),
                    ContainsSubstring("split it into 2 boxes"));
  CHECK_THROWS_WITH((TensorBox{{4, 8}, 2, Swizzle::none}.validate()), ContainsSubstring("multiple of 16"));
  CHECK_THROWS_WITH((TensorBox{{64, 300}, 2, Swizzle::b128}.validate()), ContainsSubstring("1..256"));
  // Measured on an H200: a narrow box is laid at the pitch of the span, and credits its own bytes.
  const TensorBox narrow{{16, 8}, 2, Swizzle::b128};
  CHECK(narrow.row_pitch() == 128);
  CHECK(narrow.bytes() == 16 * 8 * 2);
}

TEST_CASE("published descriptor words decode to their fields") {
  const MatrixDescriptor a = decode_matrix_descriptor(0x4000404000010100);
  CHECK(a.start == 0x1000);
  CHECK(a.lbo == 16);
  CHECK(a.sbo == 1024);
  CHECK(a.mode == Swizzle::b128);
  CHECK(a.problems.empty());
  const MatrixDescriptor b = decode_matrix_descriptor(0x0000400800800100);
  CHECK(b.lbo == 2048);
  CHECK(b.sbo == 128);
  CHECK(b.mode == Swizzle::none);
  const MatrixDescriptor c = decode_matrix_descriptor(0x4000404002000100);
  CHECK(c.lbo == 8192);
  CHECK(c.sbo == 1024);
  CHECK(decode_matrix_descriptor(uint64_t{0xC0004010} << 32).mode == Swizzle::b32);
  CHECK(decode_matrix_descriptor(uint64_t{0x80004020} << 32).mode == Swizzle::b64);
  CHECK(decode_matrix_descriptor(uint64_t{0x20004020} << 32).mode == Swizzle::b128_32);
}

TEST_CASE("illegal descriptors say why") {
  CHECK(decode_matrix_descriptor(0x4000004000010100).problems.size() == 2);    // Hopper's: bit 46 is 0
  CHECK(decode_matrix_descriptor(0x6000404000010100).problems.size() == 1);    // swizzle code 3
  CHECK_FALSE(decode_matrix_descriptor(0x4010404000010100).problems.empty());  // absolute LBO
}

TEST_CASE("every bit of a descriptor belongs to exactly one field") {
  const Decoded m = decode_matrix_descriptor(0x4000404000010100),
                i = decode_instruction_descriptor(0x08200490, "f16", 1);
  for (const Decoded& d : {m, i}) {
    int next = 0;
    for (const Field& f : d.fields) {
      CHECK(f.lo == next);
      next = f.lo + f.width;
    }
    CHECK(next == d.bits);
  }
}

TEST_CASE("published instruction descriptors decode to their shapes") {
  struct Case {
    uint32_t word;
    const char* kind;
    int group, m, n;
    Major b;
  };
  for (const Case& c : std::vector<Case>{{0x08200490, "f16", 1, 128, 128, Major::k},
                                         {0x08100490, "f16", 1, 128, 64, Major::k},
                                         {0x08400490, "f16", 1, 128, 256, Major::k},
                                         {0x04200490, "f16", 1, 64, 128, Major::k},
                                         {0x10400490, "f16", 2, 256, 256, Major::k},
                                         {0x08210490, "f16", 1, 128, 128, Major::mn},
                                         {0x08200010, "f16", 1, 128, 128, Major::k},
                                         {0x08200000, "f16", 1, 128, 128, Major::k},
                                         {0x08200910, "tf32", 1, 128, 128, Major::k},
                                         {0x08200010, "f8f6f4", 1, 128, 128, Major::k},
                                         {0x082004A0, "i8", 1, 128, 128, Major::k}}) {
    const InstructionDescriptor d = decode_instruction_descriptor(c.word, c.kind, c.group);
    INFO(fmt::format("{:#x} {}", c.word, c.kind));
    CHECK(d.m == c.m);
    CHECK(d.n == c.n);
    CHECK(d.b_major == c.b);
    CHECK(d.problems.empty());
  }
  CHECK(decode_instruction_descriptor(0x08208490, "f16", 1).a_major == Major::mn);
  CHECK_FALSE(decode_instruction_descriptor(0x08200480, "f16", 1).problems.empty());  // bf16 into f16
  CHECK_FALSE(decode_instruction_descriptor(0x10400490, "f16", 1).problems.empty());  // M 256 in one CTA
  // N = 8, 16 and 24 at M = 128: the table of shapes steps by 8 in one CTA and by 16 in a pair.
  CHECK(decode_instruction_descriptor(0x08020490, "f16", 1).problems.empty());
  CHECK(decode_instruction_descriptor(0x08040490, "f16", 2).problems.empty());
  CHECK_FALSE(decode_instruction_descriptor(0x08060490, "f16", 2).problems.empty());
  CHECK_FALSE(decode_instruction_descriptor(0x08000490, "f16", 1).problems.empty());  // N = 0
}

TEST_CASE("registers meet the cells that CUTLASS's copy traits name") {
  // 16x64b: thread 1 reads lane 8, thread 2 column 1, thread 4 lane 1.
  CHECK(cell_of(Shape::s16x64b, 0, 0) == Cell{0, 0});
  CHECK(cell_of(Shape::s16x64b, 1, 0) == Cell{8, 0});
  CHECK(cell_of(Shape::s16x64b, 2, 0) == Cell{0, 1});
  CHECK(cell_of(Shape::s16x64b, 3, 0) == Cell{8, 1});
  CHECK(cell_of(Shape::s16x64b, 4, 0) == Cell{1, 0});
  // 16x256b is the mma.sync accumulator: rows t/4 and t/4+8, column pair 2(t%4).
  CHECK(cell_of(Shape::s16x256b, 5, 3) == Cell{9, 3});
  CHECK(cell_of(Shape::s16x128b, 5, 3) == Cell{9, 5});
  CHECK(cell_of(Shape::s32x32b, 17, 6) == Cell{17, 6});
  CHECK(cell_of(Shape::s16x32bx2, 20, 3, 64) == Cell{4, 67});
}

TEST_CASE("every shape covers its rectangle of cells exactly once") {
  for (Shape shape : {Shape::s32x32b, Shape::s16x64b, Shape::s16x128b, Shape::s16x256b}) {
    const int n = 8, lanes = shape == Shape::s32x32b ? 32 : 16, columns = columns_of(shape, n);
    std::vector<int> hits(lanes * columns, 0);
    for (int t = 0; t < 32; ++t) {
      for (int r = 0; r < registers_of(shape, n); ++r) {
        const Cell c = cell_of(shape, t, r);
        ++hits.at(c.lane * columns + c.column);
      }
    }
    CHECK(std::all_of(hits.begin(), hits.end(), [](int h) { return h == 1; }));
  }
  CHECK_THROWS_WITH(registers_of(Shape::s16x256b, 64), ContainsSubstring("from 1 to 32"));
}

TEST_CASE("column regions are parsed and overlaps found") {
  const auto r = parse_regions("S:0:128 P:0:64 O:128:128");
  REQUIRE(r.size() == 3);
  CHECK(aliases(r) == std::vector<std::pair<int, int>>{{0, 1}});
  CHECK_THROWS_WITH(parse_regions("S:0"), ContainsSubstring("NAME:FIRST:COUNT"));
  CHECK_THROWS_WITH(parse_regions("S:500:64"), ContainsSubstring("0..511"));
}

TEST_CASE("bank conflicts are counted in wavefronts") {
  auto pattern = [](int lanes, uint32_t stride, int width) {
    Access a;
    a.width = width;
    for (int i = 0; i < lanes; ++i) a.addresses.push_back(i * stride);
    return count_wavefronts(a);
  };
  CHECK(pattern(32, 4, 4).wavefronts == 1);     // one word a bank
  CHECK(pattern(32, 0, 4).wavefronts == 1);     // one word for all
  CHECK(pattern(32, 8, 4).wavefronts == 2);     // every second bank
  CHECK(pattern(32, 128, 4).wavefronts == 32);  // one bank for all
  CHECK(pattern(32, 132, 4).wavefronts == 1);   // the padded column
  CHECK(pattern(32, 16, 16).wavefronts == 4);   // 512 bytes cannot take fewer
  CHECK(pattern(8, 128, 16).wavefronts == 8);   // a 16-byte column of 128-byte rows
  Access swizzled_column;
  swizzled_column.width = 16;
  for (int row = 0; row < 8; ++row) swizzled_column.addresses.push_back(swizzled(row * 128, Swizzle::b128));
  CHECK(count_wavefronts(swizzled_column).wavefronts == 1);  // the same column under SW128
  CHECK_THROWS_WITH(pattern(32, 2, 4), ContainsSubstring("not a multiple"));
}

TEST_CASE("snapshots are read, poison is seen, broken ones say what is wrong") {
  const std::string good =
      R"({"format":"workbook-snapshot-1","kind":"smem","line":7,"cta":[1,2,0],"base":1024,"encoding":"hex",)"
      R"("bytes":"803ffaff00000000000000000000faff"})";
  const Snapshot s = parse_snapshot(good);
  CHECK(s.base == 1024);
  CHECK(s.bytes.size() == 16);
  CHECK_FALSE(s.poisoned(0));
  CHECK(s.poisoned(2));
  CHECK(s.poisoned(14));
  const Snapshot b = parse_snapshot(
      R"({"format":"workbook-snapshot-1","kind":"smem","line":7,"cta":[0,0,0],"base":0,"encoding":"base64",)"
      R"("bytes":"gD/6/wAAAAAAAAAAAAD6/w=="})");
  CHECK(b.bytes == s.bytes);
  CHECK_THROWS_WITH(parse_snapshot("{}"), ContainsSubstring("format"));
  CHECK_THROWS_WITH(parse_snapshot("nonsense"), ContainsSubstring("not a snapshot"));
  std::string tmem = good;
  tmem.replace(tmem.find("smem"), 4, "tmem");
  CHECK_THROWS(parse_snapshot(tmem));
}

TEST_CASE("a snapshot survives writing and reading") {
  Snapshot s;
  s.kind = Snapshot::tmem;
  s.file = "kernel.cu";
  s.line = 42;
  s.cta = {3, 1, 0};
  s.base = 128;
  s.columns = 8;
  for (int i = 0; i < 8 * kLanes * 4; ++i) s.bytes.push_back(static_cast<uint8_t>(i * 7));
  s.expected = s.bytes;
  s.expected[10] ^= 1;
  const Snapshot again = parse_snapshot(write_snapshot(s));
  CHECK(again.bytes == s.bytes);
  CHECK(again.expected == s.expected);
  CHECK(again.base == 128);
  CHECK(again.line == 42);
  CHECK(again.wrong(10));
  CHECK_FALSE(again.wrong(12));
}
