// The visual language: one colour per operand, the same in every picture.
// Lightness falls S > Q > V > K > P > O in steps of at least 4.5 L*, so greyscale keeps them apart; the hues
// stay apart for protan, deutan and tritan readers (test_svg simulates all three).
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace svg {

struct Role {
  std::string_view name;   // CSS class of the fill
  std::string_view color;  // the same in light and dark mode: the text on it is always dark
};

inline constexpr std::array<Role, 6> kRoles = {{
    {"Q", "#a8dcf2"},
    {"K", "#ea9446"},
    {"V", "#88d3a0"},
    {"S", "#f6ecb0"},
    {"P", "#d281b5"},
    {"O", "#767dd0"},
}};

// Ink on a role colour, in both modes.
inline constexpr std::string_view kInkOnColor = "#10151c";

// Style sheet shared by all pictures, dark mode included.
//   fills    Q K V S P O, their pale forms Ql.. Ol, bg, n1 n2 n3 (neutral, growing darker), bad, none, plate
//   strokes  e (thin edge), f (firm), g (faint), w (bold outline), ar (arrow), hi (accent), da (dashed)
//   text     t (on the ground or a pale fill), m (muted), k (on a full role colour), x (accent)
std::string style_sheet();

}  // namespace svg
