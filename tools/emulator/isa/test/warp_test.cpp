// Instructions across lanes: shuffles, votes, reductions, and matrix products against plain sums.
#include <cmath>

#include "isa/test/half_reference.h"
#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

TEST_CASE("shuffles as __shfl_*_sync compiles them") {
  Warp warp(R"(
    shfl.sync.bfly.b32 %r0|%p0, %r9, 1, 31, -1;
    shfl.sync.down.b32 %r1|%p1, %r9, 4, 31, -1;
    shfl.sync.up.b32 %r2|%p2, %r9, 4, 0, -1;
    shfl.sync.idx.b32 %r3|%p3, %r9, 5, 31, -1;
    shfl.sync.down.b32 %r4, %r9, 2, 6175, -1;
    shfl.sync.idx.b32 %r5, %r9, 3, 6175, -1;)");  // 6175 = 0x181f: segments of eight lanes
  for (int lane = 0; lane < kLanes; ++lane) warp.lanes<uint32_t>("%r9")[lane] = 100 + lane;
  warp.run();
  for (int lane = 0; lane < kLanes; ++lane) {
    auto at = [&](const char* name) { return warp.lanes<uint32_t>(name)[lane] - 100; };
    const uint32_t l = lane;
    CHECK(at("%r0") == (l ^ 1));
    CHECK(at("%r1") == (l + 4 < 32 ? l + 4 : l));
    CHECK(at("%r2") == (l >= 4 ? l - 4 : l));
    CHECK(at("%r3") == 5);
    CHECK(at("%r4") == (l % 8 < 6 ? l + 2 : l));
    CHECK(at("%r5") == l / 8 * 8 + 3);
  }
  CHECK(warp.predicate("%p0") == ~0u);
  CHECK(warp.predicate("%p1") == 0x0fffffff);
  CHECK(warp.predicate("%p2") == 0xfffffff0);
  CHECK(warp.code()[0].kind == Kind::AluSync);
  CHECK(warp.code()[0].member_source == 3);
}

TEST_CASE("votes count the executing members only") {
  Warp warp(R"(
    vote.sync.all.pred %p0, %p9, %r9;
    vote.sync.any.pred %p1, !%p9, %r9;
    vote.sync.uni.pred %p2, %p9, %r9;
    vote.sync.ballot.b32 %r0, %p9, %r9;
    activemask.b32 %r1;
    elect.sync %r2|%p3, %r9;
    elect.sync _|%p4, %r9;)");
  warp.fill<uint32_t>("%r9", 0x00ff00f0);
  warp.predicate("%p9") = 0x00ffffff;
  warp.run(0x00ff00f0);
  CHECK(warp.predicate("%p0") == 0x00ff00f0);
  CHECK(warp.predicate("%p1") == 0);
  CHECK(warp.predicate("%p2") == 0x00ff00f0);
  CHECK(warp.lanes<uint32_t>("%r0")[4] == 0x00ff00f0);
  CHECK(warp.lanes<uint32_t>("%r1")[4] == 0x00ff00f0);
  CHECK(warp.lanes<uint32_t>("%r2")[20] == 4);
  CHECK(warp.predicate("%p3") == 0x10);
  CHECK(warp.predicate("%p4") == 0x10);
}

TEST_CASE("match groups equal values, redux reduces them") {
  Warp warp(R"(
    match.any.sync.b32 %r0, %r9, -1;
    match.all.sync.b32 %r1|%p0, %r9, -1;
    redux.sync.add.s32 %r2, %r9, -1;
    redux.sync.max.s32 %r3, %r8, -1;
    redux.sync.min.u32 %r4, %r8, -1;
    redux.sync.xor.b32 %r5, %r9, -1;
    redux.sync.max.f32 %f0, %f9, -1;
    redux.sync.max.abs.f32 %f1, %f9, -1;
    redux.sync.max.NaN.f32 %f2, %f9, -1;)");
  for (int lane = 0; lane < kLanes; ++lane) {
    warp.lanes<uint32_t>("%r9")[lane] = lane / 8;
    warp.lanes<int32_t>("%r8")[lane] = lane - 20;
    warp.lanes<float>("%f9")[lane] = lane == 3 ? NAN : static_cast<float>(lane - 20);
  }
  warp.run();
  for (int lane = 0; lane < kLanes; ++lane)
    CHECK(warp.lanes<uint32_t>("%r0")[lane] == 0xffu << (lane / 8 * 8));
  CHECK(warp.lanes<uint32_t>("%r1")[9] == 0);
  CHECK(warp.predicate("%p0") == 0);
  CHECK(warp.lanes<uint32_t>("%r2")[9] == 8 * (0 + 1 + 2 + 3));
  CHECK(warp.lanes<int32_t>("%r3")[9] == 11);
  CHECK(warp.lanes<int32_t>("%r4")[9] == 0);
  CHECK(warp.lanes<uint32_t>("%r5")[9] == 0);
  CHECK(warp.lanes<float>("%f0")[9] == 11);
  CHECK(warp.lanes<float>("%f1")[9] == 20);
  CHECK(warp.lanes<uint32_t>("%f2")[9] == 0x7fffffff);
}

