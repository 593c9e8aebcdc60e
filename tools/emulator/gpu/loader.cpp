#include "gpu/loader.h"

#include <fmt/format.h>

#include <cstring>

#include "gpu/decode.h"
#include "gpu/unwaited.h"
#include "timing/sass_schedule.h"

namespace emu::gpu {

namespace {

using cuda::EngineError;
using cuda::Status;

bool has_storage(const ptx::Variable& variable) {
  return variable.linkage != ptx::Linkage::Extern &&
         (variable.space == ptx::Space::Global || variable.space == ptx::Space::Const);
}

void place_variables(LoadedModule& module, memory::GlobalMemory& memory) {
  for (uint32_t m = 0; m < module.texts.size(); ++m) {
    for (const ptx::Variable& variable : module.texts[m]->variables()) {
      if (!has_storage(variable)) continue;
      if (module.linked->variable(m, variable.name).module != m)
        continue;  // a weak one that another module supplies
      const auto kind = variable.managed                      ? memory::AllocationKind::Managed
                        : variable.space == ptx::Space::Const ? memory::AllocationKind::Constant
                                                              : memory::AllocationKind::Module;
      uint64_t address = 0;
      const uint64_t bytes = std::max<uint64_t>(variable.size, 1);
      if (memory.allocate(bytes, kind, address, variable.name, variable.align) != memory::MemoryStatus::Ok) {
        throw EngineError(
            Status::kMemoryAllocation,
            fmt::format("variable {} of {} bytes does not fit in device memory", variable.name, bytes));
      }
      // PTX ISA 5.4: variables without initialiser in .global and .const start as zero.
      auto* at = reinterpret_cast<std::byte*>(address);
      std::memset(at, 0, bytes);
      if (!variable.initial_bytes.empty())
        std::memcpy(at, variable.initial_bytes.data(),
                    std::min<size_t>(variable.initial_bytes.size(), bytes));
      module.variables[{m, variable.name}] = {address, variable.size, variable.space == ptx::Space::Const,
                                              variable.managed};
    }
  }
}

void apply_relocations(LoadedModule& module) {
  for (uint32_t m = 0; m < module.texts.size(); ++m) {
    for (const ptx::Variable& variable : module.texts[m]->variables()) {
      auto placed = module.variables.find({m, variable.name});
      if (placed == module.variables.end()) continue;
      for (const ptx::Relocation& relocation : variable.relocations) {
        uint64_t value = 0;
        if (const auto* target = module.find_variable(m, relocation.symbol)) {
          value = target->address;
        } else if (const uint64_t function = module.function_address(m, relocation.symbol)) {
          value = function;
        } else {
          throw EngineError(Status::kInvalidPtx,
                            fmt::format("the initialiser of {} names {}, which is not defined", variable.name,
                                        relocation.symbol));
        }
        value = ((value + static_cast<uint64_t>(relocation.addend)) & relocation.mask) >> relocation.shift;
        if (relocation.offset + relocation.bytes <= variable.size) {
          std::memcpy(reinterpret_cast<std::byte*>(placed->second.address) + relocation.offset, &value,
                      std::min<uint32_t>(relocation.bytes, 8));
        }
      }
    }
  }
}

uint32_t align_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::string shared_key(const Kernel& kernel, const Program& program, const std::string& variable,
                       bool in_body) {
  if (in_body) return fmt::format("{}:{}#{}", program.module_index, program.function->name, variable);
  const auto site = kernel.module->linked->variable(program.module_index, variable);
  return fmt::format("{}:{}", site.variable ? site.module : program.module_index, variable);
}

}  // namespace

const LoadedModule::Placed* LoadedModule::find_variable(uint32_t from, std::string_view variable) const {
  const ptx::VariableSite site = linked->variable(from, variable);
  if (!site.variable) return nullptr;
  auto it = variables.find({site.module, site.variable->name});
  return it == variables.end() ? nullptr : &it->second;
}

uint64_t LoadedModule::function_address(uint32_t from, std::string_view function) {
  const ptx::FunctionSite site = linked->function(from, function);
  if (!site.function) return 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].second == site.function) return kCodeWindow + (i + 1) * 16;
  }
  functions.emplace_back(site.module, site.function);
  return kCodeWindow + functions.size() * 16;
}

std::unique_ptr<LoadedModule> load_module(std::span<const std::string> texts, std::string_view name,
                                          memory::GlobalMemory& memory) {
  auto module = std::make_unique<LoadedModule>();
  module->name = name;
  try {
    std::vector<const ptx::Module*> views;
    for (const std::string& text : texts) {
      module->texts.push_back(std::make_unique<ptx::Module>(ptx::Module::parse(text, std::string(name))));
      views.push_back(module->texts.back().get());
    }
    module->linked = std::make_unique<ptx::Program>(views);
  } catch (const ptx::ParseError& error) {
    throw EngineError(Status::kInvalidPtx, fmt::format("PTX of {}: {}", name, error.what()));
  }
  place_variables(*module, memory);
  apply_relocations(*module);
  return module;
}

