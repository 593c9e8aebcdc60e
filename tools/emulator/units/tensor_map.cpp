#include "units/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace emu::units {
namespace {

constexpr std::uint32_t kMagic = 0x50414D54;

// The private form. A dimension of 2^32 is stored as 0: dimensions are at least 1. No padding, so that the
// checksum covers every byte but those of the second word: there the driver keeps hints, of which CUTLASS 4.5
// clears one (bit 21) in the maps of tensors below 128 KB.
struct Encoded {
  std::uint32_t magic;
  std::uint32_t checksum;
  std::uint64_t hints;
  std::uint64_t address;
  std::uint64_t strides[4];
  std::uint32_t dims[5];
  std::uint16_t box[5];
  std::uint8_t element_strides[5];
  std::uint8_t rank, type, interleave, swizzle, l2_promotion, fill;
  std::uint8_t edited, im2col;
  std::uint8_t unused;
  std::uint16_t pixels;
  std::int16_t lower[3], upper[3];
  std::uint8_t rest[14];
};
static_assert(sizeof(Encoded) == kTensorMapBytes && std::has_unique_object_representations_v<Encoded>);

std::uint32_t checksum_of(const Encoded& encoded) {
  Encoded copy = encoded;
  copy.checksum = 0;
  copy.hints = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&copy);
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (std::size_t i = 0; i < sizeof(copy); ++i) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

EncodeResult invalid(std::string text, const char* function = "cuTensorMapEncodeTiled") {
  return {kCudaErrorInvalidValue, function + (": " + std::move(text))};
}

}  // namespace

std::uint32_t element_bytes(TensorType type) {
  switch (type) {
    case TensorType::U8:
      return 1;
    case TensorType::U16:
    case TensorType::F16:
    case TensorType::BF16:
      return 2;
    case TensorType::U64:
    case TensorType::S64:
    case TensorType::F64:
      return 8;
    case TensorType::U4Align8:
    case TensorType::U4Align16:
    case TensorType::U6Align16:
      return 0;
    default:
      return 4;
  }
}

std::uint32_t element_bits(TensorType type) {
  switch (type) {
    case TensorType::U4Align8:
    case TensorType::U4Align16:
      return 4;
    case TensorType::U6Align16:
      return 6;
    default:
      return 8 * element_bytes(type);
  }
}

bool is_padded(TensorType type) { return type == TensorType::U4Align16 || type == TensorType::U6Align16; }

bool is_packed(TensorType type) { return type >= TensorType::U4Align8; }

bool is_float(TensorType type) { return type >= TensorType::F16 && type <= TensorType::TF32Ftz; }

const char* name_of(TensorType type) {
  static constexpr const char* kNames[] = {"UINT8",        "UINT16",       "UINT32",        "INT32",
                                           "UINT64",       "INT64",        "FLOAT16",       "FLOAT32",
                                           "FLOAT64",      "BFLOAT16",     "FLOAT32_FTZ",   "TFLOAT32",
                                           "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"};
  return type <= TensorType::U6Align16 ? kNames[static_cast<std::size_t>(type)] : "an unknown type";
}

const char* name_of(TensorSwizzle swizzle) {
  static constexpr const char* kNames[] = {"SWIZZLE_NONE",          "SWIZZLE_32B",
                                           "SWIZZLE_64B",           "SWIZZLE_128B",
                                           "SWIZZLE_128B_ATOM_32B", "SWIZZLE_128B_ATOM_32B_FLIP_8B",
                                           "SWIZZLE_128B_ATOM_64B"};
  return swizzle <= TensorSwizzle::B128Atom64 ? kNames[static_cast<std::size_t>(swizzle)]
                                              : "an unknown swizzle";
}

EncodeResult encode_tiled(void* out, int data_type, std::uint32_t rank, void* global_address,
                          const std::uint64_t* global_dim, const std::uint64_t* global_strides,
                          const std::uint32_t* box_dim, const std::uint32_t* element_strides, int interleave,
                          int swizzle, int l2_promotion, int oob_fill) {
  if (out == nullptr) return invalid("the tensor map pointer is null");
  if (global_dim == nullptr || box_dim == nullptr || element_strides == nullptr) {
    return invalid("globalDim, boxDim or elementStrides is null");
  }
  if (rank < 1 || rank > kMaxTensorRank) return invalid("rank " + std::to_string(rank) + " is outside 1..5");
  if (rank > 1 && global_strides == nullptr) return invalid("globalStrides is null");
  for (int value : {data_type, interleave, swizzle, l2_promotion, oob_fill}) {
    if (value < 0 || value > 0xFF) return invalid("enumerator " + std::to_string(value) + " does not exist");
  }
  TensorMap map;
  map.type = static_cast<TensorType>(data_type);
  map.interleave = static_cast<TensorInterleave>(interleave);
  map.swizzle = static_cast<TensorSwizzle>(swizzle);
  map.l2_promotion = static_cast<std::uint8_t>(l2_promotion);
  map.fill = static_cast<TensorFill>(oob_fill);
  map.rank = rank;
  map.address = reinterpret_cast<std::uint64_t>(global_address);
  std::copy_n(global_dim, rank, map.dims.begin());
  if (rank > 1) std::copy_n(global_strides, rank - 1, map.strides.begin());
  std::copy_n(box_dim, rank, map.box.begin());
  std::copy_n(element_strides, rank, map.element_strides.begin());
  if (std::string broken = check_tiled(map); !broken.empty()) return invalid(std::move(broken));
  encode(map, out);
  return {};
}

