// Integer instructions against their definitions, written out bit by bit or in wider arithmetic.
#include <bit>

#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

// Runs "op d, a, b, c" on random 32-bit words and compares with `expected(a, b, c)`.
template <typename Expected>
void check32(const std::string& opcode, int sources, Expected expected) {
  INFO(opcode);
  std::string text = opcode + " %r0";
  for (int i = 1; i <= sources; ++i) text += fmt::format(", %r{}", i);
  Warp warp(text + ";");
  for (int round = 0; round < 40; ++round) {
    for (int i = 1; i <= 3; ++i) warp.set(fmt::format("%r{}", i), random_words());
    if (round % 2 == 0)  // small second and third operands, for shifts and field positions
      for (int lane = 0; lane < kLanes; ++lane)
        warp.lanes<uint32_t>("%r2")[lane] &= 63, warp.lanes<uint32_t>("%r3")[lane] &= 63;
    const auto lane_of = [&](const char* name, int lane) { return warp.lanes<uint32_t>(name)[lane]; };
    warp.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t a = lane_of("%r1", lane), b = lane_of("%r2", lane), c = lane_of("%r3", lane);
      INFO(fmt::format("{:#x} {:#x} {:#x}", a, b, c));
      REQUIRE(lane_of("%r0", lane) == static_cast<uint32_t>(expected(a, b, c)));
    }
  }
}
template <typename Expected>
void check64(const std::string& opcode, Expected expected) {
  INFO(opcode);
  Warp warp(opcode + " %rd0, %rd1, %rd2;");
  for (int round = 0; round < 40; ++round) {
    warp.set("%rd1", random_double_words());
    warp.set("%rd2", random_double_words());
    warp.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t a = warp.lanes<uint64_t>("%rd1")[lane], b = warp.lanes<uint64_t>("%rd2")[lane];
      INFO(fmt::format("{:#x} {:#x}", a, b));
      REQUIRE(warp.lanes<uint64_t>("%rd0")[lane] == static_cast<uint64_t>(expected(a, b)));
    }
  }
}
int64_t s(uint32_t x) { return static_cast<int32_t>(x); }
int64_t clamp(int64_t x) { return std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, x)); }
uint32_t bit(uint32_t x, uint32_t i) { return x >> i & 1; }
}  // namespace

TEST_CASE("addition, subtraction and saturation of 32-bit integers") {
  check32("add.s32", 2, [](auto a, auto b, auto) { return a + b; });
  check32("sub.u32", 2, [](auto a, auto b, auto) { return a - b; });
  check32("add.sat.s32", 2, [](auto a, auto b, auto) { return clamp(s(a) + s(b)); });
  check32("sub.sat.s32", 2, [](auto a, auto b, auto) { return clamp(s(a) - s(b)); });
  check32("sad.u32", 3, [](auto a, auto b, auto c) { return c + (a > b ? a - b : b - a); });
  check32("sad.s32", 3, [](auto a, auto b, auto c) { return c + (s(a) > s(b) ? s(a) - s(b) : s(b) - s(a)); });
  check32("min.s32", 2, [](auto a, auto b, auto) { return std::min(s(a), s(b)); });
  check32("max.relu.s32", 2, [](auto a, auto b, auto) { return std::max({s(a), s(b), int64_t{0}}); });
  check32("abs.s32", 1, [](auto a, auto, auto) { return s(a) < 0 ? -s(a) : s(a); });
}

