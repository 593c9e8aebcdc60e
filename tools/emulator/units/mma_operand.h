// Operands of one tcgen05.mma on their way from memory to packed arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "units/instruction_descriptor.h"
#include "units/mma_kernels.h"
#include "units/smem_descriptor.h"
#include "units/tensor_core.h"
#include "units/tmem.h"

namespace emu::units {

/// What one CTA contributes to A or B.
struct OperandShape {
  ElementType type = ElementType::Invalid;
  Major major = Major::K;
  bool negate = false;
  int count = 0;  ///< rows of A or columns of B
  int depth = 0;
  int first = 0;        ///< its first row or column in the packed operand
  bool packed = false;  ///< 4-bit elements two to a byte, else each has its own
};

/// Unpacks the operand out of shared memory into `packed`, which is already sized. Throws TensorError when a
/// 16-byte chunk lies outside the view.
void gather_shared(const SmemDescriptor& descriptor, const OperandShape& shape, const SharedView& view,
                   const char* what, PackedOperand& packed);

/// The addresses gather_shared reads, as ranges of adjacent 16-byte chunks.
void for_each_shared_range(const SmemDescriptor& descriptor, const OperandShape& shape, int cta,
                           const std::function<void(const SharedRange&)>& visit);

/// A out of tensor memory: row 16g + i in lane group_lanes[g] + i, from `first_column` on.
void gather_tmem(const TensorMemory& memory, std::span<const int> group_lanes, int first_column,
                 const OperandShape& shape, PackedOperand& packed);

}  // namespace emu::units
