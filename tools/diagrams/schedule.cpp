#include "diagrams/schedule.h"

#include <algorithm>

#include "svg/metrics.h"

namespace diagrams {

int Schedule::add(std::string label, int row, double duration, std::vector<int> after, std::string cls) {
  Op op{std::move(label), row, duration, std::move(after), std::move(cls)};
  for (const Op& o : ops_) {
    if (o.row == row) op.start = std::max(op.start, o.end());
  }
  for (int i : op.after) op.start = std::max(op.start, ops_.at(i).end());
  ops_.push_back(std::move(op));
  return static_cast<int>(ops_.size()) - 1;
}

double Schedule::length() const {
  double last = 0;
  for (const Op& o : ops_) last = std::max(last, o.end());
  return last;
}

double Schedule::left() const {
  double x = svg::kMargin;
  for (const std::string& r : rows_) x = std::max(x, svg::kMargin + svg::text_width(r, 11) + 10);
  return x;
}

double Schedule::busy(int row, double from, double to) const {
  double sum = 0;
  for (const Op& o : ops_) {
    if (o.row == row) sum += std::max(0.0, std::min(o.end(), to) - std::max(o.start, from));
  }
  return sum / (to - from);
}

double Schedule::draw(svg::Canvas& c, double y, double until, const std::vector<std::pair<int, int>>& arrows,
                      double row_height) const {
  const double left = this->left();
  const double unit = (svg::kWidth - svg::kMargin - left) / until, gap = 6;
  auto x_of = [&](double t) { return left + t * unit; };
  auto y_of = [&](int row) { return y + row * (row_height + gap); };
  for (size_t r = 0; r < rows_.size(); ++r) {
    c.rect({left, y_of(static_cast<int>(r)), until * unit, row_height}, "n1");
    c.text({left - 8, y_of(static_cast<int>(r)) + row_height / 2 + 4}, rows_[r],
           {.size = 11, .anchor = svg::Anchor::end});
  }
  const double bottom = y_of(static_cast<int>(rows_.size()));
  for (double t = 0; t <= until + 1e-9; t += until > 26 ? 4 : 1) {
    c.line({x_of(t), bottom - gap}, {x_of(t), bottom - gap + 4}, "ln e");
    { c.text({x_of(t), bottom + 9}, svg::number(t), {.size = 9, .anchor = svg::Anchor::middle, .cls = "m"}); }
  }
  for (const Op& o : ops_) {
    if (o.end() > until + 1e-9) continue;
    // A narrow block takes its label on two lines: Q0 over K3.
    const bool narrow = svg::text_width(o.label, 10) > o.duration * unit - 4 && o.label.size() == 4;
    const std::string label = narrow ? o.label.substr(0, 2) + '\n' + o.label.substr(2) : o.label;
    c.block({x_of(o.start), y_of(o.row), o.duration * unit, row_height}, o.cls + " e", label, {.size = 11},
            o.label + ": " + svg::number(o.start) + " to " + svg::number(o.end()));
  }
  for (const auto& [from, to] : arrows) {
    const Op &a = ops_.at(from), &b = ops_.at(to);
    if (b.start > until) continue;
    const bool down = b.row > a.row;
    const svg::Point tail = {x_of(a.end()) - 3, y_of(a.row) + (down ? row_height : 0)};
    const svg::Point tip = {x_of(b.start) + 3, y_of(b.row) + (down ? 0 : row_height)};
    c.arrow({tail, tip}, "hi");
  }
  return bottom + 22;
}

}  // namespace diagrams
