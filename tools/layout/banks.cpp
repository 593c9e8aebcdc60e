#include "layout/banks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "layout/canonical.h"

namespace layout {

BankReport count_wavefronts(const Access& access) {
  const int width = access.width;
  if (width != 1 && width != 2 && width != 4 && width != 8 && width != 16) {
    throw BadInput(fmt::format("a lane accesses 1, 2, 4, 8 or 16 bytes, not {}", width));
  }
  if (access.addresses.empty() || access.addresses.size() > 32) {
    throw BadInput(fmt::format("a warp has 1 to 32 lanes, not {}", access.addresses.size()));
  }
  for (uint32_t a : access.addresses) {
    if (a % width != 0)
      throw BadInput(fmt::format("address {} is not a multiple of the {} bytes a lane accesses", a, width));
  }
  const int group = width <= 4 ? 32 : 128 / width;
  BankReport report;
  for (size_t first = 0; first < access.addresses.size(); first += group) {
    const size_t last = std::min(first + group, access.addresses.size());
    std::array<std::set<uint32_t>, 32> words;
    for (size_t lane = first; lane < last; ++lane) {
      for (int byte = 0; byte < std::max(width, 4); byte += 4) {
        const uint32_t word = (access.addresses[lane] + byte) / 4;
        words[word % 32].insert(word);
      }
    }
    int most = 0;
    for (int bank = 0; bank < 32; ++bank) {
      const int here = static_cast<int>(words[bank].size());
      most = std::max(most, here);
      report.words_in_bank[bank] = std::max(report.words_in_bank[bank], here);
    }
    report.groups.push_back({static_cast<int>(first), static_cast<int>(last - first), most});
    report.wavefronts += most;
    ++report.ideal;
  }
  return report;
}

}  // namespace layout
