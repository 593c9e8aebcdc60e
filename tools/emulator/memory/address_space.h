// The 64-bit generic address space: where the windows lie and what an address names.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace emu::memory {

enum class Space : std::uint8_t { Global, Shared, Local, Invalid };

// Global, constant and parameter memory are host addresses, which a user process has below 1 << 47; the other
// windows lie above, so that one compare tells them apart.
inline constexpr std::uint64_t kHostAddressEnd = std::uint64_t{1} << 47;
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 48;
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;

// 32-bit shared addresses carry the CTA's cluster rank in bits 24 and up, and a CTA's first usable byte lies
// behind 1 KB that the system keeps (both measured on an H200: ranks 0 and 1 start at 0x00000400 and
// 0x01000400).
inline constexpr std::uint32_t kCtaRankShift = 24;
inline constexpr std::uint32_t kSharedOffsetMask = (1u << kCtaRankShift) - 1;
inline constexpr std::uint32_t kSharedReservedBytes = 0x400;
// The last part of the reserved kilobyte is lent to cooperative_groups, which expects 288 bytes at
// %reserved_smem_offset_1 for groups of several warps.
inline constexpr std::uint32_t kSharedScratchBegin = kSharedReservedBytes - 288;

// A generic address taken apart. `offset` is the host address (Global), the 32-bit shared address with its
// rank (Shared) or the byte offset within the thread's local memory (Local).
struct Located {
  Space space = Space::Invalid;
  std::uint64_t offset = 0;
};

inline Located classify(std::uint64_t generic) {
  if (generic < kHostAddressEnd) return {Space::Global, generic};
  if (generic - kSharedWindow < kWindowBytes) return {Space::Shared, generic - kSharedWindow};
  if (generic - kLocalWindow < kWindowBytes) return {Space::Local, generic - kLocalWindow};
  return {Space::Invalid, generic};
}

// cvta: space -> generic. `shared` is the 32-bit address with its CTA rank.
inline std::uint64_t shared_to_generic(std::uint32_t shared) { return kSharedWindow + shared; }
inline std::uint64_t local_to_generic(std::uint32_t local) { return kLocalWindow + local; }

inline std::uint32_t shared_address(std::uint32_t cta_rank, std::uint32_t cta_offset) {
  return (cta_rank << kCtaRankShift) | cta_offset;
}
inline std::uint32_t cta_rank_of(std::uint32_t shared) { return shared >> kCtaRankShift; }
// CTA-relative address: what SharedMemory indexes by; the first usable byte is kSharedReservedBytes.
inline std::uint32_t cta_offset_of(std::uint32_t shared) { return shared & kSharedOffsetMask; }

inline bool is_aligned(std::uint64_t address, std::uint64_t alignment) {
  return (address & (alignment - 1)) == 0;
}

// "shared 0x400 of CTA rank 1", "local 0x10", "global 0x7f..", "address 0x... outside every window".
std::string describe_address(std::uint64_t generic);

}  // namespace emu::memory
