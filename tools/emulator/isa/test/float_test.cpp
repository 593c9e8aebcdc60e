// f32, f64 and f32x2 arithmetic: rounding modes against exact arithmetic, special values from the manual's
// tables.
#include <cmath>
#include <limits>

#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
__extension__ typedef __float128 Exact;
constexpr uint32_t kNan = 0x7fffffff;
float f(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t b(float x) { return std::bit_cast<uint32_t>(x); }

// Numbers near one another in magnitude, so that 113 bits hold sums and products exactly.
float ordinary() {
  const uint64_t r = random_engine()();
  return f(static_cast<uint32_t>(r & 0x807fffff) | static_cast<uint32_t>(115 + (r >> 40) % 24) << 23);
}
Exact magnitude(Exact x) { return x < 0 ? -x : x; }

// Whether r is what the rounding mode makes of the exact value.
bool is_rounded(float r, Exact exact, const std::string& mode) {
  const float up = std::nextafter(r, std::numeric_limits<float>::infinity());
  const float down = std::nextafter(r, -std::numeric_limits<float>::infinity());
  if (Exact(r) == exact) return true;
  if (mode == "rz")
    return magnitude(r) < magnitude(exact) && magnitude(exact < 0 ? down : up) > magnitude(exact);
  if (mode == "rm") return r < exact && up > exact;
  if (mode == "rp") return r > exact && down < exact;
  const Exact off = magnitude(exact - r), other = magnitude(exact - (exact > r ? up : down));
  return off < other || (off == other && (b(r) & 1) == 0);
}
uint32_t one_lane(const std::string& opcode, uint32_t x, uint32_t y = 0, uint32_t z = 0, int sources = 2) {
  std::string text = opcode + " %r0";
  for (int i = 1; i <= sources; ++i) text += fmt::format(", %r{}", i);
  Warp warp(text + ";");
  warp.fill("%r1", x), warp.fill("%r2", y), warp.fill("%r3", z);
  warp.run();
  return warp.lanes<uint32_t>("%r0")[11];
}
}  // namespace

TEST_CASE("f32 results are correctly rounded in all four modes") {
  for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
    Warp warp(fmt::format(R"(
      add.{0}.f32 %f0, %f4, %f5;
      sub.{0}.f32 %f1, %f4, %f5;
      mul.{0}.f32 %f2, %f4, %f5;
      fma.{0}.f32 %f3, %f4, %f5, %f6;
      div.{0}.f32 %f7, %f4, %f5;
      sqrt.{0}.f32 %f8, %f9;
      fma.{0}.f32x2 %rd0, %rd1, %rd2, %rd3;)",
                          mode));
    for (int round = 0; round < 200; ++round) {
      for (int lane = 0; lane < kLanes; ++lane) {
        for (auto name : {"%f4", "%f5", "%f6"}) warp.lanes<float>(name)[lane] = ordinary();
        warp.lanes<float>("%f9")[lane] = std::fabs(ordinary());
        for (auto name : {"%rd1", "%rd2", "%rd3"})
          warp.lanes<uint64_t>(name)[lane] = uint64_t{b(ordinary())} << 32 | b(ordinary());
      }
      warp.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        INFO(mode << " lane " << lane);
        auto at = [&](const char* name) { return warp.lanes<float>(name)[lane]; };
        const Exact x = at("%f4"), y = at("%f5"), z = at("%f6");
        REQUIRE(is_rounded(at("%f0"), x + y, mode));
        REQUIRE(is_rounded(at("%f1"), x - y, mode));
        REQUIRE(is_rounded(at("%f2"), x * y, mode));
        REQUIRE(is_rounded(at("%f3"), x * y + z, mode));
        REQUIRE(is_rounded(at("%f7"), x / y, mode));
        REQUIRE(is_rounded(at("%f8"), static_cast<Exact>(sqrtl(at("%f9"))), mode));
        for (int half = 0; half < 2; ++half) {
          auto part = [&](const char* name) {
            return f(static_cast<uint32_t>(warp.lanes<uint64_t>(name)[lane] >> (32 * half)));
          };
          REQUIRE(is_rounded(part("%rd0"), Exact(part("%rd1")) * part("%rd2") + part("%rd3"), mode));
        }
      }
    }
  }
}

