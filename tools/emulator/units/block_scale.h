// Scale factors of the block-scaled kinds of tcgen05.mma: how they lie in tensor memory and what they are
// worth. PTX ISA 9.7.16.10.7.
//
// The factors of row r (of A, or column r of B) are bytes of one word, in lane r % 32 of the word column
// r / 32; the instruction descriptor's id names the first byte. The manual wants a copy in each of the four
// lane quarters, tcgen05.cp's .32x128b.warpx4 makes them. In a pair with M = 128, where the lower lanes hold
// the left half of the columns and the upper lanes the right half, B's factors follow: each half of the
// columns has its factors in the two quarters of its lanes, counted from its own first column (CUTLASS names
// the layout "duplicated 2 by 2").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "units/instruction_descriptor.h"
#include "units/mma_kernels.h"
#include "units/tmem.h"

namespace emu::units {

struct MmaOperation;

/// significand * 2^exponent; the significand lies in [0, 2), 1 for every ue8m0, NaN for the codes of NaN.
struct ScaleFactor {
  float significand;
  int exponent;
};

/// ue4m3 has no sign: bit 7 is ignored.
ScaleFactor scale_factor(ScaleType type, std::uint32_t code);

/// Which bytes of a word are factors, and the words' columns.
struct ScaleShape {
  ScaleType type = ScaleType::UE8M0;
  int blocks = 1;  ///< factors in a row: 1, 2 or 4
  int first_byte = 0;
  int count = 0;    ///< rows of A or columns of B
  int in_part = 0;  ///< how many of them have distinct factors in the same lanes
  int parts = 1;    ///< of the lanes, each with its own factors: 2 for B of a pair with M = 128
};

/// The shape for A or B of an operation, whose rules mma_problems has checked.
ScaleShape scale_shape_a(const MmaOperation& op, const InstructionDescriptor& d);
ScaleShape scale_shape_b(const MmaOperation& op, const InstructionDescriptor& d);

/// Columns of tensor memory that the factors of one operand take.
int scale_columns(const ScaleShape& shape);

/// What a block-scaled operation breaks beyond the rules of its instruction descriptor; empty when nothing.
std::vector<std::string> scale_problems(const MmaOperation& op, const InstructionDescriptor& d);

/// Reads one operand's factors. Copies in different lane quarters must agree: throws TensorError when they do
/// not, unless `first_copy_only`; kernels that fill only lanes 0 to 31 are known to work on hardware.
ScaleFactors gather_scales(const TensorMemory& memory, std::uint32_t address, const ScaleShape& shape,
                           int stride, bool first_copy_only, const char* what);

/// operand * factor, for the plain f32 rule. Past f32's range a product becomes infinity.
void multiply_by_scales(PackedOperand& operand, const ScaleFactors& scales);

/// Adds the exponents of one factor for each row to a prepared operand, and marks rows whose factor is NaN.
void shift_by_scales(AlignedOperand& aligned, const PackedOperand& operand, const ScaleFactors& scales);

/// The operand for MmaKernels::exact_fp4, with a factor for each 16 elements. `operand` must outlive it.
Fp4Operand make_fp4_operand(const PackedOperand& operand, const ScaleFactors& scales);

}  // namespace emu::units
