#include "units/tmem_copy.h"

#include <fmt/format.h>

#include <cstring>

namespace emu::units {

namespace {

// Calls visit(lane) for each lane that receives row `row`.
template <typename Visit>
void for_each_lane(TmemCopyShape shape, int row, int base, Visit visit) {
  switch (shape) {
    case TmemCopyShape::Rows128x256b:
    case TmemCopyShape::Rows128x128b:
      visit(row);
      break;
    case TmemCopyShape::Rows4x256b:
      visit(base + 32 * row);
      break;
    case TmemCopyShape::Rows64x128b_02_13:
      visit(row);
      visit(row + 64);
      break;
    case TmemCopyShape::Rows64x128b_01_23:
      visit(row % 32 + row / 32 * 64);
      visit(row % 32 + row / 32 * 64 + 32);
      break;
    case TmemCopyShape::Rows32x128b:
      for (int warp = 0; warp < 4; ++warp) visit(row + 32 * warp);
      break;
  }
}

// 16 elements get the bytes that an MMA expects of an operand in tensor memory: 6 bits at the low end, 4 bits
// in bits 5 to 2 (PTX ISA 9.7.16.9.1, 9.7.16.10.4.3).
void decompress(TmemCopyFormat format, const std::byte* from, std::byte* to) {
  const int bits = format == TmemCopyFormat::B6 ? 6 : 4;
  for (int i = 0; i < 16; ++i) {
    std::uint16_t pair;
    std::memcpy(&pair, from + i * bits / 8, 2);
    const int code = pair >> i * bits % 8 & ((1 << bits) - 1);
    to[i] = static_cast<std::byte>(bits == 4 ? code << 2 : code);
  }
}

}  // namespace

int tmem_copy_rows(TmemCopyShape shape) {
  switch (shape) {
    case TmemCopyShape::Rows128x256b:
    case TmemCopyShape::Rows128x128b:
      return 128;
    case TmemCopyShape::Rows4x256b:
      return 4;
    case TmemCopyShape::Rows64x128b_02_13:
    case TmemCopyShape::Rows64x128b_01_23:
      return 64;
    case TmemCopyShape::Rows32x128b:
      return 32;
  }
  return 0;
}

int tmem_copy_columns(TmemCopyShape shape) {
  return shape == TmemCopyShape::Rows128x256b || shape == TmemCopyShape::Rows4x256b ? 8 : 4;
}

std::string tmem_copy_problem(const TmemCopy& copy) {
  const DecodedDescriptor source = decode_smem_descriptor(copy.descriptor);
  if (!source.illegal.empty()) return source.illegal.front();
  const TmemAddress to = decode_tmem_address(copy.address);
  const int last_lane = copy.shape == TmemCopyShape::Rows4x256b ? 31 : 0;
  if (to.lane > last_lane) {
    return fmt::format("the destination begins at lane {}; this shape begins at lane 0{}", to.lane,
                       last_lane ? " to 31" : "");
  }
  if (to.column + tmem_copy_columns(copy.shape) > kTmemColumns) {
    return fmt::format("columns {} to {} are past the last, 511", to.column,
                       to.column + tmem_copy_columns(copy.shape) - 1);
  }
  return {};
}

std::vector<std::uint32_t> gather_tmem_copy(const TmemCopy& copy, const SharedView& shared) {
  const SmemDescriptor source = decode_smem_descriptor(copy.descriptor).descriptor;
  const int rows = tmem_copy_rows(copy.shape);
  const int columns = tmem_copy_columns(copy.shape);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; column += 4) {  // chunks of 16 bytes stay together under a swizzle
      const std::uint32_t at = operand_address(source, Major::K, 1, row, column * 4);
      if (at < shared.base || at - shared.base + 16 > shared.size) {
        throw TensorError(fmt::format("row {} lies at shared address 0x{:x}, outside [0x{:x}, 0x{:x})", row,
                                      at, shared.base, shared.base + shared.size));
      }
      const std::byte* from = shared.bytes + (at - shared.base);
      std::uint32_t* to = &words[static_cast<std::size_t>(row * columns + column)];
      if (copy.format == TmemCopyFormat::Plain) {
        std::memcpy(to, from, 16);
      } else {
        decompress(copy.format, from, reinterpret_cast<std::byte*>(to));
      }
    }
  }
  return words;
}

std::string tmem_shift_problem(std::uint32_t address) {
  const TmemAddress at = decode_tmem_address(address);
  if (at.lane % 32 != 0) {
    return fmt::format("the address is in lane {}; the lane must be a multiple of 32", at.lane);
  }
  if (at.lane != 0) {
    return fmt::format("a shift that begins at lane {} is not implemented, one at lane 0 is", at.lane);
  }
  if (at.column + kTmemShiftColumns > kTmemColumns) {
    return fmt::format("columns {} to {} are past the last, 511", at.column,
                       at.column + kTmemShiftColumns - 1);
  }
  return {};
}

void shift_tmem(std::uint32_t address, TensorMemory& tmem) {
  const int first = decode_tmem_address(address).column;
  for (int column = first; column < first + kTmemShiftColumns; ++column) {
    std::uint32_t* lanes = tmem.column(column);
    for (int quarter = 0; quarter < kTmemLanes; quarter += 32) {
      std::memmove(lanes + quarter, lanes + quarter + 1, 31 * sizeof *lanes);
    }
  }
}

void land_tmem_copy(const TmemCopy& copy, const std::vector<std::uint32_t>& words, TensorMemory& tmem) {
  const TmemAddress to = decode_tmem_address(copy.address);
  const int columns = tmem_copy_columns(copy.shape);
  for (int row = 0; row < tmem_copy_rows(copy.shape); ++row) {
    for_each_lane(copy.shape, row, to.lane, [&](int lane) {
      for (int column = 0; column < columns; ++column) {
        tmem.at(lane, to.column + column) = words[static_cast<std::size_t>(row * columns + column)];
      }
    });
  }
}

}  // namespace emu::units
