// libFuzzer entry: reading any bytes as a container must end in entries or in FatBinaryError, nothing else.
#include <cstddef>
#include <cstdint>

#include "cuda/fat_binary.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emu::cuda;
  try {
    const std::vector<FatEntry> entries = read_container(std::as_bytes(std::span(data, size)));
    for (const Architecture machine : {90u, 100u}) select_ptx(entries, machine);
    for (const FatEntry& entry : entries) {
      try {
        extract_ptx(entry);
      } catch (const FatBinaryError&) {
      }
    }
  } catch (const FatBinaryError&) {
  }
  return 0;
}
