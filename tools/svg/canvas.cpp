#include "svg/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "svg/metrics.h"
#include "svg/palette.h"

namespace svg {
namespace {

const char* anchor_name(Anchor a) {
  return a == Anchor::start ? "start" : a == Anchor::middle ? "middle" : "end";
}

std::vector<std::string> split_lines(std::string_view s) {
  std::vector<std::string> lines;
  size_t at = 0;
  for (size_t end; (end = s.find('\n', at)) != std::string_view::npos; at = end + 1) {
    lines.emplace_back(s.substr(at, end - at));
  }
  lines.emplace_back(s.substr(at));
  return lines;
}

bool has_class(std::string_view list, std::string_view name) {
  for (size_t at = 0; at <= list.size();) {
    size_t end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

// Full role colours take dark ink in both modes; everything else takes the theme's ink.
const char* ink_for(std::string_view cls) {
  for (const Role& r : kRoles) {
    if (has_class(cls, r.name)) return "k";
  }
  return has_class(cls, "bad") ? "k" : "t";
}

constexpr double kLineHeight = 1.28;

}  // namespace

std::string number(double v) {
  std::string s = fmt::format("{:.2f}", v);
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

std::string escape(std::string_view s) {
  std::string out;
  for (char c : s) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Canvas::Canvas(std::string title, std::string subtitle, std::string desc)
    : title_(std::move(title)), desc_(std::move(desc)) {
  double y = kMargin + 14;
  for (const std::string& line : wrap(title_, 18, kWidth - 2 * kMargin, true)) {
    text({kMargin, y}, line, {.size = 18, .bold = true});
    y += 22;
  }
  y = prose({kMargin, y}, kWidth - 2 * kMargin, subtitle, {.size = 12.5, .cls = "m"});
  top_ = y + 10;
}

void Canvas::grow(double x, double y) {
  if (x > kWidth + 0.01) {
    throw std::length_error(
        fmt::format("\"{}\": something reaches x = {:.1f}, the page ends at {}", title_, x, kWidth));
  }
  bottom_ = std::max(bottom_, y);
}

void Canvas::rect(Rect r, std::string_view cls, std::string_view tip, double radius) {
  grow(r.right(), r.bottom());
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", cls, number(r.x),
                       number(r.y), number(r.w), number(r.h));
  if (radius > 0) body_ += fmt::format(" rx=\"{}\"", number(radius));
  body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escape(tip));
}

void Canvas::line(Point a, Point b, std::string_view cls) {
  grow(std::max(a.x, b.x), std::max(a.y, b.y));
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", cls, number(a.x),
                       number(a.y), number(b.x), number(b.y));
}

void Canvas::polyline(const std::vector<Point>& points, std::string_view cls) {
  std::string list;
  for (Point p : points) {
    grow(p.x, p.y);
    list += fmt::format("{}{},{}", list.empty() ? "" : " ", number(p.x), number(p.y));
  }
  body_ += fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", cls, list);
}

void Canvas::head(Point from, Point to, bool accent) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length < 1e-6) throw std::invalid_argument("arrow of no length in \"" + title_ + "\"");
  const double ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
  const double back = 8, half = 3.6;
  const Point base = {to.x - ux * back, to.y - uy * back};
  body_ += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}L{} {}Z\"/>\n", accent ? "xh" : "ah", number(to.x),
                       number(to.y), number(base.x - uy * half), number(base.y + ux * half),
                       number(base.x + uy * half), number(base.y - ux * half));
}

void Canvas::arrow(const std::vector<Point>& points, std::string_view cls) {
  if (points.size() < 2) throw std::invalid_argument("an arrow needs two points in \"" + title_ + "\"");
  const Point tip = points.back(), before = points[points.size() - 2];
  const double length = std::hypot(tip.x - before.x, tip.y - before.y);
  std::vector<Point> shaft = points;
  if (length > 7) {
    shaft.back() = {tip.x - (tip.x - before.x) / length * 6, tip.y - (tip.y - before.y) / length * 6};
  }
  grow(tip.x, tip.y);
  if (shaft.size() == 2) {
    line(shaft[0], shaft[1], has_class(cls, "hi") ? "ln hi" : cls);
  } else {
    polyline(shaft, has_class(cls, "hi") ? "ln hi" : cls);
  }
  head(before, tip, has_class(cls, "hi"));
}

