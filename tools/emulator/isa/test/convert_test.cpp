// Conversions: every 16-bit and 8-bit code, every rounding boundary, and the manual's saturation rules.
#include <cmath>

#include "isa/test/half_reference.h"
#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
uint32_t b(float x) { return std::bit_cast<uint32_t>(x); }
float f(uint32_t x) { return std::bit_cast<float>(x); }

// Feeds `inputs` through an instruction "op %out, %in" in groups of 32.
template <typename Out, typename In>
std::vector<Out> stream(const std::string& text, const char* out, const char* in,
                        const std::vector<In>& inputs) {
  Warp warp(text);
  std::vector<Out> results;
  for (size_t i = 0; i < inputs.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane)
      warp.lanes<In>(in)[lane] = inputs[std::min(i + lane, inputs.size() - 1)];
    warp.run();
    for (size_t lane = 0; lane < kLanes && i + lane < inputs.size(); ++lane)
      results.push_back(warp.lanes<Out>(out)[lane]);
  }
  return results;
}
std::vector<uint32_t> all_codes(uint32_t count) {
  std::vector<uint32_t> codes(count);
  for (uint32_t i = 0; i < count; ++i) codes[i] = i;
  return codes;
}

// All values of a format, the middles between neighbours and the floats next to the middles, with the code
// that rounding to nearest even must give. Beyond the largest value lie infinity or, saturating, itself.
struct Boundary {
  float input;
  uint32_t expected;
};
std::vector<Boundary> boundaries(const Format& format, uint32_t largest_code, bool saturating) {
  std::vector<Boundary> list;
  auto add = [&](float input, uint32_t code) {
    list.push_back({input, code});
    list.push_back({-input, code | format.sign_bit()});
  };
  for (uint32_t code = 0; code <= largest_code; ++code) {
    const double here = format.value(code);
    const bool last = code == largest_code;
    const double next = last ? here + (here - format.value(code - 1)) : format.value(code + 1);
    const auto middle = static_cast<float>((here + next) / 2);
    const uint32_t above = last ? (saturating ? code : format.infinity_code()) : code + 1;
    add(static_cast<float>(here), code);
    if ((static_cast<double>(middle) - here) * 2 != next - here) continue;  // the middle is no float
    add(middle, (code & 1) ? above : code);
    add(std::nextafter(middle, 0.0f), code);
    add(std::nextafter(middle, INFINITY), above);
  }
  return list;
}
}  // namespace

TEST_CASE("every f16 and bf16 code widens to its value") {
  for (const Format& format : {kF16, kBf16}) {
    const auto codes = all_codes(65536);
    const auto values = stream<float>(fmt::format("cvt.f32.{} %f0, %h0;", format.name), "%f0", "%h0", codes);
    const auto doubles =
        stream<double>(fmt::format("cvt.f64.{} %fd0, %h0;", format.name), "%fd0", "%h0", codes);
    for (uint32_t code : codes) {
      const double expected = format.value(code);
      REQUIRE((std::isnan(expected) ? std::isnan(values[code]) : values[code] == expected));
      REQUIRE((std::isnan(expected) ? std::isnan(doubles[code]) : doubles[code] == expected));
      REQUIRE((std::isnan(expected) || std::signbit(values[code]) == (code >= 0x8000)));
    }
  }
  // Poison keeps its pattern through the shift that cvt.f32.bf16 is; f16 NaN become canonical.
  CHECK(stream<uint32_t>("cvt.f32.bf16 %f0, %h0;", "%f0", "%h0", std::vector<uint32_t>{0xffba})[0] ==
        0xffba0000);
  CHECK(stream<uint32_t>("cvt.f32.f16 %f0, %h0;", "%f0", "%h0", std::vector<uint32_t>{0xffba})[0] ==
        0x7fffffff);
}

