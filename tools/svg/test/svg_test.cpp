#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "svg/canvas.h"
#include "svg/check.h"
#include "svg/metrics.h"
#include "svg/palette.h"
#include "testing/catch.h"

using namespace svg;

namespace {

Canvas page() { return Canvas("A title", "a subtitle", "a description"); }

bool mentions(const std::vector<std::string>& problems, const std::string& what) {
  for (const std::string& p : problems) {
    if (p.find(what) != std::string::npos) return true;
  }
  return false;
}

using Vec = std::array<double, 3>;
using Mat = std::array<Vec, 3>;

Vec linear(std::string_view hex) {
  Vec out{};
  for (int i = 0; i < 3; ++i) {
    const double c = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    out[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return out;
}

Vec see_through(const Mat& m, const Vec& v) {
  Vec out{};
  for (int i = 0; i < 3; ++i) {
    out[i] = std::clamp(m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2], 0.0, 1.0);
  }
  return out;
}

Vec lab(const Vec& rgb) {
  const Mat to_xyz = {{{.4124, .3576, .1805}, {.2126, .7152, .0722}, {.0193, .1192, .9505}}};
  const Vec xyz = see_through(to_xyz, rgb);
  auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f(xyz[0] / .9505), y = f(xyz[1]), z = f(xyz[2] / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double lab_distance(const Vec& a, const Vec& b) {
  return std::sqrt(std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2) + std::pow(a[2] - b[2], 2));
}

}  // namespace

TEST_CASE("text widths are those of the font file") {
  // hmtx of DejaVu Sans 2.37: 'M' 1767, 'i' 569, '1' 1303; bold 'M' 2038; U+2192 1716. Units per em 2048.
  CHECK(text_width("M", 2048) == Approx(1767));
  CHECK(text_width("i1", 2048) == Approx(569 + 1303));
  CHECK(text_width("M", 2048, true) == Approx(2038));
  CHECK(text_width("\xE2\x86\x92", 2048) == Approx(1716));
  CHECK_THROWS_WITH(text_width("\xE2\x98\x83", 10), ContainsSubstring("U+2603"));
}

TEST_CASE("wrapping keeps every line within the width") {
  const auto lines = wrap("one two three four five six seven", 10, 80);
  CHECK(lines.size() > 1);
  for (const std::string& l : lines) CHECK(text_width(l, 10) <= 80);
}

TEST_CASE("greyscale keeps the six operands at least 4.5 L* apart") {
  for (const Role& a : kRoles) {
    for (const Role& b : kRoles) {
      if (a.name != b.name) CHECK(std::abs(lab(linear(a.color))[0] - lab(linear(b.color))[0]) >= 4.5);
    }
  }
}

TEST_CASE("colour-blind readers can tell the six operands apart") {
  // Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
  const Mat protan = {
      {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}}};
  const Mat deutan = {
      {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}}};
  const Mat tritan = {
      {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}}};
  for (const Mat& sight : {protan, deutan, tritan}) {
    for (const Role& a : kRoles) {
      for (const Role& b : kRoles) {
        if (a.name == b.name) continue;
        INFO(a.name << " and " << b.name);
        CHECK(lab_distance(lab(see_through(sight, linear(a.color))),
                           lab(see_through(sight, linear(b.color)))) >= 9);
      }
    }
  }
}

TEST_CASE("dark ink on every operand colour has a contrast of at least 4.5") {
  auto luminance = [](std::string_view hex) {
    const Vec v = linear(hex);
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2];
  };
  for (const Role& r : kRoles) {
    INFO(r.name);
    CHECK((luminance(r.color) + 0.05) / (luminance(kInkOnColor) + 0.05) >= 4.5);
  }
}

TEST_CASE("a tidy picture has no problems") {
  Canvas c = page();
  c.block({20, 100, 200, 40}, "Q e", "Q tile");
  c.arrow({{230, 120}, {300, 120}});
  c.text({310, 124}, "beside the arrow");
  c.hatch({20, 160, 50, 20}, "ha", "dead");
  CHECK(check(c.str()).empty());
}

TEST_CASE("the same picture is the same bytes") {
  auto draw = [] {
    Canvas c = page();
    c.block({20.123456, 100, 200, 40}, "Q e", "Q tile");
    c.arc({20, 200}, {200, 200}, 20);
    return c.str();
  };
  CHECK(draw() == draw());
  CHECK(number(-0.001) == "0");
  CHECK(number(12.50) == "12.5");
}

TEST_CASE("overlapping texts are found") {
  Canvas c = page();
  c.text({100, 120}, "first words");
  c.text({110, 122}, "second words");
  CHECK(mentions(check(c.str()), "overlap"));
}

TEST_CASE("text crossing the edge of a box is found") {
  Canvas c = page();
  c.rect({100, 100, 40, 30}, "n1 e");
  c.text({110, 120}, "far too long for this box");
  CHECK(mentions(check(c.str()), "crosses the edge"));
}

TEST_CASE("a line through a text is found, unless a plate lies between") {
  Canvas c = page();
  c.line({100, 100}, {300, 200});
  c.text({180, 154}, "crossed");
  CHECK(mentions(check(c.str()), "crossed by a line"));
  Canvas d = page();
  d.line({100, 100}, {300, 200});
  d.text({180, 154}, "clear", {.plate = true});
  CHECK(check(d.str()).empty());
}

TEST_CASE("text outside the page, covered or too small is found") {
  Canvas c = page();
  c.text({100, 120}, "tiny", {.size = 6});
  c.text({100, 150}, "hidden");
  c.rect({90, 130, 100, 40}, "n2");
  const auto problems = check(c.str());
  CHECK(mentions(problems, "6.0 px"));
  CHECK(mentions(problems, "is covered by"));
  std::string outside = page().str();
  outside.insert(outside.find("</svg>"), "<text x=\"880\" y=\"20\" font-size=\"12\">over the edge</text>");
  CHECK(mentions(check(outside), "leaves the page"));
}

TEST_CASE("broken or foreign SVG is reported, not passed") {
  CHECK(mentions(check("<svg><g></svg>"), "not well-formed"));
  CHECK(mentions(check("<html/>"), "not <svg>"));
  std::string foreign = page().str();
  foreign.insert(foreign.find("</svg>"), "<image href=\"x.png\"/>");
  CHECK(mentions(check(foreign), "<image> not understood"));
}

TEST_CASE("a label that cannot fit is refused when drawn") {
  Canvas c = page();
  CHECK_THROWS_WITH(c.label({0, 0, 10, 10}, "too long"), ContainsSubstring("does not fit"));
}
