// A picture: shapes and text in user units, one style sheet, byte-for-byte the same on every run.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace svg {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, w = 0, h = 0;
  double right() const { return x + w; }
  double bottom() const { return y + h; }
  Point center() const { return {x + w / 2, y + h / 2}; }
  Rect inset(double d) const { return {x + d, y + d, w - 2 * d, h - 2 * d}; }
};

enum class Anchor { start, middle, end };

struct Text {
  double size = 12;
  Anchor anchor = Anchor::start;
  bool bold = false;
  const char* cls = "t";
  bool plate = false;  // a patch of ground behind the text, for text above lines or cells
  double rotate = 0;   // degrees about the anchor point; 0 or -90
};

// Smallest font size a label may shrink to: 9 px when a picture of 900 units is shown 900 px wide.
inline constexpr double kMinFont = 9;
inline constexpr double kWidth = 900;
inline constexpr double kMargin = 20;

class Canvas {
 public:
  // `title` is drawn on top and is the <title>; `desc` is the long text for screen readers.
  Canvas(std::string title, std::string subtitle, std::string desc);

  // Where the content may start, below the heading; and the lowest point drawn so far.
  double top() const { return top_; }
  double bottom() const { return bottom_; }

  // `cls` lists classes of palette.h, fill first ("Q e", "none w", "n1"). `tip` becomes a hover <title>.
  void rect(Rect r, std::string_view cls, std::string_view tip = {}, double radius = 0);
  void line(Point a, Point b, std::string_view cls = "ln f");
  void polyline(const std::vector<Point>& points, std::string_view cls = "ln f");
  // Straight or bent arrow with a head at the last point; accent heads for class "hi".
  void arrow(const std::vector<Point>& points, std::string_view cls = "ar");
  // A smooth arc from a to b, bowed by `bow` units to the left of the direction of travel, with a head.
  void arc(Point a, Point b, double bow, std::string_view cls = "ar");
  // Diagonal hatching over a rectangle: `pattern` is "ha" (dead or stale), "hb" (waiting), "hc" (busy
  // elsewhere).
  void hatch(Rect r, std::string_view pattern, std::string_view tip = {});

  void text(Point at, std::string_view s, Text style = {});
  // One or more lines (split at '\n') centred in `r`; shrinks to kMinFont, then throws std::length_error.
  void label(Rect r, std::string_view s, Text style = {});
  // Filled box with a label; ink chosen by the fill.
  void block(Rect r, std::string_view cls, std::string_view s, Text style = {}, std::string_view tip = {});
  // Wrapped prose, left aligned; returns the y below it.
  double prose(Point at, double width, std::string_view s, Text style = {});
  // Measure along an edge: ticks at both ends and the text beside it. Horizontal when a.y == b.y.
  // `offset` moves the text across the line (negative: above or left).
  void measure(Point a, Point b, std::string_view s, double offset, Text style = {});
  // Swatches in a row, wrapping at the right margin; returns the y below.
  double legend(Point at, const std::vector<std::pair<std::string, std::string>>& items);
  // Table with a header row; column widths in units; returns the y below.
  double table(Point at, const std::vector<double>& widths, const std::vector<std::vector<std::string>>& rows,
               double size = 11, double row_height = 19);

  // Group with a class-free transform-less scope: keeps files small when thousands of cells share attributes.
  void begin_group(std::string_view cls);
  void end_group();

  // The finished file. Height follows the content.
  std::string str() const;

 private:
  void grow(double x, double y);
  void head(Point from, Point to, bool accent);

  std::string title_, desc_, body_;
  double top_ = 0, bottom_ = 0;
};

// Two decimals at most, no trailing zeros, no minus zero.
std::string number(double v);
std::string escape(std::string_view s);

}  // namespace svg
