#pragma once

#include <optional>
#include <string>
#include <vector>

namespace emu::cli {

// What the user asked for.
struct Command {
  std::string options_json;          // value of EMU_OPTIONS
  std::vector<std::string> program;  // with its arguments
  bool supported = false;            // print the table of instruction forms instead of running a program
};

// Either a command, or a text to print and the exit code to leave with.
struct Parsed {
  std::optional<Command> command;
  std::string text;
  int exit_code = 0;
};

// Parses argv[1..]. Options stand before "--", the program and its arguments behind it.
Parsed parse_command_line(const std::vector<std::string>& arguments);

}  // namespace emu::cli
