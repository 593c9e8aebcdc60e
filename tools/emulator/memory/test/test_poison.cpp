#include <bit>
#include <cmath>
#include <cstring>

#include "memory/poison.h"
#include "testing/catch.h"

using namespace emu::memory;

TEST_CASE("poison is a NaN in every floating-point format of 16 bits and more") {
  CHECK(std::isnan(std::bit_cast<float>(kPoison32)));
  CHECK(std::isnan(std::bit_cast<double>(kPoison64)));
  CHECK(
      std::isnan(std::bit_cast<float>(std::uint32_t{kPoison16} << 16)));  // bf16 is the upper half of an f32
  CHECK((kPoison16 & 0x7C00) == 0x7C00);                                  // f16: exponent all ones,
  CHECK((kPoison16 & 0x03FF) != 0);                                       // fraction not zero
}

TEST_CASE("poison agrees between neighbours whatever byte a fill starts at") {
  alignas(16) std::byte memory[64] = {};
  fill_poison(memory + 3, 30);
  std::uint16_t half;
  std::memcpy(&half, memory + 4, 2);
  CHECK(half == kPoison16);
  CHECK(looks_poisoned(memory + 3, 30));
  CHECK_FALSE(looks_poisoned(memory + 2, 2));
  CHECK_FALSE(looks_poisoned(memory + 32, 2));
  CHECK_FALSE(looks_poisoned(memory + 3, 0));
}
