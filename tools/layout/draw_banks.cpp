#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "layout/draw.h"

namespace layout {

svg::Canvas draw_banks(const Access& access, const BankReport& report) {
  svg::Canvas c(
      fmt::format("{} wavefronts, {} without conflicts", report.wavefronts, report.ideal),
      fmt::format(
          "{} lanes of {} bytes each; a wavefront moves at most one 4-byte word of each of the 32 banks.",
          access.addresses.size(), access.width),
      "For each group of lanes served together, the lanes that meet in each bank.");
  const double left = 90, wide = (svg::kWidth - svg::kMargin - left) / 32, high = 16;
  double y = c.top() + 6;
  for (const Wavefront& g : report.groups) {
    std::map<int, std::vector<std::pair<uint32_t, int>>> in_bank;  // bank -> (word, first lane)
    for (int lane = g.first_lane; lane < g.first_lane + g.lanes; ++lane) {
      for (int byte = 0; byte < std::max(access.width, 4); byte += 4) {
        const uint32_t word = (access.addresses[lane] + byte) / 4;
        auto& words = in_bank[word % 32];
        const bool known =
            std::any_of(words.begin(), words.end(), [&](const auto& w) { return w.first == word; });
        if (!known) words.emplace_back(word, lane);
      }
    }
    c.text({svg::kMargin, y + 11}, fmt::format("lanes {}-{}", g.first_lane, g.first_lane + g.lanes - 1),
           {.size = 10, .bold = true});
    for (int bank = 0; bank < 32; ++bank) {
      c.label({left + bank * wide, y, wide, 14}, fmt::format("{}", bank), {.size = 9, .cls = "m"});
    }
    y += 15;
    for (int row = 0; row < g.cycles; ++row) {
      c.text({left - 6, y + 12}, fmt::format("wave {}", row),
             {.size = 9, .anchor = svg::Anchor::end, .cls = "m"});
      for (int bank = 0; bank < 32; ++bank) {
        const auto& words = in_bank[bank];
        const svg::Rect box = {left + bank * wide, y, wide, high};
        if (row >= static_cast<int>(words.size())) {
          c.rect(box, "n1 g");
          continue;
        }
        c.block(box, row == 0 ? "n2 e" : "bad e", fmt::format("{}", words[row].second), {.size = 9.5},
                fmt::format("bank {}, wavefront {}: lane {} reads word 0x{:X}", bank, row, words[row].second,
                            words[row].first * 4));
      }
      y += high;
    }
    y += 10;
  }
  c.legend({svg::kMargin, y + 4}, {{"n2 e", "first word of a bank, with the first lane that wants it"},
                                   {"bad e", "conflict: waits for another wavefront"}});
  return c;
}

}  // namespace layout
