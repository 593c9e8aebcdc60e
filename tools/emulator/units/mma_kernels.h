// The fast arithmetic of a tcgen05.mma with f32 accumulators: one instruction, one CTA, one rectangle of D.
//
// Vectors run over m, since tensor memory keeps the 128 lanes of a column side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu::units {

inline constexpr int kMaxDepth = 64;
/// Rows are handled in groups of 16, the unit in which every layout of D maps rows to lanes.
inline constexpr int kRowGroup = 16;

/// A or B of one instruction: values[k * stride + index], index being the row of A or the column of B.
struct PackedOperand {
  int count = 0;
  int depth = 0;
  int stride = 0;
  int least_exponent = 0;     ///< of a subnormal of the element type
  std::vector<float> values;  ///< kind i8 keeps its integers here, as the bits of std::int32_t

  void resize(int new_count, int new_depth);
};

/// What the exact kernel needs of an operand, derived from its values by `prepare`.
struct AlignedOperand {
  std::vector<float> scaled;            ///< values * 2^-norm, same places; 0 for NaN and infinity
  std::vector<std::int16_t> exponents;  ///< same places; kZeroExponent for zeros
  std::vector<std::int32_t> norm;       ///< one for each index: its largest exponent, within [-126, 126]
  std::vector<std::uint8_t> wide;       ///< one for each index: its exponents span too much for f32 products
  std::vector<std::uint8_t> special;    ///< one for each index: it holds a NaN or an infinity
  bool any_wide = false;
  bool any_special = false;
};

inline constexpr std::int16_t kZeroExponent = -8192;
/// The exponents that zeros count with when terms are aligned, so that none is aligned to a lesser one.
inline constexpr std::int16_t kExponentFloor = -133;
inline constexpr std::int16_t kFp4ExponentFloor = -139;

/// Scale factors of an operand, [block * stride + index]: significand * 2^exponent, a NaN significand for
/// NaN.
struct ScaleFactors {
  int blocks = 0;
  int stride = 0;
  std::vector<float> significands;
  std::vector<std::int32_t> exponents;
};

inline constexpr int kFp4Depth = 64;
/// So many products share an exponent, whatever the block of a scale factor.
inline constexpr int kFp4BlockDepth = 16;

/// A packed operand of 4-bit elements with the places of its nonzero elements.
struct Fp4Operand {
  const PackedOperand* values = nullptr;  ///< kFp4Depth deep
  ScaleFactors scales;                    ///< one for each kFp4BlockDepth elements
  std::vector<std::int32_t> nonzero;  ///< [block * stride + index]: bit i, element i of the block is not 0
};

/// D[row, column] of a rectangle, with its operands.
struct MmaRectangle {
  const PackedOperand* a = nullptr;
  const PackedOperand* b = nullptr;
  const AlignedOperand* aligned_a = nullptr;  ///< exact kernel only
  const AlignedOperand* aligned_b = nullptr;
  const Fp4Operand* fp4_a = nullptr;  ///< exact_fp4 only
  const Fp4Operand* fp4_b = nullptr;
  int first_row = 0;     ///< in A
  int rows = 0;          ///< 32, 64 or 128
  int first_column = 0;  ///< in B
  int columns = 0;       ///< a multiple of 8
  bool accumulate = false;
  std::uint32_t* d = nullptr;        ///< lane 0 of the rectangle's first column; columns are 128 words apart
  int group_lane[8] = {};            ///< lane of each group of 16 rows
  std::uint16_t group_mask[8] = {};  ///< bit i: row i of the group is written
};

struct MmaKernels {
  const char* name;
  void (*prepare)(const PackedOperand&, AlignedOperand&);
  /// The published rule, bit for bit, except for rows and columns marked special, which it must not be asked
  /// for: it skips special columns; the caller masks special rows.
  void (*exact)(const MmaRectangle&);
  /// The published rule of kinds mxf4 and mxf4nvf4 (units/block_scale_arithmetic.h), bit for bit.
  void (*exact_fp4)(const MmaRectangle&);
  /// One fused (where the machine has it) multiply-add for each term.
  void (*fast)(const MmaRectangle&);
};

/// The best for this processor, or the one named by `name` ("portable", "avx2", "avx512") if it can run here;
/// else null.
const MmaKernels& best_mma_kernels();
const MmaKernels* find_mma_kernels(const char* name);

}  // namespace emu::units
