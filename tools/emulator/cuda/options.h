#pragma once

#include <string>

namespace emu::cuda {

// The part of the EMU_OPTIONS environment variable (JSON, written by the emu command) that the runtime itself
// needs; the engine reads the rest. Absent variable or key: the default.
struct RuntimeOptions {
  std::string machine = "b200";
};

// Throws std::invalid_argument with a one-line message for JSON that does not parse or a value of the wrong
// type.
RuntimeOptions parse_runtime_options(const char* json);

}  // namespace emu::cuda
