#include "compare.h"

#include <bit>
#include <cmath>
#include <cstdio>

namespace conformance {
namespace {

double from_half(uint32_t h) {
  const uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
  const double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                           : exponent     ? std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25)
                                          : std::ldexp(fraction, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}
double from_float(uint32_t w) { return std::bit_cast<float>(w); }

// Elements of an output, as bit patterns and numbers; the inputs have the same packing.
struct Elements {
  std::vector<uint64_t> bits;
  std::vector<double> values;
};
Elements elements(ErrorBound::Format format, const uint64_t* items, size_t count) {
  Elements result;
  auto add = [&](uint64_t bits, double value) {
    result.bits.push_back(bits), result.values.push_back(value);
  };
  for (size_t i = 0; i < count; ++i) {
    const uint32_t w = static_cast<uint32_t>(items[i]);
    switch (format) {
      case ErrorBound::Format::kF32:
        add(w, from_float(w));
        break;
      case ErrorBound::Format::kF64:
        add(items[i], std::bit_cast<double>(items[i]));
        break;
      case ErrorBound::Format::kF16x2:
        add(w & 0xffff, from_half(w & 0xffff)), add(w >> 16, from_half(w >> 16));
        break;
      case ErrorBound::Format::kBf16x2:
        add(w & 0xffff, from_float(w << 16)), add(w >> 16, from_float(w & 0xffff0000));
        break;
    }
  }
  return result;
}
Elements elements_of_words(ErrorBound::Format format, const std::vector<uint32_t>& words) {
  std::vector<uint64_t> items;
  const size_t step = format == ErrorBound::Format::kF64 ? 2 : 1;
  for (size_t i = 0; i + step <= words.size(); i += step)
    items.push_back(step == 2 ? static_cast<uint64_t>(words[i + 1]) << 32 | words[i] : words[i]);
  return elements(format, items.data(), items.size());
}

// Below it .ftz makes zeros; no f16 instruction of the suite flushes.
double smallest_normal(ErrorBound::Format format) {
  if (format == ErrorBound::Format::kF16x2) return std::ldexp(1.0, -1000);
  return std::ldexp(1.0, format == ErrorBound::Format::kF64 ? -1022 : -126);
}

std::string compare_within_bound(const Case& test, const Result& expected, const Result& got) {
  const Elements in = elements(test.bound.format, test.bound.inputs.data(), test.bound.inputs.size());
  const Elements hardware = elements_of_words(test.bound.format, expected.words);
  const Elements ours = elements_of_words(test.bound.format, got.words);
  double worst_hardware = 0, worst_ours = 0;
  char line[200];
  for (size_t i = 0; i < hardware.values.size(); ++i) {
    const double exact = test.bound.exact(in.values[i]);
    // A zero counts as rounded where the function is not zero; where it is or would be flushed, the bits
    // count.
    const bool zero = hardware.values[i] == 0 && std::fabs(exact) < smallest_normal(test.bound.format);
    const bool ordinary = std::isfinite(hardware.values[i]) && !zero;
    if (hardware.values[i] == 0 && hardware.bits[i] == ours.bits[i]) continue;
    const double allowed = test.bound.allowed(in.values[i], exact);
    const double share = std::fabs(ours.values[i] - exact) / allowed;
    if (ordinary ? !(share <= 1) : hardware.bits[i] != ours.bits[i]) {
      std::snprintf(
          line, sizeof line, "element %zu of input %llx: expected %llx, got %llx (%.3g of the bound: %s)", i,
          static_cast<unsigned long long>(in.bits[i]), static_cast<unsigned long long>(hardware.bits[i]),
          static_cast<unsigned long long>(ours.bits[i]), share, test.bound.text.c_str());
      return line;
    }
    if (!ordinary) continue;
    worst_ours = std::fmax(worst_ours, share);
    worst_hardware = std::fmax(worst_hardware, std::fabs(hardware.values[i] - exact) / allowed);
  }
  std::printf("%s: worst error %.2f of the bound (%s), recorded %.2f\n", test.name.c_str(), worst_ours,
              test.bound.text.c_str(), worst_hardware);
  return {};
}

}  // namespace

std::string find_difference(const Case& test, const Result& expected, const Result& got) {
  if (expected.error != got.error)
    return "expected " + (expected.error.empty() ? "success" : expected.error) + ", got " +
           (got.error.empty() ? "success" : got.error);
  if (!expected.error.empty()) return {};
  if (test.prints)
    return expected.text == got.text ? "" : "expected \"" + expected.text + "\", got \"" + got.text + "\"";
  if (expected.words.size() != got.words.size())
    return "recorded " + std::to_string(expected.words.size()) + " words, got " +
           std::to_string(got.words.size());
  if (test.bound.exact) return compare_within_bound(test, expected, got);
  size_t differ = 0, first = 0;
  for (size_t i = got.words.size(); i-- > 0;)
    if (expected.words[i] != got.words[i]) ++differ, first = i;
  if (differ == 0) return {};
  char line[120];
  std::snprintf(line, sizeof line, "word %zu: expected %08x, got %08x (%zu of %zu words differ)", first,
                expected.words[first], got.words[first], differ, got.words.size());
  return line;
}

}  // namespace conformance
