// The command line every driver takes.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/harness.h"
#include "harness/inputs.h"

namespace harness {

struct Options {
  Problem problem;
  Family family = Family::kNormal;
  uint64_t seed = 1;
  bool check = true;
  bool bench = true;
  bool json = false;
};

// The program's way to stop before it runs anything: text for the terminal and an exit code.
// --help comes this way too, with code 0.
struct EarlyExit : std::runtime_error {
  EarlyExit(const std::string& text, int exit_code) : std::runtime_error(text), code(exit_code) {}
  int code;
};

// "BxHxL" or "BxHxLqxLkv", all positive. Throws std::invalid_argument saying what is wrong with `text`.
Problem parse_shape(std::string_view text);

// Throws std::invalid_argument where a length is not a multiple of the chapter's tile or the tensors pass 64
// GiB.
void require_fits(const Problem& problem, const Chapter& chapter);

// "1x2x512", or "1x2x512x1024" where the lengths differ.
std::string shape_text(const Problem& problem);

// Throws EarlyExit for --help and for every mistake: unknown option, malformed or unfitting value.
Options parse_options(const Chapter& chapter, int argc, const char* const* argv);
Options parse_options(const OneTileChapter& chapter, int argc, const char* const* argv);

}  // namespace harness
