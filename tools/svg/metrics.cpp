#include "svg/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace svg {
namespace {

// Advance widths of DejaVu Sans 2.37 and its bold, in 1/2048 em, for U+0020..U+007E. Verdana, the next font
// of the stack, shares the design and stays within a few percent.
constexpr std::array<int, 95> kRegular = {
    651,  821,  942,  1716, 1303, 1946, 1597, 563,  799,  799,  1024, 1716, 651,  739,  651,  690,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690,  690,  1716, 1716, 1716, 1087,
    2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604,  604,  1343, 1141, 1767, 1532, 1612,
    1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799,  690,  799,  1716, 1024,
    1024, 1255, 1300, 1126, 1300, 1260, 721,  1300, 1298, 569,  569,  1186, 569,  1995, 1298, 1253,
    1300, 1300, 842,  1067, 803,  1298, 1212, 1675, 1212, 1212, 1075, 1303, 690,  1303, 1716,
};
constexpr std::array<int, 95> kBold = {
    713,  934,  1067, 1716, 1425, 2052, 1786, 627,  936,  936,  1071, 1716, 778,  850,  778,  748,
    1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 819,  819,  1716, 1716, 1716, 1188,
    2048, 1585, 1561, 1503, 1700, 1399, 1399, 1681, 1714, 762,  762,  1587, 1305, 2038, 1714, 1741,
    1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579, 1483, 1485, 936,  748,  936,  1716, 1024,
    1024, 1382, 1466, 1214, 1466, 1389, 891,  1466, 1458, 702,  702,  1362, 702,  2134, 1458, 1407,
    1466, 1466, 1010, 1219, 979,  1458, 1335, 1892, 1321, 1335, 1192, 1458, 748,  1458, 1716,
};

struct Glyph {
  char32_t code;
  int regular;
  int bold;
};
constexpr std::array kOthers = {
    Glyph{0x00B0, 1024, 1024},  // °
    Glyph{0x00B1, 1716, 1716},  // ±
    Glyph{0x00B2, 821, 897},    // ²
    Glyph{0x00B3, 821, 897},    // ³
    Glyph{0x00B5, 1303, 1507},  // µ
    Glyph{0x00B7, 651, 778},    // ·
    Glyph{0x00B9, 821, 897},    // ¹
    Glyph{0x00BD, 1985, 2120},  // ½
    Glyph{0x00D7, 1716, 1716},  // ×
    Glyph{0x03A3, 1294, 1399},  // Σ
    Glyph{0x03C4, 1233, 1307},  // τ
    Glyph{0x1D40, 788, 880},    // ᵀ
    Glyph{0x2013, 1024, 1024},  // –
    Glyph{0x2014, 2048, 2048},  // —
    Glyph{0x2026, 2048, 2048},  // …
    Glyph{0x2070, 821, 897},    // ⁰
    Glyph{0x2074, 821, 897},    // ⁴
    Glyph{0x2075, 821, 897},    // ⁵
    Glyph{0x2076, 821, 897},    // ⁶
    Glyph{0x2077, 821, 897},    // ⁷
    Glyph{0x2078, 821, 897},    // ⁸
    Glyph{0x2079, 821, 897},    // ⁹
    Glyph{0x2190, 1716, 1716},  // ←
    Glyph{0x2191, 1716, 1716},  // ↑
    Glyph{0x2192, 1716, 1716},  // →
    Glyph{0x2193, 1716, 1716},  // ↓
    Glyph{0x2194, 1716, 1716},  // ↔
    Glyph{0x21D2, 1716, 1716},  // ⇒
    Glyph{0x2208, 1784, 1836},  // ∈
    Glyph{0x2211, 1380, 1470},  // ∑
    Glyph{0x221A, 1305, 1366},  // √
    Glyph{0x221E, 1706, 1706},  // ∞
    Glyph{0x2248, 1716, 1716},  // ≈
    Glyph{0x2260, 1716, 1716},  // ≠
    Glyph{0x2264, 1716, 1716},  // ≤
    Glyph{0x2265, 1716, 1716},  // ≥
    Glyph{0x226A, 2144, 2144},  // ≪
    Glyph{0x226B, 2144, 2144},  // ≫
    Glyph{0x2295, 1716, 1716},  // ⊕
    Glyph{0x230A, 799, 936},    // ⌊
    Glyph{0x230B, 799, 936},    // ⌋
    Glyph{0x25B6, 1575, 1575},  // ▶
    Glyph{0x25BC, 1575, 1575},  // ▼
    Glyph{0x2713, 1716, 1716},  // ✓
    Glyph{0x2717, 1716, 1716},  // ✗
};

int advance(char32_t code, bool bold) {
  if (code >= 0x20 && code <= 0x7E) return (bold ? kBold : kRegular)[code - 0x20];
  const auto* found =
      std::find_if(kOthers.begin(), kOthers.end(), [&](const Glyph& g) { return g.code == code; });
  if (found == kOthers.end()) {
    throw std::invalid_argument(
        fmt::format("no advance width for U+{:04X}: add it to tools/svg/metrics.cpp or use another sign",
                    static_cast<unsigned>(code)));
  }
  return bold ? found->bold : found->regular;
}

// Decodes one UTF-8 code point and moves `at` behind it.
char32_t next_code(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  char32_t code = lead & (0x3F >> more);
  for (int i = 0; i < more && at < text.size(); ++i) code = code << 6 | (text[at++] & 0x3F);
  return code;
}

}  // namespace

double text_width(std::string_view text, double size, bool bold) {
  long units = 0;
  for (size_t at = 0; at < text.size();) units += advance(next_code(text, at), bold);
  return units * size / 2048.0;
}

std::vector<std::string> wrap(std::string_view text, double size, double width, bool bold) {
  std::vector<std::string> lines;
  std::string line;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find(' ', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string word(text.substr(at, end - at));
    const std::string longer = line.empty() ? word : line + ' ' + word;
    if (!line.empty() && text_width(longer, size, bold) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
    at = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace svg
