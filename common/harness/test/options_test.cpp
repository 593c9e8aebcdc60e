#include "harness/options.h"

#include "testing/catch.h"

using namespace harness;

namespace {

const Chapter kChapter{.number = 5, .title = "Two query tiles", .query_tile = 256, .key_tile = 128};

Options parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "ch05");
  return parse_options(kChapter, static_cast<int>(arguments.size()), arguments.data());
}

EarlyExit refusal(const std::vector<const char*>& arguments) {
  try {
    parse(arguments);
  } catch (const EarlyExit& early) {
    return early;
  }
  FAIL("the command line was accepted");
  throw;
}

int lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

TEST_CASE("a shape of three numbers gives queries and keys the same length") {
  CHECK(parse_shape("2x3x1024") == Problem{.batch = 2, .heads = 3, .query_length = 1024, .key_length = 1024});
  CHECK(shape_text(parse_shape("2x3x1024")) == "2x3x1024");
}

TEST_CASE("a shape of four numbers gives them their own") {
  CHECK(parse_shape("1x2x256x512") ==
        Problem{.batch = 1, .heads = 2, .query_length = 256, .key_length = 512});
  CHECK(shape_text(parse_shape("1x2x256x512")) == "1x2x256x512");
}

TEST_CASE("attention of 8x16x4096 is 1.1 tera operations, the field's count") {
  CHECK(parse_shape("8x16x4096").flops() == 4.0 * 8 * 16 * 4096 * 4096 * 128);
}

TEST_CASE("malformed shapes are refused") {
  for (const char* text : {"", "1x2", "1x2x3x4x5", "1x2x", "x1x2x3", "1x2x0", "1x-2x128", "1x2xabc",
                           "1x2x12 8", "1X2X128", "1x2x99999999999", "1x2x+128"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_shape(text), std::invalid_argument);
  }
}

TEST_CASE("options have the documented defaults: check and bench, normal inputs, text") {
  const Options options = parse({});
  CHECK(options.check);
  CHECK(options.bench);
  CHECK_FALSE(options.json);
  CHECK(options.family == Family::kNormal);
  CHECK(options.problem == kChapter.default_problem);
}

TEST_CASE("--check and --bench each leave the other out, and both together ask for both") {
  CHECK_FALSE(parse({"--check"}).bench);
  CHECK(parse({"--check"}).check);
  CHECK_FALSE(parse({"--bench"}).check);
  CHECK(parse({"--bench", "--check"}).check);
  CHECK(parse({"--bench", "--check"}).bench);
}

TEST_CASE("every option reaches its field") {
  const Options options = parse({"--shape", "2x1x512x128", "--inputs=staircase", "--seed", "77", "--json"});
  CHECK(options.problem == Problem{.batch = 2, .heads = 1, .query_length = 512, .key_length = 128});
  CHECK(options.family == Family::kStaircase);
  CHECK(options.seed == 77);
  CHECK(options.json);
}

TEST_CASE("mistakes give one line that starts with the chapter, and exit code 2") {
  const std::vector<std::vector<const char*>> mistakes{{"--frobnicate"},
                                                       {"--shape"},
                                                       {"--shape", "1x2"},
                                                       {"--shape", "1x2x200"},
                                                       {"--shape", "1x1x128"},
                                                       {"--inputs", "weird"},
                                                       {"--seed", "minus one"},
                                                       {"stray"},
                                                       {"--shape=1x1x256x100"},
                                                       {"--seed", "-1"},
                                                       {"--shape", "9999x9999x65536"}};
  for (const auto& mistake : mistakes) {
    const EarlyExit early = refusal(mistake);
    INFO(early.what());
    CHECK(early.code == kExitUsage);
    CHECK(lines(early.what()) == 1);
    CHECK(std::string(early.what()).rfind("ch05: ", 0) == 0);
  }
}

TEST_CASE("a length that does not fit the tile names the tile and the next length that does") {
  const std::string text = refusal({"--shape", "1x1x300x128"}).what();
  CHECK(text.find("300") != std::string::npos);
  CHECK(text.find("256") != std::string::npos);
  CHECK(text.find("512") != std::string::npos);
}

TEST_CASE("an unknown family lists the known ones") {
  const std::string text = refusal({"--inputs", "weird"}).what();
  CHECK(text.find("normal, wide, staircase, descending, onehot, equal") != std::string::npos);
}

TEST_CASE("--help is answered with exit code 0 and names every option") {
  const EarlyExit early = refusal({"--help"});
  CHECK(early.code == kExitPass);
  for (const char* option : {"--shape", "--inputs", "--seed", "--check", "--bench", "--json"}) {
    CHECK(std::string(early.what()).find(option) != std::string::npos);
  }
}

TEST_CASE("a one-tile chapter has no shape to choose") {
  const OneTileChapter chapter{.number = 0, .title = "One tile"};
  const char* shape[] = {"ch00", "--shape", "1x1x128"};
  CHECK_THROWS_AS(parse_options(chapter, 3, shape), EarlyExit);
  const char* plain[] = {"ch00", "--inputs", "wide"};
  CHECK(parse_options(chapter, 3, plain).family == Family::kWide);
}
