// tcgen05.cp: shared memory to tensor memory, PTX ISA 9.7.16.9.2; and tcgen05.shift, 9.7.16.9.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "units/smem_descriptor.h"
#include "units/tensor_core.h"
#include "units/tmem.h"

namespace emu::units {

enum class TmemCopyShape : std::uint8_t {
  Rows128x256b,
  Rows128x128b,
  Rows4x256b,         ///< row r in lane 32 r
  Rows64x128b_02_13,  ///< rows 0-31 in the lanes of warps 0 and 2, rows 32-63 in those of 1 and 3
  Rows64x128b_01_23,
  Rows32x128b  ///< the same 32 rows in the lanes of all four warps
};

/// What the source holds in each 16 bytes, and what becomes of it: 16 bytes as they are, or 16 packed
/// elements of 6 or 4 bits and padding, each of which gets a byte (PTX ISA 9.7.16.9.1).
enum class TmemCopyFormat : std::uint8_t { Plain, B6, B4 };

struct TmemCopy {
  TmemCopyShape shape = TmemCopyShape::Rows128x256b;
  std::uint32_t address = 0;     ///< of tensor memory
  std::uint64_t descriptor = 0;  ///< of the source: K-major rows, whatever its swizzle
  TmemCopyFormat format = TmemCopyFormat::Plain;
};

int tmem_copy_rows(TmemCopyShape shape);
int tmem_copy_columns(TmemCopyShape shape);  ///< 8 or 4

/// The first rule that the copy breaks, or "".
std::string tmem_copy_problem(const TmemCopy& copy);

/// Rows of 4-byte words, row by row. Throws TensorError when a row leaves the CTA's shared memory.
std::vector<std::uint32_t> gather_tmem_copy(const TmemCopy& copy, const SharedView& shared);
void land_tmem_copy(const TmemCopy& copy, const std::vector<std::uint32_t>& words, TensorMemory& tmem);

/// Columns that tcgen05.shift moves.
inline constexpr int kTmemShiftColumns = 8;
/// The rule that a shift from this address breaks, or "".
std::string tmem_shift_problem(std::uint32_t address);
/// Each lane but the last of its quarter takes the words of the lane after it. The manual draws the
/// direction; a published readback on a B200 shows this one, and that quarters shift each for itself.
void shift_tmem(std::uint32_t address, TensorMemory& tmem);

}  // namespace emu::units
