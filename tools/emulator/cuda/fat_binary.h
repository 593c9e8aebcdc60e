#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

// Reader for the containers in which nvcc stores device code. The layout is not documented by NVIDIA; the
// field meanings were established on files made by nvcc 13.0 in all its compression modes. All integers are
// little-endian.
namespace emu::cuda {

// A container that cannot be read, or that holds no usable PTX. what() says which and what to do about it.
class FatBinaryError : public std::runtime_error {
 public:
  enum class Kind { kCorrupt, kNoPtx };
  FatBinaryError(Kind kind, const std::string& message) : std::runtime_error(message), kind(kind) {}
  Kind kind;
};

enum class Compression { kNone, kLz4, kZstd };

// One image of a container: PTX text or machine code for one architecture.
struct FatEntry {
  static constexpr uint16_t kPtx = 1, kElf = 2;
  uint16_t kind = 0;
  uint32_t architecture = 0;      // 100 for compute_100
  char letter = 0;                // 'a' (this chip), 'f' (this family) or 0
  uint16_t major = 0, minor = 0;  // of the PTX ISA, or of the ELF layout
  Compression compression = Compression::kNone;
  std::span<const std::byte> stored;
  uint64_t uncompressed_size = 0;  // includes the NUL of a text; 0 when not compressed
  std::string describe() const;    // "compute_100a PTX", "sm_90 machine code"
};

// No PTX text of this size exists; a file that claims more is corrupt.
constexpr uint64_t kMaxPtxBytes = uint64_t{512} << 20;

// Compute capability of the machine that is emulated: 100 or 90.
using Architecture = uint32_t;

// Entries of one container. Reads nothing outside `container`. Throws FatBinaryError(kCorrupt).
std::vector<FatEntry> read_container(std::span<const std::byte> container);

// Decompressed text without its trailing NULs. Memory used stays proportional to what really decompresses.
std::string extract_ptx(const FatEntry& entry);

// The entry that runs best on the machine: its 'a' target, then its 'f' target, then plain, then the nearest
// lower plain architecture (PTX ISA 11.1.2: letters promise no forward compatibility). Null if there is none.
const FatEntry* select_ptx(std::span<const FatEntry> entries, Architecture machine);

// Size in bytes of the container at `data`, from its header. Throws FatBinaryError(kCorrupt) for a wrong
// magic number.
uint64_t container_size(const void* data);

// True if `data` (at least 4 readable bytes) begins a wrapper or a container.
bool is_fat_binary(const void* data);

// PTX texts behind a wrapper (what __cudaRegisterFatBinary is given) or a bare container in the memory of
// this process. One text, except for separately compiled programs (wrapper version 2): one for every source
// file. Throws FatBinaryError(kNoPtx) with the way out when only machine code is present.
std::vector<std::string> ptx_of_image(const void* image, Architecture machine);

}  // namespace emu::cuda
