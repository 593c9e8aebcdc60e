#include "cuda/occupancy.h"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace emu::cuda {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kRegisterUnit = 256;

uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

uint32_t max_threads_per_block(const KernelInfo& info) {
  uint64_t limit = 1024;
  if (info.max_threads) limit = std::min(limit, info.max_threads->count());
  if (info.req_threads) limit = std::min(limit, info.req_threads->count());
  return static_cast<uint32_t>(limit);
}

uint32_t registers_of_block(const KernelInfo& info, uint32_t threads) {
  return round_up(info.registers * kWarp, kRegisterUnit) * (round_up(threads, kWarp) / kWarp);
}

uint32_t blocks_per_sm(const Machine& machine, const KernelInfo& info, uint32_t threads,
                       uint64_t dynamic_shared) {
  const uint64_t shared = info.static_shared + dynamic_shared;
  if (threads == 0 || threads > max_threads_per_block(info) || shared > machine.shared_per_block_optin())
    return 0;
  uint32_t blocks = machine.attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  blocks = std::min<uint32_t>(
      blocks, machine.attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / round_up(threads, kWarp));
  blocks = std::min<uint32_t>(
      blocks,
      machine.shared_per_sm() / round_up(static_cast<uint32_t>(shared) + machine.shared_reserved(), 128));
  if (const uint32_t registers = registers_of_block(info, threads)) {
    blocks =
        std::min<uint32_t>(blocks, machine.attribute(cudaDevAttrMaxRegistersPerMultiprocessor) / registers);
  }
  return blocks;
}

uint32_t clusters_on_device(const Machine& machine, uint32_t cluster_size, uint32_t blocks_per_sm) {
  uint32_t clusters = 0;
  for (const int sms : machine.sms_of_gpc)
    clusters += static_cast<uint32_t>(sms) * blocks_per_sm / cluster_size;
  return clusters;
}

uint32_t max_dynamic_shared(const Machine& machine, const Kernel& kernel, const KernelInfo& info) {
  if (kernel.max_dynamic_shared) return *kernel.max_dynamic_shared;
  const uint32_t base = machine.attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  return base - std::min(base, info.static_shared);
}

}  // namespace emu::cuda
