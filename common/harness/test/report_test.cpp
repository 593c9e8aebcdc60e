#include "harness/report.h"

#include <nlohmann/json.hpp>

#include "testing/catch.h"

using namespace harness;

namespace {

Report passing() {
  Report report{.chapter = 1, .title = "Baseline", .shape = "1x2x512", .flops = 2.0e9};
  report.device = {.name = "NVIDIA B200 (emulated)", .emulated = true};
  report.check.compared = true;
  report.check.relative_l2 = 1.5e-3;
  report.check.largest_error = 2.5e-4;
  report.milliseconds = 0.5;
  report.tiles = report.tiles_run = report.tiles_checked = 8;
  return report;
}

}  // namespace

TEST_CASE("the last line gives verdict, shape, errors, time, TFLOPS and where the time is from") {
  CHECK(verdict_line(passing()) ==
        "PASS 1x2x512  relative L2 1.50e-03  largest error 2.50e-04  0.5 ms  4 TFLOPS modelled");
}

TEST_CASE("time on a GPU is measured") {
  Report report = passing();
  report.device = {.name = "NVIDIA B200", .emulated = false};
  CHECK(verdict_line(report).find("4 TFLOPS measured") != std::string::npos);
}

TEST_CASE("an emulator without a timing model reports zero, which is no time") {
  Report report = passing();
  report.milliseconds = median_time({0.0});
  CHECK(verdict_line(report) ==
        "PASS 1x2x512  relative L2 1.50e-03  largest error 2.50e-04  time not modelled");
  const auto json = nlohmann::json::parse(report_json(report));
  CHECK(json["ms"].is_null());
  CHECK(json["tflops"].is_null());
}

TEST_CASE("the median of the launches counts, not the mean") {
  CHECK(median_time({9, 1, 2}) == 2.0);
  CHECK(median_time({}) == std::nullopt);
}

TEST_CASE("a failure says why") {
  Report report = passing();
  report.check.relative_l2 = 0.1;
  report.check.first_bad = "O[0][0][0][0]";
  CHECK(verdict_line(report).rfind("FAIL 1x2x512  relative L2 error 1.00e-01 is above 4e-03", 0) == 0);
  report.error = "kernel: unspecified launch failure (cudaErrorLaunchFailure)";
  CHECK(verdict_line(report) == "FAIL 1x2x512  kernel: unspecified launch failure (cudaErrorLaunchFailure)");
  CHECK_FALSE(report.pass());
}

TEST_CASE("JSON has the documented keys on one line") {
  const std::string text = report_json(passing());
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  const auto json = nlohmann::json::parse(text);
  for (const char* key : {"chapter", "title", "device", "emulated", "shape", "inputs", "rel_l2", "max_abs",
                          "pass", "ms", "tflops"}) {
    INFO(key);
    CHECK(json.contains(key));
  }
  CHECK(json["emulated"] == true);
  CHECK(json["pass"] == true);
  CHECK(json["tflops"] == Approx(4.0));
}

TEST_CASE("a run that was not compared has no error figures") {
  Report report = passing();
  report.check = {};
  CHECK(verdict_line(report).find("not checked") != std::string::npos);
  CHECK(nlohmann::json::parse(report_json(report))["rel_l2"].is_null());
}

TEST_CASE("a sampled grid and a sampled check are said") {
  Report report = passing();
  report.tiles = 4096;
  report.tiles_run = 592;
  report.tiles_checked = 60;
  const std::string text = report_text(report);
  CHECK(text.find("592 of 4096 query tiles ran") != std::string::npos);
  CHECK(text.find("60 of 592 query tiles against the reference") != std::string::npos);
}
