// Approximate functions against float64 references; the manual's error bounds are the limits.
#include <cmath>

#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
float f(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t b(float x) { return std::bit_cast<uint32_t>(x); }

struct Worst {
  double ulp = 0, relative = 0, absolute = 0;
};
// Sweeps inputs from `low` to `high` by bit pattern.
template <typename Reference>
Worst sweep(const std::string& opcode, float low, float high, Reference reference) {
  Warp warp(opcode + " %f0, %f1;");
  Worst worst;
  const auto from = static_cast<int64_t>(b(low)), to = static_cast<int64_t>(b(high));
  const int64_t step = std::max<int64_t>(1, (to - from) / 400000);
  for (int64_t at = from; at < to; at += step * kLanes) {
    for (int lane = 0; lane < kLanes; ++lane)
      warp.lanes<float>("%f1")[lane] = f(static_cast<uint32_t>(std::min(to, at + lane * step)));
    warp.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      const double expected = reference(static_cast<double>(warp.lanes<float>("%f1")[lane]));
      const double error = std::fabs(warp.lanes<float>("%f0")[lane] - expected);
      worst.absolute = std::max(worst.absolute, error);
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(expected == 0 ? 1 : expected), -126) - 23);
      worst.ulp = std::max(worst.ulp, error / ulp);
      if (expected != 0) worst.relative = std::max(worst.relative, error / std::fabs(expected));
    }
  }
  WARN(fmt::format("{} on [{}, {}]: {:.3f} ulp, relative 2^{:.2f}, absolute 2^{:.2f}", opcode, low, high,
                   worst.ulp, std::log2(worst.relative), std::log2(worst.absolute)));
  return worst;
}
std::vector<uint32_t> values(const std::string& opcode, std::vector<uint32_t> inputs) {
  Warp warp(opcode + " %f0, %f1;");
  for (size_t i = 0; i < inputs.size(); ++i) warp.lanes<uint32_t>("%f1")[i] = inputs[i];
  warp.run();
  return {warp.lanes<uint32_t>("%f0"), warp.lanes<uint32_t>("%f0") + inputs.size()};
}
constexpr uint32_t kNan = 0x7fffffff, kInf = 0x7f800000, kMinusInf = 0xff800000, kMinusZero = 0x80000000;
}  // namespace

TEST_CASE("ex2.approx stays within two units") {
  const auto reference = [](double x) { return std::exp2(x); };
  for (const char* op : {"ex2.approx.f32", "ex2.approx.ftz.f32"}) {
    CHECK(sweep(op, 0x1p-30f, 127.99f, reference).ulp < 2);
    CHECK(sweep(op, -0x1p-30f, -125.99f, reference).ulp < 2);
  }
  CHECK(sweep("ex2.approx.f32", -126.0f, -149.0f, reference).ulp < 2);
}

TEST_CASE("ex2.approx of special values") {
  const std::vector<uint32_t> inputs = {kMinusInf, kInf,      0,          kMinusZero, kNan,
                                        1,         b(128.0f), b(-126.0f), b(-127.0f), b(10.0f)};
  CHECK(values("ex2.approx.f32", inputs) == std::vector<uint32_t>{0, kInf, b(1.f), b(1.f), kNan, b(1.f), kInf,
                                                                  0x00800000, 0x00400000, b(1024.f)});
  CHECK(values("ex2.approx.ftz.f32", inputs) ==
        std::vector<uint32_t>{0, kInf, b(1.f), b(1.f), kNan, b(1.f), kInf, 0x00800000, 0, b(1024.f)});
}

TEST_CASE("lg2.approx") {
  const auto reference = [](double x) { return std::log2(x); };
  CHECK(sweep("lg2.approx.f32", 0.5f, 2.0f, reference).absolute < 0x1p-22);
  CHECK(sweep("lg2.approx.f32", 0x1p-149f, 0.5f, reference).relative < 0x1p-22);
  CHECK(sweep("lg2.approx.ftz.f32", 2.0f, 0x1.fffffep127f, reference).relative < 0x1p-22);
  CHECK(values("lg2.approx.f32", {0, kMinusZero, kInf, kMinusInf, b(-1.f), kNan, b(8.f), b(1.f), 1}) ==
        std::vector<uint32_t>{kMinusInf, kMinusInf, kInf, kNan, kNan, kNan, b(3.f), 0, b(-149.f)});
  CHECK(values("lg2.approx.ftz.f32", {1, 0x807fffff}) == std::vector<uint32_t>{kMinusInf, kMinusInf});
}

TEST_CASE("sin.approx and cos.approx") {
  const auto sine = [](double x) { return std::sin(x); };
  const auto cosine = [](double x) { return std::cos(x); };
  CHECK(sweep("sin.approx.f32", 0x1p-20f, 6.2831853f, sine).absolute < 0x1p-20);
  CHECK(sweep("sin.approx.ftz.f32", -6.2831853f, -314.0f, sine).absolute < 0x1p-14);
  CHECK(sweep("cos.approx.f32", 0x1p-20f, 314.0f, cosine).absolute < 0x1p-20);
  CHECK(values("sin.approx.f32", {0, kMinusZero, kInf, kMinusInf, kNan, 1}) ==
        std::vector<uint32_t>{0, kMinusZero, kNan, kNan, kNan, 0});  // 1: x / (2 pi) is flushed (H200)
  CHECK(values("sin.approx.ftz.f32", {1, 0x80000001}) == std::vector<uint32_t>{0, kMinusZero});
  CHECK(values("cos.approx.ftz.f32", {0, kMinusZero, kInf, 1}) ==
        std::vector<uint32_t>{b(1.f), b(1.f), kNan, b(1.f)});
}

TEST_CASE("tanh.approx, rcp.approx, rsqrt.approx, sqrt.approx") {
  CHECK(sweep("tanh.approx.f32", 0x1p-126f, 30.0f, [](double x) { return std::tanh(x); }).relative < 0x1p-11);
  CHECK(sweep("rcp.approx.f32", 0x1p-126f, 0x1p125f, [](double x) { return 1 / x; }).ulp <= 1);
  CHECK(sweep("rsqrt.approx.f32", 0x1p-149f, 0x1.fffffep127f, [](double x) {
          return 1 / std::sqrt(x);
        }).relative < 0x1p-22);
  CHECK(sweep("sqrt.approx.f32", 0x1p-149f, 0x1.fffffep127f, [](double x) { return std::sqrt(x); }).relative <
        0x1p-23);
  CHECK(values("tanh.approx.f32", {kInf, kMinusInf, 0, kMinusZero, kNan, 1}) ==
        std::vector<uint32_t>{b(1.f), b(-1.f), 0, kMinusZero, kNan, 1});
  CHECK(values("rsqrt.approx.f32", {kInf, kMinusInf, 0, kMinusZero, kNan, b(-4.f), b(4.f)}) ==
        std::vector<uint32_t>{0, kNan, kInf, kMinusInf, kNan, kNan, b(0.5f)});
  CHECK(values("rcp.approx.ftz.f32", {kInf, kMinusInf, 0, kMinusZero, 1, 0x80000001, kNan}) ==
        std::vector<uint32_t>{0, kMinusZero, kInf, kMinusInf, kInf, kMinusInf, kNan});
  CHECK(values("sqrt.approx.f32", {kInf, kMinusInf, kMinusZero, b(9.f)}) ==
        std::vector<uint32_t>{kInf, kNan, kMinusZero, b(3.f)});
}
