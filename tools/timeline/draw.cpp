#include "timeline/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "svg/canvas.h"
#include "svg/metrics.h"

namespace timeline {

namespace {

using svg::Point;
using svg::Rect;

constexpr double kLeft = 196;  // where time begins
constexpr double kRight = svg::kWidth - svg::kMargin;
constexpr double kBlockHeight = 24;
constexpr double kStripHeight = 30;
constexpr double kRowGap = 24;
constexpr double kBin = 4;              // width of a bar of a busy share
constexpr double kNarrowest = 0.6;      // blocks that would be narrower are left out
constexpr double kShortestWait = 24;    // cycles: waits within work that emu --trace records
constexpr double kNarrowestWait = 1.8;  // width at which they are drawn
constexpr double kFont = 11;

// 1, 2 or 5 times a power of ten, for about eight ticks.
double tick_step(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 8)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (span / (power * factor) <= 9) return power * factor;
  }
  return power * 10;
}

class Drawing {
 public:
  Drawing(const Story& story, const Heading& heading)
      : story_(story),
        canvas_(heading.title, heading.subtitle,
                heading.subtitle +
                    " Rows show units and warps; arrows run from an arrival at a barrier to the wait "
                    "that it ended.") {}

  std::string str() {
    place_rows();
    axis();
    for (size_t r = 0; r < story_.rows.size(); ++r) row(r);
    for (const Arrow& arrow : story_.arrows) connect(arrow);
    for (size_t r = 0; r < story_.rows.size(); ++r) labels(r);
    legend();
    return canvas_.str();
  }

 private:
  struct Line {
    Point a, b;
  };

  double x(double time) const {
    const double at = (time - story_.from) / (story_.to - story_.from);
    return kLeft + std::clamp(at, 0.0, 1.0) * (kRight - kLeft);
  }

  void place_rows() {
    axis_ = canvas_.top() + 34;
    double y = axis_ + 16;
    for (const Row& row : story_.rows) {
      const double height = row.pipes > 0 ? kStripHeight : kBlockHeight;
      boxes_.push_back({kLeft, y, kRight - kLeft, height});
      y += height + kRowGap;
    }
    bottom_ = y - kRowGap;
    // Arrows leave and enter at the edges that face each other.
    for (const Arrow& arrow : story_.arrows) {
      const bool down = arrow.to > arrow.from;
      const Rect& from = boxes_[arrow.from];
      const Rect& to = boxes_[arrow.to];
      lines_.push_back(
          {{x(arrow.arrived), down ? from.bottom() : from.y}, {x(arrow.ended), down ? to.y : to.bottom()}});
    }
  }

  void axis() {
    canvas_.line({kLeft, axis_}, {kRight, axis_}, "ln e");
    const double step = tick_step(story_.to - story_.from);
    double last = 0;
    for (double t = 0; story_.from + t <= story_.to; t += step) {
      const double at = x(story_.from + t);
      canvas_.line({at, axis_}, {at, axis_ + 5}, "ln e");
      const std::string text = t == 0 ? "0 cycles" : thousands(t);
      const double half = svg::text_width(text, 10) / 2;
      if (at - half < last + 6 || at + half > svg::kWidth - 4) continue;
      canvas_.text({at, axis_ - 5}, text, {.size = 10, .anchor = svg::Anchor::middle, .cls = "m"});
      last = at + half;
    }
    for (size_t i = 0; i < story_.iterations.size(); ++i) {
      const double begin = story_.iterations[i];
      const double end = i + 1 < story_.iterations.size() ? story_.iterations[i + 1] : story_.to;
      if (begin < story_.from - 0.5 || begin >= story_.to) continue;
      canvas_.line({x(begin), axis_ - 20}, {x(begin), axis_ - 31}, "ln e");
      canvas_.line({x(begin), axis_ + 6}, {x(begin), bottom_}, "ln g");
      const std::string text = fmt::format("iteration {}", i);
      const double room = x(end) - x(begin) - 8;
      if (svg::text_width(text, kFont, true) <= room) {
        canvas_.text({x(begin) + 5, axis_ - 21}, text, {.size = kFont, .bold = true});
      } else if (svg::text_width(fmt::format("{}", i), 10) <= room) {
        canvas_.text({x(begin) + 4, axis_ - 21}, fmt::format("{}", i), {.size = 10});
      }
    }
  }