TEST_CASE("overflow and exact zeros follow the rounding mode") {
  const uint32_t largest = 0x7f7fffff, infinity = 0x7f800000;
  CHECK(one_lane("add.rn.f32", largest, largest) == infinity);
  CHECK(one_lane("add.rz.f32", largest, largest) == largest);
  CHECK(one_lane("add.rm.f32", largest, largest) == largest);
  CHECK(one_lane("add.rp.f32", largest, largest) == infinity);
  CHECK(one_lane("mul.rm.f32", largest, largest | 0x80000000) == 0xff800000);
  CHECK(one_lane("sub.rn.f32", 0x3f800000, 0x3f800000) == 0);
  CHECK(one_lane("sub.rm.f32", 0x3f800000, 0x3f800000) == 0x80000000);
  CHECK(one_lane("fma.rm.f32", 0x3f800000, 0x40000000, 0xc0000000, 3) == 0x80000000);
}

TEST_CASE("every f32 NaN is 0x7fffffff") {
  CHECK(one_lane("add.f32", 0xffbaffba, 0x3f800000) == kNan);
  CHECK(one_lane("add.f32", 0x7f800000, 0xff800000) == kNan);
  CHECK(one_lane("mul.f32", 0x7f800000, 0) == kNan);
  CHECK(one_lane("fma.rn.f32", 0x7f800000, 0, 0, 3) == kNan);
  CHECK(one_lane("sqrt.rn.f32", 0xbf800000, 0, 0, 1) == kNan);
  CHECK(one_lane("div.rn.f32", 0, 0) == kNan);
  CHECK(one_lane("cvt.f32.f32", 0xffbaffba, 0, 0, 1) == kNan);
  CHECK(one_lane("ex2.approx.ftz.f32", 0xffbaffba, 0, 0, 1) == kNan);
}

TEST_CASE(".ftz flushes subnormal inputs and results to zeros of their sign") {
  CHECK(one_lane("add.f32", 0x007fffff, 0) == 0x007fffff);
  CHECK(one_lane("add.ftz.f32", 0x007fffff, 0) == 0);
  CHECK(one_lane("add.ftz.f32", 0x807fffff, 0x80000000) == 0x80000000);
  CHECK(one_lane("mul.ftz.f32", 0x00800000, 0x3f000000) == 0);
  CHECK(one_lane("mul.f32", 0x00800000, 0x3f000000) == 0x00400000);
  CHECK(one_lane("mul.ftz.f32", 0x80800000, 0x3f000000) == 0x80000000);
  CHECK(one_lane("neg.ftz.f32", 0x00000001, 0, 0, 1) == 0x80000000);
  CHECK(one_lane("min.ftz.f32", 0x80000001, 0x3f800000) == 0x80000000);
}

TEST_CASE(".sat clamps to [0, 1] and sends NaN to zero") {
  CHECK(one_lane("add.sat.f32", b(0.75f), b(0.5f)) == b(1.0f));
  CHECK(one_lane("add.sat.f32", b(-0.75f), b(0.5f)) == 0);
  CHECK(one_lane("add.sat.f32", kNan, b(0.5f)) == 0);
  CHECK(one_lane("fma.rn.sat.f32", b(0.5f), b(0.5f), b(0.25f), 3) == b(0.5f));
}

