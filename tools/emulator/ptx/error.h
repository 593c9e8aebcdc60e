// The one error the PTX front end throws.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace emu::ptx {

// Malformed or unsupported PTX text. what() reads "line 12, column 5: found 'x', expected y".
class ParseError : public std::runtime_error {
 public:
  ParseError(uint32_t line, uint32_t column, std::string found, std::string expected);
  uint32_t line;         // 1-based line of the module text, 0 when no place in the text is to blame
  uint32_t column;       // 1-based
  std::string found;     // the offending text
  std::string expected;  // what would have been accepted, or why the text is refused
};

}  // namespace emu::ptx
