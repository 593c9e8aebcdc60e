#include "cuda/registry.h"

#include <fmt/format.h>

#include <utility>

#include "cuda/fat_binary.h"

namespace emu::cuda {

Module* Registry::add_image(const void* image) {
  auto module = std::make_unique<Module>();
  module->image = image;
  module->name = fmt::format("fat binary {}", next_number_++);
  Module* raw = module.get();
  modules_.emplace(raw, std::move(module));
  return raw;
}

Module* Registry::add_texts(std::vector<std::string> texts, std::string name) {
  Module* module = add_image(nullptr);
  module->texts = std::move(texts);
  module->name = std::move(name);
  return module;
}

bool Registry::contains(const Module* module) const { return modules_.count(module) != 0; }

void Registry::remove(Module* module) {
  std::erase_if(by_host_function_, [&](const auto& entry) { return entry.second->module == module; });
  std::erase_if(by_host_variable_, [&](const auto& entry) { return entry.second->module == module; });
  std::erase_if(kernel_handles_, [&](const auto& entry) { return entry.second->module == module; });
  modules_.erase(module);
}

Kernel* Registry::add_kernel(Module& module, const void* host_function, const std::string& name) {
  std::unique_ptr<Kernel>& kernel = module.kernels[name];
  if (!kernel) {
    kernel = std::make_unique<Kernel>();
    kernel->module = &module;
    kernel->name = name;
    kernel_handles_[kernel.get()] = kernel.get();
  }
  if (host_function) by_host_function_[host_function] = kernel.get();
  return kernel.get();
}

Variable* Registry::add_variable(Module& module, const void* host_variable, const std::string& name) {
  std::unique_ptr<Variable>& variable = module.variables[name];
  if (!variable) {
    variable = std::make_unique<Variable>();
    variable->module = &module;
    variable->name = name;
  }
  if (host_variable) by_host_variable_[host_variable] = variable.get();
  return variable.get();
}

Kernel* Registry::find_kernel(const void* function) {
  if (const auto found = by_host_function_.find(function); found != by_host_function_.end())
    return found->second;
  const auto found = kernel_handles_.find(static_cast<const Kernel*>(function));
  return found == kernel_handles_.end() ? nullptr : found->second;
}

Variable* Registry::find_variable(const void* host_variable) {
  const auto found = by_host_variable_.find(host_variable);
  return found == by_host_variable_.end() ? nullptr : found->second;
}

bool Registry::is_kernel(const Kernel* kernel) const { return kernel_handles_.count(kernel) != 0; }

std::vector<Module*> Registry::modules() const {
  std::vector<Module*> all;
  for (const auto& [raw, module] : modules_) all.push_back(module.get());
  return all;
}

namespace {

void load_into_engine(Module& module, Engine& engine, uint32_t architecture) {
  if (module.image) module.texts = ptx_of_image(module.image, architecture);
  module.handle = engine.load_module(module.texts, module.name);
  module.texts.clear();
  module.texts.shrink_to_fit();
}

}  // namespace

void open_module(Module& module, Engine& engine, uint32_t architecture) {
  if (module.failure != Status::kSuccess) throw EngineError(module.failure, module.failure_text);
  if (module.handle != ModuleHandle::kNone) return;
  try {
    load_into_engine(module, engine, architecture);
  } catch (const FatBinaryError& error) {
    module.failure =
        error.kind == FatBinaryError::Kind::kNoPtx ? Status::kNoKernelImage : Status::kInvalidKernelImage;
    module.failure_text = error.what();
  } catch (const EngineError& error) {
    module.failure = error.status;
    module.failure_text = error.what();
  }
  if (module.failure != Status::kSuccess) throw EngineError(module.failure, module.failure_text);
  for (auto& [name, variable] : module.variables) {
    if (variable->managed_slot) {
      *variable->managed_slot =
          reinterpret_cast<void*>(variable_info(*variable, engine, architecture).address);
    }
  }
}

const KernelInfo& kernel_info(Kernel& kernel, Engine& engine, uint32_t architecture) {
  if (!kernel.info) {
    open_module(*kernel.module, engine, architecture);
    kernel.info = engine.kernel_info(kernel.module->handle, kernel.name);
  }
  return *kernel.info;
}

const VariableInfo& variable_info(Variable& variable, Engine& engine, uint32_t architecture) {
  if (!variable.info) {
    open_module(*variable.module, engine, architecture);
    if (!variable.info) variable.info = engine.variable_info(variable.module->handle, variable.name);
  }
  return *variable.info;
}

}  // namespace emu::cuda
