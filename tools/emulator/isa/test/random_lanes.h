// Reproducible inputs that hit the corners: zeros, ones, signs, infinities, NaN, subnormals, half patterns.
#pragma once

#include <random>

#include "isa/test/warp_harness.h"

namespace emu::isa::test {

inline std::mt19937_64& random_engine() {
  static std::mt19937_64 engine(20260721);
  return engine;
}

inline uint32_t random_word() {
  static constexpr uint32_t kCorners[] = {
      0,          1,          2,          31,         32,         33,         0x7f,       0x80,
      0xff,       0x7fff,     0x8000,     0xffff,     0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
      0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffbaffba, 0x00800000, 0x007fffff,
      0x00000001, 0x807fffff, 0x7f7fffff, 0xff7fffff, 0x4b000000, 0x4f000000, 0xcf000000, 0x3c007c00,
      0x7e00fc00, 0x03ff0001, 0x7bfffbff, 0x3f803f80, 0x7f807fc0, 0x00010080, 0x40490fdb, 0xc2aeac50};
  auto& engine = random_engine();
  const uint64_t r = engine();
  if (r % 3 == 0) return kCorners[(r >> 8) % std::size(kCorners)];
  if (r % 3 == 1) return 0x3f000000 + static_cast<uint32_t>(r >> 33) % 0x01800000 + (r & 0x80000000u);
  return static_cast<uint32_t>(r >> 32);
}
inline uint64_t random_double_word() {
  static constexpr uint64_t kCorners[] = {0,
                                          1,
                                          63,
                                          64,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          0xffffffffffffffff,
                                          0x3ff0000000000000,
                                          0x7ff0000000000000,
                                          0xfff0000000000000,
                                          0x7ff8000000000000,
                                          0x0010000000000000,
                                          0x000fffffffffffff,
                                          0x41dfffffffc00000,
                                          0xc1e0000000000000,
                                          0x43e0000000000000};
  auto& engine = random_engine();
  const uint64_t r = engine();
  if (r % 3 == 0) return kCorners[(r >> 8) % std::size(kCorners)];
  if (r % 3 == 1) return uint64_t{random_word()} << 32 | random_word();
  return 0x3fe0000000000000 + (r >> 11);
}
inline Lanes<uint32_t> random_words() {
  Lanes<uint32_t> lanes;
  for (auto& lane : lanes) lane = random_word();
  return lanes;
}
inline Lanes<uint64_t> random_double_words() {
  Lanes<uint64_t> lanes;
  for (auto& lane : lanes) lane = random_double_word();
  return lanes;
}

}  // namespace emu::isa::test
