#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// What the emulated device answers about itself. The time its kernels take is timing/'s concern, not
// described here.
namespace emu::cuda {

struct Machine {
  std::string name;               // as cudaDeviceProp::name
  uint32_t architecture = 0;      // compute capability times ten
  uint64_t memory_bytes = 0;      // total global memory, where the engine does not say otherwise
  std::map<int, int> attributes;  // cudaDeviceAttr -> value
  std::vector<int> sms_of_gpc;    // a cluster never spans GPCs

  // Value of a cudaDeviceAttr; the attribute must exist.
  int attribute(int id) const { return attributes.at(id); }
  int sm_count() const;
  uint32_t shared_per_sm() const;
  uint32_t shared_per_block_optin() const;
  uint32_t shared_reserved() const;
};

// "b200" or "h200"; throws std::invalid_argument naming both for anything else.
const Machine& machine_named(std::string_view name);

}  // namespace emu::cuda
