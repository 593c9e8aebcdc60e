#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "harness/check.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "harness/options.h"
#include "harness/reference.h"
#include "harness/report.h"
#include "harness/run.h"

namespace harness {
namespace {

// Operations of float64 reference per run: seconds on two cores.
constexpr double kReferenceBudget = 6.5e10;

// Device copies of one problem, and the output read back after the launches.
void launch_and_read(const Chapter& chapter, const Inputs& inputs, Report& report,
                     std::vector<Bf16>& output) {
  const Problem& problem = report.options.problem;
  const Buffer q(inputs.q.size() * sizeof(Bf16)), k(inputs.k.size() * sizeof(Bf16));
  const Buffer v(inputs.v.size() * sizeof(Bf16)), o(output.size() * sizeof(Bf16));
  q.upload(inputs.q.data());
  k.upload(inputs.k.data());
  v.upload(inputs.v.data());
  allow_sampling();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> times = time_launches(
      report.device, report.options.bench, [&] { o.poison(); },
      [&](cudaStream_t stream) { chapter.launch(problem, q.data(), k.data(), v.data(), o.data(), stream); });
  report.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.repeats = static_cast<int>(times.size());
  if (report.options.bench && time_is_known()) report.milliseconds = median_time(times);
  o.download(output.data());
}

void run_and_check(const Chapter& chapter, Report& report) {
  const Problem& problem = report.options.problem;
  const Inputs inputs = make_inputs(problem, report.options.family, report.options.seed, chapter.key_tile);
  std::vector<Bf16> output(problem.query_elements());
  launch_and_read(chapter, inputs, report, output);

  const std::vector<OutputTile> all = all_tiles(chapter, problem);
  const std::optional<EmulatedLaunch> emulated = last_emulated_launch();
  const bool sampled = emulated && emulated->sampled;
  const std::vector<OutputTile> written = sampled ? touched_tiles(problem, output, all) : all;
  report.tiles = static_cast<int64_t>(all.size());
  report.tiles_run = static_cast<int64_t>(written.size());
  if (sampled && emulated->ctas_total == report.tiles && emulated->ctas_run != report.tiles_run) {
    report.error = fmt::format("{} CTAs ran and {} query tiles were written; each CTA has one to write",
                               emulated->ctas_run, report.tiles_run);
    return;
  }
  report.check = check_written(problem, output, written);
  if (!report.options.check || !report.check.pass()) return;
  const std::vector<OutputTile> tiles = affordable_tiles(written, problem);
  report.tiles_checked = static_cast<int64_t>(tiles.size());
  report.check = check_output(problem, output, tiles, reference_attention(problem, inputs, tiles));
}

}  // namespace

std::vector<OutputTile> all_tiles(const Chapter& chapter, const Problem& problem) {
  std::vector<OutputTile> tiles;
  for (int head = 0; head < problem.batch * problem.heads; ++head) {
    for (int row = 0; row < problem.query_length; row += chapter.query_tile) {
      tiles.push_back({.batch_head = head, .first_row = row, .rows = chapter.query_tile});
    }
  }
  return tiles;
}

std::vector<OutputTile> touched_tiles(const Problem& problem, const std::vector<Bf16>& o,
                                      const std::vector<OutputTile>& tiles) {
  std::vector<OutputTile> touched;
  for (const OutputTile& tile : tiles) {
    const auto begin =
        o.begin() + (int64_t{tile.batch_head} * problem.query_length + tile.first_row) * kHeadDim;
    const bool untouched = std::all_of(begin, begin + int64_t{tile.rows} * kHeadDim,
                                       [](Bf16 value) { return value == kPoison; });
    if (!untouched) touched.push_back(tile);
  }
  return touched;
}

std::vector<OutputTile> affordable_tiles(const std::vector<OutputTile>& tiles, const Problem& problem) {
  if (tiles.empty()) return tiles;
  const double tile_cost = 4.0 * tiles.front().rows * problem.key_length * kHeadDim;
  const size_t limit = std::max<size_t>(1, static_cast<size_t>(kReferenceBudget / tile_cost));
  if (tiles.size() <= limit) return tiles;
  std::vector<OutputTile> chosen;
  for (size_t i = 0; i < limit; ++i) chosen.push_back(tiles[i * tiles.size() / limit]);
  return chosen;
}

int run_chapter(const Chapter& chapter, int argc, char** argv) try {
  Report report{.chapter = chapter.number, .title = chapter.title, .change = chapter.change};
  report.options = parse_options(chapter, argc, argv);
  report.shape = shape_text(report.options.problem);
  report.flops = report.options.problem.flops();
  report.device = require_b200(chapter.number);
  try {
    run_and_check(chapter, report);
  } catch (const std::runtime_error& failure) {
    report.error = failure.what();
  }
  fmt::print("{}", report.options.json ? report_json(report) : report_text(report));
  return report.pass() ? kExitPass : kExitFail;
} catch (const EarlyExit& early) {
  fmt::print(early.code == kExitPass ? stdout : stderr, "{}", early.what());
  return early.code;
}

}  // namespace harness
