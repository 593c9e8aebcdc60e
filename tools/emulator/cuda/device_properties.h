#pragma once

#include <cuda_runtime_api.h>

#include "cuda/machine.h"

namespace emu::cuda {

// cudaDeviceProp of a machine, from its attributes.
cudaDeviceProp device_properties(const Machine& machine);

// "0000:01:00.0"-style address from the machine's PCI attributes.
std::string pci_bus_id(const Machine& machine);

}  // namespace emu::cuda
