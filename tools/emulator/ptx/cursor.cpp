#include "ptx/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace emu::ptx {

ParseError::ParseError(uint32_t line_, uint32_t column_, std::string found_, std::string expected_)
    : std::runtime_error(line_ == 0 ? fmt::format("PTX: found '{}', expected {}", found_, expected_)
                                    : fmt::format("PTX line {}, column {}: found '{}', expected {}", line_,
                                                  column_, found_, expected_)),
      line(line_),
      column(column_),
      found(std::move(found_)),
      expected(std::move(expected_)) {}

namespace {

constexpr auto kWordTable = [] {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = true;
  table['_'] = table['$'] = table['%'] = true;
  return table;
}();

// Characters skip_braces has to look at; everything else is passed over.
constexpr auto kBraceTable = [] {
  std::array<bool, 256> table{};
  for (const char c : {'{', '}', '\n', '/', '"'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

constexpr size_t kFoundLimit = 40;

}  // namespace

bool Cursor::is_word(char c) { return kWordTable[static_cast<unsigned char>(c)]; }

void Cursor::skip_spaces() {
  while (place_.offset < text_.size()) {
    const char c = text_[place_.offset];
    if (c == '\n') {
      ++place_.offset;
      newline();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++place_.offset;
    } else if (c == '/' && at(place_.offset + 1) == '/') {
      place_.offset = std::min(text_.find('\n', place_.offset), text_.size());
    } else if (c == '/' && at(place_.offset + 1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void Cursor::skip_block_comment() {
  const size_t end = text_.find("*/", place_.offset + 2);
  if (end == std::string_view::npos) fail_at(place_, "the end of this comment, '*/'");
  for (const size_t stop = end + 2; place_.offset < stop;)
    if (text_[place_.offset++] == '\n') newline();
}

void Cursor::skip_line() { place_.offset = std::min(text_.find('\n', place_.offset), text_.size()); }

Cursor::Place Cursor::place() {
  skip_spaces();
  return place_;
}

bool Cursor::at_end() {
  skip_spaces();
  return place_.offset >= text_.size();
}

char Cursor::peek() {
  skip_spaces();
  return at(place_.offset);
}

bool Cursor::accept(char c) {
  if (peek() != c || place_.offset >= text_.size()) return false;
  ++place_.offset;
  return true;
}

bool Cursor::accept(std::string_view punctuation) {
  skip_spaces();
  if (text_.substr(place_.offset, punctuation.size()) != punctuation) return false;
  place_.offset += punctuation.size();
  return true;
}

void Cursor::expect(char c, std::string_view why) {
  if (!accept(c)) fail(fmt::format("'{}' {}", c, why));
}

// '%' only starts an identifier (PTX ISA 4.4), so "mov.b32%r1" is an opcode and a register.
void Cursor::pass_word() {
  if (at(place_.offset) == '%') ++place_.offset;
  while (place_.offset < text_.size() && is_word(text_[place_.offset]) && text_[place_.offset] != '%')
    ++place_.offset;
}

std::string_view Cursor::accept_word() {
  skip_spaces();
  if (is_digit(at(place_.offset))) return {};
  const size_t begin = place_.offset;
  pass_word();
  return slice(begin, place_.offset);
}

std::string_view Cursor::word(std::string_view why) {
  const std::string_view name = accept_word();
  if (name.empty()) fail(why);
  return name;
}

std::string_view Cursor::dotted_word(std::string_view why) {
  if (peek() != '.' || !is_word(at(place_.offset + 1))) fail(why);
  const size_t begin = ++place_.offset;
  pass_word();
  return slice(begin, place_.offset);
}

std::string Cursor::string_literal() {
  if (peek() != '"') fail("a string in double quotes");
  std::string value;
  for (size_t i = place_.offset + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '"') {
      place_.offset = i + 1;
      return value;
    }
    if (text_[i] == '\\' && i + 1 < text_.size()) ++i;
    value += text_[i];
  }
  fail("a string closed on its own line");
}

std::string_view Cursor::number() {
  skip_spaces();
  const size_t begin = place_.offset;
  const bool prefixed = at(begin) == '0' && !is_digit(at(begin + 1)) && at(begin + 1) != '.' &&
                        at(begin + 1) != 'e' && at(begin + 1) != 'E';
  while (place_.offset < text_.size()) {
    const char c = text_[place_.offset];
    const bool exponent_sign = (c == '+' || c == '-') && !prefixed && place_.offset > begin &&
                               (text_[place_.offset - 1] == 'e' || text_[place_.offset - 1] == 'E');
    const bool fraction = c == '.' && !prefixed;
    if ((!is_word(c) || c == '%') && !exponent_sign && !fraction) break;
    ++place_.offset;
  }
  return slice(begin, place_.offset);
}

std::string_view Cursor::opcode() {
  skip_spaces();
  const size_t begin = place_.offset;
  if (!is_word(at(begin)) && at(begin) != '.') return {};
  while (place_.offset < text_.size()) {
    const char c = text_[place_.offset];
    if ((is_word(c) && c != '%') || c == '.' || place_.offset == begin) {
      ++place_.offset;
    } else if (c == ':' && at(place_.offset + 1) == ':') {
      place_.offset += 2;
    } else {
      break;
    }
  }
  return slice(begin, place_.offset);
}

void Cursor::skip_braces() {
  if (peek() != '{') fail("'{'");
  const Place open = place_;
  for (size_t depth = 0; place_.offset < text_.size();) {
    const char c = text_[place_.offset];
    if (!kBraceTable[static_cast<unsigned char>(c)]) {
      ++place_.offset;
    } else if (c == '\n') {
      ++place_.offset;
      newline();
    } else if (c == '{') {
      ++depth;
      ++place_.offset;
    } else if (c == '}') {
      ++place_.offset;
      if (--depth == 0) return;
    } else if (c == '"') {
      string_literal();
    } else if (at(place_.offset + 1) == '/' || at(place_.offset + 1) == '*') {
      skip_spaces();
    } else {
      ++place_.offset;
    }
  }
  fail_at(open, "a '}' that closes this brace");
}

void Cursor::fail(std::string_view expected) {
  try {
    skip_spaces();
  } catch (const ParseError&) {  // an unterminated comment; report what was wanted before it
  }
  fail_at(place_, expected);
}

void Cursor::fail_at(const Place& place, std::string_view expected) const {
  const size_t begin = place.offset;
  size_t end = begin + (begin + 1 < text_.size() && text_[begin] == '.' && is_word(text_[begin + 1]));
  while (end < text_.size() && end - begin < kFoundLimit && is_word(text_[end])) ++end;
  if (end == begin && end < text_.size()) ++end;
  const std::string found = begin < text_.size() ? std::string(slice(begin, end)) : "end of text";
  throw ParseError(place.line, static_cast<uint32_t>(begin - place.line_begin + 1), found,
                   std::string(expected));
}

}  // namespace emu::ptx