  void row(size_t r) {
    const Row& row = story_.rows[r];
    const Rect& box = boxes_[r];
    const double middle = box.y + box.h / 2;
    canvas_.text({svg::kMargin, middle - 2}, row.title, {.size = 12, .bold = true});
    canvas_.text({svg::kMargin, middle + 11}, row.detail, {.size = 9.5, .cls = "m"});
    if (!row.more.empty()) canvas_.text({svg::kMargin, middle + 23}, row.more, {.size = 9.5, .cls = "m"});
    canvas_.line({kLeft, box.bottom()}, {kRight, box.bottom()}, "ln g");
    if (row.pipes > 0) canvas_.line({kLeft, box.y}, {kRight, box.y}, "ln g");
    if (row.pipes > 0) {
      strip(row, box);
      return;
    }
    for (const auto& [begin, end] : row.flights) {
      if (end <= story_.from || begin >= story_.to) continue;
      canvas_.line({x(begin), box.bottom() + 3}, {x(end), box.bottom() + 3}, "ln e");
    }
    for (const Block& block : row.blocks) {
      const Rect area = area_of(block, box);
      if (area.w < kNarrowest) continue;
      if (block.kind == Block::Kind::Work) {
        canvas_.rect(area, area.w > 2.5 ? block.fill + " e" : block.fill, block.tip);
      } else {
        canvas_.rect(area, area.w > 2.5 ? "n1 e" : "n1");
        canvas_.hatch(area, block.kind == Block::Kind::MbarrierWait ? "hb" : "ha", block.tip);
      }
    }
    for (const Overlay& wait : row.waits) {
      const Rect area = {x(wait.begin), box.y, x(wait.end) - x(wait.begin), box.h};
      if (!zoomed_in()) break;
      canvas_.hatch(area, "hc", fmt::format("waits for {}", wait.reason));
      overlaid_ = true;
    }
  }

  // Close enough to tell every wait that is in the trace.
  bool zoomed_in() const {
    return kShortestWait / (story_.to - story_.from) * (kRight - kLeft) >= kNarrowestWait;
  }

  Rect area_of(const Block& block, const Rect& box) const {
    return {x(block.begin), box.y, x(block.end) - x(block.begin), box.h};
  }

  // Busy share of a group of like pipes, as bars.
  void strip(const Row& row, const Rect& box) {
    const size_t bins = static_cast<size_t>(box.w / kBin);
    const double width = (story_.to - story_.from) / static_cast<double>(bins);
    std::vector<double> busy(bins, 0);
    for (const Slice& use : row.uses) {
      const double density = use.cycles / std::max(1e-9, use.end - use.begin);
      const double first = std::max(0.0, std::floor((use.begin - story_.from) / width));
      for (size_t b = static_cast<size_t>(first); b < bins; ++b) {
        const double begin = story_.from + width * static_cast<double>(b), end = begin + width;
        if (begin >= use.end) break;
        busy[b] += density * (std::min(end, use.end) - std::max(begin, use.begin));
      }
    }
    for (size_t b = 0; b < bins;) {
      const double share = std::round(20 * std::min(1.0, busy[b] / (width * row.pipes))) / 20;
      size_t next = b + 1;
      while (next < bins && std::round(20 * std::min(1.0, busy[next] / (width * row.pipes))) / 20 == share)
        ++next;
      if (share > 0) {
        canvas_.rect({box.x + static_cast<double>(b) * kBin, box.bottom() - share * box.h,
                      static_cast<double>(next - b) * kBin, share * box.h},
                     "n3", fmt::format("{}: busy {:.0f} %", row.title, 100 * share));
      }
      b = next;
    }
  }

  void connect(const Arrow& arrow) {
    const Line& line = lines_[static_cast<size_t>(&arrow - story_.arrows.data())];
    canvas_.arrow({line.a, line.b}, "ln f");
  }

