// Initialisers of variables (PTX ISA 5.4.4): nested lists of constants, symbols, generic() and mask().
#pragma once
#include <vector>

#include "ptx/cursor.h"
#include "ptx/declaration.h"

namespace emu::ptx {

struct InitializerShape {
  Type type;
  std::vector<int64_t> dimensions;  // outermost first; the first is -1 in "x[] = {...}"
  bool open;                        // the list gives the first dimension
};

// Fills initial_bytes, relocations and, for an open array, the size.
void parse_initializer(Cursor& cursor, const InitializerShape& shape, Variable& variable);

}  // namespace emu::ptx