void Canvas::arc(Point a, Point b, double bow, std::string_view cls) {
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  const double nx = (b.y - a.y) / length, ny = -(b.x - a.x) / length;
  const Point c = {(a.x + b.x) / 2 + nx * bow * 2, (a.y + b.y) / 2 + ny * bow * 2};
  const double tangent = std::hypot(b.x - c.x, b.y - c.y);
  const Point stop = {b.x - (b.x - c.x) / tangent * 6, b.y - (b.y - c.y) / tangent * 6};
  grow(std::max({a.x, b.x, (a.x + b.x) / 2 + nx * bow}), std::max({a.y, b.y, (a.y + b.y) / 2 + ny * bow}));
  const bool accent = has_class(cls, "hi");
  body_ +=
      fmt::format("<path class=\"{}\" d=\"M{} {}Q{} {} {} {}\"/>\n", accent ? std::string_view("ln hi") : cls,
                  number(a.x), number(a.y), number(c.x), number(c.y), number(stop.x), number(stop.y));
  head(c, b, accent);
}

void Canvas::hatch(Rect r, std::string_view pattern, std::string_view tip) {
  grow(r.right(), r.bottom());
  body_ += fmt::format("<rect class=\"hatch\" fill=\"url(#{})\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                       pattern, number(r.x), number(r.y), number(r.w), number(r.h));
  body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escape(tip));
}

void Canvas::text(Point at, std::string_view s, Text style) {
  const double width = text_width(s, style.size, style.bold);
  const double left = style.anchor == Anchor::start    ? 0
                      : style.anchor == Anchor::middle ? -width / 2
                                                       : -width;
  const bool upright = style.rotate == 0;
  if (!upright && style.rotate != -90) throw std::invalid_argument("text turns by 0 or -90 degrees");
  Rect box =
      upright
          ? Rect{at.x + left, at.y - style.size * kAscent, width, style.size * (kAscent + kDescent)}
          : Rect{at.x - style.size * kAscent, at.y - left - width, style.size * (kAscent + kDescent), width};
  if (box.x < 0)
    throw std::length_error(fmt::format("\"{}\": text \"{}\" begins left of the page", title_, s));
  grow(box.right(), box.bottom());
  if (style.plate) {
    body_ += fmt::format("<rect class=\"plate\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                         number(box.x - 2), number(box.y - 1), number(box.w + 4), number(box.h + 2));
  }
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"", style.cls, number(at.x),
                       number(at.y), number(style.size));
  if (style.anchor != Anchor::start) body_ += fmt::format(" text-anchor=\"{}\"", anchor_name(style.anchor));
  if (style.bold) body_ += " font-weight=\"bold\"";
  if (!upright) body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", number(at.x), number(at.y));
  body_ += fmt::format(">{}</text>\n", escape(s));
}

void Canvas::label(Rect r, std::string_view s, Text style) {
  const std::vector<std::string> lines = split_lines(s);
  const bool upright = style.rotate == 0;
  const double room = (upright ? r.w : r.h) - 4, depth = (upright ? r.h : r.w) - 2;
  auto fits = [&](double size) {
    double widest = 0;
    for (const std::string& l : lines) widest = std::max(widest, text_width(l, size, style.bold));
    return widest <= room && ((lines.size() - 1) * kLineHeight + 1) * size <= depth;
  };
  double size = style.size;
  while (size > kMinFont && !fits(size)) size -= 0.5;
  if (!fits(size)) {
    throw std::length_error(fmt::format("\"{}\": \"{}\" does not fit {:.0f} x {:.0f} at font size {}", title_,
                                        s, r.w, r.h, kMinFont));
  }
  style.size = size;
  style.anchor = Anchor::middle;
  const Point c = r.center();
  const double first =
      -((lines.size() - 1) * kLineHeight * size) / 2 + size * (kAscent - kDescent) / 2 + size * 0.06;
  for (size_t i = 0; i < lines.size(); ++i) {
    const double shift = first + i * kLineHeight * size;
    text(upright ? Point{c.x, c.y + shift} : Point{c.x + shift, c.y}, lines[i], style);
  }
}

void Canvas::block(Rect r, std::string_view cls, std::string_view s, Text style, std::string_view tip) {
  rect(r, cls, tip);
  style.cls = std::string_view(style.cls) == "t" ? ink_for(cls) : style.cls;
  if (!s.empty()) label(r, s, style);
}

