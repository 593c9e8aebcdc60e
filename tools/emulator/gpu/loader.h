// Modules in the machine: variables in global memory, kernels decoded when first launched.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/engine.h"
#include "gpu/program.h"
#include "memory/global_memory.h"
#include "timing/machine.h"

namespace emu::gpu {

struct LoadedModule {
  std::string name;
  std::vector<std::unique_ptr<ptx::Module>> texts;
  std::unique_ptr<ptx::Program> linked;
  struct Placed {
    uint64_t address = 0;
    uint64_t size = 0;
    bool constant = false;
    bool managed = false;
  };
  std::map<std::pair<uint32_t, std::string>, Placed> variables;  // by module index and name
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  // Function addresses: what `mov` of a function name yields and an indirect call takes.
  std::vector<std::pair<uint32_t, const ptx::FunctionInfo*>> functions;

  const Placed* find_variable(uint32_t from, std::string_view variable) const;
  uint64_t function_address(uint32_t from, std::string_view function);  // 0 when unknown
};

// Code addresses lie in a window of their own so that a data access through one is caught.
inline constexpr uint64_t kCodeWindow = uint64_t{3} << 48;

// Parses the texts, links them and places their variables, initialised. Throws cuda::EngineError.
std::unique_ptr<LoadedModule> load_module(std::span<const std::string> texts, std::string_view name,
                                          memory::GlobalMemory& memory);
void unload_module(LoadedModule& module, memory::GlobalMemory& memory);

// The decoded kernel, decoding it now if this is the first request. Throws cuda::EngineError.
// With a machine, instructions are put into the order in which ptxas would issue them on it: timed runs
// execute that order. Without one they stay in PTX order.
Kernel& kernel_of(LoadedModule& module, std::string_view entry, const timing::Machine* machine = nullptr);
// Decodes a function that an indirect call reached; returns its index in kernel.programs.
int32_t program_of(Kernel& kernel, uint32_t module_index, const ptx::FunctionInfo* function);

}  // namespace emu::gpu
