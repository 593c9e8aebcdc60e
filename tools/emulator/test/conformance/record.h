// Recorded results: a JSON-lines file. The first line describes the recording device; each other line holds
// one case: {"name", "words"} (hexadecimal, "w*n" for n equal words), {"name", "text"} or {"name", "error"}.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace conformance {

struct Result {
  std::vector<uint32_t> words;
  std::string text;   // printed by the device
  std::string error;  // CUDA's name of the error that ended the case; empty if it ran
};

std::string to_line(const std::string& name, const Result& result);
// Throws std::runtime_error naming the line that cannot be read.
std::map<std::string, Result> read_results(const std::string& path, std::string* device_line);

}  // namespace conformance