TEST_CASE("rounding to f16 and bf16 is right at every boundary") {
  for (const Format& format : {kF16, kBf16}) {
    const auto list = boundaries(format, format.infinity_code() - 1, false);
    std::vector<float> inputs;
    for (const Boundary& item : list) inputs.push_back(item.input);
    const auto one =
        stream<uint32_t>(fmt::format("cvt.rn.{}.f32 %h0, %f0;", format.name), "%h0", "%f0", inputs);
    const auto two =
        stream<uint32_t>(fmt::format("cvt.rn.{}x2.f32 %r0, %f0, %f0;", format.name), "%r0", "%f0", inputs);
    const auto zero =
        stream<uint32_t>(fmt::format("cvt.rz.{}.f32 %h0, %f0;", format.name), "%h0", "%f0", inputs);
    for (size_t i = 0; i < list.size(); ++i) {
      INFO(format.name << " " << inputs[i]);
      REQUIRE(one[i] == list[i].expected);
      REQUIRE(two[i] == list[i].expected * 0x10001);
      REQUIRE(std::fabs(format.value(zero[i])) <= std::fabs(inputs[i]));
      REQUIRE((list[i].expected == zero[i] || list[i].expected == zero[i] + 1));
    }
  }
}

TEST_CASE("fp8, fp6 and fp4: every code out, every boundary in") {
  const struct {
    Format format;
    uint32_t largest;
    int shift;
  } formats[] = {{kE4m3, 0x7e, 8}, {kE5m2, 0x7b, 8}, {kE2m3, 0x1f, 8}, {kE3m2, 0x1f, 8}, {kE2m1, 7, 4}};
  for (const auto& [format, largest, shift] : formats) {
    const auto codes = all_codes(2 * format.sign_bit());
    std::vector<uint32_t> pairs;
    for (uint32_t code : codes) pairs.push_back(code << shift | (code ^ 1));
    const auto halves =
        stream<uint32_t>(fmt::format("cvt.rn.f16x2.{}x2 %r0, %h0;", format.name), "%r0", "%h0", pairs);
    for (uint32_t code : codes) {
      const double high = kF16.value(halves[code] >> 16), expected = format.value(code);
      REQUIRE((std::isnan(expected) ? (halves[code] >> 16) == 0x7fff : high == expected));
      const double low = kF16.value(halves[code] & 0xffff), other = format.value(code ^ 1);
      REQUIRE((std::isnan(other) ? std::isnan(low) : low == other));
    }
    const auto list = boundaries(format, largest, true);
    std::vector<float> inputs;
    for (const Boundary& item : list) inputs.push_back(item.input);
    const std::string op = fmt::format("cvt.rn.satfinite.{}x2.f32 %h0, %f0, %f0;", format.name);
    const auto results = stream<uint32_t>(op, "%h0", "%f0", inputs);
    for (size_t i = 0; i < list.size(); ++i) {
      INFO(format.name << " " << inputs[i]);
      REQUIRE(results[i] == (list[i].expected << shift | list[i].expected));
    }
    const std::vector<float> special = {INFINITY, -INFINITY, 1e30f, f(0xffbaffba)};
    const uint32_t nan = format.name == "e4m3" || format.name == "e5m2" ? 0x7f : largest;
    const auto clamped = stream<uint32_t>(op, "%h0", "%f0", special);
    CHECK(clamped[0] == (largest << shift | largest));
    CHECK(clamped[1] == ((largest | format.sign_bit()) << shift | largest | format.sign_bit()));
    CHECK(clamped[2] == clamped[0]);
    CHECK(clamped[3] == (nan << shift | nan));
  }
}

