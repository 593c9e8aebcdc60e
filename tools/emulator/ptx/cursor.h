// Reading position in PTX text: spaces, comments, words, literals, and errors that know where they are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/error.h"

namespace emu::ptx {

class Cursor {
 public:
  struct Place {
    size_t offset = 0;
    uint32_t line = 1;      // 1-based
    size_t line_begin = 0;  // offset of that line's first character
  };

  explicit Cursor(std::string_view text) : text_(text) {}
  Cursor(std::string_view text, const Place& place) : text_(text), place_(place) {}

  size_t offset() const { return place_.offset; }
  uint32_t line() const { return place_.line; }
  Place place();  // of the next character that is neither space nor comment
  std::string_view slice(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }

  // These skip spaces and comments first.
  bool at_end();
  char peek();          // '\0' at the end
  bool accept(char c);  // consumes c when it is next
  bool accept(std::string_view punctuation);
  void expect(char c, std::string_view why);
  std::string_view accept_word();                      // identifier or "", see is_word
  std::string_view word(std::string_view why);         // identifier or ParseError
  std::string_view dotted_word(std::string_view why);  // ".name", returned without the dot
  std::string string_literal();
  // The raw characters of a numeric literal: digits, letters, '.', and the sign of an exponent.
  std::string_view number();
  // An opcode with its qualifiers or a label: words joined by '.' and '::', spaces between them removed
  // by the caller's interning. Leaves a label's ':' unread.
  std::string_view opcode();

  void skip_spaces();
  void skip_line();
  // At an opening brace: moves past the matching closing one, minding comments and strings.
  void skip_braces();

  [[noreturn]] void fail(std::string_view expected);
  [[noreturn]] void fail_at(const Place& place, std::string_view expected) const;

  static bool is_word(char c);  // letters, digits, _ $ %
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  void skip_block_comment();
  void pass_word();
  void newline() {
    ++place_.line;
    place_.line_begin = place_.offset;
  }

  std::string_view text_;
  Place place_;
};

}  // namespace emu::ptx
