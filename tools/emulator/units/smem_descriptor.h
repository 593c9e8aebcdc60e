// Shared-memory matrix descriptors: what the 64 bits say, what is wrong with them, and where each operand
// element lies. PTX ISA 9.7.16.4.1 (tcgen05), 9.7.15.5 (wgmma), 9.7.16.3 (canonical layouts).
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace emu::units {

enum class Swizzle : std::uint8_t {
  None,
  B32,
  B64,
  B128,
  B128Atom32,  ///< 128-byte swizzle that moves 32-byte atoms
};

enum class Major : std::uint8_t {
  K,   ///< the contraction index is contiguous
  MN,  ///< the other index is contiguous ("transposed")
};

/// All lengths and addresses in bytes.
struct SmemDescriptor {
  std::uint64_t bits = 0;
  std::uint32_t start = 0;          ///< the 18 low bits of a shared address
  std::uint32_t leading_bytes = 0;  ///< LBO
  std::uint32_t stride_bytes = 0;   ///< SBO
  Swizzle swizzle = Swizzle::None;
};

struct DecodedDescriptor {
  SmemDescriptor descriptor;
  std::vector<std::string> illegal;  ///< empty when the descriptor may be used; one sentence for each fault
};

DecodedDescriptor decode_smem_descriptor(std::uint64_t bits);
DecodedDescriptor decode_wgmma_descriptor(std::uint64_t bits);

/// Whether an operand of `element_bits` wide elements (4, 6, 8, 16, 32) may have this major-ness and swizzle
/// (PTX ISA 9.7.16.10.1). Returns the reason why not, or an empty string.
std::string layout_problem(Major major, Swizzle swizzle, int element_bits);

/// The XOR on address bits that a swizzle mode applies. It acts on the absolute shared address and undoes
/// itself.
inline std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None:
      return address;
    case Swizzle::B32:
      return address ^ ((address >> 3) & 0x10);
    case Swizzle::B64:
      return address ^ ((address >> 3) & 0x30);
    case Swizzle::B128:
      return address ^ ((address >> 3) & 0x70);
    case Swizzle::B128Atom32:
      return address ^ ((address >> 2) & 0x60);
  }
  return address;
}

/// Rows of bytes that a swizzled layout repeats along its contiguous index: 32, 64 or 128.
inline std::uint32_t span_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None:
      return 16;
    case Swizzle::B32:
      return 32;
    case Swizzle::B64:
      return 64;
    case Swizzle::B128:
    case Swizzle::B128Atom32:
      return 128;
  }
  return 0;
}

/// Byte offset from the descriptor's start of element (mn, k), before the swizzle. `element_bytes` is 1, 2
/// or 4.
inline std::uint32_t operand_offset(const SmemDescriptor& d, Major major, int element_bytes, int mn_index,
                                    int k_index) {
  const auto es = static_cast<std::uint32_t>(element_bytes);
  const auto mn = static_cast<std::uint32_t>(mn_index);
  const auto k = static_cast<std::uint32_t>(k_index);
  const std::uint32_t span = span_bytes(d.swizzle);
  // Elements of one span, a power of two: shifts, since a multiply asks for thousands of addresses.
  const int across_log2 = std::countr_zero(span / es);
  const std::uint32_t within = (1u << across_log2) - 1;
  if (major == Major::K) {
    const std::uint32_t row = (mn % 8) * span + (mn / 8) * d.stride_bytes;
    // Without swizzle LBO strides the 16-byte columns; with it a row holds all of K and LBO is ignored.
    if (d.swizzle == Swizzle::None) {
      return row + (k >> across_log2) * d.leading_bytes + (k & within) * es;
    }
    return row + k * es;
  }
  if (d.swizzle == Swizzle::None) {
    return (mn & within) * es + (mn >> across_log2) * d.stride_bytes + (k % 8) * 16 +
           (k / 8) * d.leading_bytes;
  }
  // The two offsets swap roles: LBO strides mn, SBO strides k. Measured on an H200 for 16-bit types.
  const int rows_log2 = d.swizzle == Swizzle::B128Atom32 ? 2 : 3;
  const std::uint32_t row = k & ((1u << rows_log2) - 1);
  return (mn & within) * es + (mn >> across_log2) * d.leading_bytes + row * span +
         (k >> rows_log2) * d.stride_bytes;
}

/// Shared address (18 bits) of element (mn, k), swizzle applied.
inline std::uint32_t operand_address(const SmemDescriptor& d, Major major, int element_bytes, int mn, int k) {
  return swizzled(d.start + operand_offset(d, major, element_bytes, mn, k), d.swizzle);
}

}  // namespace emu::units