TEST_CASE("packing puts the first source above the second; relu and satfinite clamp") {
  Warp warp(R"(
    cvt.rn.bf16x2.f32 %r0, %f0, %f1;
    cvt.rn.relu.bf16x2.f32 %r1, %f0, %f1;
    cvt.rn.satfinite.f16x2.f32 %r2, %f2, %f3;
    cvt.rn.f16x2.f32 %r3, %f2, %f3;
    cvt.rn.relu.satfinite.bf16x2.f32 %r4, %f3, %f2;
    cvt.rna.tf32.f32 %r5, %f4;
    cvt.rz.ue8m0x2.f32 %h0, %f4, %f1;
    cvt.rp.ue8m0x2.f32 %h1, %f4, %f1;
    cvt.rn.bf16x2.ue8m0x2 %r6, %h1;
    cvt.pack.sat.s16.s32 %r7, %r10, %r11;
    cvt.pack.sat.u8.s32.b32 %r8, %r10, %r11, %r12;)");
  warp.fill<float>("%f0", -1.0f), warp.fill<float>("%f1", 2.0f);
  warp.fill<float>("%f2", 1e6f), warp.fill<float>("%f3", NAN);
  warp.fill<uint32_t>("%f4", 0x3f801000);  // half a tf32 unit above one
  warp.fill<int32_t>("%r10", 70000), warp.fill<int32_t>("%r11", -3), warp.fill<uint32_t>("%r12", 0x12345678);
  warp.run();
  CHECK(warp.lanes<uint32_t>("%r0")[0] == 0xbf804000);
  CHECK(warp.lanes<uint32_t>("%r1")[0] == 0x00004000);
  CHECK(warp.lanes<uint32_t>("%r2")[0] == 0x7bff7fff);
  CHECK(warp.lanes<uint32_t>("%r3")[0] == 0x7c007fff);
  CHECK(warp.lanes<uint32_t>("%r4")[0] == 0x7fff4974);
  CHECK(warp.lanes<uint32_t>("%r5")[0] == 0x3f802000);
  CHECK(warp.lanes<uint32_t>("%h0")[0] == 0x7f80);
  CHECK(warp.lanes<uint32_t>("%h1")[0] == 0x8080);
  CHECK(warp.lanes<uint32_t>("%r6")[0] == 0x40004000);
  CHECK(warp.lanes<uint32_t>("%r7")[0] == 0x7ffffffd);
  CHECK(warp.lanes<uint32_t>("%r8")[0] == 0x5678ff00);
}

TEST_CASE("stochastic rounding adds its random bits and truncates") {
  Warp warp("cvt.rs.bf16x2.f32 %r0, %f0, %f1, %r1;");
  warp.fill<uint32_t>("%f0", 0x3f804000), warp.fill<uint32_t>("%f1", 0x3f80c000);
  for (int lane = 0; lane < kLanes; ++lane) warp.lanes<uint32_t>("%r1")[lane] = (lane * 0x0800u) * 0x10001u;
  warp.run();
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t random = lane * 0x0800;
    CHECK(warp.lanes<uint32_t>("%r0")[lane] >> 16 == (0x3f804000 + random) >> 16);
    CHECK((warp.lanes<uint32_t>("%r0")[lane] & 0xffff) == (0x3f80c000 + random) >> 16);
  }
}

TEST_CASE("float to integer clamps, and NaN depends on the widths") {
  const std::vector<float> inputs = {2.5f, -2.5f, 3.5f, 1e20f, -1e20f, NAN, INFINITY, -0.75f, 2147483648.0f};
  auto words = [&](const char* op) {
    return stream<uint32_t>(fmt::format("{} %r0, %f0;", op), "%r0", "%f0", inputs);
  };
  const uint32_t high = 0x7fffffff, low = 0x80000000, all = ~0u;
  CHECK(words("cvt.rni.s32.f32") ==
        std::vector<uint32_t>{2, uint32_t(-2), 4, high, low, 0, high, uint32_t(-1), high});
  CHECK(words("cvt.rzi.s32.f32") == std::vector<uint32_t>{2, uint32_t(-2), 3, high, low, 0, high, 0, high});
  CHECK(words("cvt.rmi.s32.f32") ==
        std::vector<uint32_t>{2, uint32_t(-3), 3, high, low, 0, high, uint32_t(-1), high});
  CHECK(words("cvt.rpi.s32.f32") == std::vector<uint32_t>{3, uint32_t(-2), 4, high, low, 0, high, 0, high});
  CHECK(words("cvt.rzi.u32.f32") == std::vector<uint32_t>{2, 0, 3, all, 0, 0, all, 0, 0x80000000});
  const auto wide = stream<uint64_t>("cvt.rzi.s64.f32 %rd0, %f0;", "%rd0", "%f0", inputs);
  CHECK(wide[0] == 2);
  CHECK(wide[3] == 0x7fffffffffffffff);
  CHECK(wide[5] == 0x8000000000000000);
  const auto bytes =
      stream<uint32_t>("cvt.rni.s8.f32 %r0, %f0;", "%r0", "%f0", std::vector<float>{300.f, -300.f, -1.f});
  CHECK(bytes == std::vector<uint32_t>{127, uint32_t(-128), uint32_t(-1)});
  const auto from_double =
      stream<uint32_t>("cvt.rzi.s32.f64 %r0, %fd0;", "%r0", "%fd0", std::vector<double>{NAN, -7.9});
  CHECK(from_double == std::vector<uint32_t>{0x80000000, uint32_t(-7)});
}

