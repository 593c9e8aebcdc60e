// CUtensorMap: the checks of cuTensorMapEncodeTiled and a private 128-byte encoding.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace emu::units {

// Values as cuda.h numbers them.
enum class TensorType : std::uint8_t {
  U8 = 0,
  U16 = 1,
  U32 = 2,
  S32 = 3,
  U64 = 4,
  S64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9,
  F32Ftz = 10,
  TF32 = 11,
  TF32Ftz = 12,
  U4Align8 = 13,
  U4Align16 = 14,
  U6Align16 = 15
};
enum class TensorInterleave : std::uint8_t { None = 0, B16 = 1, B32 = 2 };
enum class TensorSwizzle : std::uint8_t {
  None = 0,
  B32 = 1,
  B64 = 2,
  B128 = 3,
  B128Atom32 = 4,
  B128Atom32Flip8 = 5,
  B128Atom64 = 6
};
enum class TensorFill : std::uint8_t { Zero = 0, NaN = 1 };

inline constexpr std::uint32_t kMaxTensorRank = 5;
inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr std::uint64_t kTensorMapAlignment = 64;  // of the map that a copy names; the copy's to check

struct TensorMap {
  TensorType type = TensorType::U8;
  TensorInterleave interleave = TensorInterleave::None;
  TensorSwizzle swizzle = TensorSwizzle::None;
  std::uint8_t l2_promotion = 0;
  TensorFill fill = TensorFill::Zero;
  std::uint32_t rank = 1;
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMaxTensorRank> dims{};         // elements, innermost first
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{};  // bytes, of dimensions 1..rank-1
  std::array<std::uint32_t, kMaxTensorRank> box{};          // elements
  std::array<std::uint32_t, kMaxTensorRank> element_strides{};
  bool edited = false;  // by tensormap.replace: to be checked when it is used
  // The im2col mode: box[0] is the channels of a pixel, and corners bound the pixels' places, innermost
  // first.
  bool im2col = false;
  std::array<std::int16_t, kMaxTensorRank - 2> lower{}, upper{};
  std::uint32_t pixels = 0;
};

// Bytes of one element; 0 for the packed 4- and 6-bit types.
std::uint32_t element_bytes(TensorType type);
// Bits of one element in global memory: 4 and 6 for the packed types.
std::uint32_t element_bits(TensorType type);
// Sixteen elements lie packed in global memory and at the start of 16 bytes of shared memory (16U4_ALIGN16B,
// 16U6_ALIGN16B).
bool is_padded(TensorType type);
bool is_packed(TensorType type);
bool is_float(TensorType type);
const char* name_of(TensorType type);
const char* name_of(TensorSwizzle swizzle);

// The first rule that a map breaks, in words, or an empty string.
std::string check_tiled(const TensorMap& map);
std::string check_im2col(const TensorMap& map);

// CUresult values.
inline constexpr int kCudaSuccess = 0;
inline constexpr int kCudaErrorInvalidValue = 1;
inline constexpr int kCudaErrorNotSupported = 801;

struct EncodeResult {
  int code = kCudaSuccess;
  std::string text;  // the first violated rule
};

// cuTensorMapEncodeTiled: the arguments in its order, enums as their integers. `out`: 128 bytes.
// As CUDA 13.0's driver, takes a null global address and any alignment of `out`.
EncodeResult encode_tiled(void* out, int data_type, std::uint32_t rank, void* global_address,
                          const std::uint64_t* global_dim, const std::uint64_t* global_strides,
                          const std::uint32_t* box_dim, const std::uint32_t* element_strides, int interleave,
                          int swizzle, int l2_promotion, int oob_fill);
// cuTensorMapEncodeIm2col, likewise.
EncodeResult encode_im2col(void* out, int data_type, std::uint32_t rank, void* global_address,
                           const std::uint64_t* global_dim, const std::uint64_t* global_strides,
                           const int* lower, const int* upper, std::uint32_t channels, std::uint32_t pixels,
                           const std::uint32_t* element_strides, int interleave, int swizzle,
                           int l2_promotion, int oob_fill);
// cuTensorMapReplaceAddress.
EncodeResult replace_address(void* map, void* global_address);

// A field of tensormap.replace.
enum class TensorMapField : std::uint8_t {
  Address,
  Rank,
  Box,
  Dim,
  Stride,
  ElementStride,
  Type,
  Interleave,
  Swizzle,
  SwizzleAtom,
  Fill
};
// Edits an encoded map; says what is wrong, or nothing. The whole map is not checked: its edits may come one
// by one.
std::string replace_field(void* encoded, TensorMapField field, std::uint32_t ordinal, std::uint64_t value);

// Writes a map without checking it (tensormap.replace edits field by field).
void encode(const TensorMap& map, void* out);
// The map encoded in 128 bytes, or nullopt if these bytes were not written by encode(): uninitialised,
// damaged, or a map some other encoder made.
std::optional<TensorMap> decode(const void* encoded);

}  // namespace emu::units
