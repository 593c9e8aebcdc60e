// Declarations that occur both at module scope and inside bodies: types, variables, parameters, directives.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/cursor.h"
#include "ptx/function.h"

namespace emu::ptx {

struct Type {
  uint32_t bytes;  // 0 for .pred
  RegClass reg_class;
  bool is_float;
};

// "u32" -> 4 bytes, B32.
std::optional<Type> find_type(std::string_view name);

// "global" -> Space::Global; only spaces that variables can live in.
std::optional<Space> find_variable_space(std::string_view name);

uint64_t align_up(uint64_t offset, uint64_t align);

// The declarators after a state space directive, to the semicolon: ".align 4 .b8 a[8] = {1, 2}, b;".
// Offsets are left 0. Sizes are bounded by 2^40 bytes, initialised bytes by 2^28.
std::vector<Variable> parse_variables(Cursor& cursor, Space space, Linkage linkage);

// "(.param .u64 .ptr .align 1 x, ...)" with natural layout from `offset` on; returns the end offset through
// it.
std::vector<Parameter> parse_parameters(Cursor& cursor, uint32_t& offset);

struct Signature {
  std::string name;
  bool has_name_word = false;
  std::vector<Parameter> returns;
  std::vector<Parameter> params;
  uint32_t param_bytes = 0;  // params come first in the frame, then returns
  uint32_t frame_bytes = 0;
};

// "(returns) name (params)": all but the name may be missing.
Signature parse_signature(Cursor& cursor);

// Performance and cluster directives between a signature and '{' or ';'. Unknown ones are refused by name.
Directives parse_directives(Cursor& cursor);

}  // namespace emu::ptx
