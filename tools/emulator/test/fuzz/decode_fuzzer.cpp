// Fuzz target: any text is a module whose kernels decode, instruction by instruction, or an error of the engine.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "gpu/decode.h"
#include "ptx/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emu;
  const std::string text(reinterpret_cast<const char*>(data), size);
  memory::GlobalMemory memory;
  try {
    const auto module = gpu::load_module(std::span(&text, 1), "fuzz", memory);
    for (const ptx::FunctionInfo& info : module->texts[0]->functions()) {
      if (!info.is_entry || !info.is_defined) continue;
      try {
        gpu::kernel_of(*module, info.name);
      } catch (const cuda::EngineError&) {
      } catch (const ptx::ParseError&) {
      }
    }
    gpu::unload_module(*module, memory);
  } catch (const cuda::EngineError&) {
  } catch (const ptx::ParseError&) {
  }
  return 0;
}
