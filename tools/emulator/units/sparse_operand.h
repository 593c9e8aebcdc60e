// The structured sparse A of tcgen05.mma.sp: half of its elements are stored, and metadata in tensor memory
// says where each belongs. PTX ISA 9.7.16.10.8.
//
// A 4-bit code covers two adjacent elements of tf32, four of the other types: two positions of two bits, for
// the first and the second stored element. The manual draws the codes' layout in figures only; the formulas
// here are those of CUTLASS's metadata fragments and of JAX's formatter, which agree. 16 rows of A have the
// 16 lanes of their rows of D. Kinds f16 and tf32, eight codes a row: rows r and r + 8 share lanes, r in the
// low half of the word, the codes' upper half 8 lanes further on; the sparsity selector is added to the
// column. Kinds f8f6f4 and i8, sixteen codes a row: row r in lane r, eight codes to a column.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "units/instruction_descriptor.h"
#include "units/mma_kernels.h"
#include "units/mma_layout.h"
#include "units/tmem.h"

namespace emu::units {

/// Columns of metadata, from an even one on.
inline constexpr int kMetadataColumns = 2;

/// The first rule that the metadata's address breaks, or "".
std::string metadata_problem(const MmaOperation& op);

/// Puts the elements of `stored`, half as deep, where the metadata says and zeros elsewhere. Rows of a tile
/// have their metadata in the lanes of the tile. Throws TensorError for a code that leaves the product open:
/// two nonzero elements in one position, or a tf32 code that the manual does not define. With zeros such
/// codes do occur: CUTLASS writes them where a row has fewer nonzeros than it may have.
void expand_sparse(const TensorMemory& memory, const MmaOperation& op, const InstructionDescriptor& d,
                   std::span<const MmaTile> tiles, const PackedOperand& stored, PackedOperand& expanded);

}  // namespace emu::units