TEST_CASE("multiplication of 32-bit integers") {
  check32("mul.lo.s32", 2, [](auto a, auto b, auto) { return s(a) * s(b); });
  check32("mul.hi.s32", 2, [](auto a, auto b, auto) { return s(a) * s(b) >> 32; });
  check32("mul.hi.u32", 2, [](auto a, auto b, auto) { return uint64_t{a} * b >> 32; });
  check32("mad.hi.s32", 3, [](auto a, auto b, auto c) { return (s(a) * s(b) >> 32) + c; });
  check32("mad.hi.sat.s32", 3, [](auto a, auto b, auto c) { return clamp((s(a) * s(b) >> 32) + s(c)); });
  check32("mul24.lo.u32", 2, [](auto a, auto b, auto) { return uint64_t{a & 0xffffff} * (b & 0xffffff); });
  check32("mul24.hi.s32", 2, [](auto a, auto b, auto) { return (s(a << 8) >> 8) * (s(b << 8) >> 8) >> 16; });
  check32("dp4a.u32.s32", 3, [](uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xff) * static_cast<int8_t>(b >> (8 * i));
    return c;
  });
  check32("dp2a.hi.s32.u32", 3, [](uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 2; ++i) c += static_cast<int16_t>(a >> (16 * i)) * (b >> (8 * i + 16) & 0xff);
    return c;
  });
}

TEST_CASE("division and remainder") {
  check32("div.u32", 2, [](auto a, auto b, auto) { return b == 0 ? ~0u : a / b; });
  check32("rem.u32", 2, [](auto a, auto b, auto) { return b == 0 ? ~0u : a % b; });
  check32("div.s32", 2, [](auto a, auto b, auto) { return b == 0 ? -1 : s(a) / s(b); });
  check32("rem.s32", 2, [](auto a, auto b, auto) { return b == 0 ? s128{-1} : s128{s(a)} % s(b); });
  check64("div.u64", [](auto a, auto b) { return b == 0 ? ~uint64_t{0} : a / b; });
  check64("rem.s64", [](int64_t a, int64_t b) { return b == 0 ? s128{-1} : s128{a} % b; });
  check64("div.s64", [](int64_t a, int64_t b) { return b == 0 ? s128{-1} : s128{a} / b; });
}

TEST_CASE("64-bit arithmetic") {
  check64("add.s64", [](auto a, auto b) { return a + b; });
  check64("mul.lo.u64", [](auto a, auto b) { return a * b; });
  check64("mul.hi.u64", [](auto a, auto b) { return u128{a} * b >> 64; });
  check64("mul.hi.s64", [](int64_t a, int64_t b) { return s128{a} * b >> 64; });
  check64("max.s64", [](int64_t a, int64_t b) { return std::max(a, b); });
}

TEST_CASE("shifts clamp their amount, funnel shifts wrap or clamp") {
  check32("shl.b32", 2, [](auto a, auto b, auto) { return b > 31 ? 0 : a << b; });
  check32("shr.u32", 2, [](auto a, auto b, auto) { return b > 31 ? 0 : a >> b; });
  check32("shr.s32", 2, [](auto a, auto b, auto) { return s(a) >> std::min(b, 63u); });
  check32("shf.l.wrap.b32", 3, [](auto a, auto b, auto c) {
    const uint32_t n = c & 31;
    return n == 0 ? b : b << n | a >> (32 - n);
  });
  check32("shf.r.clamp.b32", 3, [](auto a, auto b, auto c) {
    const uint32_t n = std::min(c, 32u);
    return n == 0 ? a : n == 32 ? b : b << (32 - n) | a >> n;
  });
  check32("shf.l.clamp.b32", 3, [](auto a, auto b, auto c) {
    const uint32_t n = std::min(c, 32u);
    return n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
  });
}

