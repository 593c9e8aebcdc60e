// svg_check files...: exit 0 when all pictures are fine, 1 with one line per problem, 2 on bad input.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>

#include "svg/check.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Checks SVG pictures: well-formed, titled, text inside its frame and clear of other text and lines.");
  std::vector<std::string> files;
  svg::CheckLimits limits;
  app.add_option("files", files, "SVG files")->required()->check(CLI::ExistingFile);
  app.add_option("--max-bytes", limits.max_bytes, "largest file allowed")->capture_default_str();
  app.add_option("--min-font", limits.min_font_px, "smallest font in px at 900 px width")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  size_t problems = 0;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    for (const std::string& p : svg::check(all.str(), limits)) {
      fmt::print("{}: {}\n", file, p);
      ++problems;
    }
  }
  fmt::print("{} pictures, {} problems\n", files.size(), problems);
  return problems == 0 ? 0 : 1;
}
