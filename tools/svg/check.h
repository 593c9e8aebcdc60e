// Looks at a finished SVG file the way a reader does: is it well-formed, is every text inside its frame and
// the page, does any text run into another text, a line or an edge, is it large enough to read.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace svg {

struct CheckLimits {
  size_t max_bytes = 300 * 1024;
  double shown_width = 900;  // px at which a reader sees the picture
  double min_font_px = 9;    // smallest font at that width
};

// Problems found, each one line naming the text and the thing it meets; empty when the picture is fine.
// Understands what svg::Canvas writes: rect, line, polyline, straight and quadratic paths, text with -90
// rotation. Any other drawing element or transform is itself reported, so that nothing escapes the check.
std::vector<std::string> check(std::string_view xml, const CheckLimits& limits = {});

}  // namespace svg