double Canvas::prose(Point at, double width, std::string_view s, Text style) {
  double y = at.y;
  for (const std::string& paragraph : split_lines(s)) {
    if (paragraph.empty()) y += style.size * 0.7;
    for (const std::string& line : wrap(paragraph, style.size, width, style.bold)) {
      text({at.x, y}, line, style);
      y += style.size * 1.38;
    }
  }
  return y;
}

void Canvas::measure(Point a, Point b, std::string_view s, double offset, Text style) {
  const bool horizontal = std::abs(a.y - b.y) < 1e-6;
  const double tick = 4;
  line(a, b, "ln e");
  for (Point p : {a, b}) {
    if (horizontal) {
      line({p.x, p.y - tick}, {p.x, p.y + tick}, "ln e");
    } else {
      line({p.x - tick, p.y}, {p.x + tick, p.y}, "ln e");
    }
  }
  if (s.empty()) return;
  const Point mid = {(a.x + b.x) / 2, (a.y + b.y) / 2};
  const double height = style.size * (kAscent + kDescent);
  if (horizontal) {
    style.anchor = Anchor::middle;
    text({mid.x, mid.y + offset + (offset > 0 ? height * kAscent : -height * kDescent)}, s, style);
  } else {
    style.anchor = offset > 0 ? Anchor::start : Anchor::end;
    text({mid.x + offset, mid.y + style.size * 0.32}, s, style);
  }
}

double Canvas::legend(Point at, const std::vector<std::pair<std::string, std::string>>& items) {
  const double size = 11, swatch = 13;
  double x = at.x, y = at.y;
  for (const auto& [cls, name] : items) {
    const double width = swatch + 6 + text_width(name, size) + 18;
    if (x + width > kWidth - kMargin + 18 && x > at.x) {
      x = at.x;
      y += 20;
    }
    const Rect box = {x, y, swatch, swatch};
    if (cls.rfind("url:", 0) == 0) {
      rect(box, "n1 e");
      hatch(box, cls.substr(4));
    } else {
      rect(box, cls);
    }
    text({x + swatch + 6, y + 10.5}, name, {.size = size});
    x += width;
  }
  return y + 22;
}

double Canvas::table(Point at, const std::vector<double>& widths,
                     const std::vector<std::vector<std::string>>& rows, double size, double row_height) {
  double y = at.y, total = 0;
  for (double w : widths) total += w;
  for (size_t r = 0; r < rows.size(); ++r) {
    double x = at.x;
    if (r == 0) rect({at.x, y, total, row_height}, "n2");
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const double wide = text_width(rows[r][c], size, r == 0);
      if (wide > widths.at(c) - 8) {
        throw std::length_error(fmt::format("\"{}\": table cell \"{}\" is {:.0f} wide, its column {:.0f}",
                                            title_, rows[r][c], wide, widths[c]));
      }
      text({x + 5, y + row_height / 2 + size * 0.34}, rows[r][c], {.size = size, .bold = r == 0});
      x += widths[c];
    }
    y += row_height;
    line({at.x, y}, {at.x + total, y}, "ln g");
  }
  return y;
}

void Canvas::begin_group(std::string_view cls) { body_ += fmt::format("<g class=\"{}\">\n", cls); }
void Canvas::end_group() { body_ += "</g>\n"; }

std::string Canvas::str() const {
  const double height = std::ceil(bottom_ + kMargin * 0.8);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" "
      "aria-labelledby=\"pt pd\">\n<title id=\"pt\">{2}</title>\n<desc "
      "id=\"pd\">{3}</desc>\n<style>{4}</style>\n",
      number(kWidth), number(height), escape(title_), escape(desc_), style_sheet());
  out += "<defs>";
  if (body_.find("#ha)") != std::string::npos) {
    out +=
        "<pattern id=\"ha\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"pl\" d=\"M-1 1L1 -1M0 6L6 0M5 7L7 5\"/></pattern>";
  }
  if (body_.find("#hb)") != std::string::npos) {
    out +=
        "<pattern id=\"hb\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"pl\" d=\"M-1 5L1 7M0 0L6 6M5 -1L7 1\"/></pattern>";
  }
  if (body_.find("#hc)") != std::string::npos) {
    out +=
        "<pattern id=\"hc\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
        "<circle class=\"ah\" fill-opacity=\".5\" cx=\"2.5\" cy=\"2.5\" r=\"1\"/></pattern>";
  }
  out += fmt::format("</defs>\n<rect class=\"bg\" width=\"{}\" height=\"{}\"/>\n", number(kWidth),
                     number(height));
  return out + body_ + "</svg>\n";
}

}  // namespace svg
