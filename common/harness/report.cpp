#include "harness/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace harness {
namespace {

const char* time_kind(const Report& report) { return report.device.emulated ? "modelled" : "measured"; }

std::string time_text(const Report& report) {
  if (report.milliseconds) {
    return fmt::format("{:.4g} ms  {:.4g} TFLOPS {}", *report.milliseconds, *report.tflops(),
                       time_kind(report));
  }
  return report.options.bench && report.device.emulated ? "time not modelled" : "not timed";
}

template <class Value>
nlohmann::json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::optional<double> Report::tflops() const {
  if (!milliseconds) return std::nullopt;
  return flops / (*milliseconds * 1e9);
}

std::optional<double> median_time(std::vector<double> milliseconds) {
  if (milliseconds.empty()) return std::nullopt;
  const auto middle = milliseconds.begin() + static_cast<std::ptrdiff_t>(milliseconds.size() / 2);
  std::nth_element(milliseconds.begin(), middle, milliseconds.end());
  if (!(*middle > 0)) return std::nullopt;
  return *middle;
}

std::string verdict_line(const Report& report) {
  if (!report.error.empty()) return fmt::format("FAIL {}  {}", report.shape, report.error);
  if (!report.check.pass())
    return fmt::format("FAIL {}  {}  {}", report.shape, report.check.failure(), time_text(report));
  const std::string figures = report.check.compared
                                  ? fmt::format("relative L2 {:.2e}  largest error {:.2e}",
                                                report.check.relative_l2, report.check.largest_error)
                                  : "not checked";
  return fmt::format("PASS {}  {}  {}", report.shape, figures, time_text(report));
}

std::string report_text(const Report& report) {
  std::string text = fmt::format("Chapter {}: {}\n", report.chapter, report.title);
  if (!report.change.empty()) text += fmt::format("  change  {}\n", report.change);
  text += fmt::format("  device  {}\n  inputs  {}, seed {}\n", report.device.name,
                      family_name(report.options.family), report.options.seed);
  if (report.tiles_run < report.tiles) {
    text += fmt::format("  sample  {} of {} query tiles ran; the time of the rest is extrapolated\n",
                        report.tiles_run, report.tiles);
  }
  if (report.check.compared && report.tiles_checked < report.tiles_run) {
    text += fmt::format("  check   {} of {} query tiles against the reference, spread evenly\n",
                        report.tiles_checked, report.tiles_run);
  }
  if (report.device.emulated) {
    text += fmt::format("  host    emulated in {:.2f} s\n", report.host_seconds);
  } else if (report.repeats > 1) {
    text += fmt::format("  time    median of {} launches after warm-up, L2 not flushed between them\n",
                        report.repeats);
  }
  return text + verdict_line(report) + "\n";
}

std::string report_json(const Report& report) {
  const auto compared = [&](double value) {
    return report.check.compared ? nlohmann::json(value) : nlohmann::json(nullptr);
  };
  nlohmann::ordered_json json{
      {"chapter", report.chapter},
      {"title", report.title},
      {"change", report.change},
      {"device", report.device.name},
      {"emulated", report.device.emulated},
      {"shape", report.shape},
      {"inputs", family_name(report.options.family)},
      {"seed", report.options.seed},
      {"rel_l2", compared(report.check.relative_l2)},
      {"worst_row_l2", compared(report.check.worst_row_l2)},
      {"max_abs", compared(report.check.largest_error)},
      {"pass", report.pass()},
      {"failure", report.error.empty() ? report.check.failure() : report.error},
      {"ms", or_null(report.milliseconds)},
      {"tflops", or_null(report.tflops())},
      {"time", report.milliseconds ? nlohmann::json(time_kind(report)) : nlohmann::json(nullptr)},
      {"repeats", report.repeats},
      {"host_seconds", report.host_seconds},
      {"tiles", report.tiles},
      {"tiles_run", report.tiles_run},
      {"tiles_checked", report.tiles_checked},
  };
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace harness
