#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "harness/check.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "harness/options.h"
#include "harness/reference.h"
#include "harness/report.h"

namespace harness {
namespace {

constexpr int kTile = 128;
constexpr int kCorner = 4;

// The upper left corner of S beside the reference's.
std::string corner_text(const std::vector<float>& s, const std::vector<double>& reference) {
  std::string text = fmt::format("  {:<{}}   {}\n", "S, as the kernel wrote it", kCorner * 9, "in float64");
  for (int row = 0; row < kCorner; ++row) {
    std::string left, right;
    for (int column = 0; column < kCorner; ++column) {
      left += fmt::format("{:9.3f}", s[row * kTile + column]);
      right += fmt::format("{:9.3f}", reference[row * kTile + column]);
    }
    text += fmt::format("  {}   {}\n", left, right);
  }
  return text;
}

std::vector<float> launch_and_read(const OneTileChapter& chapter, const Inputs& inputs, Report& report) {
  const Buffer q(inputs.q.size() * sizeof(Bf16)), k(inputs.k.size() * sizeof(Bf16));
  const Buffer s(kTile * kTile * sizeof(float));
  q.upload(inputs.q.data());
  k.upload(inputs.k.data());
  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> times = time_launches(
      report.device, report.options.bench, [&] { s.poison(); },
      [&](cudaStream_t stream) {
        chapter.launch(q.data(), k.data(), static_cast<float*>(s.data()), stream);
      });
  report.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.repeats = static_cast<int>(times.size());
  if (report.options.bench && time_is_known()) report.milliseconds = median_time(times);
  std::vector<float> scores(kTile * kTile);
  s.download(scores.data());
  return scores;
}

}  // namespace

int run_one_tile(const OneTileChapter& chapter, int argc, char** argv) try {
  Report report{.chapter = chapter.number,
                .title = chapter.title,
                .change = chapter.change,
                .shape = fmt::format("{0}x{0}x{0}", kTile),
                .flops = 2.0 * kTile * kTile * kTile};
  report.options = parse_options(chapter, argc, argv);
  report.device = require_b200(chapter.number);
  report.tiles = report.tiles_run = report.tiles_checked = 1;
  std::string corner;
  try {
    const Inputs inputs =
        make_inputs(report.options.problem, report.options.family, report.options.seed, kTile);
    const std::vector<float> scores = launch_and_read(chapter, inputs, report);
    const std::vector<double> reference = reference_scores(inputs.q, inputs.k);
    report.check = check_scores(scores, reference, kTile);
    if (!report.options.check) report.check.compared = false;
    corner = corner_text(scores, reference);
  } catch (const std::runtime_error& failure) {
    report.error = failure.what();
  }
  if (!report.options.json) fmt::print("{}", corner);
  fmt::print("{}", report.options.json ? report_json(report) : report_text(report));
  return report.pass() ? kExitPass : kExitFail;
} catch (const EarlyExit& early) {
  fmt::print(early.code == kExitPass ? stdout : stderr, "{}", early.what());
  return early.code;
}

}  // namespace harness
