// A story as an SVG.
#pragma once

#include <string>

#include "timeline/story.h"

namespace timeline {

struct Heading {
  std::string title, subtitle;
};

// 12345 -> "12,345"
std::string thousands(double value);

std::string draw(const Story& story, const Heading& heading);

}  // namespace timeline
