#include "harness/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <vector>

namespace harness {
namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 30;

int parse_extent(std::string_view whole, std::string_view part) {
  int value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc{} || end != part.data() + part.size() || value <= 0) {
    throw std::invalid_argument(fmt::format(
        "shape '{}': '{}' is not a positive integer; write BxHxL or BxHxLqxLkv, as 1x2x512", whole, part));
  }
  return value;
}

void require_multiple(const char* what, int length, int tile) {
  if (length % tile == 0) return;
  const int64_t next = (int64_t{length} / tile + 1) * tile;
  throw std::invalid_argument(fmt::format("{} {} is not a multiple of this chapter's tile of {}; {} would be",
                                          what, length, tile, next));
}

// The options both kinds of chapter share, wired to `options`.
struct CommandLine {
  CommandLine(const std::string& title, Options& options) : app(title) {
    app.add_option("--inputs", family, "Input family: " + family_names())->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the inputs")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_flag("--check", check, "Only check against the float64 reference (default: check and time)");
    app.add_flag("--bench", bench, "Only time (default: check and time)");
    app.add_flag("--json", options.json, "Print one JSON object in place of the report");
    app.get_formatter()->column_width(28);
  }

  void parse(int argc, const char* const* argv, Options& options) {
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      throw EarlyExit(app.help(), kExitPass);
    } catch (const CLI::ParseError& error) {
      throw std::invalid_argument(error.what());
    }
    options.family = parse_family(family);
    options.check = check || !bench;
    options.bench = bench || !check;
  }

  CLI::App app;
  std::string family{family_name(Family::kNormal)};
  bool check = false;
  bool bench = false;
};

// Runs `parse`, turning what it finds wrong into one line and exit code 2.
template <class Parse>
Options parse_or_exit(int number, Parse parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    throw EarlyExit(fmt::format("ch{:02}: {} (--help lists the options)\n", number, error.what()),
                    kExitUsage);
  }
}

}  // namespace

Problem parse_shape(std::string_view text) {
  std::vector<int> extents;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    extents.push_back(parse_extent(text, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (extents.size() != 3 && extents.size() != 4) {
    throw std::invalid_argument(fmt::format(
        "shape '{}' has {} numbers; write BxHxL or BxHxLqxLkv, as 1x2x512", text, extents.size()));
  }
  return {.batch = extents[0], .heads = extents[1], .query_length = extents[2], .key_length = extents.back()};
}

void require_fits(const Problem& problem, const Chapter& chapter) {
  require_multiple("query length", problem.query_length, chapter.query_tile);
  require_multiple("key length", problem.key_length, chapter.key_tile);
  const double bytes = 4.0 * kHeadDim * problem.batch * problem.heads *
                       (double{1} * problem.query_length + problem.key_length);
  if (bytes > kMaxBytes) {
    throw std::invalid_argument(
        fmt::format("shape {}: Q, K, V and O take {:.0f} GiB, more than the {} GiB allowed",
                    shape_text(problem), bytes / (1 << 30), kMaxBytes >> 30));
  }
}

std::string shape_text(const Problem& problem) {
  std::string text = fmt::format("{}x{}x{}", problem.batch, problem.heads, problem.query_length);
  if (problem.key_length != problem.query_length) text += fmt::format("x{}", problem.key_length);
  return text;
}

Options parse_options(const Chapter& chapter, int argc, const char* const* argv) {
  return parse_or_exit(chapter.number, [&] {
    Options options;
    CommandLine line(fmt::format("Chapter {}: {}", chapter.number, chapter.title), options);
    std::string shape = shape_text(chapter.default_problem);
    line.app
        .add_option("--shape", shape,
                    fmt::format("BxHxL or BxHxLqxLkv; Lq a multiple of {}, Lkv of {}", chapter.query_tile,
                                chapter.key_tile))
        ->capture_default_str();
    line.parse(argc, argv, options);
    options.problem = parse_shape(shape);
    require_fits(options.problem, chapter);
    return options;
  });
}

Options parse_options(const OneTileChapter& chapter, int argc, const char* const* argv) {
  return parse_or_exit(chapter.number, [&] {
    Options options;
    options.problem = {.batch = 1, .heads = 1, .query_length = 128, .key_length = 128};
    CommandLine line(fmt::format("Chapter {}: {}", chapter.number, chapter.title), options);
    line.parse(argc, argv, options);
    return options;
  });
}

}  // namespace harness
