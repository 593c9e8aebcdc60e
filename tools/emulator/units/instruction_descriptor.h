// The 32-bit instruction descriptor of tcgen05.mma for kinds f16, tf32, f8f6f4 and i8. PTX ISA 9.7.16.4.2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "units/smem_descriptor.h"

namespace emu::units {

enum class MmaKind : std::uint8_t { F16, TF32, F8F6F4, I8 };
enum class ElementType : std::uint8_t { F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, U8, S8, Invalid };
enum class AccumulatorType : std::uint8_t { F16, F32, S32, Invalid };

const char* name(MmaKind kind);
const char* name(ElementType type);
const char* name(AccumulatorType type);
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
  int k = 0;  ///< not encoded: 32 bytes of a row (16, 8, 32, 32)
};

struct DecodedInstructionDescriptor {
  InstructionDescriptor descriptor;
  std::vector<std::string> illegal;  ///< empty when legal; one sentence for each fault
};

/// `cta_group` is 1 or 2. `.ws`, sparse and block-scaled forms are not covered: a set sparse bit is reported.
DecodedInstructionDescriptor decode_instruction_descriptor(std::uint32_t bits, MmaKind kind, int cta_group,
                                                           bool a_in_tmem);

}  // namespace emu::units