  // The widest part of a block that no arrow crosses.
  Rect clear_part(const Rect& area) const {
    std::vector<std::pair<double, double>> taken;
    for (const Line& line : lines_) {
      const double top = std::min(line.a.y, line.b.y), bottom = std::max(line.a.y, line.b.y);
      if (bottom < area.y - 1 || top > area.bottom() + 1) continue;
      const auto at = [&](double y) {
        if (bottom - top < 1e-9) return line.a.x;
        return line.a.x +
               (line.b.x - line.a.x) * (std::clamp(y, top, bottom) - line.a.y) / (line.b.y - line.a.y);
      };
      const double a = at(area.y), b = at(area.bottom());
      // An arrow that only ends at the block's edge still has a head of some width.
      const double slack = 3;
      const bool ends_here = std::abs(bottom - area.y) < 1e-6 || std::abs(top - area.bottom()) < 1e-6;
      if (!ends_here) taken.emplace_back(std::min(a, b) - slack, std::max(a, b) + slack);
    }
    std::sort(taken.begin(), taken.end());
    Rect best{area.x, area.y, 0, area.h};
    double begin = area.x;
    for (const auto& [from, to] : taken) {
      if (to < area.x || from > area.right()) continue;
      if (from - begin > best.w) best = {begin, area.y, from - begin, area.h};
      begin = std::max(begin, to);
    }
    if (area.right() - begin > best.w) best = {begin, area.y, area.right() - begin, area.h};
    return best;
  }

  void labels(size_t r) {
    for (const Block& block : story_.rows[r].blocks) {
      if (block.label.empty()) continue;
      const Rect part = clear_part(area_of(block, boxes_[r]));
      const bool wait = block.kind != Block::Kind::Work;
      const bool overlaid = !wait && overlaid_ && !story_.rows[r].waits.empty();
      const double margin = wait ? 10 : 5;
      double size = kFont;
      const auto fits = [&](const std::string& text) {
        for (size = kFont; size > svg::kMinFont; size -= 0.5) {
          if (svg::text_width(text, size) <= part.w - margin) return true;
        }
        return svg::text_width(text, size) <= part.w - 2;
      };
      std::string text = fits(block.label) ? block.label : "";
      for (const std::string& form : block.brief) {
        if (text.empty() && fits(form)) text = form;
      }
      if (text.empty()) continue;
      const bool dark = !wait && !overlaid && block.fill.size() == 1;  // a full role colour
      canvas_.text(
          {part.center().x, part.center().y + size * 0.34}, text,
          {.size = size, .anchor = svg::Anchor::middle, .cls = dark ? "k" : "t", .plate = wait || overlaid});
    }
  }

  void legend() {
    bool mbarrier = false, barrier = false, strips = false;
    for (const Row& row : story_.rows) {
      strips |= row.pipes > 0;
      for (const Block& block : row.blocks) {
        mbarrier |= block.kind == Block::Kind::MbarrierWait;
        barrier |= block.kind == Block::Kind::BarrierWait;
      }
    }
    std::vector<std::pair<std::string, std::string>> items;
    for (const auto& [fill, meaning] : story_.meanings) items.emplace_back(fill + " e", meaning);
    if (mbarrier) items.emplace_back("url:hb", "waits for the mbarrier named");
    if (barrier) items.emplace_back("url:ha", "waits at bar.sync");
    if (overlaid_) items.emplace_back("url:hc", "waits for an operand, a pipe or tensor memory");
    if (strips) items.emplace_back("n3", "busy share, full height 100 %");
    double y = canvas_.legend({svg::kMargin, bottom_ + 22}, items);
    canvas_.prose(
        {svg::kMargin, y + 12}, svg::kWidth - 2 * svg::kMargin,
        "An arrow runs from the arrival that completed a barrier's phase to the wait that it ended. A line "
        "under a block lasts until the operation's results are there. White: the warp works on something "
        "that has no name here, or the unit is idle.",
        {.size = 11, .cls = "m"});
  }

  const Story& story_;
  svg::Canvas canvas_;
  std::vector<Rect> boxes_;
  std::vector<Line> lines_;  // of the arrows
  double axis_ = 0, bottom_ = 0;
  bool overlaid_ = false;
};

}  // namespace

std::string thousands(double value) {
  const std::string digits = fmt::format("{:.0f}", value);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string draw(const Story& story, const Heading& heading) { return Drawing(story, heading).str(); }

}  // namespace timeline