TEST_CASE("bit fields follow the manual's loops") {
  check32("bfe.u32", 3, [](uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t pos = b & 0xff, len = c & 0xff;
    uint32_t d = 0;
    for (uint32_t i = 0; i < 32; ++i)
      if (i < len && pos + i <= 31) d |= bit(a, pos + i) << i;
    return d;
  });
  check32("bfe.s32", 3, [](uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t pos = b & 0xff, len = c & 0xff;
    const uint32_t sign = len == 0 ? 0 : bit(a, std::min(pos + len - 1, 31u));
    uint32_t d = 0;
    for (uint32_t i = 0; i < 32; ++i) d |= (i < len && pos + i <= 31 ? bit(a, pos + i) : sign) << i;
    return d;
  });
  Warp warp("bfi.b32 %r0, %r1, %r2, %r3, %r4;");
  for (int round = 0; round < 40; ++round) {
    for (auto name : {"%r1", "%r2", "%r3", "%r4"}) warp.set(name, random_words());
    for (int lane = 0; lane < kLanes; lane += 2)
      warp.lanes<uint32_t>("%r3")[lane] &= 31, warp.lanes<uint32_t>("%r4")[lane] &= 31;
    warp.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t pos = warp.lanes<uint32_t>("%r3")[lane] & 0xff,
                     len = warp.lanes<uint32_t>("%r4")[lane] & 0xff;
      uint32_t f = warp.lanes<uint32_t>("%r2")[lane];
      for (uint32_t i = 0; i < len && pos + i <= 31; ++i)
        f = (f & ~(1u << (pos + i))) | bit(warp.lanes<uint32_t>("%r1")[lane], i) << (pos + i);
      REQUIRE(warp.lanes<uint32_t>("%r0")[lane] == f);
    }
  }
}

TEST_CASE("bit counting and searching") {
  check32("popc.b32", 1, [](auto a, auto, auto) { return std::popcount(a); });
  check32("clz.b32", 1, [](auto a, auto, auto) { return std::countl_zero(a); });
  check32("bfind.u32", 1, [](auto a, auto, auto) { return 31 - std::countl_zero(a); });
  check32("bfind.s32", 1, [](auto a, auto, auto) { return 31 - std::countl_zero(s(a) < 0 ? ~a : a); });
  check32("bfind.shiftamt.u32", 1, [](auto a, auto, auto) { return a == 0 ? ~0u : std::countl_zero(a); });
  check32("brev.b32", 1, [](uint32_t a, auto, auto) {
    uint32_t d = 0;
    for (int i = 0; i < 32; ++i) d |= bit(a, i) << (31 - i);
    return d;
  });
  check32("fns.b32", 3, [](uint32_t mask, uint32_t base, uint32_t offset) {
    if (base > 31) return ~0u;
    const int n = static_cast<int>(offset);
    if (n == 0) return bit(mask, base) ? base : ~0u;
    int64_t count = std::abs(static_cast<int64_t>(n)) - 1;
    for (int pos = static_cast<int>(base); pos >= 0 && pos<32; pos += n> 0 ? 1 : -1)
      if (bit(mask, pos) && count-- == 0) return static_cast<uint32_t>(pos);
    return ~0u;
  });
  check32("bmsk.clamp.b32", 2, [](uint32_t a, uint32_t b, auto) {
    uint32_t d = 0;
    for (uint32_t i = 0; i < 32; ++i)
      if (i >= std::min(a, 32u) && i < std::min(a, 32u) + std::min(b, 32u)) d |= 1u << i;
    return d;
  });
  check32("szext.wrap.s32", 2, [](uint32_t a, uint32_t b, auto) {
    const uint32_t n = b & 31;
    return n == 0 ? 0 : static_cast<int32_t>(a << (32 - n)) >> (32 - n);
  });
}

TEST_CASE("byte permutation") {
  check32("prmt.b32", 3, [](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t nibble = c >> (4 * i) & 15;
      const uint32_t byte = ((nibble & 4) ? b : a) >> (8 * (nibble & 3)) & 0xff;
      d |= ((nibble & 8) ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * i);
    }
    return d;
  });
  Warp warp(R"(
    prmt.b32.f4e %r0, %r9, %r10, 1;
    prmt.b32.b4e %r1, %r9, %r10, 1;
    prmt.b32.rc8 %r2, %r9, %r10, 2;
    prmt.b32.ecl %r3, %r9, %r10, 1;
    prmt.b32.ecr %r4, %r9, %r10, 2;
    prmt.b32.rc16 %r5, %r9, %r10, 1;)");
  warp.fill<uint32_t>("%r9", 0x03020100);
  warp.fill<uint32_t>("%r10", 0x07060504);
  warp.run();
  CHECK(warp.lanes<uint32_t>("%r0")[3] == 0x04030201);
  CHECK(warp.lanes<uint32_t>("%r1")[3] == 0x06070001);
  CHECK(warp.lanes<uint32_t>("%r2")[3] == 0x02020202);
  CHECK(warp.lanes<uint32_t>("%r3")[3] == 0x03020101);
  CHECK(warp.lanes<uint32_t>("%r4")[3] == 0x02020100);
  CHECK(warp.lanes<uint32_t>("%r5")[3] == 0x03020302);
}

