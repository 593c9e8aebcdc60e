// Every limit that cuTensorMapEncodeTiled puts on its parameters (cuda.h of CUDA 13).
#include <fmt/format.h>

#include "units/tensor_map.h"

namespace emu::units {
namespace {

constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 40;
constexpr std::uint32_t kMaxBox = 256;
constexpr std::uint32_t kMaxElementStride = 8;
constexpr std::uint32_t kPackedAlign16Box = 128;
// A box may hold what an SM's shared memory holds: 233472 bytes are taken, 234496 refused (CUDA 13.0's
// driver).
constexpr std::uint64_t kMaxBoxBytes = 228 * 1024;

std::string check_kinds(const TensorMap& map) {
  if (map.type > TensorType::U6Align16)
    return fmt::format("data type {} is outside 0..15", static_cast<int>(map.type));
  if (map.interleave > TensorInterleave::B32) {
    return fmt::format("interleave {} is outside 0..2", static_cast<int>(map.interleave));
  }
  if (map.swizzle > TensorSwizzle::B128Atom64) {
    return fmt::format("swizzle {} is outside 0..6", static_cast<int>(map.swizzle));
  }
  if (map.l2_promotion > 3) return fmt::format("L2 promotion {} is outside 0..3", map.l2_promotion);
  if (map.fill > TensorFill::NaN)
    return fmt::format("out-of-bounds fill {} is outside 0..1", static_cast<int>(map.fill));
  if (map.rank < 1 || map.rank > kMaxTensorRank) return fmt::format("rank {} is outside 1..5", map.rank);
  if (map.interleave != TensorInterleave::None && map.rank < 3) {
    return fmt::format("rank {} is below 3, which an interleaved layout needs", map.rank);
  }
  // The driver does not ask it of im2col maps (CUDA 13.0).
  if (!map.im2col && map.interleave == TensorInterleave::B32 && map.swizzle != TensorSwizzle::B32) {
    return fmt::format("32-byte interleave needs SWIZZLE_32B, not {}", name_of(map.swizzle));
  }
  if (map.fill == TensorFill::NaN && !is_float(map.type)) {
    return fmt::format("NaN fill needs a floating-point type, not {}", name_of(map.type));
  }
  return {};
}

// Packed 4- and 6-bit types travel in 16-byte groups that only some swizzles keep whole.
std::string check_packed_swizzle(const TensorMap& map) {
  if (!is_padded(map.type)) return {};
  if (map.interleave != TensorInterleave::None)
    return fmt::format("{} cannot be interleaved", name_of(map.type));
  bool plain = map.swizzle == TensorSwizzle::None || map.swizzle == TensorSwizzle::B128 ||
               map.swizzle == TensorSwizzle::B128Atom32;
  bool store_only = map.type == TensorType::U6Align16 && map.swizzle == TensorSwizzle::B128Atom64;
  if (plain || store_only) return {};
  return fmt::format("{} does not take {}", name_of(map.type), name_of(map.swizzle));
}

std::string check_global(const TensorMap& map) {
  bool wide = map.interleave == TensorInterleave::B32 || is_padded(map.type);
  std::uint64_t alignment = wide ? 32 : 16;
  if (map.address % alignment != 0) {
    return fmt::format("global address 0x{:x} is not a multiple of {}", map.address, alignment);
  }
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    if (map.dims[i] < 1 || map.dims[i] > kMaxDim) {
      return fmt::format("globalDim[{}] = {} is outside 1..2^32", i, map.dims[i]);
    }
  }
  std::uint64_t group = is_padded(map.type) ? 128 : map.type == TensorType::U4Align8 ? 2 : 1;
  if (map.dims[0] % group != 0) {
    return fmt::format("globalDim[0] = {} is not a multiple of {}, which {} needs", map.dims[0], group,
                       name_of(map.type));
  }
  for (std::uint32_t i = 0; i + 1 < map.rank; ++i) {
    if (map.strides[i] % alignment != 0) {
      return fmt::format("globalStrides[{}] = {} is not a multiple of {}", i, map.strides[i], alignment);
    }
    if (map.strides[i] >= kMaxStride)
      return fmt::format("globalStrides[{}] = {} is not below 2^40", i, map.strides[i]);
  }
  return {};
}

std::string check_box(const TensorMap& map) {
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    if (map.box[i] < 1 || map.box[i] > kMaxBox)
      return fmt::format("boxDim[{}] = {} is outside 1..256", i, map.box[i]);
    // That of dimension 0 is checked too, though an uninterleaved copy ignores it (CUDA 13.0's driver).
    if (map.element_strides[i] < 1 || map.element_strides[i] > kMaxElementStride) {
      return fmt::format("elementStrides[{}] = {} is outside 1..8", i, map.element_strides[i]);
    }
  }
  if (is_padded(map.type) && map.box[0] != kPackedAlign16Box) {
    return fmt::format("boxDim[0] = {} is not 128, which {} needs", map.box[0], name_of(map.type));
  }
  const bool interleaved = map.interleave != TensorInterleave::None;
  if ((interleaved && !map.im2col) || is_padded(map.type)) return {};
  std::uint32_t inner_bits = map.box[0] * element_bits(map.type);
  std::uint32_t inner = inner_bits / 8;
  if (inner_bits % 128 != 0)
    return fmt::format("the inner box of {} bits is not a multiple of 16 bytes", inner_bits);
  if (interleaved) return {};
  std::uint32_t span = map.swizzle == TensorSwizzle::None  ? ~0u
                       : map.swizzle == TensorSwizzle::B32 ? 32
                       : map.swizzle == TensorSwizzle::B64 ? 64
                                                           : 128;
  if (inner > span) {
    return fmt::format("the inner box of {} bytes exceeds the {} of {}; load it as several boxes", inner,
                       span, name_of(map.swizzle));
  }
  return {};
}

std::string check_box_size(const TensorMap& map) {
  std::uint64_t bytes = std::uint64_t{map.box[0]} * (map.im2col ? map.pixels : 1) *
                        (is_padded(map.type) ? 8 : element_bits(map.type)) / 8;
  for (std::uint32_t i = 1; i < map.rank; ++i) {
    bytes *= (map.box[i] + map.element_strides[i] - 1) / map.element_strides[i];
  }
  if (bytes > kMaxBoxBytes) {
    return fmt::format("the box of {} bytes exceeds the {} of shared memory", bytes, kMaxBoxBytes);
  }
  return {};
}

}  // namespace

std::string check_im2col(const TensorMap& map) {
  constexpr std::uint32_t kMaxPixels = 1024;
  if (map.pixels < 1 || map.pixels > kMaxPixels)
    return fmt::format("pixelsPerColumn {} is outside 1..{}", map.pixels, kMaxPixels);
  for (std::uint32_t i = 0; i + 2 < map.rank; ++i) {
    const auto size = static_cast<std::int64_t>(map.dims[i + 1]);
    if (map.lower[i] >= size + map.upper[i]) {
      return fmt::format("the bounding box from {} to {} + {} is empty", map.lower[i], size, map.upper[i]);
    }
  }
  return check_tiled(map);
}

std::string check_tiled(const TensorMap& map) {
  for (auto* check : {check_kinds, check_packed_swizzle, check_global, check_box, check_box_size}) {
    if (std::string broken = check(map); !broken.empty()) return broken;
  }
  return {};
}

}  // namespace emu::units
