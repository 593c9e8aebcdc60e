#include "units/mma_layout.h"

namespace emu::units {
namespace {

void lanes_from(MmaTile& tile, int base, int step) {
  for (int g = 0; g < tile.rows / kRowGroup; ++g) {
    tile.group_lane[g] = base + step * g;
  }
}

int rows_of_d(const InstructionDescriptor& d, const MmaOperation& op) { return d.m / op.cta_group; }

}  // namespace

bool half_lanes(const InstructionDescriptor& d, const MmaOperation& op) {
  const bool spread = op.cta_group == 1 || op.sparse;  // a dense pair splits the columns instead
  return rows_of_d(d, op) == 64 && spread && !op.weight_stationary;
}

int column_parts(const InstructionDescriptor& d, const MmaOperation& op) {
  return half_lanes(d, op) ? 1 : kTmemLanes / rows_of_d(d, op);
}

// Layouts A and D put row m in lane m; F and C spread groups of 16 over the warps' quarters; B, E and G put
// parts of the columns below each other.
std::vector<MmaTile> tiles_of(const InstructionDescriptor& d, const MmaOperation& op) {
  const int rows = rows_of_d(d, op);
  const int parts = column_parts(d, op);
  const int columns = d.n / parts;
  std::vector<MmaTile> tiles;
  for (int part = 0; part < parts; ++part) {
    MmaTile& tile = tiles.emplace_back(
        MmaTile{op.a_in_tmem || op.sparse ? part * rows : 0, rows, part * columns, columns, {}});
    if (half_lanes(d, op)) {
      lanes_from(tile, decode_tmem_address(op.d_address).lane, 32);
    } else {
      lanes_from(tile, part * rows, kRowGroup);
    }
  }
  return tiles;
}

int accumulator_columns(const InstructionDescriptor& d, const MmaOperation& op) {
  return d.n / column_parts(d, op);
}

int operand_rows(const InstructionDescriptor& d, const MmaOperation& op) {
  return rows_of_d(d, op) * (op.a_in_tmem || op.sparse ? column_parts(d, op) : 1);
}

}  // namespace emu::units
