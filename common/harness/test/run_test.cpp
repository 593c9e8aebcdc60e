#include "harness/run.h"

#include "testing/catch.h"

using namespace harness;

namespace {

const Chapter kChapter{.number = 1, .title = "Baseline", .query_tile = 128, .key_tile = 128};
const Problem kProblem{.batch = 2, .heads = 3, .query_length = 512, .key_length = 256};

}  // namespace

TEST_CASE("a problem's tiles are listed query tile fastest, then head, then batch") {
  const auto tiles = all_tiles(kChapter, kProblem);
  REQUIRE(tiles.size() == 2 * 3 * 4);
  CHECK(tiles[5].batch_head == 1);
  CHECK(tiles[5].first_row == 128);
  CHECK(tiles.back().batch_head == 5);
  CHECK(tiles.back().first_row == 384);
}

TEST_CASE("a tile with one element that is not poison was touched") {
  std::vector<Bf16> o(kProblem.query_elements(), 0xFFFF);
  const auto tiles = all_tiles(kChapter, kProblem);
  CHECK(touched_tiles(kProblem, o, tiles).empty());
  o[(5 * 512 + 384 + 127) * 128 + 127] = 0;
  o[(1 * 512 + 128) * 128] = 0x7FFF;
  const auto touched = touched_tiles(kProblem, o, tiles);
  REQUIRE(touched.size() == 2);
  CHECK(touched[0].batch_head == 1);
  CHECK(touched[0].first_row == 128);
  CHECK(touched[1].batch_head == 5);
}

TEST_CASE("a small problem is checked whole, a benchmark shape by tiles spread over it") {
  const auto small = all_tiles(kChapter, kProblem);
  CHECK(affordable_tiles(small, kProblem).size() == small.size());

  const Problem large{.batch = 2, .heads = 16, .query_length = 16384, .key_length = 16384};
  const auto all = all_tiles(kChapter, large);
  const auto chosen = affordable_tiles(all, large);
  CHECK(chosen.size() < 100);
  CHECK(chosen.size() > 10);
  CHECK(chosen.back().batch_head > 28);
}

TEST_CASE("1x1x4096 is checked whole") {
  const Problem problem{.batch = 1, .heads = 1, .query_length = 4096, .key_length = 4096};
  const auto all = all_tiles(kChapter, problem);
  CHECK(affordable_tiles(all, problem).size() == 32);
}