TEST_CASE("movmatrix transposes") {
  Warp warp("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;");
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t row = lane / 4, column = 2 * (lane % 4);
    warp.lanes<uint32_t>("%r1")[lane] = (row * 16 + column) | (row * 16 + column + 1) << 16;
  }
  warp.run();
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t row = lane / 4, column = 2 * (lane % 4);
    CHECK(warp.lanes<uint32_t>("%r0")[lane] == (column * 16 + row) + ((column + 1) * 16 + row) * 0x10000u);
  }
}

namespace {
// Fills A (16xK), B (Kx8) and C (16x8) through the fragment layout and compares D with a float64 product.
void check_product(const std::string& shape, const std::string& types, int k_extent, int per_register,
                   const Format& format, double tolerance) {
  const int a_registers = k_extent / (2 * per_register), b_registers = k_extent / (4 * per_register);
  auto list = [](char prefix, int first, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i ? "," : "", prefix, first + i);
    return text + "}";
  };
  INFO(shape << types);
  Warp warp(fmt::format("mma.sync.aligned.{}.row.col.f32.{}.f32 {},{},{},{};", shape, types, list('f', 0, 4),
                        list('r', 0, a_registers), list('r', 4, b_registers), list('f', 4, 4)));
  const int bits = 32 / per_register;
  auto random_code = [&] {
    if (per_register == 1)
      return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int>(random_engine()() % 401) - 200) /
                                     64);
    uint32_t code = static_cast<uint32_t>(random_engine()()) & ((1u << bits) - 1);
    while (!(std::fabs(format.value(code)) < 8))
      code = static_cast<uint32_t>(random_engine()()) & ((1u << bits) - 1);
    return code;
  };
  auto value = [&](uint32_t word, int i) {
    return per_register == 1 ? static_cast<double>(std::bit_cast<float>(word))
                             : format.value(word >> (bits * i) & ((1u << bits) - 1));
  };
  double a[16][32] = {}, b[32][8] = {}, c[16][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane / 4, thread = lane % 4;
    for (int r = 0; r < a_registers; ++r) {
      uint32_t word = 0;
      for (int i = 0; i < per_register; ++i) word |= random_code() << (bits * i % 32);
      warp.lanes<uint32_t>(fmt::format("%r{}", r))[lane] = word;
      for (int i = 0; i < per_register; ++i)
        a[group + (r % 2 ? 8 : 0)][thread * per_register + (r / 2) * 4 * per_register + i] = value(word, i);
    }
    for (int r = 0; r < b_registers; ++r) {
      uint32_t word = 0;
      for (int i = 0; i < per_register; ++i) word |= random_code() << (bits * i % 32);
      warp.lanes<uint32_t>(fmt::format("%r{}", 4 + r))[lane] = word;
      for (int i = 0; i < per_register; ++i)
        b[thread * per_register + r * 4 * per_register + i][group] = value(word, i);
    }
    for (int i = 0; i < 4; ++i) {
      const float x = static_cast<float>(random_engine()() % 1000) / 100;
      warp.lanes<float>(fmt::format("%f{}", 4 + i))[lane] = x;
      c[group + (i / 2) * 8][thread * 2 + i % 2] = x;
    }
  }
  warp.run();
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int m = lane / 4 + (i / 2) * 8, n = lane % 4 * 2 + i % 2;
      double sum = c[m][n], size = std::fabs(c[m][n]);
      for (int k = 0; k < k_extent; ++k) sum += a[m][k] * b[k][n], size += std::fabs(a[m][k] * b[k][n]);
      REQUIRE(std::fabs(warp.lanes<float>(fmt::format("%f{}", i))[lane] - sum) <= tolerance * size);
    }
}
}  // namespace

