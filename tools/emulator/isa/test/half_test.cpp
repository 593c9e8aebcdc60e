// f16 and bf16: exact arithmetic in __float128, rounded by searching the neighbours.
#include <cmath>

#include "isa/test/half_reference.h"
#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
__extension__ typedef __float128 Exact;

// x + y without any loss: the rounded sum and what it lacks.
struct Sum {
  Exact value, rest;
};
Sum exact_sum(Exact x, Exact y) {
  const Exact value = x + y, part = value - x;
  return {value, (x - (value - part)) + (y - part)};
}

// Round to nearest even among all values of the format; the code of a canonical NaN for NaN.
uint32_t nearest(const Format& format, Sum sum) {
  const Exact x = sum.value;
  if (x != x) return 0x7fff;
  const Exact magnitude = x < 0 ? -x : x;
  uint32_t low = 0, high = format.infinity_code();
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (Exact(format.value(middle)) <= magnitude ? low : high) = middle;
  }
  // Infinity stands for the first value beyond the range.
  const Exact above = high == format.infinity_code() ? Exact(format.beyond()) : Exact(format.value(high));
  const Exact middle = (Exact(format.value(low)) + above) / 2;
  // On a tie the rest decides, if there is one.
  const bool more = sum.rest != 0 && (sum.rest < 0) == (x < 0), less = sum.rest != 0 && !more;
  const bool up = magnitude > middle || (magnitude == middle && !less && (more || (low & 1)));
  return (up ? high : low) | (x < 0 ? 0x8000 : 0);
}
}  // namespace

TEST_CASE("half sums, products and fused products are correctly rounded") {
  for (const Format& format : {kF16, kBf16}) {
    Warp warp(fmt::format(R"(
      add.rn.{0} %h0, %h4, %h5;
      sub.rn.{0} %h1, %h4, %h5;
      mul.rn.{0} %h2, %h4, %h5;
      fma.rn.{0} %h3, %h4, %h5, %h6;
      fma.rn.{0}x2 %r0, %r4, %r5, %r6;
      fma.rn.relu.{0} %h7, %h4, %h5, %h6;)",
                          format.name));
    for (int round = 0; round < 3000; ++round) {
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 4; i < 7; ++i) {
          // Now and then operands that make the sum cancel or the product land on a tie.
          uint32_t code = static_cast<uint32_t>(random_engine()()) & 0xffff;
          if (round % 3 == 0) code &= 0xff80;
          if (round % 3 == 1) code = (code & 0x83ff) | 0x3c00;
          warp.lanes<uint32_t>(fmt::format("%h{}", i))[lane] = code;
          warp.lanes<uint32_t>(fmt::format("%r{}", i))[lane] = code << 16 | (code ^ 0x8000);
        }
      }
      warp.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        auto code = [&](const char* name) { return warp.lanes<uint32_t>(name)[lane]; };
        const Exact x = format.value(code("%h4")), y = format.value(code("%h5")),
                    z = format.value(code("%h6"));
        INFO(format.name << " " << std::hex << code("%h4") << " " << code("%h5") << " " << code("%h6"));
        auto same = [&](uint32_t got, Sum exact) {
          return got == nearest(format, exact) || (exact.value == 0 && (got & 0x7fff) == 0);
        };
        REQUIRE(same(code("%h0"), exact_sum(x, y)));
        REQUIRE(same(code("%h1"), exact_sum(x, -y)));
        REQUIRE(same(code("%h2"), {x * y, 0}));
        REQUIRE(same(code("%h3"), exact_sum(x * y, z)));
        REQUIRE(same(code("%r0") >> 16, exact_sum(x * y, z)));
        REQUIRE(same(code("%r0") & 0xffff, exact_sum(x * y, -z)));
        const Sum fused = exact_sum(x * y, z);
        REQUIRE(same(code("%h7"), fused.value < 0 ? Sum{0, 0} : fused));
      }
    }
  }
}

TEST_CASE("half signs, minima and flushes") {
  Warp warp(R"(
    neg.f16x2 %r0, %r9;
    abs.bf16x2 %r1, %r9;
    add.ftz.f16 %h0, %h8, %h9;
    add.f16 %h1, %h8, %h9;
    add.sat.f16 %h2, %h7, %h7;
    max.f16 %h3, %h6, %h7;
    max.NaN.f16 %h4, %h6, %h7;
    add.f32.f16 %f0, %h7, %f9;
    fma.rn.f32.bf16 %f1, %h5, %h5, %f9;)");
  warp.fill<uint32_t>("%r9", 0x3c00bc00);
  warp.fill<uint32_t>("%h8", 0x0001), warp.fill<uint32_t>("%h9", 0x0000);
  warp.fill<uint32_t>("%h7", 0x3c00), warp.fill<uint32_t>("%h6", 0xffba);
  warp.fill<uint32_t>("%h5", 0x4000);  // 2.0 as bf16
  warp.fill<float>("%f9", 0.25f);
  warp.run();
  CHECK(warp.lanes<uint32_t>("%r0")[1] == 0xbc003c00);
  CHECK(warp.lanes<uint32_t>("%r1")[1] == 0x3c003c00);
  CHECK(warp.lanes<uint32_t>("%h0")[1] == 0);
  CHECK(warp.lanes<uint32_t>("%h1")[1] == 1);
  CHECK(warp.lanes<uint32_t>("%h2")[1] == 0x3c00);
  CHECK(warp.lanes<uint32_t>("%h3")[1] == 0x3c00);
  CHECK(warp.lanes<uint32_t>("%h4")[1] == 0x7fff);
  CHECK(warp.lanes<float>("%f0")[1] == 1.25f);
  CHECK(warp.lanes<float>("%f1")[1] == 4.25f);
}
