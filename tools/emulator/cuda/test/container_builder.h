#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Writes fat binaries as nvcc does, for tests of the reader: header fields at the offsets seen in files of
// nvcc 13.0.
namespace emu::cuda::test {

enum class Packing { kRaw, kLz4, kZstd, kZstdBest };

struct EntrySpec {
  uint16_t kind = 1;  // 1 PTX, 2 machine code
  uint32_t architecture = 100;
  char letter = 0;
  std::string text;
  Packing packing = Packing::kRaw;
  uint32_t extension = 0;  // bytes between the 64-byte header and the data
};

std::vector<std::byte> build_container(const std::vector<EntrySpec>& entries);

// What __cudaRegisterFatBinary is given.
struct Wrapper {
  uint32_t magic = 0x466243B1;
  uint32_t version = 1;
  const void* container = nullptr;
  const void* prelinked = nullptr;
};

// Ready to register: owns the container behind the wrapper.
struct FatBinary {
  explicit FatBinary(const std::vector<EntrySpec>& entries) : container(build_container(entries)) {
    wrapper.container = container.data();
  }
  std::vector<std::byte> container;
  Wrapper wrapper;
};

}  // namespace emu::cuda::test
