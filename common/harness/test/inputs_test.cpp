#include "harness/inputs.h"

#include <cmath>
#include <limits>

#include "testing/catch.h"

using namespace harness;

namespace {

constexpr int kTile = 128;
const Problem kSmall{.batch = 1, .heads = 2, .query_length = 128, .key_length = 512};

// Maximum over each key tile of one row's scores, scaled as softmax does, in log2 units.
std::vector<double> tile_maxima(const Problem& problem, const Inputs& inputs, int64_t query_row) {
  const int64_t head = query_row / problem.query_length;
  std::vector<double> maxima(problem.key_length / kTile, -std::numeric_limits<double>::infinity());
  for (int key = 0; key < problem.key_length; ++key) {
    double score = 0;
    for (int d = 0; d < kHeadDim; ++d) {
      score += double{to_float(inputs.q[query_row * kHeadDim + d])} *
               to_float(inputs.k[(head * problem.key_length + key) * kHeadDim + d]);
    }
    maxima[key / kTile] = std::max(maxima[key / kTile], score / std::sqrt(128.0) * std::log2(std::exp(1.0)));
  }
  return maxima;
}

struct Moments {
  double mean, deviation, largest;
};

Moments moments(const std::vector<Bf16>& values) {
  double sum = 0, squares = 0, largest = 0;
  for (const Bf16 value : values) {
    const double x = to_float(value);
    sum += x;
    squares += x * x;
    largest = std::max(largest, std::abs(x));
  }
  const double mean = sum / values.size();
  return {mean, std::sqrt(squares / values.size() - mean * mean), largest};
}

}  // namespace

TEST_CASE("BF16 rounds to nearest, ties to even") {
  CHECK(to_bf16(1.0f) == 0x3F80);
  CHECK(to_bf16(1.0f + 0x1p-8f) == 0x3F80);             // halfway, even below
  CHECK(to_bf16(1.0f + 3 * 0x1p-8f) == 0x3F82);         // halfway, even above
  CHECK(to_bf16(1.0f + 0x1p-8f + 0x1p-20f) == 0x3F81);  // just past halfway
  CHECK(to_bf16(-2.0f) == 0xC000);
  CHECK(to_bf16(std::numeric_limits<float>::infinity()) == 0x7F80);
  CHECK(std::isnan(to_float(to_bf16(std::nanf("")))));
}

TEST_CASE("normal inputs have mean 0 and deviation 1, wide ones deviation 4") {
  const Problem problem{.batch = 1, .heads = 2, .query_length = 1024, .key_length = 1024};
  const Inputs normal = make_inputs(problem, Family::kNormal, 1, kTile);
  const Inputs wide = make_inputs(problem, Family::kWide, 1, kTile);
  for (const auto* tensor : {&normal.q, &normal.k, &normal.v}) {
    CHECK(moments(*tensor).mean == Approx(0).margin(0.01));
    CHECK(moments(*tensor).deviation == Approx(1).epsilon(0.01));
    CHECK(moments(*tensor).largest > 3.5);
  }
  for (const auto* tensor : {&wide.q, &wide.k, &wide.v})
    CHECK(moments(*tensor).deviation == Approx(4).epsilon(0.01));
}

TEST_CASE("the same seed gives the same inputs, another seed and another tensor give others") {
  const Inputs one = make_inputs(kSmall, Family::kNormal, 1, kTile);
  CHECK(one.q == make_inputs(kSmall, Family::kNormal, 1, kTile).q);
  CHECK(one.q != make_inputs(kSmall, Family::kNormal, 2, kTile).q);
  CHECK(one.k != one.v);
}

TEST_CASE("the staircase raises every row's maximum by more than 8 in log2 units at every key tile") {
  const Problem problem{.batch = 1, .heads = 1, .query_length = 128, .key_length = 128 * 40};
  for (const uint64_t seed : {1, 2}) {
    const Inputs inputs = make_inputs(problem, Family::kStaircase, seed, kTile);
    double smallest_step = std::numeric_limits<double>::infinity();
    for (int row = 0; row < problem.query_length; ++row) {
      const std::vector<double> maxima = tile_maxima(problem, inputs, row);
      for (size_t t = 1; t < maxima.size(); ++t)
        smallest_step = std::min(smallest_step, maxima[t] - maxima[t - 1]);
    }
    CHECK(smallest_step > 8);
    CHECK(smallest_step < 16.4);
  }
}

TEST_CASE("the descending family has its maximum in the first tile, and later tiles still have weight") {
  const Inputs inputs = make_inputs(kSmall, Family::kDescending, 1, kTile);
  double mean_drop = 0;
  for (int row = 0; row < kSmall.query_length; ++row) {
    const std::vector<double> maxima = tile_maxima(kSmall, inputs, row);
    mean_drop += (maxima.front() - maxima.back()) / 3 / kSmall.query_length;
    CHECK(maxima.front() > maxima.back());
  }
  CHECK(mean_drop == Approx(2.04).margin(0.3));
}

TEST_CASE("one-hot keys have one element each, walking over the head dimension") {
  const Inputs inputs = make_inputs(kSmall, Family::kOnehot, 1, kTile);
  for (int64_t row = 0; row < kSmall.key_rows(); ++row) {
    for (int d = 0; d < kHeadDim; ++d) {
      REQUIRE(to_float(inputs.k[row * kHeadDim + d]) == (d == row % 128 ? 16.f : 0.f));
    }
  }
}

TEST_CASE("the equal family has one value for all of Q and K") {
  const Inputs inputs = make_inputs(kSmall, Family::kEqual, 1, kTile);
  CHECK(std::count(inputs.q.begin(), inputs.q.end(), inputs.q[0]) == kSmall.query_elements());
  CHECK(std::count(inputs.k.begin(), inputs.k.end(), inputs.q[0]) == kSmall.key_elements());
}

TEST_CASE("every family is named, and every name finds its family") {
  for (const Family family : {Family::kNormal, Family::kWide, Family::kStaircase, Family::kDescending,
                              Family::kOnehot, Family::kEqual}) {
    CHECK(parse_family(family_name(family)) == family);
  }
  CHECK_THROWS_AS(parse_family("Normal"), std::invalid_argument);
}
