// Where D, and an A in tensor memory, lie in lanes and columns. PTX ISA 9.7.16.10.5.
#pragma once

#include <vector>

#include "units/instruction_descriptor.h"
#include "units/mma_kernels.h"
#include "units/tensor_core.h"

namespace emu::units {

inline constexpr int kTmemGroups = kTmemLanes / kRowGroup;
/// Columns of an A in tensor memory for one instruction: 32 bytes of each row.
inline constexpr int kOperandColumns = 8;

/// A rectangle of D: which rows of a CTA's A and which columns of B meet, and the lanes of each 16 rows.
struct MmaTile {
  int first_row;
  int rows;
  int first_column;
  int columns;
  int group_lane[kTmemGroups];
};

/// Into how many parts, side by side in the lanes of one CTA, the columns of D are split: 1 for layouts A, C,
/// D and F, 2 for B and E, 4 for G.
int column_parts(const InstructionDescriptor& d, const MmaOperation& op);

/// One tile for each part of the columns.
std::vector<MmaTile> tiles_of(const InstructionDescriptor& d, const MmaOperation& op);

/// Columns of D in one CTA.
int accumulator_columns(const InstructionDescriptor& d, const MmaOperation& op);

/// Whether D lies in 64 of the lanes, from lane 0 or 16 on: layouts F and C.
bool half_lanes(const InstructionDescriptor& d, const MmaOperation& op);

/// Rows of A in the packed operand of one CTA. Where the columns of D are split, an A in tensor memory is
/// there once for each part, in the lanes of its part, and so is the metadata of a sparse A: all copies
/// count.
int operand_rows(const InstructionDescriptor& d, const MmaOperation& op);

}  // namespace emu::units