void unload_module(LoadedModule& module, memory::GlobalMemory& memory) {
  for (auto& [key, placed] : module.variables) memory.free(placed.address);
}

int32_t program_of(Kernel& kernel, uint32_t module_index, const ptx::FunctionInfo* function) {
  auto [it, fresh] = kernel.index.try_emplace({module_index, function}, 0);
  if (!fresh) return it->second;
  it->second = static_cast<int32_t>(kernel.programs.size());
  const int32_t index = it->second;
  auto& program = *kernel.programs.emplace_back(std::make_unique<Program>());
  program.module = kernel.module->texts[module_index].get();
  program.module_index = module_index;
  program.function = &program.module->function(function->name);
  const ptx::Function& body = *program.function;
  program.num_slots = isa::kFirstSlot + body.num_slots;
  program.num_predicates = isa::kFirstPredicate + body.num_predicates;
  program.local_offset =
      align_up(static_cast<uint32_t>(body.call_param_bytes), std::max(16u, body.local_align));
  program.frame_bytes = align_up(program.local_offset + static_cast<uint32_t>(body.local_bytes), 16);
  for (const ptx::Variable& variable : body.variables) {
    if (variable.space != ptx::Space::Shared) continue;
    if (variable.unsized) {
      kernel.dynamic_align = std::max(kernel.dynamic_align, variable.align);
      continue;
    }
    kernel.static_shared = align_up(kernel.static_shared, variable.align);
    kernel.shared_offsets[shared_key(kernel, program, variable.name, true)] = kernel.static_shared;
    kernel.static_shared += static_cast<uint32_t>(variable.size);
  }
  for (const ptx::SymbolRef& symbol : body.symbols) {
    if (symbol.kind != ptx::SymbolKind::ModuleVariable) continue;
    const auto site = kernel.module->linked->variable(module_index, symbol.name);
    const ptx::Variable* variable =
        site.variable ? site.variable : &program.module->variables()[symbol.index];
    if (variable->space != ptx::Space::Shared) continue;
    if (variable->unsized) {
      kernel.dynamic_align = std::max(kernel.dynamic_align, variable->align);
      continue;
    }
    const std::string key = shared_key(kernel, program, symbol.name, false);
    if (kernel.shared_offsets.contains(key)) continue;
    kernel.static_shared = align_up(kernel.static_shared, variable->align);
    kernel.shared_offsets[key] = kernel.static_shared;
    kernel.static_shared += static_cast<uint32_t>(variable->size);
  }
  // Everything that direct calls reach, so that the shared layout is complete before the first CTA starts.
  for (const ptx::SymbolRef& symbol : body.symbols) {
    if (symbol.kind != ptx::SymbolKind::Function) continue;
    const auto site = kernel.module->linked->function(module_index, symbol.name);
    if (site.function) program_of(kernel, site.module, site.function);
  }
  return index;
}

namespace {

void put_into_issue_order(Kernel& kernel, Program& program, const timing::Machine& machine) {
  std::vector<timing::Cost> costs;
  for (const IssueRange& range : program.issue.instructions) costs.push_back(range.cost);
  const std::vector<uint32_t> order = timing::schedule(*program.function, costs, machine);
  program.scheduled = std::make_unique<ptx::Function>(timing::reordered(*program.function, order));
  program.function = program.scheduled.get();
  program.num_slots = isa::kFirstSlot + program.function->num_slots;
  program.num_predicates = isa::kFirstPredicate + program.function->num_predicates;
  program.details.clear();
  decode_program(kernel, program);
}

}  // namespace

Kernel& kernel_of(LoadedModule& module, std::string_view entry, const timing::Machine* machine) {
  auto [it, fresh] = module.kernels.try_emplace(std::string(entry), nullptr);
  if (!fresh && it->second) return *it->second;
  const ptx::FunctionSite site = module.linked->entry(entry);
  if (!site.function) {
    module.kernels.erase(it);
    throw EngineError(Status::kSymbolNotFound, fmt::format("module {} has no kernel {}", module.name, entry));
  }
  auto kernel = std::make_unique<Kernel>();
  kernel->module = &module;
  kernel->name = entry;
  try {
    program_of(*kernel, site.module, site.function);
    // Functions whose address a variable holds can be reached by indirect calls.
    for (size_t i = 0; i < module.functions.size(); ++i) {
      const auto [from, info] = module.functions[i];
      if (info->is_defined && !info->is_entry) program_of(*kernel, from, info);
    }
    for (size_t i = 0; i < kernel->programs.size(); ++i) {
      kernel->programs[i]->unwaited = unwaited_reads(*kernel->programs[i]->function);
      decode_program(*kernel, *kernel->programs[i]);
      if (machine) put_into_issue_order(*kernel, *kernel->programs[i], *machine);
    }
  } catch (const ptx::ParseError& error) {
    throw EngineError(Status::kInvalidPtx, fmt::format("PTX of {}: {}", module.name, error.what()));
  }
  it->second = std::move(kernel);
  return *it->second;
}

}  // namespace emu::gpu