TEST_CASE("mma.sync multiplies through the fragment layouts") {
  const double tolerance = 0x1p-22;
  check_product("m16n8k16", "bf16.bf16", 16, 2, kBf16, tolerance);
  check_product("m16n8k16", "f16.f16", 16, 2, kF16, tolerance);
  check_product("m16n8k8", "bf16.bf16", 8, 2, kBf16, tolerance);
  check_product("m16n8k8", "tf32.tf32", 8, 1, kF16, tolerance);
  check_product("m16n8k4", "tf32.tf32", 4, 1, kF16, tolerance);
  check_product("m16n8k32", "e4m3.e4m3", 32, 4, kE4m3, tolerance);
  check_product("m16n8k32", "e5m2.e5m2", 32, 4, kE5m2, tolerance);
}

TEST_CASE("mma.sync of small integers in f16 and in s8 is exact") {
  Warp warp(R"(
    mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0,%r1}, {%r8,%r8,%r8,%r8}, {%r8,%r8}, {%r9,%r9};
    mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r2,%r3,%r4,%r5}, {%r10,%r10,%r10,%r10}, {%r10,%r10}, {%r11,%r11,%r11,%r11};
    mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%r12,%r13,%r14,%r15}, {%r10,%r10,%r10,%r10}, {%r10,%r10}, {%r16,%r16,%r16,%r16};
    mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0,%fd1}, {%fd2}, {%fd3}, {%fd4,%fd5};)");
  warp.fill<uint32_t>("%r8", 0x3c003c00), warp.fill<uint32_t>("%r9", 0x40004000);
  warp.fill<uint32_t>("%r10", 0xffffffff), warp.fill<int32_t>("%r11", 5),
      warp.fill<int32_t>("%r16", INT32_MAX);
  for (auto [name, x] : {std::pair{"%fd2", 2.0}, {"%fd3", 3.0}, {"%fd4", 1.0}, {"%fd5", 0.5}})
    warp.fill<double>(name, x);
  warp.run();
  CHECK(warp.lanes<uint32_t>("%r0")[17] == 0x4c804c80);  // 16 + 2 = 18
  CHECK(warp.lanes<int32_t>("%r2")[17] == 5 - 32 * 255);
  CHECK(warp.lanes<int32_t>("%r12")[17] == INT32_MAX);
  CHECK(warp.lanes<double>("%fd0")[17] == 25.0);
  CHECK(warp.lanes<double>("%fd1")[17] == 24.5);
}

TEST_CASE("mma.sync passes infinities and NaN, and keeps zeros") {
  Warp warp(R"(
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f4,%f5,%f6,%f7};)");
  for (int i = 0; i < 4; ++i) warp.fill<uint32_t>(fmt::format("%r{}", i), 0);
  for (int i = 4; i < 6; ++i) warp.fill<uint32_t>(fmt::format("%r{}", i), 0x3f803f80);
  for (int i = 4; i < 8; ++i) warp.fill<float>(fmt::format("%f{}", i), 0.0f);
  warp.lanes<uint32_t>("%r0")[0] = 0x7f80;                                           // A(0, 0) = infinity
  warp.lanes<uint32_t>("%r0")[4] = 0x7f80, warp.lanes<uint32_t>("%r0")[5] = 0xff80;  // row 1: +inf and -inf
  warp.lanes<uint32_t>("%r0")[8] = 0xffba;                                           // row 2: poison
  warp.run();
  CHECK(warp.lanes<uint32_t>("%f0")[0] == 0x7f800000);
  CHECK(warp.lanes<uint32_t>("%f0")[4] == 0x7fffffff);
  CHECK(warp.lanes<uint32_t>("%f1")[8] == 0x7fffffff);
  CHECK(warp.lanes<uint32_t>("%f0")[12] == 0);
}
