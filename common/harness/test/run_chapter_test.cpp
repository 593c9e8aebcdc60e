#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "fake_runtime.h"
#include "harness/harness.h"
#include "harness/inputs.h"
#include "harness/reference.h"
#include "testing/catch.h"

using namespace harness;

namespace {

int launches = 0;
bool saw_poison = true;

// Attention on the host in the place of a kernel: one call, all tiles.
void attend(const Problem& problem, const void* q, const void* k, const void* v, void* o, cudaStream_t) {
  const auto copy = [](const void* data, int64_t elements) {
    const auto* begin = static_cast<const Bf16*>(data);
    return std::vector<Bf16>(begin, begin + elements);
  };
  const Inputs inputs{.q = copy(q, problem.query_elements()),
                      .k = copy(k, problem.key_elements()),
                      .v = copy(v, problem.key_elements())};
  auto* out = static_cast<Bf16*>(o);
  for (int64_t i = 0; i < problem.query_elements(); ++i) saw_poison = saw_poison && out[i] == 0xFFFF;
  for (int head = 0; head < problem.batch * problem.heads; ++head) {
    const auto rows = reference_attention(
        problem, inputs, {{.batch_head = head, .first_row = 0, .rows = problem.query_length}});
    for (const double value : rows[0]) *out++ = to_bf16(static_cast<float>(value));
  }
  ++launches;
}

void attend_but_leave_one(const Problem& problem, const void* q, const void* k, const void* v, void* o,
                          cudaStream_t stream) {
  attend(problem, q, k, v, o, stream);
  static_cast<Bf16*>(o)[1000] = 0xFFFF;
}

void attend_first_tile_only(const Problem& problem, const void* q, const void* k, const void* v, void* o,
                            cudaStream_t stream) {
  attend(problem, q, k, v, o, stream);
  std::memset(static_cast<Bf16*>(o) + 128 * kHeadDim, 0xFF, (problem.query_elements() - 128 * kHeadDim) * 2);
}

void write_zeros(const Problem& problem, const void*, const void*, const void*, void* o, cudaStream_t) {
  std::memset(o, 0, problem.query_elements() * sizeof(Bf16));
}

void scores(const void* q, const void* k, float* s, cudaStream_t) {
  const auto* a = static_cast<const Bf16*>(q);
  const auto* b = static_cast<const Bf16*>(k);
  const auto values = reference_scores({a, a + 128 * 128}, {b, b + 128 * 128});
  for (size_t i = 0; i < values.size(); ++i) s[i] = static_cast<float>(values[i]);
}

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

// Calls `run` with argv and collects what it prints.
template <class Run>
Outcome capture(std::vector<const char*> arguments, Run run) {
  arguments.insert(arguments.begin(), "ch01");
  std::vector<char*> argv;
  for (const char* argument : arguments) argv.push_back(const_cast<char*>(argument));
  FILE* files[2] = {std::tmpfile(), std::tmpfile()};
  int saved[2];
  std::fflush(nullptr);
  for (int i = 0; i < 2; ++i) {
    saved[i] = dup(i + 1);
    dup2(fileno(files[i]), i + 1);
  }
  Outcome outcome{.code = run(static_cast<int>(argv.size()), argv.data()), .out = "", .err = ""};
  std::fflush(nullptr);
  for (int i = 0; i < 2; ++i) {
    dup2(saved[i], i + 1);
    close(saved[i]);
    std::rewind(files[i]);
    for (int c; (c = std::fgetc(files[i])) != EOF;)
      (i == 0 ? outcome.out : outcome.err) += static_cast<char>(c);
    std::fclose(files[i]);
  }
  return outcome;
}

Outcome run(Launcher launch, const std::vector<const char*>& arguments) {
  const Chapter chapter{
      .number = 1, .title = "Baseline", .change = "", .launch = launch, .query_tile = 128, .key_tile = 128};
  launches = 0;
  return capture(arguments, [&](int argc, char** argv) { return run_chapter(chapter, argc, argv); });
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

}  // namespace

TEST_CASE("a right kernel passes: exit 0, PASS in the last line, nothing leaked") {
  fake_runtime::reset();
  const Outcome outcome = run(attend, {"--shape", "1x2x256x128"});
  CHECK(outcome.code == kExitPass);
  CHECK(last_line(outcome.out).rfind("PASS 1x2x256x128  relative L2 ", 0) == 0);
  CHECK(last_line(outcome.out).find(" ms  ") != std::string::npos);
  CHECK(last_line(outcome.out).find("TFLOPS modelled") != std::string::npos);
  CHECK(outcome.err.empty());
  CHECK(saw_poison);
  CHECK(fake_runtime::state.live_allocations == 0);
  CHECK(fake_runtime::state.live_events == 0);
}

TEST_CASE("every input family runs through") {
  fake_runtime::reset();
  for (const char* family : {"normal", "wide", "staircase", "descending", "onehot", "equal"}) {
    INFO(family);
    CHECK(run(attend, {"--shape", "1x1x128x384", "--inputs", family}).code == kExitPass);
  }
}

TEST_CASE("the emulator is asked for one launch, a GPU for warm-up and repeats, each on poisoned output") {
  fake_runtime::reset();
  run(attend, {"--shape", "1x1x128"});
  CHECK(launches == 1);
  fake_runtime::state.name = "NVIDIA B200";
  fake_runtime::state.emulator = false;
  saw_poison = true;
  const Outcome outcome = run(attend, {"--shape", "1x1x128"});
  CHECK(launches == 30);
  CHECK(saw_poison);
  CHECK(last_line(outcome.out).find("TFLOPS measured") != std::string::npos);
  run(attend, {"--shape", "1x1x128", "--check"});
  CHECK(launches == 1);
}

TEST_CASE("a zero event time means that time is not modelled") {
  fake_runtime::reset();
  fake_runtime::state.elapsed_ms = 0;
  CHECK(last_line(run(attend, {"--shape", "1x1x128"}).out).find("time not modelled") != std::string::npos);
}

TEST_CASE("an unwritten element fails with exit 1, even when only timing") {
  fake_runtime::reset();
  for (const char* mode : {"--check", "--bench"}) {
    const Outcome outcome = run(attend_but_leave_one, {"--shape", "1x1x128", mode});
    CHECK(outcome.code == kExitFail);
    CHECK(last_line(outcome.out)
              .find("FAIL 1x1x128  1 elements were never written, the first is O[0][0][7][104]") == 0);
  }
}

TEST_CASE("a wrong result fails with exit 1") {
  fake_runtime::reset();
  const Outcome outcome = run(write_zeros, {"--shape", "1x1x128"});
  CHECK(outcome.code == kExitFail);
  CHECK(last_line(outcome.out).rfind("FAIL 1x1x128  relative L2 error 1.00e+00", 0) == 0);
}

TEST_CASE("a failed launch and a failed kernel are FAIL lines that carry CUDA's words") {
  fake_runtime::reset();
  fake_runtime::state.kernel_error = cudaErrorLaunchFailure;
  const Outcome outcome = run(attend, {"--shape", "1x1x128"});
  CHECK(outcome.code == kExitFail);
  CHECK(last_line(outcome.out) == "FAIL 1x1x128  kernel: the fake runtime's error text (cudaErrorFake)");
  fake_runtime::reset();
  fake_runtime::state.launch_error = cudaErrorInvalidConfiguration;
  const Outcome refused = run(attend, {"--shape", "1x1x128", "--json"});
  CHECK(refused.code == kExitFail);
  CHECK(nlohmann::json::parse(refused.out)["failure"] ==
        "launch: the fake runtime's error text (cudaErrorFake)");
}

TEST_CASE("another GPU is refused with its name and compute capability, exit 3") {
  fake_runtime::reset();
  fake_runtime::state.name = "NVIDIA H200";
  fake_runtime::state.major = 9;
  const Outcome outcome = run(attend, {});
  CHECK(outcome.code == kExitWrongDevice);
  CHECK(launches == 0);
  CHECK(outcome.err.find("NVIDIA H200, compute capability 9.0") != std::string::npos);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

TEST_CASE("compute capability 10.3 is refused too: sm_100a code runs on 10.0 alone") {
  fake_runtime::reset();
  fake_runtime::state.minor = 3;
  CHECK(run(attend, {}).code == kExitWrongDevice);
}

TEST_CASE("no device at all is exit 3 with the way out") {
  fake_runtime::reset();
  fake_runtime::state.device_present = false;
  const Outcome outcome = run(attend, {});
  CHECK(outcome.code == kExitWrongDevice);
  CHECK(outcome.err.find("make ch01") != std::string::npos);
}

TEST_CASE("a usage mistake is exit 2 before anything touches the device") {
  fake_runtime::reset();
  fake_runtime::state.device_present = false;
  CHECK(run(attend, {"--shape", "1x1x100"}).code == kExitUsage);
  CHECK(run(attend, {"--help"}).code == kExitPass);
}

TEST_CASE("where the emulator sampled the grid, only tiles that ran are checked, and the report says so") {
  fake_runtime::reset();
  CHECK(run(attend_first_tile_only, {"--shape", "1x2x256"}).code == kExitFail);
  fake_runtime::state.launch.sampled = 1;
  fake_runtime::state.launch.ctas_run = 1;
  fake_runtime::state.launch.ctas_total = 4;
  const Outcome outcome = run(attend_first_tile_only, {"--shape", "1x2x256"});
  CHECK(outcome.code == kExitPass);
  CHECK(outcome.out.find("1 of 4 query tiles ran") != std::string::npos);
  const auto json = nlohmann::json::parse(run(attend_first_tile_only, {"--shape", "1x2x256", "--json"}).out);
  CHECK(json["tiles_run"] == 1);
  CHECK(json["tiles"] == 4);
}

TEST_CASE("a sampled CTA that ran and wrote nothing is found by counting") {
  fake_runtime::reset();
  fake_runtime::state.launch.sampled = 1;
  fake_runtime::state.launch.ctas_run = 2;
  fake_runtime::state.launch.ctas_total = 4;
  const Outcome outcome = run(attend_first_tile_only, {"--shape", "1x2x256"});
  CHECK(outcome.code == kExitFail);
  CHECK(last_line(outcome.out).rfind("FAIL 1x2x256  2 CTAs ran and 1 query tiles were written", 0) == 0);
}

TEST_CASE("event times under a flat cost model are no times") {
  fake_runtime::reset();
  fake_runtime::state.launch.time_modelled = 0;
  const Outcome outcome = run(attend, {"--shape", "1x1x128"});
  CHECK(outcome.code == kExitPass);
  CHECK(last_line(outcome.out).find("time not modelled") != std::string::npos);
}

TEST_CASE("--json prints one object and nothing else") {
  fake_runtime::reset();
  const Outcome outcome = run(attend, {"--shape", "1x1x128", "--json", "--inputs", "wide"});
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["pass"] == true);
  CHECK(json["inputs"] == "wide");
  CHECK(json["emulated"] == true);
  CHECK(json["ms"] == 0.25);
  CHECK(json["tflops"] == Approx(4.0 * 128 * 128 * 128 / 0.25e9));
}

TEST_CASE("one tile of scores: the corner is printed beside the reference, and all of S is checked") {
  fake_runtime::reset();
  const OneTileChapter chapter{.number = 0, .title = "One tile", .change = "", .launch = scores};
  const auto run_it = [&](int argc, char** argv) { return run_one_tile(chapter, argc, argv); };
  const Outcome outcome = capture({}, run_it);
  CHECK(outcome.code == kExitPass);
  CHECK(outcome.out.find("in float64") != std::string::npos);
  CHECK(last_line(outcome.out).rfind("PASS 128x128x128  relative L2 ", 0) == 0);

  OneTileChapter wrong = chapter;
  wrong.launch = [](const void*, const void*, float* s, cudaStream_t) { std::memset(s, 0, 100); };
  CHECK(capture({}, [&](int argc, char** argv) { return run_one_tile(wrong, argc, argv); }).code ==
        kExitFail);
}
