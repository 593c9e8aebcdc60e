// What memory and registers hold before anybody has written them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace emu::memory {

// One 16-bit pattern, repeated. Read as bf16, f16, f32 or f64 it is a NaN, which spreads through any arithmetic
// instead of passing for a small number.
inline constexpr std::uint16_t kPoison16 = 0xFFFA;
inline constexpr std::uint32_t kPoison32 = 0xFFFAFFFA;
inline constexpr std::uint64_t kPoison64 = 0xFFFAFFFAFFFAFFFA;

// The byte at an address depends on the parity of the address alone, so ranges that start or end odd still
// agree.
inline std::byte poison_byte(std::uint64_t address) { return std::byte(address & 1 ? 0xFF : 0xFA); }

// Fills [at, at + bytes) with poison, phase-aligned to the address.
void fill_poison(void* at, std::size_t bytes);

// True if every byte of [at, at + bytes) holds poison, phase-aligned to the address; false for zero bytes.
bool looks_poisoned(const void* at, std::size_t bytes);

}  // namespace emu::memory
