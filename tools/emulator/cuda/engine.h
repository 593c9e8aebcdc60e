#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace emu::memory {
class GlobalMemory;
}

// The seam between the CUDA runtime (this folder) and what executes kernels (gpu/). The runtime hands over
// PTX text and launch requests; it never sees an instruction. No CUDA header is needed to implement or to
// call this.
namespace emu::cuda {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// Values of cudaError_t that an engine reports; the numbers are CUDA's and go to the program unchanged.
enum class Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kInvalidKernelImage = 200,
  kNoKernelImage = 209,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kSymbolNotFound = 500,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kTensorMemoryLeak = 721,
  kNotSupported = 801,
};

// Thrown by load_module, kernel_info and variable_info. what() is a complete message for the user: the thing,
// the PTX line.
class EngineError : public std::runtime_error {
 public:
  EngineError(Status status, const std::string& message) : std::runtime_error(message), status(status) {}
  Status status;
};

// Identifies one loaded module for the lifetime of the engine; 0 is no module.
enum class ModuleHandle : uint64_t { kNone = 0 };

// One parameter of an entry, as its .param list declares it; offset is the packed position in
// LaunchRequest::params.
struct ParamInfo {
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t align = 1;
};

// What the directives of an entry say. Unset optionals mean the directive is absent.
struct KernelInfo {
  std::vector<ParamInfo> params;
  uint32_t param_bytes = 0;         // end of the last parameter
  uint32_t static_shared = 0;       // bytes, dynamic shared memory not included
  uint32_t local_bytes = 0;         // .local per thread
  uint32_t constant_bytes = 0;      // .const of the module
  uint32_t registers = 0;           // per thread, as a compiler would need them (<= 255); 0 if not estimated
  std::optional<Dim3> max_threads;  // .maxntid
  std::optional<Dim3> req_threads;  // .reqntid
  std::optional<Dim3> req_cluster;  // .reqnctapercluster
  std::optional<uint32_t> max_cluster_rank;  // .maxclusterrank
  std::optional<uint32_t> max_registers;     // .maxnreg
  bool explicit_cluster = false;             // .explicitcluster
  uint32_t ptx_version = 90;                 // .version, major * 10 + minor
  uint32_t target = 100;                     // .target without its letter
};

// A module-scope variable. `address` lies in the engine's global memory for .global and for .const alike, so
// that host copies reach both; a managed variable's address must be usable by the host as well.
struct VariableInfo {
  uint64_t address = 0;
  uint64_t size = 0;
  bool constant = false;
  bool managed = false;
};

struct LaunchRequest {
  ModuleHandle module = ModuleHandle::kNone;
  std::string entry;
  Dim3 grid, block;
  Dim3 cluster;                             // 1,1,1 unless the launch or .reqnctapercluster asks for more
  bool cluster_from_launch = false;         // the shape came from a launch attribute
  uint32_t dynamic_shared = 0;              // bytes
  std::vector<std::byte> params;            // KernelInfo::param_bytes long, each parameter at its offset
  bool cooperative = false;                 // grid-wide barrier allowed: every CTA is resident
  bool programmatic_serialization = false;  // may start before its predecessor has ended (PDL)
  bool may_sample = false;                  // the caller expects only some CTAs of a large grid to run
  double start_ns = 0;                      // modelled time at which the stream reaches this launch
};

struct LaunchResult {
  Status status = Status::kSuccess;
  std::string report;          // what went wrong and where, empty on success
  double modelled_ns = 0;      // duration of the grid
  bool time_modelled = false;  // false under flat cost: modelled_ns is then no statement about hardware
  uint64_t warp_instructions = 0;
  uint64_t ctas_run = 0;  // fewer than the grid when it was sampled for time
  bool sampled = false;
};

// Not thread-safe: the runtime calls it under its own lock, one call at a time.
class Engine {
 public:
  virtual ~Engine() = default;

  // Global memory of the device. The runtime allocates and copies in it; kernels read and write it.
  virtual memory::GlobalMemory& global_memory() = 0;

  // Loads PTX texts as one module. More than one text means separate compilation (-rdc): symbols are linked
  // by name across them. `name` is only for messages. May only index the text and defer errors of bodies to
  // the first launch. Throws EngineError(kInvalidPtx, ...).
  virtual ModuleHandle load_module(std::span<const std::string> ptx_texts, std::string_view name) = 0;

  // Frees a module and its variables. Handles of other modules stay valid.
  virtual void unload(ModuleHandle module) = 0;

  // Throws EngineError(kSymbolNotFound, ...) when the module has no such entry.
  virtual KernelInfo kernel_info(ModuleHandle module, std::string_view entry) = 0;

  // Names of all entries, in the order of the text.
  virtual std::vector<std::string> entries(ModuleHandle module) = 0;

  // Throws EngineError(kSymbolNotFound, ...) when the module has no such variable.
  virtual VariableInfo variable_info(ModuleHandle module, std::string_view variable) = 0;

  // Runs a grid to its end. Never throws for what the kernel did: that is LaunchResult::status and report.
  virtual LaunchResult launch(const LaunchRequest& request) = 0;

  // Device printf output that is still buffered goes to stdout. Called at synchronisation points.
  virtual void flush_output() {}

  // Called once when the program ends (statistics, trace files).
  virtual void finish() {}
};

}  // namespace emu::cuda
