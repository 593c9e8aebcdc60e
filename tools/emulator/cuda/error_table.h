#pragma once

#include <cstddef>

// Names and descriptions of CUDA's error codes. Runtime and driver number their errors alike and name them
// differently.
namespace emu::cuda {

struct ErrorText {
  int code;
  const char* runtime_name;  // null if only the driver has this code
  const char* driver_name;   // null if only the runtime has it
  const char* text;
};

// Null for a number that is no error code.
const ErrorText* find_error(int code);

// "cudaErrorInvalidValue (1)", for messages.
const char* error_name(int code);

}  // namespace emu::cuda
