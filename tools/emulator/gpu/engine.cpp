#include "gpu/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

#include "gpu/launch.h"
#include "gpu/loader.h"
#include "gpu/processor.h"
#include "observe/listeners.h"

namespace emu::gpu {

void Launch::warn(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
  if (warnings_.size() >= 20) return;
  warnings_.push_back(text);
  std::fprintf(stderr, "emu: warning: %s\n", text.c_str());
}

void Launch::print(const std::string& text) {
  std::lock_guard lock(mutex_);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

namespace {

using cuda::Status;

constexpr uint64_t kSlice = 1 << 18;  // warp instructions before another processor gets its turn
constexpr uint64_t kIdleRounds = 2;   // slices in a row in which every processor proves that it only spins: livelock

cuda::Dim3 dims(const std::array<uint32_t, 3>& d) {
  return {std::max(d[0], 1u), std::max(d[1], 1u), std::max(d[2], 1u)};
}
bool given(const std::array<uint32_t, 3>& d) { return d[0] != 0; }

class GpuEngine final : public cuda::Engine {
 public:
  explicit GpuEngine(const Options& options)
      : options_(options), listener_(observe::make_listener(options.stats, options.trace)) {}

  memory::GlobalMemory& global_memory() override { return memory_; }

  cuda::ModuleHandle load_module(std::span<const std::string> texts, std::string_view name) override {
    auto module = gpu::load_module(texts, name, memory_);
    const auto handle = static_cast<cuda::ModuleHandle>(++next_handle_);
    modules_[handle] = std::move(module);
    return handle;
  }

  void unload(cuda::ModuleHandle handle) override {
    auto it = modules_.find(handle);
    if (it == modules_.end()) return;
    unload_module(*it->second, memory_);
    modules_.erase(it);
  }

  std::vector<std::string> entries(cuda::ModuleHandle handle) override {
    std::vector<std::string> names;
    for (const auto& text : find(handle).texts) {
      for (const ptx::FunctionInfo& function : text->functions()) {
        if (function.is_entry && function.is_defined) names.push_back(function.name);
      }
    }
    return names;
  }

  cuda::KernelInfo kernel_info(cuda::ModuleHandle handle, std::string_view entry) override {
    LoadedModule& module = find(handle);
    const ptx::FunctionSite site = module.linked->entry(entry);
    if (!site.function) {
      throw cuda::EngineError(Status::kSymbolNotFound,
                              fmt::format("module {} has no kernel {}", module.name, entry));
    }
    const ptx::FunctionInfo& function = *site.function;
    cuda::KernelInfo info;
    for (const ptx::Parameter& parameter : function.params) {
      info.params.push_back({parameter.offset, parameter.size, parameter.align});
    }
    info.param_bytes = function.param_bytes;
    const Kernel& kernel = kernel_of(module, entry, schedule_machine());
    info.static_shared = kernel.static_shared;
    info.local_bytes = kernel.programs[0]->frame_bytes;
    const ptx::Directives& directives = function.directives;
    if (given(directives.maxntid)) info.max_threads = dims(directives.maxntid);
    if (given(directives.reqntid)) info.req_threads = dims(directives.reqntid);
    if (given(directives.reqnctapercluster)) info.req_cluster = dims(directives.reqnctapercluster);
    if (directives.maxclusterrank) info.max_cluster_rank = directives.maxclusterrank;
    if (directives.maxnreg) info.max_registers = directives.maxnreg;
    info.explicit_cluster = directives.explicitcluster;
    const ptx::ModuleHeader& header = module.texts[site.module]->header();
    info.ptx_version = header.version_major * 10 + header.version_minor;
    const size_t digits = header.target.find_first_of("0123456789");
    if (digits != std::string::npos)
      info.target = static_cast<uint32_t>(std::stoul(header.target.substr(digits)));
    return info;
  }

  cuda::VariableInfo variable_info(cuda::ModuleHandle handle, std::string_view variable) override {
    LoadedModule& module = find(handle);
    for (uint32_t m = 0; m < module.texts.size(); ++m) {
      if (const auto* placed = module.find_variable(m, variable)) {
        return {placed->address, placed->size, placed->constant, placed->managed};
      }
    }
    throw cuda::EngineError(Status::kSymbolNotFound,
                            fmt::format("module {} has no variable {}", module.name, variable));
  }

  cuda::LaunchResult launch(const cuda::LaunchRequest& request) override;
  void flush_output() override { std::fflush(stdout); }

 private:
  LoadedModule& find(cuda::ModuleHandle handle) {
    auto it = modules_.find(handle);
    if (it == modules_.end()) throw cuda::EngineError(Status::kSymbolNotFound, "the module is not loaded");
    return *it->second;
  }
  const timing::Machine* schedule_machine() const { return options_.timed ? &options_.machine : nullptr; }
  uint32_t resident_clusters(const cuda::LaunchRequest& request, uint32_t shared) const;
  void run(Launch& launch, std::vector<std::unique_ptr<Processor>>& processors);
  struct Sampling {
    bool active = false;
    uint64_t processors = 0;
    uint64_t clusters_each = 0;
  };
  Sampling plan_sampling(const cuda::LaunchRequest& request, uint64_t clusters, uint64_t hosts,
                         uint32_t resident) const;
  static Time extrapolate(const Processor& processor, uint64_t clusters, uint32_t resident);

  Options options_;
  memory::GlobalMemory memory_;
  std::map<cuda::ModuleHandle, std::unique_ptr<LoadedModule>> modules_;
  uint64_t next_handle_ = 0;
  uint64_t next_grid_ = 0;
  std::unique_ptr<observe::Listener> listener_;
};

// CTAs of this shape that one SM holds at a time, as far as shared memory and threads limit it.
uint32_t GpuEngine::resident_clusters(const cuda::LaunchRequest& request, uint32_t shared) const {
  const timing::Machine& m = options_.machine;
  const double warps = static_cast<double>((request.block.count() + 31) / 32);
  const double by_shared = m.shared_bytes / (shared + m.shared_reserved);
  const double by_warps = m.max_warps / warps;
  return std::max(1u, static_cast<uint32_t>(std::min({by_shared, by_warps, m.max_ctas})));
}

void GpuEngine::run(Launch& launch, std::vector<std::unique_ptr<Processor>>& processors) {
  const unsigned cores = options_.workers > 0 ? static_cast<unsigned>(options_.workers)
                                              : std::max(1u, std::thread::hardware_concurrency());
  const size_t workers = launch.listener ? 1 : std::min<size_t>(cores, processors.size());
  std::atomic<uint64_t> idle_rounds{0}, finished{0};
  const auto begin = std::chrono::steady_clock::now();
  std::vector<char> done(processors.size(), 0);
  const auto work = [&](size_t worker) {
    bool any = true;
    while (any && !launch.failed) {
      any = false;
      for (size_t i = worker; i < processors.size() && !launch.failed; i += workers) {
        if (done[i]) continue;
        any = true;
        const Processor::Run result = processors[i]->run(kSlice);
        if (result == Processor::Run::Finished) {
          done[i] = 1;
          ++finished;
        }
        if (result == Processor::Run::Idle) {
          // Each has proved that it only spins, twice over: nobody is left who could change what they read.
          if (++idle_rounds > kIdleRounds * (processors.size() - finished)) {
            launch.fail({Status::kLaunchTimeout,
                         "livelock: every warp that runs is in a loop that changes neither its registers nor "
                         "memory, and nothing is in flight"});
          }
        } else {
          idle_rounds = 0;
        }
        if (options_.timeout_s > 0 &&
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
                options_.timeout_s) {
          launch.fail(
              {Status::kLaunchTimeout,
               fmt::format("the launch ran longer than --timeout {} s on the host", options_.timeout_s)});
        }
      }
    }
  };
  if (workers == 1) {
    work(0);
  } else {
    std::vector<std::thread> threads;
    for (size_t w = 0; w < workers; ++w) threads.emplace_back(work, w);
    for (std::thread& thread : threads) thread.join();
  }
}

// A large grid of like CTAs is sampled for time: a few SMs are simulated through enough clusters to see the
// steady state, the rest is extrapolated. Everything runs when the grid is small, cooperative, or the cost
// flat.
GpuEngine::Sampling GpuEngine::plan_sampling(const cuda::LaunchRequest& request, uint64_t clusters,
                                             uint64_t hosts, uint32_t resident) const {
  Sampling plan;
  if (!options_.timed || options_.sample_off || request.cooperative) return plan;
  if (!request.may_sample && options_.sample == 0) return plan;  // a program that does not ask wants its results
  plan.processors = std::min<uint64_t>(options_.sample ? options_.sample : 1, hosts);
  plan.clusters_each = resident == 1 ? 3 : 5 * resident;
  const uint64_t all = (clusters + hosts - 1) / hosts;
  const bool worthwhile = options_.sample ? clusters > hosts : clusters > hosts * 4;
  plan.active = worthwhile && all > plan.clusters_each;
  return plan;
}

// Steady state: the mean time between ends of clusters, the first residents' start and the last ones' drain
// left out.
Time GpuEngine::extrapolate(const Processor& processor, uint64_t clusters, uint32_t resident) {
  const std::vector<Time>& ends = processor.cluster_ends();
  const size_t first = resident - 1;
  const size_t last = resident == 1 ? ends.size() - 1 : ends.size() - 1 - resident;
  if (ends.size() < 2 || last <= first) return processor.end_time();
  const Time period = (ends[last] - ends[first]) / static_cast<double>(last - first);
  return ends[first] + period * static_cast<double>(clusters - 1 - first);
}

cuda::LaunchResult GpuEngine::launch(const cuda::LaunchRequest& request) {
  cuda::LaunchResult result;
  Launch launch;
  try {
    launch.kernel = &kernel_of(find(request.module), request.entry, schedule_machine());
  } catch (const cuda::EngineError& error) {
    result.status = error.status;
    result.report = error.what();
    return result;
  }
  launch.request = &request;
  launch.options = &options_;
  launch.memory = &memory_;
  launch.grid_id = ++next_grid_;
  if (!options_.snapshot.empty()) {
    launch.snapshot = parse_snapshot_request(options_.snapshot);
    if (watch_line(*launch.kernel, *launch.snapshot) == 0) {
      launch.warn(fmt::format("kernel {} has no code at line {}; was it compiled with -lineinfo?", request.entry,
                              launch.snapshot->line));
    }
  }
  const uint32_t align = launch.kernel->dynamic_align;
  launch.shared_bytes = (launch.kernel->static_shared + align - 1) / align * align + request.dynamic_shared;
  launch.clusters = {request.grid.x / request.cluster.x, request.grid.y / request.cluster.y,
                     request.grid.z / request.cluster.z};
  const uint64_t clusters = launch.clusters.count();
  uint64_t parameters = 0;
  const size_t bytes = std::max<size_t>(request.params.size(), 16);
  if (memory_.allocate(bytes, memory::AllocationKind::Parameter, parameters, request.entry) !=
      memory::MemoryStatus::Ok) {
    result.status = Status::kMemoryAllocation;
    result.report = "no memory for the launch's parameters";
    return result;
  }
  if (!request.params.empty())
    std::memcpy(reinterpret_cast<void*>(parameters), request.params.data(), request.params.size());
  launch.parameters = parameters;
  uint64_t workspace = 0;
  if (request.cooperative) {
    memory_.allocate(4096, memory::AllocationKind::Parameter, workspace, "grid barrier");
    std::memset(reinterpret_cast<void*>(workspace), 0, 4096);
    launch.grid_workspace = workspace;
  }
  const uint32_t resident = resident_clusters(request, launch.shared_bytes);
  const uint64_t hosts =
      std::max<uint64_t>(1, static_cast<uint64_t>(options_.machine.num_sms) / request.cluster.count());
  const uint64_t count = std::min(clusters, hosts);
  const Sampling sampling = plan_sampling(request, clusters, hosts, resident);
  std::vector<std::unique_ptr<Processor>> processors;
  for (uint64_t i = 0; i < (sampling.active ? sampling.processors : count); ++i) {
    const uint64_t end = sampling.active ? std::min(clusters, i + count * sampling.clusters_each) : clusters;
    processors.push_back(
        std::make_unique<Processor>(launch, static_cast<uint32_t>(i), i, count, end, resident));
  }
  if (listener_) {
    launch.listener = listener_.get();
    listener_->launch_begins(request.entry, options_.machine.clock_ghz, options_.timed);
  }
  const auto host_begin = std::chrono::steady_clock::now();
  run(launch, processors);
  if (listener_) {
    Time last = 0;
    uint64_t instructions = 0;
    for (const auto& processor : processors) {
      last = std::max(last, processor->end_time());
      instructions += processor->instructions();
    }
    listener_->host_worked(instructions,
                           std::chrono::duration<double>(std::chrono::steady_clock::now() - host_begin).count());
    listener_->launch_ends(last);
  }
  for (const auto& processor : processors) {
    Time end = processor->end_time();
    if (sampling.active && !launch.failed)
      end = extrapolate(*processor, (clusters + count - 1) / count, resident);
    result.modelled_ns = std::max(result.modelled_ns, end / options_.machine.clock_ghz);
    result.warp_instructions += processor->instructions();
  }
  if (options_.timed) result.modelled_ns += options_.machine.kernel_launch_us * 1000;
  result.sampled = sampling.active;
  result.time_modelled = options_.timed;
  result.ctas_run = launch.ctas_run;
  if (const auto fault = launch.fault()) {
    result.status = fault->status;
    result.report = fault->text;
  }
  memory_.free(parameters);
  if (workspace) memory_.free(workspace);
  return result;
}

}  // namespace

std::unique_ptr<cuda::Engine> make_engine(const Options& options) {
  return std::make_unique<GpuEngine>(options);
}

}  // namespace emu::gpu
