// tensormap.replace on an encoded map (PTX ISA 9.7.9.28; values as an H200 takes them).
#include <fmt/format.h>

#include <algorithm>

#include "units/tensor_map.h"

namespace emu::units {
namespace {

// .elemtype numbers the types in another order than cuda.h.
constexpr TensorType kTypes[] = {
    TensorType::U8,      TensorType::U16,      TensorType::U32,       TensorType::S32,
    TensorType::U64,     TensorType::S64,      TensorType::F16,       TensorType::F32,
    TensorType::F32Ftz,  TensorType::F64,      TensorType::BF16,      TensorType::TF32,
    TensorType::TF32Ftz, TensorType::U4Align8, TensorType::U4Align16, TensorType::U6Align16};
constexpr TensorSwizzle kModes[] = {TensorSwizzle::None, TensorSwizzle::B32, TensorSwizzle::B64,
                                    TensorSwizzle::B128};
constexpr TensorSwizzle kAtoms[] = {TensorSwizzle::B128, TensorSwizzle::B128Atom32,
                                    TensorSwizzle::B128Atom32Flip8, TensorSwizzle::B128Atom64};

std::string set_field(TensorMap& map, TensorMapField field, std::uint32_t ordinal, std::uint64_t value) {
  const auto limited = [&](std::uint64_t limit) {
    return value < limit ? std::string() : fmt::format("value {} is not below {}", value, limit);
  };
  std::string broken;
  switch (field) {
    case TensorMapField::Address:
      map.address = value;
      break;
    case TensorMapField::Rank:  // counted from 0
      if (broken = limited(kMaxTensorRank); !broken.empty()) break;
      map.rank = static_cast<std::uint32_t>(value) + 1;
      // A dimension that was not used has element stride 1.
      for (std::uint32_t i = 0; i < map.rank; ++i)
        map.element_strides[i] = std::max(map.element_strides[i], 1u);
      break;
    case TensorMapField::Box:
      map.box[ordinal] = static_cast<std::uint32_t>(value);
      break;
    case TensorMapField::Dim:
      map.dims[ordinal] = value == 0 ? std::uint64_t{1} << 32 : value;
      break;
    case TensorMapField::Stride:
      if (ordinal + 1 >= kMaxTensorRank) return fmt::format("stride {} is above 3", ordinal);
      map.strides[ordinal] = value;
      break;
    case TensorMapField::ElementStride:
      map.element_strides[ordinal] = static_cast<std::uint32_t>(value);
      break;
    case TensorMapField::Type:
      if (broken = limited(std::size(kTypes)); broken.empty()) map.type = kTypes[value];
      break;
    case TensorMapField::Interleave:
      if (broken = limited(3); broken.empty()) map.interleave = static_cast<TensorInterleave>(value);
      break;
    case TensorMapField::Swizzle:
      if (broken = limited(std::size(kModes)); broken.empty()) map.swizzle = kModes[value];
      break;
    case TensorMapField::SwizzleAtom:
      if (broken = limited(std::size(kAtoms)); !broken.empty()) break;
      if (map.swizzle < TensorSwizzle::B128)
        return value == 0
                   ? ""
                   : "an atom of more than 16 bytes needs the 128-byte swizzle, which must be set before";
      map.swizzle = kAtoms[value];
      break;
    case TensorMapField::Fill:
      if (broken = limited(2); broken.empty()) map.fill = static_cast<TensorFill>(value);
      break;
  }
  return broken;
}

}  // namespace

std::string replace_field(void* encoded, TensorMapField field, std::uint32_t ordinal, std::uint64_t value) {
  std::optional<TensorMap> map = decode(encoded);
  if (!map) return "these 128 bytes are no tensor map that cuTensorMapEncodeTiled made";
  if (std::string broken = set_field(*map, field, ordinal, value); !broken.empty()) return broken;
  map->edited = true;
  encode(*map, encoded);
  return {};
}

}  // namespace emu::units