EncodeResult encode_im2col(void* out, int data_type, std::uint32_t rank, void* global_address,
                           const std::uint64_t* global_dim, const std::uint64_t* global_strides,
                           const int* lower, const int* upper, std::uint32_t channels, std::uint32_t pixels,
                           const std::uint32_t* element_strides, int interleave, int swizzle,
                           int l2_promotion, int oob_fill) {
  constexpr const char* kFunction = "cuTensorMapEncodeIm2col";
  if (rank < 3 || rank > kMaxTensorRank)
    return invalid("rank " + std::to_string(rank) + " is outside 3..5", kFunction);
  if (!out || !global_dim || !global_strides || !lower || !upper || !element_strides)
    return invalid("a pointer is null", kFunction);
  for (int value : {data_type, interleave, swizzle, l2_promotion, oob_fill}) {
    if (value < 0 || value > 0xFF)
      return invalid("enumerator " + std::to_string(value) + " does not exist", kFunction);
  }
  TensorMap map;
  map.type = static_cast<TensorType>(data_type);
  map.interleave = static_cast<TensorInterleave>(interleave);
  map.swizzle = static_cast<TensorSwizzle>(swizzle);
  map.l2_promotion = static_cast<std::uint8_t>(l2_promotion);
  map.fill = static_cast<TensorFill>(oob_fill);
  map.rank = rank;
  map.address = reinterpret_cast<std::uint64_t>(global_address);
  std::copy_n(global_dim, rank, map.dims.begin());
  std::copy_n(global_strides, rank - 1, map.strides.begin());
  std::copy_n(element_strides, rank, map.element_strides.begin());
  map.im2col = true;
  map.box.fill(1);
  map.box[0] = channels;
  map.pixels = pixels;
  // Corners have as many bits as their number leaves: 16, 8 or 5.
  const int limit = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
  for (std::uint32_t i = 0; i + 2 < rank; ++i) {
    for (int corner : {lower[i], upper[i]}) {
      if (corner < -limit || corner >= limit)
        return invalid("corner " + std::to_string(corner) + " is outside " + std::to_string(-limit) + ".." +
                           std::to_string(limit - 1),
                       kFunction);
    }
    map.lower[i] = static_cast<std::int16_t>(lower[i]), map.upper[i] = static_cast<std::int16_t>(upper[i]);
  }
  if (std::string broken = check_im2col(map); !broken.empty()) return invalid(std::move(broken), kFunction);
  encode(map, out);
  return {};
}

EncodeResult replace_address(void* encoded, void* global_address) {
  std::optional<TensorMap> map = encoded ? decode(encoded) : std::nullopt;
  if (!map) return {kCudaErrorInvalidValue, "cuTensorMapReplaceAddress: not a tensor map"};
  map->address = reinterpret_cast<std::uint64_t>(global_address);
  std::string broken = map->im2col ? check_im2col(*map) : check_tiled(*map);
  if (!broken.empty()) return {kCudaErrorInvalidValue, "cuTensorMapReplaceAddress: " + broken};
  encode(*map, encoded);
  return {};
}

void encode(const TensorMap& map, void* out) {
  Encoded encoded{};
  encoded.magic = kMagic;
  encoded.address = map.address;
  std::copy(map.strides.begin(), map.strides.end(), encoded.strides);
  for (std::size_t i = 0; i < kMaxTensorRank; ++i) {
    encoded.dims[i] = static_cast<std::uint32_t>(map.dims[i]);
    encoded.box[i] = static_cast<std::uint16_t>(map.box[i]);

    encoded.element_strides[i] = static_cast<std::uint8_t>(map.element_strides[i]);
  }
  encoded.rank = static_cast<std::uint8_t>(map.rank);
  encoded.type = static_cast<std::uint8_t>(map.type);
  encoded.interleave = static_cast<std::uint8_t>(map.interleave);
  encoded.swizzle = static_cast<std::uint8_t>(map.swizzle);
  encoded.l2_promotion = map.l2_promotion;
  encoded.fill = static_cast<std::uint8_t>(map.fill);
  encoded.edited = map.edited;
  encoded.im2col = map.im2col;
  encoded.pixels = static_cast<std::uint16_t>(map.pixels);
  std::copy(map.lower.begin(), map.lower.end(), encoded.lower);
  std::copy(map.upper.begin(), map.upper.end(), encoded.upper);
  encoded.checksum = checksum_of(encoded);
  std::memcpy(out, &encoded, sizeof(encoded));
}

std::optional<TensorMap> decode(const void* from) {
  Encoded encoded;
  std::memcpy(&encoded, from, sizeof(encoded));
  if (encoded.magic != kMagic || encoded.checksum != checksum_of(encoded)) return std::nullopt;
  TensorMap map;
  map.type = static_cast<TensorType>(encoded.type);
  map.interleave = static_cast<TensorInterleave>(encoded.interleave);
  map.swizzle = static_cast<TensorSwizzle>(encoded.swizzle);
  map.l2_promotion = encoded.l2_promotion;
  map.fill = static_cast<TensorFill>(encoded.fill);
  map.rank = encoded.rank;
  map.address = encoded.address;
  map.edited = encoded.edited != 0;
  map.im2col = encoded.im2col != 0;
  map.pixels = encoded.pixels;
  std::copy_n(encoded.lower, map.lower.size(), map.lower.begin());
  std::copy_n(encoded.upper, map.upper.size(), map.upper.begin());
  for (std::size_t i = 0; i < kMaxTensorRank; ++i) {
    if (i + 1 < kMaxTensorRank) map.strides[i] = encoded.strides[i];
    bool used = i < map.rank;
    map.dims[i] = used && encoded.dims[i] == 0 ? std::uint64_t{1} << 32 : encoded.dims[i];
    map.box[i] = encoded.box[i];
    map.element_strides[i] = encoded.element_strides[i];
  }
  return map;
}

}  // namespace emu::units