TEST_CASE("min and max: NaN, signed zeros, magnitudes") {
  CHECK(one_lane("min.f32", 0, 0x80000000) == 0x80000000);
  CHECK(one_lane("max.f32", 0x80000000, 0) == 0);
  CHECK(one_lane("max.f32", kNan, b(-3.0f)) == b(-3.0f));
  CHECK(one_lane("max.f32", b(-3.0f), 0x7fc00000) == b(-3.0f));
  CHECK(one_lane("max.f32", 0xffc00000, 0x7fc00000) == kNan);
  CHECK(one_lane("max.NaN.f32", b(1.0f), 0xffc00000) == kNan);
  CHECK(one_lane("min.xorsign.abs.f32", b(-2.0f), b(3.0f)) == b(-2.0f));
  CHECK(one_lane("max.xorsign.abs.f32", b(-2.0f), b(-3.0f)) == b(3.0f));
  CHECK(one_lane("max.f32", b(1.0f), b(5.0f), b(3.0f), 3) == b(5.0f));
  CHECK(one_lane("max.f32", kNan, b(-5.0f), kNan, 3) == b(-5.0f));
  CHECK(one_lane("max.NaN.f32", b(1.0f), b(5.0f), kNan, 3) == kNan);
  CHECK(one_lane("min.abs.f32", b(-1.0f), b(5.0f), b(-0.5f), 3) == b(0.5f));
}

TEST_CASE("copysign takes the sign of its first operand, testp classifies") {
  CHECK(one_lane("copysign.f32", b(-1.0f), b(2.0f)) == b(-2.0f));
  Warp warp(R"(
    testp.finite.f32 %p0, %f0;
    testp.infinite.f32 %p1, %f0;
    testp.number.f32 %p2, %f0;
    testp.notanumber.f32 %p3, %f0;
    testp.normal.f32 %p4, %f0;
    testp.subnormal.f32 %p5, %f0;)");
  // lanes: zero, subnormal, one, infinity, NaN
  const uint32_t values[] = {0, 1, 0x3f800000, 0xff800000, 0x7fc00000};
  for (int lane = 0; lane < 5; ++lane) warp.lanes<uint32_t>("%f0")[lane] = values[lane];
  warp.run();
  CHECK((warp.predicate("%p0") & 31) == 0b00111);
  CHECK((warp.predicate("%p1") & 31) == 0b01000);
  CHECK((warp.predicate("%p2") & 31) == 0b01111);
  CHECK((warp.predicate("%p3") & 31) == 0b10000);
  CHECK((warp.predicate("%p4") & 31) == 0b00101);  // zero counts as normal (H200)
  CHECK((warp.predicate("%p5") & 31) == 0b00010);
}

TEST_CASE("f64 rounding modes") {
  Warp warp(R"(
    add.rz.f64 %fd0, %fd8, %fd9;
    add.rp.f64 %fd1, %fd8, %fd9;
    add.rm.f64 %fd2, %fd8, %fd9;
    fma.rp.f64 %fd3, %fd8, %fd8, %fd9;
    div.rm.f64 %fd4, %fd8, %fd7;)");
  warp.fill<double>("%fd7", 3.0), warp.fill<double>("%fd8", 1.0), warp.fill<double>("%fd9", 0x1p-60);
  warp.run();
  CHECK(warp.lanes<double>("%fd0")[0] == 1.0);
  CHECK(warp.lanes<double>("%fd1")[0] == 1.0 + 0x1p-52);
  CHECK(warp.lanes<double>("%fd2")[0] == 1.0);
  CHECK(warp.lanes<double>("%fd3")[0] == 1.0 + 0x1p-52);
  CHECK(warp.lanes<double>("%fd4")[0] == 0x1.5555555555555p-2);
}

TEST_CASE("approximate division by a huge number gives zero, or NaN for infinity") {
  CHECK(one_lane("div.approx.f32", b(1.0f), b(0x1.8p126f)) == 0);
  CHECK(one_lane("div.approx.f32", 0x7f800000, b(0x1.8p126f)) == kNan);
  CHECK(one_lane("div.full.f32", b(0x1.8p126f), b(0x1.8p126f)) == b(1.0f));
}
