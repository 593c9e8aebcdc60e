// What the decoder accepts, refuses and says.
#include "isa/test/warp_harness.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
std::string refusal(std::string_view body) {
  try {
    Warp warp(body);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}
}  // namespace

TEST_CASE("immediates take the type of their instruction") {
  Warp warp(R"(
    add.s32 %r0, %r1, -5;
    add.f32 %f0, %f1, 0f3F800000;
    add.f32 %f2, %f1, 0.1;
    add.f64 %fd0, %fd1, 0d3FF0000000000000;
    add.s16 %h0, %h1, -1;
    and.b64 %rd0, %rd1, 0xffffffff00000000;)");
  warp.fill<uint32_t>("%r1", 3);
  warp.fill<float>("%f1", 1.0f);
  warp.fill<double>("%fd1", 2.0);
  warp.fill<uint32_t>("%h1", 0);
  warp.fill<uint64_t>("%rd1", 0x123456789abcdef0);
  warp.run();
  CHECK(warp.lanes<int32_t>("%r0")[7] == -2);
  CHECK(warp.lanes<float>("%f0")[7] == 2.0f);
  CHECK(warp.lanes<float>("%f2")[7] == 1.0f + 0.1f);
  CHECK(warp.lanes<double>("%fd0")[7] == 3.0);
  CHECK(warp.lanes<uint32_t>("%h0")[7] == 0xffff);
  CHECK(warp.lanes<uint64_t>("%rd0")[7] == 0x1234567800000000);
}

TEST_CASE("guards select lanes, negated guards the others") {
  Warp warp("@%p1 mov.u32 %r0, 1;\n@!%p1 mov.u32 %r0, 2;");
  warp.predicate("%p1") = 0x0000ff00;
  warp.run();
  for (int lane = 0; lane < kLanes; ++lane)
    CHECK(warp.lanes<uint32_t>("%r0")[lane] == (lane >= 8 && lane < 16 ? 1u : 2u));
}

TEST_CASE("special registers are lane arrays") {
  Warp warp("mov.u32 %r0, %tid.y;\nmov.u32 %r1, %cluster_ctarank;\nmov.b64 %rd0, {%r0, %r1};");
  for (int lane = 0; lane < kLanes; ++lane) {
    warp.special(SpecialSlot::TidY)[lane] = 100 + lane;
    warp.special(SpecialSlot::ClusterCtarank)[lane] = 3;
  }
  warp.run();
  CHECK(warp.lanes<uint64_t>("%rd0")[31] == (uint64_t{3} << 32 | 131));
}

TEST_CASE("moves pack and unpack, with sinks") {
  Warp warp(R"(
    mov.b32 {%h0, %h1}, %r0;
    mov.b32 %r1, {%h1, %h0};
    mov.b64 {%r2, %r3}, %rd0;
    mov.b64 {_, %r4}, %rd0;
    mov.b64 {%h2, %h3, %h4, %h5}, %rd0;
    mov.b64 %rd1, {%h5, %h4, %h3, %h2};
    mov.b128 %q0, {%rd0, %rd1};
    mov.b128 {%rd3, %rd4}, %q0;
    mov.b128 %q1, %q0;
    mov.b128 {%r5, %r6, %r7, %r8}, %q1;)");
  warp.fill<uint32_t>("%r0", 0xaaaabbbb);
  warp.fill<uint64_t>("%rd0", 0x1111222233334444);
  warp.run();
  CHECK(warp.lanes<uint32_t>("%r1")[5] == 0xbbbbaaaa);
  CHECK(warp.lanes<uint32_t>("%r2")[5] == 0x33334444);
  CHECK(warp.lanes<uint32_t>("%r3")[5] == 0x11112222);
  CHECK(warp.lanes<uint32_t>("%r4")[5] == 0x11112222);
  CHECK(warp.lanes<uint64_t>("%rd1")[5] == 0x4444333322221111);
  CHECK(warp.lanes<uint64_t>("%rd3")[5] == 0x1111222233334444);
  CHECK(warp.lanes<uint64_t>("%rd4")[5] == 0x4444333322221111);
  CHECK(warp.lanes<uint32_t>("%r5")[5] == 0x33334444);
  CHECK(warp.lanes<uint32_t>("%r8")[5] == 0x44443333);
}

TEST_CASE("conversions accept registers wider than their type") {
  Warp warp(R"(
    cvt.u32.u8 %r0, %r1;
    cvt.s32.s8 %r2, %r1;
    cvt.s64.s8 %rd0, %r1;
    cvt.u16.u64 %r3, %rd1;
    cvt.s8.s32 %h0, %r1;
    cvt.rn.f32.u16 %f0, %rd1;)");
  warp.fill<uint32_t>("%r1", 0x1280);
  warp.fill<uint64_t>("%rd1", 0xffffffffffff0003);
  warp.run();
  CHECK(warp.lanes<uint32_t>("%r0")[0] == 0x80);
  CHECK(warp.lanes<int32_t>("%r2")[0] == -128);
  CHECK(warp.lanes<int64_t>("%rd0")[0] == -128);
  CHECK(warp.lanes<uint32_t>("%r3")[0] == 3);
  CHECK(warp.lanes<uint32_t>("%h0")[0] == 0xff80);
  CHECK(warp.lanes<float>("%f0")[0] == 3.0f);
}

TEST_CASE("an instruction may overwrite its own source with another width") {
  Warp warp("mul.wide.u32 %rd0, %r0, %r1;");
  // Let the wide result start where the narrow source lies, as a register allocator may.
  warp.code()[0].src[0] = Ref::make(Base::Registers, warp.code()[0].dst[0].slot());
  for (int lane = 0; lane < kLanes; ++lane) warp.file().at<uint32_t>(warp.code()[0].src[0])[lane] = lane + 1;
  warp.fill<uint32_t>("%r1", 0x80000000);
  warp.run();
  for (int lane = 0; lane < kLanes; ++lane)
    CHECK(warp.lanes<uint64_t>("%rd0")[lane] == (lane + 1) * uint64_t{0x80000000});
}

TEST_CASE("refusals name the instruction and what is wrong with it") {
  CHECK(refusal("add.f128 %q0, %q1, %q2;") == "add.f128: this form is not supported");
  CHECK(refusal("add.s32 %r0, %rd1, %r2;") == "add.s32: operand 2: %rd1 has 64 bits where 32 are expected");
  CHECK(refusal("add.s32 %r0, %r1;") == "add.s32: 2 operands where 3 are expected");
  CHECK(refusal("selp.b32 %r0, %r1, %r2, %r3;") ==
        "selp.b32: operand 4: %r3 has 32 bits where a predicate is expected");
  CHECK(refusal("add.s32 %p0, %r1, %r2;") ==
        "add.s32: operand 1: %p0 is a predicate where 32 bits are expected");
}

TEST_CASE("instructions of the engine are left to it without an error") {
  CHECK(refusal("mov.u32 %r0, %clock;") == "not an ALU form: mov.u32");
  CHECK(refusal("bar.sync 0;") == "not an ALU form: bar.sync");
  CHECK(refusal("ld.global.u32 %r0, [%rd0];") == "not an ALU form: ld.global.u32");
}
