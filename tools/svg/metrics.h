// How wide a text will be, so that boxes fit before anything is drawn.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace svg {

// The one font stack of every picture. Widths are those of its first font.
inline constexpr const char* kFontStack = "DejaVu Sans, Verdana, sans-serif";
// Heights in em: capitals and ascenders above the baseline, descenders below it.
inline constexpr double kAscent = 0.76;
inline constexpr double kDescent = 0.24;

// Width in user units of UTF-8 `text` at font size `size`. Throws std::invalid_argument for a sign without a
// width.
double text_width(std::string_view text, double size, bool bold = false);

// Breaks `text` at spaces into lines of at most `width` user units. A single longer word stays whole.
std::vector<std::string> wrap(std::string_view text, double size, double width, bool bold = false);

}  // namespace svg
