// setp, set, selp and slct against the meaning of each comparison.
#include <cmath>
#include <functional>
#include <map>

#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
const std::map<std::string, std::function<bool(double, double)>> kCompares = {
    {"eq", [](double a, double b) { return !std::isunordered(a, b) && a == b; }},
    {"ne", [](double a, double b) { return !std::isunordered(a, b) && a != b; }},
    {"lt", [](double a, double b) { return !std::isunordered(a, b) && a < b; }},
    {"le", [](double a, double b) { return !std::isunordered(a, b) && a <= b; }},
    {"gt", [](double a, double b) { return !std::isunordered(a, b) && a > b; }},
    {"ge", [](double a, double b) { return !std::isunordered(a, b) && a >= b; }},
    {"equ", [](double a, double b) { return std::isunordered(a, b) || a == b; }},
    {"neu", [](double a, double b) { return std::isunordered(a, b) || a != b; }},
    {"ltu", [](double a, double b) { return std::isunordered(a, b) || a < b; }},
    {"leu", [](double a, double b) { return std::isunordered(a, b) || a <= b; }},
    {"gtu", [](double a, double b) { return std::isunordered(a, b) || a > b; }},
    {"geu", [](double a, double b) { return std::isunordered(a, b) || a >= b; }},
    {"num", [](double a, double b) { return !std::isunordered(a, b); }},
    {"nan", [](double a, double b) { return std::isunordered(a, b); }},
};
}  // namespace

TEST_CASE("float comparisons, ordered and unordered, combine with a predicate") {
  for (const auto& [name, truth] : kCompares) {
    Warp warp(
        fmt::format("setp.{0}.f32 %p0|%p1, %f0, %f1;\nsetp.{0}.xor.f32 %p2|%p3, %f0, %f1, !%p4;\n"
                    "set.{0}.f32.f32 %f2, %f0, %f1;\nset.{0}.u32.f32 %r0, %f0, %f1;",
                    name));
    for (int round = 0; round < 50; ++round) {
      warp.set("%f0", random_words()), warp.set("%f1", random_words());
      if (round % 2) warp.set("%f1", *reinterpret_cast<Lanes<uint32_t>*>(warp.lanes<uint32_t>("%f0")));
      warp.predicate("%p4") = random_word();
      warp.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        INFO(name);
        const bool expected = truth(warp.lanes<float>("%f0")[lane], warp.lanes<float>("%f1")[lane]);
        auto predicate = [&](const char* p) { return (warp.predicate(p) >> lane & 1) != 0; };
        REQUIRE(predicate("%p0") == expected);
        REQUIRE(predicate("%p1") == !expected);
        REQUIRE(predicate("%p2") == (expected != !predicate("%p4")));
        REQUIRE(predicate("%p3") == (!expected != !predicate("%p4")));
        REQUIRE(warp.lanes<float>("%f2")[lane] == (expected ? 1.0f : 0.0f));
        REQUIRE(warp.lanes<uint32_t>("%r0")[lane] == (expected ? ~0u : 0u));
      }
    }
  }
}

TEST_CASE("integer comparisons are signed or unsigned by their type or name") {
  Warp warp(R"(
    setp.lt.s32 %p0, %r0, %r1;
    setp.lt.u32 %p1, %r0, %r1;
    setp.hs.u32 %p2, %r0, %r1;
    setp.ge.and.s64 %p3, %rd0, %rd1, %p9;
    setp.gt.s16 %p4, %h0, %h1;
    setp.ne.b32 %p5, %r0, %r1;)");
  warp.fill<uint32_t>("%r0", 0xffffffff), warp.fill<uint32_t>("%r1", 1);
  warp.fill<int64_t>("%rd0", -1), warp.fill<int64_t>("%rd1", -1);
  warp.fill<uint32_t>("%h0", 0x8000), warp.fill<uint32_t>("%h1", 0x7fff);
  warp.predicate("%p9") = 0xff;
  warp.run();
  CHECK(warp.predicate("%p0") == ~0u);
  CHECK(warp.predicate("%p1") == 0);
  CHECK(warp.predicate("%p2") == ~0u);
  CHECK(warp.predicate("%p3") == 0xff);
  CHECK(warp.predicate("%p4") == 0);
  CHECK(warp.predicate("%p5") == ~0u);
}

TEST_CASE("half comparisons flush only when told; pairs give two predicates") {
  Warp warp(R"(
    setp.gt.f16 %p0, %h0, %h1;
    setp.gt.ftz.f16 %p1, %h0, %h1;
    setp.lt.bf16x2 %p2|%p3, %r0, %r1;
    set.lt.f16x2.f16x2 %r2, %r0, %r1;
    selp.b32 %r3, %r0, %r1, !%p2;
    slct.b32.f32 %r4, %r0, %r1, %f0;)");
  warp.fill<uint32_t>("%h0", 1), warp.fill<uint32_t>("%h1", 0);
  warp.fill<uint32_t>("%r0", 0x3c003c00), warp.fill<uint32_t>("%r1", 0x38004000);
  warp.fill<float>("%f0", -0.0f);
  warp.run();
  CHECK(warp.predicate("%p0") == ~0u);
  CHECK(warp.predicate("%p1") == 0);
  CHECK(warp.predicate("%p2") == ~0u);
  CHECK(warp.predicate("%p3") == 0);
  CHECK(warp.lanes<uint32_t>("%r2")[0] == 0x00003c00);
  CHECK(warp.lanes<uint32_t>("%r3")[0] == 0x38004000);
  CHECK(warp.lanes<uint32_t>("%r4")[0] == 0x3c003c00);
}
