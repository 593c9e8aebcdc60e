#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "cli/elf_file.h"
#include "testing/catch.h"

using namespace emu::cli;
using nlohmann::json;

TEST_CASE("options become one flat JSON object") {
  const Parsed parsed = parse_command_line(
      {"--machine", "h200",    "--jitter",    "7",     "--timing", "--fast-mma", "--lenient",
       "--stats",   "--trace", "/tmp/t.json", "--set", "a.b=2.5",  "--set",      "c=3",
       "--timeout", "60",      "--sample",    "2",     "--",       "prog",       "--help"});
  REQUIRE(parsed.command);
  CHECK(parsed.command->program == std::vector<std::string>{"prog", "--help"});
  CHECK(json::parse(parsed.command->options_json) ==
        json::parse(R"({"machine":"h200","jitter":7,"timing":"full","mma":"fast","lenient":true,"stats":true,
                        "trace":"/tmp/t.json","set":{"a.b":2.5,"c":3.0},"timeout_s":60.0,"sample":2})"));
}

TEST_CASE("what was not asked for is absent") {
  const Parsed parsed = parse_command_line({"--", "prog"});
  REQUIRE(parsed.command);
  CHECK(json::parse(parsed.command->options_json) == json::parse(R"({"machine":"b200"})"));
}

TEST_CASE("mistakes get one line and exit code 2") {
  const std::vector<std::vector<std::string>> mistakes = {{"--fats", "--", "prog"},
                                                          {"--machine", "b300", "--", "prog"},
                                                          {"--jitter", "x", "--", "prog"},
                                                          {"--flat", "--timing", "--", "p"},
                                                          {"--set", "a", "--", "prog"},
                                                          {"--set", "a=b", "--", "prog"},
                                                          {"--sample", "some", "--", "p"},
                                                          {"--timeout", "-1", "--", "prog"},
                                                          {"prog"},
                                                          {"--stats"},
                                                          {}};
  for (const auto& arguments : mistakes) {
    const Parsed parsed = parse_command_line(arguments);
    CHECK_FALSE(parsed.command);
    CHECK(parsed.exit_code == 2);
    CHECK(std::count(parsed.text.begin(), parsed.text.end(), '\n') == 1);
    CHECK(parsed.text.rfind("emu: ", 0) == 0);
  }
}

TEST_CASE("help is no error") {
  const Parsed parsed = parse_command_line({"--help"});
  CHECK(parsed.exit_code == 0);
  CHECK_THAT(parsed.text,
             Catch::Matchers::Contains("--jitter") && Catch::Matchers::Contains("program arguments..."));
}

TEST_CASE("the libraries a program needs are read from its file") {
  const ElfFile self = read_elf("/proc/self/exe");
  CHECK(self.is_elf);
  CHECK(self.is_x86_64);
  CHECK(self.needs("libc.so.6"));
  CHECK_FALSE(self.needs("libcudart.so.13"));
  CHECK_FALSE(self.has_device_code);
  CHECK_FALSE(read_elf("/proc/self/environ").is_elf);
  CHECK_THROWS(read_elf("/nonexistent"));
}

TEST_CASE("--list-parameters prints the table of the machine it is asked for") {
  const Parsed b200 = parse_command_line({"--list-parameters"});
  REQUIRE(b200.exit_code == 0);
  REQUIRE_FALSE(b200.command);
  REQUIRE_THAT(b200.text, ContainsSubstring("num_sms") && ContainsSubstring("148"));
  REQUIRE_THAT(parse_command_line({"--machine", "h200", "--list-parameters"}).text, ContainsSubstring("132"));
}
