// Constant expressions (PTX ISA 4.5).
#pragma once
#include <cstdint>

#include "ptx/cursor.h"

namespace emu::ptx {

struct Constant {
  enum class Kind : uint8_t { Int, F32, F64 };
  Kind kind = Kind::Int;
  bool is_unsigned = false;  // .u64: U suffix, a value above INT64_MAX, or an operation on one
  int64_t bits = 0;          // Int: value; F32, F64: raw bits
};

// A whole expression: literals, WARP_SZ, parentheses, casts, unary and binary operators, ?:.
// Throws ParseError, also for division by zero and for nesting deeper than 64.
Constant parse_constant(Cursor& cursor);

// An expression that must be an integer within [low, high]; `what` names it in the error.
int64_t parse_integer(Cursor& cursor, int64_t low, int64_t high, std::string_view what);

// A lone literal within [low, high]: the n of %r<n>, where '>' is not an operator.
int64_t parse_literal(Cursor& cursor, int64_t low, int64_t high, std::string_view what);

// Whether the next character can start a constant expression (a word cannot, except WARP_SZ).
bool starts_constant(Cursor& cursor);

}  // namespace emu::ptx
