#include "memory/poison.h"

namespace emu::memory {

void fill_poison(void* at, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(at);
  auto address = reinterpret_cast<std::uint64_t>(at);
  std::size_t i = 0;
  while (i < bytes && ((address + i) & 7) != 0) to[i] = poison_byte(address + i), ++i;
  for (; i + 8 <= bytes; i += 8) std::memcpy(to + i, &kPoison64, 8);
  for (; i < bytes; ++i) to[i] = poison_byte(address + i);
}

bool looks_poisoned(const void* at, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(at);
  auto address = reinterpret_cast<std::uint64_t>(at);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (from[i] != poison_byte(address + i)) return false;
  }
  return bytes > 0;
}

}  // namespace emu::memory
