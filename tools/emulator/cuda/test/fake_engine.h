#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda/engine.h"
#include "memory/global_memory.h"

// An engine that runs nothing: it reads the few declarations it needs from the PTX, records launches and
// answers what a test tells it to.
namespace emu::cuda {

class FakeEngine : public Engine {
 public:
  FakeEngine();
  ~FakeEngine() override;

  memory::GlobalMemory& global_memory() override { return memory_; }
  ModuleHandle load_module(std::span<const std::string> texts, std::string_view name) override;
  void unload(ModuleHandle module) override;
  KernelInfo kernel_info(ModuleHandle module, std::string_view entry) override;
  std::vector<std::string> entries(ModuleHandle module) override;
  VariableInfo variable_info(ModuleHandle module, std::string_view variable) override;
  LaunchResult launch(const LaunchRequest& request) override;

  std::vector<LaunchRequest> launches;
  // What the next launches do; by default they succeed and take 1000 ns.
  std::function<LaunchResult(const LaunchRequest&)> behaviour;
  size_t modules_loaded = 0, modules_unloaded = 0;

 private:
  struct FakeModule {
    std::map<std::string, KernelInfo, std::less<>> kernels;
    std::map<std::string, VariableInfo, std::less<>> variables;
  };
  void read(const std::string& text, FakeModule& module);

  memory::GlobalMemory memory_{uint64_t{16} << 30};
  std::map<ModuleHandle, FakeModule> modules_;
  uint64_t next_ = 1;
};

// The one engine of this process; starts it if no API call has yet.
FakeEngine& fake_engine();

}  // namespace emu::cuda
