#include "svg/check.h"

#include <fmt/format.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include "svg/canvas.h"
#include "svg/metrics.h"

namespace svg {
namespace {

struct Shape {
  enum Kind { box, stroke } kind;
  Rect rect;                  // box
  std::vector<Point> points;  // stroke
  bool opaque = false;
  int order = 0;
};

struct Words {
  std::string content;
  Rect box;
  double size = 0;
  int order = 0;
};

struct Scene {
  double width = 0, height = 0;
  bool titled = false, described = false;
  std::string css;
  std::vector<Shape> shapes;
  std::vector<Words> texts;
  std::vector<std::string> problems;
  int order = 0;
};

std::optional<std::string> attribute(xmlNode* node, const char* name) {
  xmlChar* value = xmlGetProp(node, reinterpret_cast<const xmlChar*>(name));
  if (!value) return std::nullopt;
  std::string s(reinterpret_cast<const char*>(value));
  xmlFree(value);
  return s;
}

double number_of(xmlNode* node, const char* name, double fallback = 0) {
  auto s = attribute(node, name);
  return s ? std::strtod(s->c_str(), nullptr) : fallback;
}

std::string content_of(xmlNode* node) {
  xmlChar* value = xmlNodeGetContent(node);
  std::string s(value ? reinterpret_cast<const char*>(value) : "");
  xmlFree(value);
  return s;
}

bool has_word(const std::string& list, std::string_view word) {
  std::istringstream in(list);
  for (std::string w; in >> w;) {
    if (w == word) return true;
  }
  return false;
}

// Every fill hides what lies under it except "none", the pale role fills (Ql..Ol) and hatching.
bool is_opaque(const std::string& cls) {
  for (const char* pale : {"none", "hatch", "Ql", "Kl", "Vl", "Sl", "Pl", "Ol"}) {
    if (has_word(cls, pale)) return false;
  }
  return true;
}

void read_rect(xmlNode* node, Scene& scene) {
  const std::string cls = attribute(node, "class").value_or("");
  if (has_word(cls, "hatch")) return;
  Shape s{Shape::box,
          {number_of(node, "x"), number_of(node, "y"), number_of(node, "width"), number_of(node, "height")},
          {},
          is_opaque(cls),
          scene.order};
  scene.shapes.push_back(std::move(s));
}

void read_stroke(xmlNode* node, const std::string& name, Scene& scene) {
  Shape s{Shape::stroke, {}, {}, false, scene.order};
  if (name == "line") {
    s.points = {{number_of(node, "x1"), number_of(node, "y1")},
                {number_of(node, "x2"), number_of(node, "y2")}};
  } else {
    const bool path = name == "path";
    std::string data = attribute(node, path ? "d" : "points").value_or("");
    const bool curve = data.find('Q') != std::string::npos;
    const bool closed = !data.empty() && data.back() == 'Z';
    std::replace_if(
        data.begin(), data.end(),
        [](char c) { return c == ',' || c == 'M' || c == 'L' || c == 'Q' || c == 'Z'; }, ' ');
    std::istringstream in(data);
    for (double x, y; in >> x >> y;) s.points.push_back({x, y});
    if (!in.eof()) scene.problems.push_back("path data not understood: " + data);
    if (curve && s.points.size() == 3) {
      const auto [a, c, b] = std::array{s.points[0], s.points[1], s.points[2]};
      s.points.clear();
      for (int i = 0; i <= 16; ++i) {
        const double t = i / 16.0, u = 1 - t;
        s.points.push_back(
            {u * u * a.x + 2 * u * t * c.x + t * t * b.x, u * u * a.y + 2 * u * t * c.y + t * t * b.y});
      }
    }
    if (closed && !s.points.empty()) s.points.push_back(s.points.front());
  }
  scene.shapes.push_back(std::move(s));
}

void read_text(xmlNode* node, Scene& scene) {
  Words w;
  w.content = content_of(node);
  w.order = scene.order;
  w.size = number_of(node, "font-size");
  const double x = number_of(node, "x"), y = number_of(node, "y");
  double width = 0;
  try {
    width = text_width(w.content, w.size, attribute(node, "font-weight").value_or("") == "bold");
  } catch (const std::exception& e) {
    scene.problems.push_back(fmt::format("text \"{}\": {}", w.content, e.what()));
  }
  const std::string anchor = attribute(node, "text-anchor").value_or("start");
  const double left = anchor == "middle" ? -width / 2 : anchor == "end" ? -width : 0;
  const double up = w.size * kAscent, height = w.size * (kAscent + kDescent);
  const std::string turn = attribute(node, "transform").value_or("");
  if (turn.empty()) {
    w.box = {x + left, y - up, width, height};
  } else if (turn.rfind("rotate(-90", 0) == 0) {
    w.box = {x - up, y - left - width, height, width};
  } else {
    scene.problems.push_back(fmt::format("text \"{}\": transform \"{}\" not understood", w.content, turn));
  }
  scene.texts.push_back(std::move(w));
}

void walk(xmlNode* node, Scene& scene) {
  for (; node; node = node->next) {
    if (node->type != XML_ELEMENT_NODE) continue;
    const std::string name = reinterpret_cast<const char*>(node->name);
    ++scene.order;
    if (name == "rect") {
      read_rect(node, scene);
    } else if (name == "line" || name == "polyline" || name == "path") {
      read_stroke(node, name, scene);
    } else if (name == "text") {
      read_text(node, scene);
    } else if (name == "g") {
      if (attribute(node, "transform")) scene.problems.push_back("group with a transform: not understood");
      walk(node->children, scene);
    } else if (name == "title") {
      scene.titled = scene.titled || !content_of(node).empty();
    } else if (name == "desc") {
      scene.described = scene.described || !content_of(node).empty();
    } else if (name == "style") {
      scene.css += content_of(node);
    } else if (name != "defs") {
      scene.problems.push_back("element <" + name + "> not understood");
    }
  }
}

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}
bool inside(const Rect& in, const Rect& out, double slack = 0.6) {
  return in.x >= out.x - slack && in.y >= out.y - slack && in.right() <= out.right() + slack &&
         in.bottom() <= out.bottom() + slack;
}

// Liang-Barsky: does the segment enter the box?
bool crosses(Point a, Point b, const Rect& r) {
  double from = 0, to = 1;
  const double dx = b.x - a.x, dy = b.y - a.y;
  const std::array<double, 4> p = {-dx, dx, -dy, dy};
  const std::array<double, 4> q = {a.x - r.x, r.right() - a.x, a.y - r.y, r.bottom() - a.y};
  for (int i = 0; i < 4; ++i) {
    if (std::abs(p[i]) < 1e-9) {
      if (q[i] < 0) return false;
    } else if (p[i] < 0) {
      from = std::max(from, q[i] / p[i]);
    } else {
      to = std::min(to, q[i] / p[i]);
    }
  }
  return from < to;
}

// Ink hardly ever fills the whole em box: a hair of it may touch.
Rect ink(const Words& w) {
  const double d = w.size * 0.1;
  return {w.box.x + d / 2, w.box.y + d, std::max(0.1, w.box.w - d), std::max(0.1, w.box.h - 2 * d)};
}

void check_text(const Words& w, Scene& scene) {
  const Rect box = ink(w);
  int ground = -1;  // order of the last opaque box below the text that holds all of it
  for (const Shape& s : scene.shapes) {
    if (s.kind == Shape::box && s.opaque && s.order < w.order && inside(box, s.rect)) ground = s.order;
  }
  for (const Shape& s : scene.shapes) {
    if (s.order <= ground) continue;
    if (s.kind == Shape::box) {
      if (!overlap(box, s.rect)) continue;
      const char* what = !inside(box, s.rect)            ? "crosses the edge of"
                         : s.opaque && s.order > w.order ? "is covered by"
                                                         : nullptr;
      if (what) {
        scene.problems.push_back(
            fmt::format("text \"{}\" at ({:.0f},{:.0f}) {} the box ({:.0f},{:.0f}) {:.0f}x{:.0f}", w.content,
                        w.box.x, w.box.y, what, s.rect.x, s.rect.y, s.rect.w, s.rect.h));
      }
      continue;
    }
    for (size_t i = 0; i + 1 < s.points.size(); ++i) {
      if (crosses(s.points[i], s.points[i + 1], box)) {
        scene.problems.push_back(fmt::format(
            "text \"{}\" at ({:.0f},{:.0f}) is crossed by a line ({:.0f},{:.0f})-({:.0f},{:.0f})", w.content,
            w.box.x, w.box.y, s.points[i].x, s.points[i].y, s.points[i + 1].x, s.points[i + 1].y));
        break;
      }
    }
  }
}

void check_scene(Scene& scene, const CheckLimits& limits) {
  if (!scene.titled) scene.problems.push_back("no <title>");
  if (!scene.described) scene.problems.push_back("no <desc>");
  if (scene.css.find("prefers-color-scheme:dark") == std::string::npos)
    scene.problems.push_back("no dark mode in the style sheet");
  const double scale = limits.shown_width / scene.width;
  const Rect page = {0, 0, scene.width, scene.height};
  for (size_t i = 0; i < scene.texts.size(); ++i) {
    const Words& w = scene.texts[i];
    if (!inside(w.box, page, 0))
      scene.problems.push_back(fmt::format("text \"{}\" leaves the page", w.content));
    if (w.size * scale < limits.min_font_px - 1e-6) {
      scene.problems.push_back(
          fmt::format("text \"{}\" is {:.1f} px at {:.0f} px width, at least {:.0f} are needed", w.content,
                      w.size * scale, limits.shown_width, limits.min_font_px));
    }
    check_text(w, scene);
    for (size_t j = i + 1; j < scene.texts.size(); ++j) {
      if (overlap(ink(w), ink(scene.texts[j]))) {
        scene.problems.push_back(fmt::format("texts \"{}\" and \"{}\" overlap at ({:.0f},{:.0f})", w.content,
                                             scene.texts[j].content, scene.texts[j].box.x,
                                             scene.texts[j].box.y));
      }
    }
  }
}

}  // namespace

std::vector<std::string> check(std::string_view xml, const CheckLimits& limits) {
  Scene scene;
  if (xml.size() > limits.max_bytes) {
    scene.problems.push_back(fmt::format("{} bytes, at most {} are allowed", xml.size(), limits.max_bytes));
  }
  const std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document(
      xmlReadMemory(xml.data(), static_cast<int>(xml.size()), "picture.svg", nullptr,
                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE),
      &xmlFreeDoc);
  if (!document) {
    const auto* error = xmlGetLastError();
    std::string why = error && error->message ? error->message : "no reason given";
    while (!why.empty() && why.back() == '\n') why.pop_back();
    return {fmt::format("not well-formed XML, line {}: {}", error ? error->line : 0, why)};
  }
  xmlNode* root = xmlDocGetRootElement(document.get());
  if (std::string(reinterpret_cast<const char*>(root->name)) != "svg")
    return {"the root element is not <svg>"};
  double x = 0, y = 0;
  std::istringstream view(attribute(root, "viewBox").value_or(""));
  if (!(view >> x >> y >> scene.width >> scene.height) || scene.width <= 0) return {"no usable viewBox"};
  walk(root->children, scene);
  check_scene(scene, limits);
  return scene.problems;
}

}  // namespace svg
