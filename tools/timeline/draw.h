// A story as an SVG.
#pragma once

#include <string>

#include "timeline/story.h"

namespace timeline {

struct Heading {
  std::string title, subtitle;
};

std::string draw(const Story& story, const Heading& heading);

}  // namespace timeline
