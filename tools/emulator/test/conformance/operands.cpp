#include "operands.h"

#include <bit>
#include <cstddef>

namespace conformance {
namespace {

using std::size_t;
using Words = std::vector<uint64_t>;

const Words kI32Specials = {0,          1,          2,          3,          0xffffffff,
                            0xfffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0x55555555,
                            0xaaaaaaaa, 0xffff,     0x10000,    0x8000,     0x7fff,
                            31,         32,         0xff00ff00, 0x00800000, 255};
const Words kI64Specials = {0,
                            1,
                            2,
                            0xffffffffffffffff,
                            0x7fffffffffffffff,
                            0x8000000000000000,
                            0x8000000000000001,
                            0xffffffff,
                            0x100000000,
                            0x80000000,
                            0x7fffffff,
                            0x5555555555555555,
                            0xffffffff00000000,
                            63,
                            64,
                            0xfffffffffffffffd};
const Words kI16Specials = {0, 1, 2, 0xffff, 0x7fff, 0x8000, 0x8001, 0x5555, 0xff, 0x100, 15, 16, 0xfffe, 7};
const Words kShiftSpecials = {0, 1, 5, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 0xffffffff, 0x80000000};
const Words kSelectorSpecials = {0x3210, 0x7654, 0x0123, 0x4567, 0xba98, 0xfedc, 0x0000, 0x8888,
                                 0x7777, 0xffff, 0x5410, 0x6240, 1,      2,      3,      0xffff3210};
const Words kF32Specials = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x3fc00000,
                            0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                            0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                            0x7f812345, 0xffc54321, 0x3f7fffff, 0x4b000001, 0x33800000};
const Words kF64Specials = {0,
                            0x8000000000000000,
                            0x3ff0000000000000,
                            0xbff8000000000000,
                            1,
                            0x800fffffffffffff,
                            0x0010000000000000,
                            0x7fefffffffffffff,
                            0xffefffffffffffff,
                            0x7ff0000000000000,
                            0xfff0000000000000,
                            0x7ff8000000000000,
                            0x7ff0000012345678,
                            0xfff8000000054321,
                            0x3fefffffffffffff,
                            0x4340000000000001,
                            0x3ca0000000000000};
const Words kF16Specials = {0,      0x8000, 0x3c00, 0xbc00, 0x3e00, 1,      0x83ff, 0x0400, 0x7bff,
                            0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7d23, 0xfe54, 0x3bff, 0x6401, 0x1000};
const Words kBf16Specials = {0,      0x8000, 0x3f80, 0xbf80, 0x3fc0, 1,      0x807f, 0x0080, 0x7f7f,
                             0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f91, 0xffc5, 0x3f7f, 0x4301, 0x3b80};

uint64_t f32(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t f64(double x) { return std::bit_cast<uint64_t>(x); }

// Limits of the integer types and of e4m3, e5m2, f16 and bf16, with their neighbours and halves.
const double kLimits[] = {0.25,
                          0.5,
                          0.75,
                          1,
                          1.5,
                          2.5,
                          126.5,
                          127,
                          127.5,
                          128,
                          128.5,
                          255,
                          255.5,
                          256,
                          447,
                          448,
                          464,
                          465,
                          480,
                          32767,
                          32768,
                          65504,
                          65519,
                          65520,
                          65535,
                          65535.5,
                          57344,
                          61439,
                          61440,
                          65536,
                          2147483520.0,
                          2147483648.0,
                          4294967040.0,
                          4294967296.0,
                          9223371487098961920.0,
                          9223372036854775808.0,
                          18446742974197923840.0,
                          18446744073709551616.0,
                          0x1p-24,
                          0x1.8p-24,
                          0x1p-25,
                          0x1.000002p-25,
                          0x1p-14,
                          0x1p-9,
                          0x1p-10,
                          0x1.8p-10,
                          0x1p-16,
                          0x1p-17,
                          0x1p-133,
                          0x1.fep127,
                          0x1.ffp127,
                          0x1.00ffp0,
                          0x1.01p0,
                          0x1.03p0,
                          0x1.002p0,
                          0x1.006p0};

Words limits(uint64_t (*encode)(double)) {
  Words words;
  for (double limit : kLimits) words.push_back(encode(limit)), words.push_back(encode(-limit));
  return words;
}
Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
Words pairs(const Words& halves) {
  Words words;
  for (size_t i = 0; i < halves.size(); ++i)
    words.push_back(halves[i] | halves[(i * 5 + 3) % halves.size()] << 16);
  return words;
}

// A float's exponent drawn near one, so that sums and products of two random values round.
uint64_t random_value(Values values, uint64_t r) {
  switch (values) {
    case Values::kF32:
    case Values::kConvertF32:
      return r & 1 ? r >> 8 & 0xffffffff : (r >> 8 & 0x807fffff) | (118 + (r >> 56) % 18) << 23;
    case Values::kF64:
    case Values::kConvertF64:
      return r & 1 ? r : (r & 0x800fffffffffffff) | (1013 + (r >> 52) % 20) << 52;
    case Values::kF16:
      return r & 1 ? r >> 8 & 0xffff : (r >> 8 & 0x83ff) | (10 + (r >> 56) % 10) << 10;
    case Values::kBf16:
      return r & 1 ? r >> 8 & 0xffff : (r >> 8 & 0x807f) | (122 + (r >> 56) % 10) << 7;
    case Values::kF16x2:
      return random_value(Values::kF16, r) | random_value(Values::kF16, r * 0x9e3779b97f4a7c15) << 16;
    case Values::kBf16x2:
      return random_value(Values::kBf16, r) | random_value(Values::kBf16, r * 0x9e3779b97f4a7c15) << 16;
    case Values::kI32:
      return r & 1 ? r >> 8 & 0xffffffff
                   : static_cast<uint32_t>(static_cast<int32_t>(r >> 32) >> (r >> 1 & 31));
    case Values::kI64:
      return r & 2 ? r : static_cast<uint64_t>(static_cast<int64_t>(r) >> (r >> 2 & 63));
    case Values::kI16:
    case Values::kBytes2:
      return r >> 8 & 0xffff;
    case Values::kShift:
      return r >> 8 & 0x3f;
    case Values::kSelector:
      return r >> 8 & 0xffff;
    case Values::kAngle:
      return f32(static_cast<float>(static_cast<double>(r >> 11) * 0x1p-53 * 12.56 - 6.28));
    case Values::kWideAngle:
      return f32(static_cast<float>(static_cast<double>(r >> 11) * 0x1p-53 * 628 - 314));
    case Values::kUnit:
      return f32(static_cast<float>(static_cast<double>(r >> 11) * 0x1p-53 * 1.5 + 0.5));
  }
  return r;
}

}  // namespace

Words special_values(Values values) {
  switch (values) {
    case Values::kI16:
      return kI16Specials;
    case Values::kI32:
      return kI32Specials;
    case Values::kI64:
      return kI64Specials;
    case Values::kShift:
      return kShiftSpecials;
    case Values::kSelector:
      return kSelectorSpecials;
    case Values::kF16:
      return kF16Specials;
    case Values::kBf16:
      return kBf16Specials;
    case Values::kF32:
      return kF32Specials;
    case Values::kF64:
      return kF64Specials;
    case Values::kF16x2:
      return pairs(kF16Specials);
    case Values::kBf16x2:
      return pairs(kBf16Specials);
    case Values::kConvertF32:
      return joined(kF32Specials, limits([](double x) { return f32(static_cast<float>(x)); }));
    case Values::kConvertF64:
      return joined(kF64Specials, limits(f64));
    case Values::kBytes2: {
      Words words;
      for (uint64_t i = 0; i < 256; ++i) words.push_back(i | ((i * 7 + 13) & 255) << 8);
      return words;
    }
    case Values::kAngle:
      return {0, 0x80000000, 1, f32(3.14159274f), f32(-1.57079637f), f32(1.57079637f), f32(0.001f)};
    case Values::kWideAngle:
      return {f32(100.0f), f32(-314.0f), f32(314.0f), f32(7.0f)};
    case Values::kUnit:
      return {0x3f800000, 0x3f000000, 0x40000000, 0x3f7fffff, 0x3f800001};
  }
  return {};
}

Words operands(Values values, int position, int arity, int count) {
  const Words specials = special_values(values);
  Words words(count);
  for (int i = 0; i < count; ++i) {
    const uint32_t h = mix(i * 8 + position);
    const uint64_t r = static_cast<uint64_t>(mix(h + 0x1234567)) << 32 | mix(h ^ 0x89abcdef);
    const size_t n = specials.size();
    const bool three = arity == 3 && i < count * 3 / 4;
    size_t index = i;
    if (arity == 2) index = position == 0 ? i % 20 : i / 20;
    if (three) index = h % n;
    const bool special = arity == 1 ? index < n : arity == 2 ? index < n && i < 400 : three;
    words[i] = special ? specials[index] : random_value(values, r);
  }
  return words;
}

}  // namespace conformance
