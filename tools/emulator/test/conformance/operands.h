// Operand values of the arithmetic cases: special values of each type first, then a fixed pseudo-random
// sequence.
#pragma once
#include <cstdint>
#include <vector>

namespace conformance {

enum class Values {
  kI16,
  kI32,
  kI64,
  kShift,
  kSelector,
  kF16,
  kBf16,
  kF32,
  kF64,
  kF16x2,
  kBf16x2,
  kBytes2,
  kConvertF32,  // f32 near the limits of every integer and small float type
  kConvertF64,
  kAngle,
  kWideAngle,
  kUnit,
};

// The special values of a set, as bit patterns.
std::vector<uint64_t> special_values(Values values);

// `count` operands for position `position` of an instruction with `arity` operands. The specials of all
// positions meet in every combination where `count` allows, then pseudo-random values follow.
std::vector<uint64_t> operands(Values values, int position, int arity, int count);

// A fixed hash, the same on the host and the device.
#ifdef __CUDACC__
__host__ __device__
#endif
    inline uint32_t
    mix(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

}  // namespace conformance
