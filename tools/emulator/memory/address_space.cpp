#include "memory/address_space.h"

#include <fmt/format.h>

namespace emu::memory {

std::string describe_address(std::uint64_t generic) {
  Located located = classify(generic);
  auto offset = static_cast<std::uint32_t>(located.offset);
  switch (located.space) {
    case Space::Global:
      return fmt::format("global 0x{:x}", generic);
    case Space::Shared:
      return fmt::format("shared 0x{:x} of CTA rank {}", cta_offset_of(offset), cta_rank_of(offset));
    case Space::Local:
      return fmt::format("local 0x{:x}", offset);
    case Space::Invalid:
      break;
  }
  return fmt::format("address 0x{:x}, outside every window", generic);
}

}  // namespace emu::memory
