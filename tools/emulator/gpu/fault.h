// What ends a launch: an error of CUDA's and a text that explains it.
#pragma once

#include <string>

#include "cuda/engine.h"

namespace emu::gpu {

struct Fault {
  cuda::Status status;
  std::string text;
};

}  // namespace emu::gpu
