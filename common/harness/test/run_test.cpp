#include "harness/run.h"

#include "testing/catch.h"

using namespace harness;

namespace {

const Chapter kChapter{.number = 1, .title = "Baseline", .query_tile = 128, .key_tile = 128};
const Problem kProblem{.batch = 2, .heads = 3, .query_length = 512, .key_length = 256};

}  // namespace

TEST_CASE("without sampling every query tile is written, query tile fastest") {
  const auto tiles = written_tiles(kChapter, kProblem, std::nullopt);
  REQUIRE(tiles.size() == 2 * 3 * 4);
  CHECK(tiles[5].batch_head == 1);
  CHECK(tiles[5].first_row == 128);
}

TEST_CASE("with sampling only the tiles of the CTAs that ran count, each once") {
  const auto tiles = written_tiles(kChapter, kProblem, std::vector<int64_t>{0, 23, 23});
  REQUIRE(tiles.size() == 2);
  CHECK(tiles[1].batch_head == 5);
  CHECK(tiles[1].first_row == 384);
}

TEST_CASE("a chapter with its own order of CTAs says where they write") {
  Chapter chapter = kChapter;
  chapter.tile_of_cta = [](const Problem&, int64_t cta) {
    return OutputTile{.batch_head = static_cast<int>(5 - cta), .first_row = 0, .rows = 128};
  };
  CHECK(written_tiles(chapter, kProblem, std::vector<int64_t>{1})[0].batch_head == 4);
}

TEST_CASE("a small problem is checked whole, a benchmark shape by tiles spread over it") {
  const auto small = written_tiles(kChapter, kProblem, std::nullopt);
  CHECK(affordable_tiles(small, kProblem).size() == small.size());

  const Problem large{.batch = 2, .heads = 16, .query_length = 16384, .key_length = 16384};
  const auto all = written_tiles(kChapter, large, std::nullopt);
  const auto chosen = affordable_tiles(all, large);
  CHECK(chosen.size() < 100);
  CHECK(chosen.size() > 10);
  CHECK(chosen.back().batch_head > 28);
}

TEST_CASE("1x1x4096 is checked whole") {
  const Problem problem{.batch = 1, .heads = 1, .query_length = 4096, .key_length = 4096};
  const auto all = written_tiles(kChapter, problem, std::nullopt);
  CHECK(affordable_tiles(all, problem).size() == 32);
}
