#include "ptx/constant.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>
#include <string>

namespace emu::ptx {
namespace {

constexpr int kMaxDepth = 64;
constexpr int64_t kWarpSize = 32;  // WARP_SZ, PTX ISA 4.5.4

using Kind = Constant::Kind;

bool is_hex(char c) { return Cursor::is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The operators of one precedence level, loosest first. Longer spellings come before their prefixes.
constexpr std::string_view kBinary[][5] = {
    {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
};
constexpr size_t kLevels = std::size(kBinary);

class Expression {
 public:
  explicit Expression(Cursor& cursor) : cursor_(cursor) {}

  Constant ternary() {
    const Nesting nesting(*this);
    Constant condition = binary(0);
    if (!cursor_.accept('?')) return condition;
    require_int(condition);
    const Constant yes = ternary();
    cursor_.expect(':', "of a ?: expression");
    const Constant no = ternary();
    return condition.bits != 0 ? yes : no;
  }

  Constant literal() {
    const Cursor::Place begin = cursor_.place();
    if (!Cursor::is_digit(cursor_.peek()) && cursor_.peek() != '.') {
      if (cursor_.accept_word() == "WARP_SZ") return {Kind::Int, false, kWarpSize};
      cursor_.fail_at(begin, "a constant");
    }
    const std::string_view text = cursor_.number();
    Constant value;
    if (!read_literal(text, value)) cursor_.fail_at(begin, "a well-formed constant of at most 64 bits");
    return value;
  }

 private:
  struct Nesting {
    explicit Nesting(Expression& e) : expression(e) {
      if (++expression.depth_ > kMaxDepth)
        expression.cursor_.fail("a constant expression nested less than 64 deep");
    }
    ~Nesting() { --expression.depth_; }
    Expression& expression;
  };

  void require_int(const Constant& value) {
    if (value.kind != Kind::Int) cursor_.fail("an integer before this: operators take integers only");
  }

  std::string_view accept_operator(size_t level) {
    for (const std::string_view op : kBinary[level]) {
      if (op.empty()) break;
      // `<` must not take half of `<<`, nor `|` half of `||`.
      const size_t at = cursor_.place().offset;
      const std::string_view next = cursor_.slice(at, at + 2);
      const bool half = op.size() == 1 && next.size() == 2 && next[1] == op[0] &&
                        (op == "<" || op == ">" || op == "|" || op == "&");
      if (!half && cursor_.accept(op)) return op;
    }
    return {};
  }

  Constant binary(size_t level) {
    if (level == kLevels) return unary();
    Constant left = binary(level + 1);
    for (std::string_view op; !(op = accept_operator(level)).empty();) {
      const Constant right = binary(level + 1);
      require_int(left);
      require_int(right);
      left = apply(op, left, right);
    }
    return left;
  }

  Constant apply(std::string_view op, const Constant& a, const Constant& b) {
    const bool is_unsigned = a.is_unsigned || b.is_unsigned;
    const auto ua = static_cast<uint64_t>(a.bits), ub = static_cast<uint64_t>(b.bits);
    auto number = [&](uint64_t v) { return Constant{Kind::Int, is_unsigned, static_cast<int64_t>(v)}; };
    auto truth = [](bool v) { return Constant{Kind::Int, false, v}; };
    if (op == "+") return number(ua + ub);
    if (op == "-") return number(ua - ub);
    if (op == "*") return number(ua * ub);
    if (op == "&") return number(ua & ub);
    if (op == "|") return number(ua | ub);
    if (op == "^") return number(ua ^ ub);
    if (op == "/" || op == "%") return divide(op, a, b, is_unsigned);
    if (op == "<<") return {Kind::Int, a.is_unsigned, ub > 63 ? 0 : static_cast<int64_t>(ua << ub)};
    if (op == ">>") return shift_right(a, ub);
    if (op == "&&") return truth(ua && ub);
    if (op == "||") return truth(ua || ub);
    if (op == "==") return truth(ua == ub);
    if (op == "!=") return truth(ua != ub);
    const bool less = is_unsigned ? ua < ub : a.bits < b.bits;
    if (op == "<") return truth(less);
    if (op == ">=") return truth(!less);
    if (op == "<=") return truth(less || ua == ub);
    return truth(!less && ua != ub);
  }

  Constant divide(std::string_view op, const Constant& a, const Constant& b, bool is_unsigned) {
    if (b.bits == 0) cursor_.fail("a divisor other than zero before this");
    const bool quotient = op == "/";
    if (is_unsigned) {
      const auto ua = static_cast<uint64_t>(a.bits), ub = static_cast<uint64_t>(b.bits);
      return {Kind::Int, true, static_cast<int64_t>(quotient ? ua / ub : ua % ub)};
    }
    // INT64_MIN / -1 does not fit; two's complement wraps it.
    if (b.bits == -1)
      return {Kind::Int, false, quotient ? static_cast<int64_t>(-static_cast<uint64_t>(a.bits)) : 0};
    return {Kind::Int, false, quotient ? a.bits / b.bits : a.bits % b.bits};
  }

  static Constant shift_right(const Constant& a, uint64_t by) {
    if (a.is_unsigned)
      return {Kind::Int, true, by > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a.bits) >> by)};
    return {Kind::Int, false, a.bits >> (by > 63 ? 63 : by)};
  }

  Constant unary() {
    const Nesting nesting(*this);
    if (cursor_.accept('+')) return unary();
    if (cursor_.accept('-')) return negate(unary());
    if (cursor_.accept('~')) {
      Constant value = unary();
      require_int(value);
      value.bits = ~value.bits;
      return value;
    }
    if (cursor_.accept('!')) {
      const Constant value = unary();
      require_int(value);
      return {Kind::Int, false, value.bits == 0};
    }
    if (cursor_.accept('(')) return parenthesis();
    return literal();
  }

  static Constant negate(Constant value) {
    if (value.kind == Kind::F32) value.bits ^= 0x80000000;
    if (value.kind == Kind::F64) value.bits ^= std::numeric_limits<int64_t>::min();
    if (value.kind == Kind::Int) value.bits = static_cast<int64_t>(-static_cast<uint64_t>(value.bits));
    return value;
  }

  Constant parenthesis() {
    if (cursor_.peek() != '.') {
      const Constant inner = ternary();
      cursor_.expect(')', "of a constant expression");
      return inner;
    }
    const std::string_view type = cursor_.dotted_word("a type to cast to");
    if (type != "s64" && type != "u64") cursor_.fail("a cast to .s64 or .u64 before this");
    cursor_.expect(')', "of a cast");
    Constant value = unary();
    require_int(value);
    value.is_unsigned = type == "u64";
    return value;
  }

  static bool read_literal(std::string_view text, Constant& value) {
    const char prefix = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
    if (prefix == 'f') return read_raw_bits(text, 8, Kind::F32, value);
    if (prefix == 'd') return read_raw_bits(text, 16, Kind::F64, value);
    if (prefix != 'x' && text.find_first_of(".eE") != std::string_view::npos)
      return read_decimal_float(text, value);
    return read_int(text, prefix, value);
  }

  static bool read_raw_bits(std::string_view text, size_t digits, Kind kind, Constant& value) {
    if (text.size() != digits + 2) return false;
    uint64_t bits = 0;
    const auto end = text.data() + text.size();
    if (std::from_chars(text.data() + 2, end, bits, 16).ptr != end) return false;
    value = {kind, false, static_cast<int64_t>(bits)};
    return is_hex(text[2]);
  }

  static bool read_decimal_float(std::string_view text, Constant& value) {
    double number = 0;
    const auto end = text.data() + text.size();
    if (std::from_chars(text.data(), end, number).ptr != end) return false;
    value = {Kind::F64, false, std::bit_cast<int64_t>(number)};
    return true;
  }

  static bool read_int(std::string_view text, char prefix, Constant& value) {
    const bool suffix = text.back() == 'U' || text.back() == 'u';
    if (suffix) text.remove_suffix(1);
    int base = 10;
    if (prefix == 'x') base = 16;
    if (prefix == 'b') base = 2;
    if (base != 10) text.remove_prefix(2);
    if (base == 10 && text.size() > 1 && text[0] == '0') base = 8;
    uint64_t bits = 0;
    const auto end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, bits, base);
    if (text.empty() || result.ptr != end || result.ec != std::errc()) return false;
    value = {Kind::Int, suffix || bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
             static_cast<int64_t>(bits)};
    return true;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

Constant parse_constant(Cursor& cursor) { return Expression(cursor).ternary(); }

namespace {

int64_t check_range(Cursor& cursor, const Cursor::Place& begin, const Constant& value, int64_t low,
                    int64_t high, std::string_view what) {
  const bool above = value.is_unsigned && value.bits < 0;
  if (value.kind != Constant::Kind::Int || above || value.bits < low || value.bits > high)
    cursor.fail_at(begin, fmt::format("{} between {} and {}", what, low, high));
  return value.bits;
}

}  // namespace

int64_t parse_integer(Cursor& cursor, int64_t low, int64_t high, std::string_view what) {
  const Cursor::Place begin = cursor.place();
  return check_range(cursor, begin, parse_constant(cursor), low, high, what);
}

int64_t parse_literal(Cursor& cursor, int64_t low, int64_t high, std::string_view what) {
  const Cursor::Place begin = cursor.place();
  return check_range(cursor, begin, Expression(cursor).literal(), low, high, what);
}

bool starts_constant(Cursor& cursor) {
  const char c = cursor.peek();
  return Cursor::is_digit(c) || c == '-' || c == '+' || c == '~' || c == '(' || c == '.';
}

}  // namespace emu::ptx
