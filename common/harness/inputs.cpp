#include "harness/inputs.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "harness/parallel.h"

namespace harness {
namespace {

constexpr std::array<std::pair<Family, std::string_view>, 6> kFamilies{{{Family::kNormal, "normal"},
                                                                        {Family::kWide, "wide"},
                                                                        {Family::kStaircase, "staircase"},
                                                                        {Family::kDescending, "descending"},
                                                                        {Family::kOnehot, "onehot"},
                                                                        {Family::kEqual, "equal"}}};

// splitmix64's finaliser (Steele, Lea, Flood 2014) of a counter: any element can be drawn without its
// predecessors.
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

// Quantile of the standard normal distribution at probability 0 < p <= 1/2, by Newton's method on its
// logarithm, which is concave, so that the steps do not overshoot in the tail.
double lower_normal_quantile(double p) {
  double x = -1;
  for (int i = 0; i < 60; ++i) {
    const double cdf = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    const double step = (std::log(cdf) - std::log(p)) * cdf / density;
    x -= step;
    if (std::abs(step) < 1e-13) break;
  }
  return x;
}

// The 65536 equally likely values a normal element takes: quantiles at the middle of each 1/65536, up to 4.3.
const std::vector<float>& normal_table() {
  static const std::vector<float> table = [] {
    constexpr int kHalf = 1 << 15;
    std::vector<float> values(2 * kHalf);
    for (int i = 0; i < kHalf; ++i) {
      values[i] = static_cast<float>(lower_normal_quantile((i + 0.5) / (2 * kHalf)));
      values[2 * kHalf - 1 - i] = -values[i];
    }
    return values;
  }();
  return table;
}

std::vector<Bf16> normal(int64_t elements, float sigma, uint64_t seed, int tensor) {
  std::array<Bf16, 1 << 16> rounded;
  for (size_t i = 0; i < rounded.size(); ++i) rounded[i] = to_bf16(sigma * normal_table()[i]);
  const uint64_t stream = mix(mix(seed) + tensor);
  std::vector<Bf16> out(elements);
  parallel_for(elements / 4, 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t bits = mix(stream + i);
      for (int j = 0; j < 4; ++j) out[4 * i + j] = rounded[bits >> 16 * j & 0xFFFF];
    }
  });
  return out;
}

// Elements 0..31 of a key hold the multiple of 16 in its step and 32..63 the rest, both exact in BF16, so
// that a step is the same height wherever it stands; 64..127 stay normal, so that the keys of a tile differ.
// The scaled score, in log2 units, gains 32 * query / sqrt(128) * log2(e) = 4.08 * query per step.
void impose_steps(Inputs& inputs, const Problem& problem, float query, int key_tile, bool rising) {
  const int steps = (problem.key_length + key_tile - 1) / key_tile;
  for (int64_t row = 0; row < problem.query_rows(); ++row) {
    std::fill_n(&inputs.q[row * kHeadDim], 64, to_bf16(query));
  }
  for (int64_t row = 0; row < problem.key_rows(); ++row) {
    const int tile = static_cast<int>(row % problem.key_length) / key_tile;
    const int step = rising ? tile : steps - 1 - tile;
    std::fill_n(&inputs.k[row * kHeadDim], 32, to_bf16(static_cast<float>(step & ~15)));
    std::fill_n(&inputs.k[row * kHeadDim + 32], 32, to_bf16(static_cast<float>(step & 15)));
  }
}

void impose_onehot_keys(Inputs& inputs, const Problem& problem) {
  std::fill(inputs.k.begin(), inputs.k.end(), to_bf16(0));
  for (int64_t row = 0; row < problem.key_rows(); ++row) {
    inputs.k[row * kHeadDim + row % problem.key_length % kHeadDim] = to_bf16(16);
  }
}

}  // namespace

std::string_view family_name(Family family) {
  for (const auto& [value, name] : kFamilies) {
    if (value == family) return name;
  }
  return "?";
}

std::string family_names() {
  std::string names;
  for (const auto& [value, name] : kFamilies) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return names;
}

Family parse_family(std::string_view wanted) {
  for (const auto& [value, name] : kFamilies) {
    if (name == wanted) return value;
  }
  throw std::invalid_argument(fmt::format("no input family '{}'; there are {}", wanted, family_names()));
}

Inputs make_inputs(const Problem& problem, Family family, uint64_t seed, int key_tile) {
  const float sigma = family == Family::kWide ? 4.f : 1.f;
  Inputs inputs{.q = normal(problem.query_elements(), sigma, seed, 0),
                .k = normal(problem.key_elements(), sigma, seed, 1),
                .v = normal(problem.key_elements(), sigma, seed, 2)};
  switch (family) {
    case Family::kNormal:
    case Family::kWide:
      break;
    case Family::kStaircase:
      impose_steps(inputs, problem, 4.f, key_tile, true);
      break;
    case Family::kDescending:
      impose_steps(inputs, problem, 0.5f, key_tile, false);
      break;
    case Family::kOnehot:
      impose_onehot_keys(inputs, problem);
      break;
    case Family::kEqual:
      std::fill(inputs.q.begin(), inputs.q.end(), to_bf16(0.5f));
      std::fill(inputs.k.begin(), inputs.k.end(), to_bf16(0.5f));
      break;
  }
  return inputs;
}

}  // namespace harness
