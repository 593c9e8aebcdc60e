#pragma once

#include <cstdint>

#include "cuda/engine.h"
#include "cuda/machine.h"
#include "cuda/registry.h"

// How many CTAs fit, by the rules of the CUDA occupancy calculator; shared-memory cases checked against an
// H200.
namespace emu::cuda {

// Largest block this kernel may be launched with, from its directives.
uint32_t max_threads_per_block(const KernelInfo& info);

// Registers one CTA takes from the SM's file: allocated by warp, in units of 256.
uint32_t registers_of_block(const KernelInfo& info, uint32_t threads);

// CTAs of `threads` threads that are resident on one SM together; 0 if not even one fits.
uint32_t blocks_per_sm(const Machine& machine, const KernelInfo& info, uint32_t threads,
                       uint64_t dynamic_shared);

// Clusters resident on the device together. A cluster does not span GPCs.
uint32_t clusters_on_device(const Machine& machine, uint32_t cluster_size, uint32_t blocks_per_sm);

// Dynamic shared memory a launch of this kernel may ask for, with what cudaFuncSetAttribute has set.
uint32_t max_dynamic_shared(const Machine& machine, const Kernel& kernel, const KernelInfo& info);

}  // namespace emu::cuda
