// The two descriptors a tcgen05.mma takes: where and how an operand lies in shared memory (64 bits), and what
// the instruction computes (32 bits). Everything is constexpr on host and device, so the constants can be
// checked here.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define WORKBOOK_HOST_DEVICE __host__ __device__
#else
#define WORKBOOK_HOST_DEVICE
#endif

// Which index of an operand is contiguous in shared memory: the contraction index K, or its other index
// (M of operand A, N of operand B).
enum class Major : uint32_t { kK = 0, kMN = 1 };

// PTX ISA 9.7.16.4.1, bits 61-63 of the matrix descriptor. The swizzle XORs address bits of 16-byte chunks
// with the 128-byte line they lie in; a 128-byte swizzle repeats every 8 lines, so its atoms start at
// multiples of 1024.
enum class Swizzle : uint64_t { kNone = 0, k128B = 2, k64B = 4, k32B = 6 };

// Shared-memory matrix descriptor (PTX ISA 9.7.16.4.1). All three arguments are bytes and multiples of 16;
// start address, leading-dimension offset (LBO) and stride-dimension offset (SBO) are stored in 16-byte
// units. What the two offsets stride over depends on the layout (PTX ISA 9.7.16.3.3):
//
//   layout            LBO                                     SBO
//   K-major, none     next 16-byte column of K (8 BF16)       next 8 rows
//   K-major, SW128    ignored                                 next 8 rows (1024 when packed)
//   MN-major, none    next 8 of K                             next 16 bytes of MN (8 BF16)
//   MN-major, SW128   next 128 bytes of MN (64 BF16)          next 8 of K (1024 when packed)
WORKBOOK_HOST_DEVICE constexpr uint64_t matrix_descriptor(uint32_t shared_address, uint32_t leading_bytes,
                                                          uint32_t stride_bytes, Swizzle swizzle) {
  // Bits 46-48 are the constant 0b001; the base offset (49-51) stays 0 because tiles start on swizzle
  // boundaries.
  return uint64_t{(shared_address & 0x3FFFF) >> 4} | uint64_t{leading_bytes >> 4} << 16 |
         uint64_t{stride_bytes >> 4} << 32 | uint64_t{1} << 46 | static_cast<uint64_t>(swizzle) << 61;
}

// The same operand `bytes` further on. The swizzle acts on absolute addresses, so stepping inside an atom is
// legal; the address field cannot carry into LBO because shared memory ends below 2^18.
WORKBOOK_HOST_DEVICE constexpr uint64_t advance(uint64_t descriptor, uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

// Instruction descriptor of kind::f16 for BF16 inputs and FP32 accumulation (PTX ISA 9.7.16.4.2): D is m x n,
// the contraction is 16 per instruction.
WORKBOOK_HOST_DEVICE constexpr uint32_t instruction_descriptor(uint32_t m, uint32_t n, Major a, Major b) {
  constexpr uint32_t kF32 = 1;
  constexpr uint32_t kBF16 = 1;
  return kF32 << 4 | kBF16 << 7 | kBF16 << 10 | static_cast<uint32_t>(a) << 15 |
         static_cast<uint32_t>(b) << 16 | (n >> 3) << 17 | (m >> 4) << 24;
}

// Words used by published kernels.
static_assert(instruction_descriptor(128, 128, Major::kK, Major::kK) == 0x08200490);
static_assert(instruction_descriptor(128, 128, Major::kK, Major::kMN) == 0x08210490);
static_assert(instruction_descriptor(128, 256, Major::kK, Major::kK) == 0x08400490);
static_assert(matrix_descriptor(0x1000, 2048, 128, Swizzle::kNone) == 0x0000400800800100);
static_assert(matrix_descriptor(0x1000, 16, 1024, Swizzle::k128B) == 0x4000404000010100);
static_assert(matrix_descriptor(0x1000, 8192, 1024, Swizzle::k128B) == 0x4000404002000100);
