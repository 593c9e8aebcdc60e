#include "harness/reference.h"

#include <cmath>

#include "testing/catch.h"

using namespace harness;

namespace {

// All zero, to be filled in by the test.
Inputs zeros(const Problem& problem) {
  return {.q = std::vector<Bf16>(problem.query_elements()),
          .k = std::vector<Bf16>(problem.key_elements()),
          .v = std::vector<Bf16>(problem.key_elements())};
}

}  // namespace

TEST_CASE("one key that stands out by sqrt(2) among eight weighs exp(sqrt 2) to 7") {
  const Problem problem{.batch = 1, .heads = 1, .query_length = 4, .key_length = 8};
  Inputs inputs = zeros(problem);
  inputs.q[0] = to_bf16(16);       // query 0 along axis 0; the other queries are zero
  inputs.k[3 * 128] = to_bf16(1);  // key 3 along axis 0: score 16, scaled 16 / sqrt(128) = sqrt(2)
  inputs.v[3 * 128 + 5] = to_bf16(1);
  inputs.v[4 * 128 + 6] = to_bf16(8);
  const auto o = reference_attention(problem, inputs, {{.batch_head = 0, .first_row = 0, .rows = 4}});
  // exp(sqrt 2) = 4.11325037878..., over 4.11325037878 + 7.
  CHECK(o[0][5] == Approx(0.37012128).epsilon(1e-7));
  CHECK(o[0][6] == Approx(8 / 11.11325037878).epsilon(1e-10));
  CHECK(o[0][7] == 0);
  CHECK(o[0][128 + 5] == Approx(1 / 8.0).epsilon(1e-14));  // equal weights for a zero query
  CHECK(o[0][128 + 6] == Approx(1.0).epsilon(1e-14));
}

TEST_CASE("blocked float64 attention agrees with the plain formula on unlike lengths and several heads") {
  const Problem problem{.batch = 2, .heads = 3, .query_length = 64, .key_length = 200};
  const Inputs inputs = make_inputs(problem, Family::kWide, 3, 128);
  const OutputTile tile{.batch_head = 4, .first_row = 32, .rows = 16};
  const auto o = reference_attention(problem, inputs, {tile});
  REQUIRE(o[0].size() == 16 * 128);
  for (int row = 0; row < tile.rows; ++row) {
    std::vector<long double> weights(problem.key_length);
    long double sum = 0;
    for (int j = 0; j < problem.key_length; ++j) {
      long double score = 0;
      for (int d = 0; d < 128; ++d) {
        score += static_cast<long double>(to_float(inputs.q[((4 * 64 + 32 + row) * 128) + d])) *
                 to_float(inputs.k[(4 * 200 + j) * 128 + d]);
      }
      sum += weights[j] = std::exp(score / std::sqrt(128.0L));
    }
    for (int d = 0; d < 128; d += 17) {
      long double expected = 0;
      for (int j = 0; j < problem.key_length; ++j) {
        expected += weights[j] / sum * to_float(inputs.v[(4 * 200 + j) * 128 + d]);
      }
      CHECK(o[0][row * 128 + d] == Approx(static_cast<double>(expected)).epsilon(1e-10).margin(1e-12));
    }
  }
}

TEST_CASE("scores far beyond the range of exp stay finite") {
  const Problem problem{.batch = 1, .heads = 1, .query_length = 128, .key_length = 128 * 100};
  const Inputs inputs = make_inputs(problem, Family::kStaircase, 1, 128);
  const auto o = reference_attention(problem, inputs, {{.batch_head = 0, .first_row = 0, .rows = 128}});
  for (const double value : o[0]) REQUIRE(std::isfinite(value));
}

TEST_CASE("lengths the reference's blocks cannot take are refused") {
  const Problem problem{.batch = 1, .heads = 1, .query_length = 4, .key_length = 12};
  CHECK_THROWS_AS(
      reference_attention(problem, zeros(problem), {{.batch_head = 0, .first_row = 0, .rows = 4}}),
      std::invalid_argument);
}

TEST_CASE("reference scores are plain dot products, unscaled") {
  std::vector<Bf16> q(2 * 128), k(2 * 128);
  q[0] = to_bf16(3);
  q[128 + 127] = to_bf16(-2);
  k[0] = to_bf16(5);
  k[128 + 127] = to_bf16(0.5);
  k[128] = to_bf16(1);
  CHECK(reference_scores(q, k) == std::vector<double>{15, 3, 0, -1});
}
