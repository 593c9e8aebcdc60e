// Lines of the program's source files, for traces that can be read without them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emu::observe {

class SourceText {
 public:
  // The line without indentation and trailing comment; empty when the file or the line does not exist.
  const std::string& line(const std::string& file, uint32_t number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace emu::observe
