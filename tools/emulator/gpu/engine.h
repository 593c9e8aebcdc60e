// The engine behind the CUDA runtime: modules, launches, host threads.
#pragma once

#include <memory>

#include "cuda/engine.h"
#include "gpu/options.h"

namespace emu::gpu {

std::unique_ptr<cuda::Engine> make_engine(const Options& options);

}  // namespace emu::gpu
