#include <cstdlib>
#include <stdexcept>

#include "cuda/engine_factory.h"
#include "cuda/runtime.h"
#include "gpu/engine.h"
#include "gpu/options.h"

namespace emu::cuda {

std::unique_ptr<Engine> create_engine(const Machine&) {
  try {
    return gpu::make_engine(gpu::options_from_environment());
  } catch (const std::invalid_argument& error) {
    report(error.what());
    std::_Exit(2);
  }
}

}  // namespace emu::cuda