TEST_CASE("lop3 is a truth table") {
  for (uint32_t lut : {0x00u, 0x96u, 0xe8u, 0xcau, 0x80u, 0xfeu, 0xffu, 0x3cu}) {
    check32(fmt::format("lop3.b32 %r0, %r1, %r2, %r3, {}; //", lut), 0,
            [&](uint32_t a, uint32_t b, uint32_t c) {
              uint32_t d = 0;
              for (int i = 0; i < 32; ++i) d |= bit(lut, bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) << i;
              return d;
            });
  }
  Warp warp("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x80, %p1;\nlop3.and.b32 _|%p2, %r1, %r2, %r3, 0x80, !%p1;");
  for (int lane = 0; lane < kLanes; ++lane)
    for (auto name : {"%r1", "%r2", "%r3"}) warp.lanes<uint32_t>(name)[lane] = lane % 2;
  warp.predicate("%p1") = 0x0000ffff;
  warp.run();
  CHECK(warp.predicate("%p0") == 0xaaaaffff);
  CHECK(warp.predicate("%p2") == 0xaaaa0000);
}

TEST_CASE("a 128-bit sum and product from carry chains") {
  Warp warp(R"(
    add.cc.u32 %r0, %r4, %r8;
    addc.cc.u32 %r1, %r5, %r9;
    addc.cc.u32 %r2, %r6, %r10;
    addc.u32 %r3, %r7, %r11;
    sub.cc.u64 %rd0, %rd4, %rd6;
    subc.u64 %rd1, %rd5, %rd7;
    mul.lo.u32 %r12, %r4, %r8;
    mul.hi.u32 %r13, %r4, %r8;
    mad.lo.cc.u32 %r13, %r5, %r8, %r13;
    madc.hi.u32 %r14, %r5, %r8, 0;)");
  for (int round = 0; round < 40; ++round) {
    for (int i = 4; i < 12; ++i) warp.set(fmt::format("%r{}", i), random_words());
    for (int i = 4; i < 8; ++i) warp.set(fmt::format("%rd{}", i), random_double_words());
    warp.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      auto wide = [&](int first) {
        u128 value = 0;
        for (int i = 3; i >= 0; --i)
          value = value << 32 | warp.lanes<uint32_t>(fmt::format("%r{}", first + i))[lane];
        return value;
      };
      auto pair = [&](int first) {
        return u128{warp.lanes<uint64_t>(fmt::format("%rd{}", first + 1))[lane]} << 64 |
               warp.lanes<uint64_t>(fmt::format("%rd{}", first))[lane];
      };
      REQUIRE((wide(0) == wide(4) + wide(8)));
      REQUIRE((pair(0) == pair(4) - pair(6)));
      const uint64_t low = static_cast<uint64_t>(wide(4));
      const u128 product = u128{low} * warp.lanes<uint32_t>("%r8")[lane];
      REQUIRE(warp.lanes<uint32_t>("%r12")[lane] == static_cast<uint32_t>(product));
      REQUIRE(warp.lanes<uint32_t>("%r13")[lane] == static_cast<uint32_t>(product >> 32));
      REQUIRE(warp.lanes<uint32_t>("%r14")[lane] == static_cast<uint32_t>(product >> 64));
    }
  }
}