TEST_CASE("integer to float rounds by mode") {
  const std::vector<uint32_t> inputs = {16777217, 16777219, uint32_t(-16777217), 0x7fffffff, 0xffffffff};
  auto run = [&](const char* op) {
    return stream<float>(fmt::format("{} %f0, %r0;", op), "%f0", "%r0", inputs);
  };
  CHECK(run("cvt.rn.f32.s32") == std::vector<float>{16777216, 16777220, -16777216, 2147483648.f, -1});
  CHECK(run("cvt.rz.f32.s32") == std::vector<float>{16777216, 16777218, -16777216, 2147483520.f, -1});
  CHECK(run("cvt.rp.f32.s32") == std::vector<float>{16777218, 16777220, -16777216, 2147483648.f, -1});
  CHECK(run("cvt.rm.f32.s32") == std::vector<float>{16777216, 16777218, -16777218, 2147483520.f, -1});
  CHECK(run("cvt.rn.f32.u32")[4] == 4294967296.f);
  const std::vector<uint64_t> wide = {0xffffffffffffffff, 0x8000008000000001, 1};
  CHECK(stream<float>("cvt.rn.f32.u64 %f0, %rd0;", "%f0", "%rd0", wide) ==
        std::vector<float>{0x1p64f, 0x1.000002p63f, 1});
  CHECK(stream<float>("cvt.rz.f32.u64 %f0, %rd0;", "%f0", "%rd0", wide) ==
        std::vector<float>{0x1.fffffep63f, 0x1p63f, 1});
  CHECK(
      stream<uint32_t>("cvt.rn.f16.s32 %h0, %r0;", "%h0", "%r0", std::vector<uint32_t>{2049, 2051, 70000}) ==
      std::vector<uint32_t>{0x6800, 0x6802, 0x7c00});
}

TEST_CASE("integer to integer extends, truncates and saturates") {
  const std::vector<uint32_t> inputs = {0xffffff80, 300, 0x8000};
  auto run = [&](const char* op) {
    return stream<uint32_t>(fmt::format("{} %r0, %r1;", op), "%r0", "%r1", inputs);
  };
  CHECK(run("cvt.s32.s8") == std::vector<uint32_t>{uint32_t(-128), 44, 0});
  CHECK(run("cvt.sat.s8.s32") == std::vector<uint32_t>{uint32_t(-128), 127, 127});
  CHECK(run("cvt.sat.u8.s32") == std::vector<uint32_t>{0, 255, 255});
  CHECK(run("cvt.sat.u16.u32") == std::vector<uint32_t>{0xffff, 300, 0x8000});
  const auto wide = stream<uint64_t>("cvt.s64.s32 %rd0, %r0;", "%rd0", "%r0", inputs);
  CHECK(wide[0] == 0xffffffffffffff80);
}

TEST_CASE("float to float: integral rounding, saturation, double rounding avoided") {
  const std::vector<float> inputs = {2.5f, -0.5f, 1e30f, -0.0f};
  CHECK(stream<uint32_t>("cvt.rni.f32.f32 %f0, %f1;", "%f0", "%f1", inputs) ==
        std::vector<uint32_t>{b(2.f), b(-0.f), b(1e30f), b(-0.f)});
  CHECK(stream<float>("cvt.rmi.f32.f32 %f0, %f1;", "%f0", "%f1", inputs) ==
        std::vector<float>{2.f, -1.f, 1e30f, -0.f});
  CHECK(stream<float>("cvt.sat.f32.f32 %f0, %f1;", "%f0", "%f1", inputs) ==
        std::vector<float>{1.f, 0.f, 1.f, 0.f});
  // 1 + 2^-11 + 2^-40 lies above the middle of two halves; through f32 it would be a tie and round down.
  CHECK(stream<uint32_t>("cvt.rn.f16.f64 %h0, %fd0;", "%h0", "%fd0",
                         std::vector<double>{1 + 0x1p-11 + 0x1p-40})[0] == 0x3c01);
  CHECK(stream<float>("cvt.rp.f32.f64 %f0, %fd0;", "%f0", "%fd0", std::vector<double>{1 + 0x1p-40})[0] ==
        1 + 0x1p-23f);
}
