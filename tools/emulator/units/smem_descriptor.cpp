#include "units/smem_descriptor.h"

#include <fmt/format.h>

namespace emu::units {
namespace {

std::uint32_t field(std::uint64_t bits, int first, int width) {
  return static_cast<std::uint32_t>((bits >> first) & ((std::uint64_t{1} << width) - 1));
}

void require_zero(std::vector<std::string>& illegal, std::uint64_t bits, int first, int width) {
  if (std::uint32_t value = field(bits, first, width)) {
    illegal.push_back(fmt::format("matrix descriptor {:#018x}: reserved bits {}-{} hold {:#x}, must be 0",
                                  bits, first, first + width - 1, value));
  }
}

/// Start, LBO and SBO lie at the same bits in both generations, in units of 16 bytes.
SmemDescriptor decode_offsets(std::uint64_t bits) {
  SmemDescriptor d;
  d.bits = bits;
  d.start = field(bits, 0, 14) << 4;
  d.leading_bytes = field(bits, 16, 14) << 4;
  d.stride_bytes = field(bits, 32, 14) << 4;
  return d;
}

void check_base_offset(std::vector<std::string>& illegal, std::uint64_t bits) {
  if (std::uint32_t base_offset = field(bits, 49, 3)) {
    illegal.push_back(
        fmt::format("matrix descriptor {:#018x}: base offset {} is not supported, only 0 is; align the tile "
                    "to the swizzle's repeat (1024, 512 or 256 bytes)",
                    bits, base_offset));
  }
}

}  // namespace

DecodedDescriptor decode_smem_descriptor(std::uint64_t bits) {
  DecodedDescriptor result;
  auto& [d, illegal] = result;
  d = decode_offsets(bits);
  require_zero(illegal, bits, 14, 2);
  require_zero(illegal, bits, 30, 2);
  require_zero(illegal, bits, 53, 8);
  if (std::uint32_t version = field(bits, 46, 3); version != 1) {
    illegal.push_back(
        fmt::format("matrix descriptor {:#018x}: bits 46-48 hold {:#b}, tcgen05 wants 0b1 (a wgmma "
                    "descriptor has bit 46 clear)",
                    bits, version));
  }
  check_base_offset(illegal, bits);
  if (field(bits, 52, 1)) {
    illegal.push_back(fmt::format(
        "matrix descriptor {:#018x}: bit 52, the absolute leading-dimension address, exists on sm_103a only",
        bits));
  }
  switch (std::uint32_t code = field(bits, 61, 3)) {
    case 0:
      d.swizzle = Swizzle::None;
      break;
    case 1:
      d.swizzle = Swizzle::B128Atom32;
      break;
    case 2:
      d.swizzle = Swizzle::B128;
      break;
    case 4:
      d.swizzle = Swizzle::B64;
      break;
    case 6:
      d.swizzle = Swizzle::B32;
      break;
    default:
      illegal.push_back(
          fmt::format("matrix descriptor {:#018x}: swizzle mode {} (bits 61-63) does not exist; use 0 none, "
                      "1 128B with 32-byte atoms, 2 128B, 4 64B, 6 32B",
                      bits, code));
  }
  return result;
}

DecodedDescriptor decode_wgmma_descriptor(std::uint64_t bits) {
  DecodedDescriptor result;
  auto& [d, illegal] = result;
  d = decode_offsets(bits);
  require_zero(illegal, bits, 14, 2);
  require_zero(illegal, bits, 30, 2);
  require_zero(illegal, bits, 46, 3);
  require_zero(illegal, bits, 52, 10);
  check_base_offset(illegal, bits);
  constexpr Swizzle kModes[] = {Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32};
  d.swizzle = kModes[field(bits, 62, 2)];
  return result;
}

std::string layout_problem(Major major, Swizzle swizzle, int element_bits) {
  if (major == Major::K) {
    return {};
  }
  if (element_bits < 8) {
    return fmt::format("{}-bit elements must be K-major", element_bits);
  }
  if (element_bits == 32 && swizzle != Swizzle::B128Atom32) {
    return "32-bit MN-major operands need the 128B swizzle with 32-byte atoms (swizzle mode 1)";
  }
  if (element_bits != 32 && swizzle == Swizzle::B128Atom32) {
    return fmt::format(
        "the 128B swizzle with 32-byte atoms (swizzle mode 1) is for 32-bit MN-major operands, not {}-bit "
        "ones",
        element_bits);
  }
  return {};
}

}  // namespace emu::units
