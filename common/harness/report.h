// What a driver prints about its run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/check.h"
#include "harness/device.h"
#include "harness/options.h"

namespace harness {

struct Report {
  int chapter = 0;
  std::string title{};
  std::string change{};
  std::string shape{};
  double flops = 0;
  Device device{};
  Options options{};
  CheckResult check{};
  std::string error{};                   // a CUDA failure; empty where everything ran
  std::optional<double> milliseconds{};  // median; nothing where not timed or not modelled
  int repeats = 0;
  double host_seconds = 0;  // wall-clock time of the launches
  int64_t tiles = 0;        // query tiles of the problem
  int64_t tiles_run = 0;    // fewer where the emulator sampled the grid
  int64_t tiles_checked = 0;

  bool pass() const { return error.empty() && check.pass(); }
  std::optional<double> tflops() const;
};

// Median of the times, or nothing for an empty list or a zero time (an emulator without a timing model).
std::optional<double> median_time(std::vector<double> milliseconds);

// Lines for a reader, the last of them "PASS ..." or "FAIL ...".
std::string report_text(const Report& report);

// The last line alone: shape, relative L2, largest error, milliseconds, TFLOPS, measured or modelled.
std::string verdict_line(const Report& report);

// One JSON object on one line; figures that do not exist are null.
std::string report_json(const Report& report);

}  // namespace harness
