#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/engine.h"

// Modules, kernels and variables that a program has registered or loaded. Images are opened at first use: a
// library may register many that never run.
namespace emu::cuda {

struct Module;

// What a cudaKernel_t, cudaFunction_t and CUfunction point to.
struct Kernel {
  Module* module = nullptr;
  std::string name;                            // as the PTX entry
  std::optional<KernelInfo> info;              // read at first use
  std::optional<uint32_t> max_dynamic_shared;  // cudaFuncSetAttribute
  bool non_portable_cluster = false;
  int carveout = -1;
  int cluster_policy = 0;
  Dim3 cluster_attribute{0, 0, 0};  // cudaFuncAttributeRequiredCluster*, 0 while unset
};

struct Variable {
  Module* module = nullptr;
  std::string name;
  size_t size = 0;
  bool constant = false;
  void** managed_slot = nullptr;     // host pointer to be filled with a managed variable's address
  std::optional<VariableInfo> info;  // read at first use
};

// What the handle of a registered fat binary, a cudaLibrary_t and a CUmodule point to.
struct Module {
  const void* image = nullptr;     // wrapper or container in the program's memory, until opened
  std::vector<std::string> texts;  // PTX given as text, until opened
  std::string name;
  ModuleHandle handle = ModuleHandle::kNone;
  Status failure = Status::kSuccess;  // why it could not be opened
  std::string failure_text;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  std::map<std::string, std::unique_ptr<Variable>, std::less<>> variables;
};

class Registry {
 public:
  Module* add_image(const void* image);
  Module* add_texts(std::vector<std::string> texts, std::string name);
  bool contains(const Module* module) const;
  // Forgets the module; the engine must still be asked to unload `handle`.
  void remove(Module* module);

  // `host_function` is the address of the kernel's host stub, or null for kernels found by name alone.
  Kernel* add_kernel(Module& module, const void* host_function, const std::string& name);
  Variable* add_variable(Module& module, const void* host_variable, const std::string& name);

  // A kernel by its host stub or by its own handle; null if it is neither.
  Kernel* find_kernel(const void* function);
  Variable* find_variable(const void* host_variable);
  bool is_kernel(const Kernel* kernel) const;

  std::vector<Module*> modules() const;

 private:
  std::map<const Module*, std::unique_ptr<Module>> modules_;
  std::map<const void*, Kernel*> by_host_function_;
  std::map<const void*, Variable*> by_host_variable_;
  std::map<const Kernel*, Kernel*> kernel_handles_;
  size_t next_number_ = 1;
};

// Opens the module in the engine if it is not yet, and gives managed variables their addresses. Throws
// EngineError, the same one again at every later try.
void open_module(Module& module, Engine& engine, uint32_t architecture);

// What the engine says about a kernel or variable, opening its module first.
const KernelInfo& kernel_info(Kernel& kernel, Engine& engine, uint32_t architecture);
const VariableInfo& variable_info(Variable& variable, Engine& engine, uint32_t architecture);

}  // namespace emu::cuda
