// Shared-memory matrix descriptors: what the 64 bits say, what is wrong with them, and where each operand
// element lies. PTX ISA 9.7.16.4.1 (tcgen05), 9.7.15.5 (wgmma), 9.7.16.3 (canonical layouts).
#pragma once

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
std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle);

/// Byte offset from the descriptor's start of element (mn, k), before the swizzle. `element_bytes` is 1, 2
/// or 4.
std::uint32_t operand_offset(const SmemDescriptor& descriptor, Major major, int element_bytes, int mn, int k);

/// Shared address (18 bits) of element (mn, k), swizzle applied.
std::uint32_t operand_address(const SmemDescriptor& descriptor, Major major, int element_bytes, int mn,
                              int k);

}  // namespace emu::units
