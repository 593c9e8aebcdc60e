#include <fmt/format.h>

#include "diagrams/picture.h"

namespace diagrams {

std::string Picture::file() const { return fmt::format("{:02}_{}.svg", chapter, name); }

std::vector<Picture> all_pictures() {
  std::vector<Picture> all;
  for (auto* of : {chapter_00, chapter_01, chapter_01_pv, chapter_02, chapter_03, chapter_04, chapter_05,
                   chapter_06, chapter_07}) {
    for (Picture& p : of()) all.push_back(std::move(p));
  }
  return all;
}

std::string chapter_title(int chapter) {
  static const char* const kTitles[] = {
      "On-ramp: one tile",   "Baseline",        "P in tensor memory", "Swizzle",
      "Warp specialization", "Two query tiles", "Load pipeline",      "Compute pipeline"};
  return kTitles[chapter];
}

}  // namespace diagrams
