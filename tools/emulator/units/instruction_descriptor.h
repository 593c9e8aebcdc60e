// The 32-bit instruction descriptor of tcgen05.mma. PTX ISA 9.7.16.4.2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "units/smem_descriptor.h"

namespace emu::units {

enum class MmaKind : std::uint8_t { F16, TF32, F8F6F4, I8, MXF8F6F4, MXF4, MXF4NVF4 };
enum class ElementType : std::uint8_t { F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, U8, S8, Invalid };
enum class AccumulatorType : std::uint8_t { F16, F32, S32, Invalid };
enum class ScaleType : std::uint8_t { UE8M0, UE4M3 };

const char* name(MmaKind kind);
const char* name(ElementType type);
const char* name(AccumulatorType type);
const char* name(ScaleType type);
/// Kinds whose operands come with scale factors, one for each block of a row.
bool is_block_scaled(MmaKind kind);
/// Kinds mxf4 and mxf4nvf4, whose e2m1 elements lie two to a byte.
bool is_packed_fp4(MmaKind kind);
/// 4, 6, 8, 16 or 32.
int element_bits(ElementType type);
/// Bytes from one element to the next in shared memory: 1, 2 or 4. 4- and 6-bit types lie 16 to a 16-byte
/// chunk.
int element_bytes(ElementType type);

struct InstructionDescriptor {
  std::uint32_t bits = 0;
  MmaKind kind = MmaKind::F16;
  ElementType a_type = ElementType::Invalid;
  ElementType b_type = ElementType::Invalid;
  AccumulatorType d_type = AccumulatorType::Invalid;
  bool sparse = false;
  bool saturate = false;
  bool negate_a = false;
  bool negate_b = false;
  Major a_major = Major::K;
  Major b_major = Major::K;
  int m = 0;  ///< rows of the whole instruction, both CTAs of a pair together
  int n = 0;
  int sparsity_selector = 0;
  /// Not encoded: 32 bytes of a row (16, 8 or 32 elements; 64 of packed e2m1), of a sparse A's stored half.
  int k = 0;
  int max_b_shift = 0;  ///< .ws: the most columns that the zero-column mask may shift B by
  // Block-scaled kinds only.
  ScaleType scale_type = ScaleType::UE8M0;
  int scale_a_id = 0;  ///< first byte, of the word of each row, that holds a scale factor
  int scale_b_id = 0;
};

struct DecodedInstructionDescriptor {
  InstructionDescriptor descriptor;
  std::vector<std::string> illegal;  ///< empty when legal; one sentence for each fault
};

/// `cta_group` is 1 or 2; `sparse` is the instruction's .sp, which bit 2 must repeat.
DecodedInstructionDescriptor decode_instruction_descriptor(std::uint32_t bits, MmaKind kind, int cta_group,
                                                           bool a_in_tmem, bool weight_stationary = false,
                                                           bool sparse = false);

}  // namespace emu::units
