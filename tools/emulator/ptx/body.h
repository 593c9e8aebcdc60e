// Parses one function body into program form.
#pragma once
#include <string_view>

#include "ptx/module.h"
#include "ptx/names.h"

namespace emu::ptx {

// `open` is the place of the opening brace in `text`. Parses, resolves labels, and runs the flow and slot
// passes. Throws ParseError.
Function parse_body(std::string_view text, const Cursor::Place& open, const FunctionInfo& info,
                    const ModuleNames& module);

}  // namespace emu::ptx
