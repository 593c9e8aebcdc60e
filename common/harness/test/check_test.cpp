#include "harness/check.h"

#include <cmath>

#include "harness/inputs.h"
#include "harness/reference.h"
#include "testing/catch.h"

using namespace harness;

namespace {

const Problem kProblem{.batch = 2, .heads = 2, .query_length = 256, .key_length = 128};

struct Fixture {
  Fixture() {
    for (int head = 0; head < 4; ++head) {
      for (int row = 0; row < 256; row += 128)
        tiles.push_back({.batch_head = head, .first_row = row, .rows = 128});
    }
    reference = reference_attention(kProblem, make_inputs(kProblem, Family::kNormal, 1, 128), tiles);
    for (const auto& tile : reference) {
      for (const double value : tile) o.push_back(to_bf16(static_cast<float>(value)));
    }
  }
  CheckResult check() const { return check_output(kProblem, o, tiles, reference); }

  std::vector<OutputTile> tiles;
  std::vector<std::vector<double>> reference;
  std::vector<Bf16> o;
};

int64_t element(int batch, int head, int row, int column) {
  return ((int64_t{batch} * 2 + head) * 256 + row) * 128 + column;
}

}  // namespace

TEST_CASE("the reference rounded to BF16 passes with BF16's own error, about 2^-9 / sqrt(3)") {
  const CheckResult result = Fixture().check();
  CHECK(result.pass());
  CHECK(result.failure().empty());
  CHECK(result.relative_l2 > 5e-4);
  CHECK(result.relative_l2 < 2e-3);
}

TEST_CASE("an element that still holds the poison fails and is named") {
  Fixture fixture;
  fixture.o[element(1, 0, 200, 17)] = kPoison;
  const CheckResult result = fixture.check();
  CHECK_FALSE(result.pass());
  CHECK(result.unwritten == 1);
  CHECK(result.nonfinite == 0);
  CHECK(result.first_bad == "O[1][0][200][17]");
}

TEST_CASE("a NaN or an infinity that was written is told from what was not written") {
  Fixture fixture;
  fixture.o[element(0, 1, 3, 4)] = 0x7FFF;
  fixture.o[element(0, 1, 3, 5)] = 0x7F80;
  const CheckResult result = fixture.check();
  CHECK_FALSE(result.pass());
  CHECK(result.unwritten == 0);
  CHECK(result.nonfinite == 2);
  CHECK(result.first_bad == "O[0][1][3][4]");
}

TEST_CASE("one wrong element among 131072 fails, though the whole tensor's norm hardly notices") {
  Fixture fixture;
  Bf16& victim = fixture.o[element(1, 1, 255, 127)];
  victim = to_bf16(to_float(victim) + 0.1f);
  const CheckResult result = fixture.check();
  CHECK(result.relative_l2 < kMaxRelativeL2);
  CHECK_FALSE(result.pass());
  CHECK(result.first_bad == "O[1][1][255][127]");
  CHECK(result.largest_error == Approx(0.1).epsilon(0.05));
}

TEST_CASE("two swapped rows fail") {
  Fixture fixture;
  std::swap_ranges(&fixture.o[element(0, 0, 8, 0)], &fixture.o[element(0, 0, 9, 0)],
                   &fixture.o[element(0, 0, 9, 0)]);
  CHECK_FALSE(fixture.check().pass());
}

TEST_CASE("a result that is one percent too large everywhere fails") {
  Fixture fixture;
  for (Bf16& value : fixture.o) value = to_bf16(to_float(value) * 1.01f);
  const CheckResult result = fixture.check();
  CHECK_FALSE(result.pass());
  CHECK(result.relative_l2 == Approx(0.01).epsilon(0.1));
  CHECK(result.failure().find("relative L2") != std::string::npos);
}

TEST_CASE("tiles that were not asked for are not looked at") {
  Fixture fixture;
  fixture.o[element(1, 1, 0, 0)] = kPoison;
  const std::vector<OutputTile> first{fixture.tiles[0]};
  CHECK(check_written(kProblem, fixture.o, first).pass());
  CHECK(check_output(kProblem, fixture.o, first, {fixture.reference[0]}).pass());
}

TEST_CASE("scores are held to the same bounds") {
  const std::vector<double> reference{1, 2, 3, 4};
  CHECK(check_scores({1, 2, 3, 4}, reference, 2).pass());
  CHECK(check_scores({1, 2, 3, 4}, reference, 2).largest_error == 0);
  CHECK_FALSE(check_scores({1, 2, 4, 3}, reference, 2).pass());
  const CheckResult unwritten = check_scores({1, 2, std::bit_cast<float>(0xFFFFFFFF), 4}, reference, 2);
  CHECK(unwritten.unwritten == 1);
  CHECK(unwritten.first_bad == "S[1][0]");
}
