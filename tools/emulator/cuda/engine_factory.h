#pragma once

#include <memory>

#include "cuda/engine.h"

namespace emu::cuda {

struct Machine;

// Makes the engine that this process will use. Defined once per binary: libcudart.so.13 takes the one of
// gpu/, tests supply their own. Called at the first API call that needs a device, at most once.
std::unique_ptr<Engine> create_engine(const Machine& machine);

}  // namespace emu::cuda
