#include "fake_engine.h"

#include <fmt/format.h>

#include <regex>

#include "cuda/engine_factory.h"
#include "cuda/runtime.h"

namespace emu::cuda {
namespace {

FakeEngine* the_engine = nullptr;

uint32_t size_of_type(const std::string& type) {
  return static_cast<uint32_t>(std::stoi(type.substr(1)) / 8);
}

std::string match(const std::string& text, const char* pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? found[1].str() : "";
}

KernelInfo read_kernel(const std::string& parameters, const std::string& directives_and_body) {
  KernelInfo info;
  static const std::regex parameter(
      R"(\.param\s+(?:\.align\s+(\d+)\s+)?\.([bus]\d+|f\d+)\s+(?:\.ptr[^,]*?\s)?\s*\w+(?:\[(\d+)\])?)");
  for (std::sregex_iterator it(parameters.begin(), parameters.end(), parameter), end; it != end; ++it) {
    const uint32_t element = size_of_type((*it)[2]);
    ParamInfo param;
    param.size = (*it)[3].matched ? element * static_cast<uint32_t>(std::stoul((*it)[3])) : element;
    param.align = (*it)[1].matched ? static_cast<uint32_t>(std::stoul((*it)[1])) : element;
    param.offset = (info.param_bytes + param.align - 1) / param.align * param.align;
    info.param_bytes = param.offset + param.size;
    info.params.push_back(param);
  }
  const std::string threads = match(directives_and_body, R"(\.maxntid\s+(\d+))");
  if (!threads.empty()) info.max_threads = Dim3{static_cast<uint32_t>(std::stoul(threads)), 1, 1};
  const std::string cluster = match(directives_and_body, R"(\.reqnctapercluster\s+(\d+))");
  if (!cluster.empty()) info.req_cluster = Dim3{static_cast<uint32_t>(std::stoul(cluster)), 1, 1};
  info.explicit_cluster = directives_and_body.find(".explicitcluster") != std::string::npos;
  const std::string shared = match(directives_and_body, R"(\.shared\s+\.align\s+\d+\s+\.b8\s+\w+\[(\d+)\])");
  if (!shared.empty()) info.static_shared = static_cast<uint32_t>(std::stoul(shared));
  return info;
}

}  // namespace

FakeEngine::FakeEngine() { the_engine = this; }
FakeEngine::~FakeEngine() { the_engine = nullptr; }

void FakeEngine::read(const std::string& text, FakeModule& module) {
  static const std::regex entry(R"(\.entry\s+(\w+)\s*\(([^)]*)\)([^}]*))");
  for (std::sregex_iterator it(text.begin(), text.end(), entry), end; it != end; ++it) {
    KernelInfo info = read_kernel((*it)[2], (*it)[3]);
    const std::string target = match(text, R"(\.target\s+sm_(\d+))");
    if (!target.empty()) info.target = static_cast<uint32_t>(std::stoul(target));
    module.kernels[(*it)[1]] = info;
  }
  static const std::regex variable(
      R"(\.(global|const)\s+(\.attribute\(\.managed\)\s+)?\.align\s+\d+\s+\.([bus]\d+|f\d+)\s+(\w+)(?:\[(\d+)\])?)");
  for (std::sregex_iterator it(text.begin(), text.end(), variable), end; it != end; ++it) {
    VariableInfo info;
    info.size = size_of_type((*it)[3]) * ((*it)[5].matched ? std::stoul((*it)[5]) : 1);
    info.constant = (*it)[1] == "const";
    info.managed = (*it)[2].matched;
    using Kind = memory::AllocationKind;
    memory_.allocate(info.size,
                     info.managed    ? Kind::Managed
                     : info.constant ? Kind::Constant
                                     : Kind::Module,
                     info.address, (*it)[4]);
    module.variables[(*it)[4]] = info;
  }
}

ModuleHandle FakeEngine::load_module(std::span<const std::string> texts, std::string_view name) {
  FakeModule module;
  for (const std::string& text : texts) {
    if (text.find(".version") == std::string::npos) {
      throw EngineError(Status::kInvalidPtx, fmt::format("{}: no .version directive", name));
    }
    read(text, module);
  }
  const ModuleHandle handle{next_++};
  modules_[handle] = std::move(module);
  ++modules_loaded;
  return handle;
}

void FakeEngine::unload(ModuleHandle module) {
  ++modules_unloaded;
  modules_.erase(module);
}

KernelInfo FakeEngine::kernel_info(ModuleHandle module, std::string_view entry) {
  const auto& kernels = modules_.at(module).kernels;
  const auto found = kernels.find(entry);
  if (found == kernels.end()) throw EngineError(Status::kSymbolNotFound, fmt::format("no entry {}", entry));
  return found->second;
}

std::vector<std::string> FakeEngine::entries(ModuleHandle module) {
  std::vector<std::string> names;
  for (const auto& [name, info] : modules_.at(module).kernels) names.push_back(name);
  return names;
}

VariableInfo FakeEngine::variable_info(ModuleHandle module, std::string_view variable) {
  const auto& variables = modules_.at(module).variables;
  const auto found = variables.find(variable);
  if (found == variables.end())
    throw EngineError(Status::kSymbolNotFound, fmt::format("no variable {}", variable));
  return found->second;
}

LaunchResult FakeEngine::launch(const LaunchRequest& request) {
  launches.push_back(request);
  if (behaviour) return behaviour(request);
  LaunchResult result;
  result.modelled_ns = 1000;
  result.time_modelled = true;
  result.ctas_run = request.grid.count();
  return result;
}

FakeEngine& fake_engine() {
  Runtime::instance().engine();
  return *the_engine;
}

std::unique_ptr<Engine> create_engine(const Machine&) { return std::make_unique<FakeEngine>(); }

}  // namespace emu::cuda
