#include "units/sparse_operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace emu::units {
namespace {

bool has_two_rows_in_a_lane(MmaKind kind) { return kind == MmaKind::F16 || kind == MmaKind::TF32; }

bool is_zero(float value) { return std::bit_cast<std::uint32_t>(value) << 1 == 0; }

std::uint32_t code_at(const TensorMemory& memory, int first_column, const InstructionDescriptor& d,
                      int first_lane, int row, int chunk) {
  if (has_two_rows_in_a_lane(d.kind)) {
    const int lane = first_lane + row % 8 + chunk / 4 * 8;
    return memory.at(lane, first_column + d.sparsity_selector) >> (row / 8 * 16 + chunk % 4 * 4) & 0xF;
  }
  return memory.at(first_lane + row, first_column + chunk / 8) >> chunk % 8 * 4 & 0xF;
}

}  // namespace

std::string metadata_problem(const MmaOperation& op) {
  try {
    const TmemAddress at = decode_tmem_address(op.metadata_address);
    if (at.column % kMetadataColumns != 0) {
      return fmt::format("sparsity metadata at column {}: the first column must be even", at.column);
    }
    if (const int lane = decode_tmem_address(op.d_address).lane; at.lane != lane) {
      return fmt::format("sparsity metadata at lane {} and D at lane {} must start at the same lane", at.lane,
                         lane);
    }
    return {};
  } catch (const TensorError& error) {
    return fmt::format("sparsity metadata: {}", error.what());
  }
}

void expand_sparse(const TensorMemory& memory, const MmaOperation& op, const InstructionDescriptor& d,
                   std::span<const MmaTile> tiles, const PackedOperand& stored, PackedOperand& expanded) {
  std::fill(expanded.values.begin(), expanded.values.end(), 0.0f);
  const int column = decode_tmem_address(op.metadata_address).column;
  const bool pairs = d.kind == MmaKind::TF32;
  const int chunk_depth = pairs ? 2 : 4;
  // Whether the element at `from` of a row is a zero, of either sign or of an integer type, or finds its
  // place free.
  const auto move = [&](int row, int from, int to) {
    const float value = stored.values[static_cast<std::size_t>(from) * stored.stride + row];
    float& place = expanded.values[static_cast<std::size_t>(to) * expanded.stride + row];
    if (is_zero(value)) return true;
    if (!is_zero(place)) return false;
    place = value;
    return true;
  };
  for (const MmaTile& tile : tiles) {
    for (int i = 0; i < tile.rows; ++i) {
      const int row = tile.first_row + i;
      for (int chunk = 0; chunk < d.k / chunk_depth; ++chunk) {
        const std::uint32_t code =
            code_at(memory, column, d, tile.group_lane[i / kRowGroup], i % kRowGroup, chunk);
        bool placed;
        if (pairs) {
          placed = move(row, chunk, 2 * chunk + (code == 0b1110 ? 1 : 0)) &&
                   (code == 0b1110 || code == 0b0100 || is_zero(stored.values[chunk * stored.stride + row]));
        } else {
          placed = move(row, 2 * chunk, 4 * chunk + static_cast<int>(code & 3)) &&
                   move(row, 2 * chunk + 1, 4 * chunk + static_cast<int>(code >> 2));
        }
        if (!placed) {
          throw TensorError(
              fmt::format("sparsity metadata {:#06b} for row {}, elements {} to {} of A: kind::{} does not "
                          "define this code "
                          "(PTX ISA 9.7.16.10.8)",
                          code, row, chunk * chunk_depth, (chunk + 1) * chunk_depth - 1, name(d.kind)));
        }
      }
    }
  }
}

}  // namespace emu::units
