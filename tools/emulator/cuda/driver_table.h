#pragma once

#include <span>
#include <string_view>

namespace emu::cuda {

// A function of the driver API that the emulator implements.
struct DriverFunction {
  const char* name;      // as programs look it up: cuMemAlloc
  const char* exported;  // as libcuda.so.1 exports it: cuMemAlloc_v2
  void* function;
  int since;  // CUDA version that introduced it, major * 1000 + minor * 10
};

std::span<const DriverFunction> driver_functions();

// By either name; null if the emulator has no such function.
const DriverFunction* find_driver_function(std::string_view name);

}  // namespace emu::cuda
