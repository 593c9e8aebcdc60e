#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "observe/trace_writer.h"
#include "testing/catch.h"

namespace {

using namespace emu::observe;
using nlohmann::json;

struct TraceFile {
  std::string path = (std::filesystem::temp_directory_path() / "trace_writer_test.json").string();
  ~TraceFile() { std::filesystem::remove(path); }
  json events() const {
    std::ifstream in(path);
    return json::parse(in).at("traceEvents");
  }
};

Site site(const char* opcode, std::vector<Frame> frames) {
  Site s;
  s.opcode = opcode;
  s.frames = std::move(frames);
  s.kernel_frame = 0;
  return s;
}

const Site kOuter = site("add.f32", {{"kernel.cu", 20, "row_loop"}, {"kernel.cu", 90, "kernel"}});
const Site kInner =
    site("ex2.approx.f32",
         {{"kernel.cu", 10, "softmax"}, {"kernel.cu", 21, "row_loop"}, {"kernel.cu", 90, "kernel"}});
const Site kMma = site("tcgen05.mma", {{"kernel.cu", 30, "issue_qk"}, {"kernel.cu", 90, "kernel"}});

Place at(int warp, const Site& s, uint64_t cta = 0) {
  Place place;
  place.cta = cta;
  place.warp = warp;
  place.site = &s;
  place.file = "kernel.cu";
  place.line = s.frames.front().line;
  place.opcode = s.opcode;
  return place;
}

Place cta(uint64_t number) {
  Place place;
  place.cta = number;
  return place;
}

// Two warps, two products of which the second ends a wait.
void one_cta(TraceWriter& writer, uint64_t number) {
  const PipeCycles none{};
  PipeCycles mufu{};
  mufu[static_cast<size_t>(Pipe::Mufu)] = 8;
  writer.cta_begins(cta(number), 0, 2);
  writer.issued(at(0, kOuter, number), 0, 1, 0, none);
  writer.issued(at(0, kInner, number), 5, 1, 0, mufu);
  writer.issued(at(0, kInner, number), 13, 1, 0, mufu);
  writer.issued(at(0, kOuter, number), 21, 1, 0, none);
  writer.issued(at(1, kMma, number), 0, 1, 0, none);
  writer.operation(at(1, kMma, number), Unit::TensorCore, 1, 9, 60, 150, 1, "mma SS", 0, -1);
  writer.operation(at(1, kMma, number), Unit::TensorCore, 2, 60, 120, 220, 1, "mma SS", 0, -1);
  writer.arrived(cta(number), 220, 0x400, 3, true, "commit");
  writer.stalled(at(0, kOuter, number), Stall::Mbarrier, 22, 250, 0x400, 3);
  writer.stalled(at(1, kMma, number), Stall::Join, 2, 250, 0, 0);
  writer.met(at(0, kOuter, number), 251, 0, 0);
  writer.stalled(at(1, kMma, number), Stall::Barrier, 2, 265, 0, 0);
  writer.cta_ends(cta(number), 300);
}

const json& slice(const json& events, const std::string& name) {
  for (const json& e : events) {
    if (e.at("ph") == "X" && e.at("name") == name) return e;
  }
  throw std::runtime_error("no slice " + name);
}

}  // namespace

TEST_CASE("the trace is JSON and its slices nest") {
  TraceFile file;
  {
    TraceWriter writer(file.path);
    writer.launch_begins("kernel", 2, true);
    one_cta(writer, 0);
    writer.launch_ends(300);
  }
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks;
  for (const json& e : file.events()) {
    if (e.at("ph") != "X") continue;
    const double begin = e.at("ts"), duration = e.at("dur");
    CHECK(begin >= 0);
    CHECK(duration >= 0);
    tracks[{e.at("pid"), e.at("tid")}].emplace_back(begin, begin + duration);
  }
  CHECK(tracks.size() == 5);  // two warps, tensor core, MUFU, one mbarrier
  for (const auto& [track, slices] : tracks) {
    for (const auto& a : slices) {
      for (const auto& b : slices) {
        const bool apart = a.second <= b.first || b.second <= a.first;
        const bool nested =
            (a.first >= b.first && a.second <= b.second) || (b.first >= a.first && b.second <= a.second);
        CHECK((apart || nested));
      }
    }
  }
}

TEST_CASE("slices say where in the source they come from") {
  TraceFile file;
  {
    TraceWriter writer(file.path);
    writer.launch_begins("kernel", 2, true);
    one_cta(writer, 0);
    writer.launch_ends(300);
  }
  const json events = file.events();
  CHECK(slice(events, "issue_qk mma SS").at("args").at("line") == "kernel.cu:30");
  CHECK(slice(events, "issue_qk mma SS").at("args").at("opcode") == "tcgen05.mma");
  CHECK(slice(events, "softmax").at("args").at("line") == "kernel.cu:10");
  CHECK(slice(events, "softmax").at("ts") == 5);
  CHECK(slice(events, "softmax").at("dur") == 9);
  CHECK(slice(events, "2 instructions").at("args").at("cycles") == 16);
  CHECK(slice(events, "wait: mbarrier").at("args").at("phase") == 3);
  CHECK(slice(events, "row_loop").at("args").at("waits").at("mbarrier") == 228);
}

TEST_CASE("every flow has one start and one end, from the operation that was waited for") {
  TraceFile file;
  {
    TraceWriter writer(file.path);
    writer.launch_begins("kernel", 2, true);
    one_cta(writer, 0);
    one_cta(writer, 1);
    writer.launch_ends(300);
  }
  std::map<int, std::vector<json>> flows;
  for (const json& e : file.events()) {
    if (e.at("ph") == "s" || e.at("ph") == "f") flows[e.at("id")].push_back(e);
  }
  REQUIRE(flows.size() == 4);
  for (const auto& [id, ends] : flows) {
    REQUIRE(ends.size() == 2);
    CHECK(ends[0].at("ph") == "s");
    CHECK(ends[1].at("ph") == "f");
    CHECK(ends[0].at("pid") == ends[1].at("pid"));
    CHECK(ends[0].at("ts").get<double>() < ends[1].at("ts").get<double>());
  }
  CHECK(flows[1][0].at("tid") == 1000);  // the tensor core's second product
  CHECK(flows[1][0].at("ts") == 60);
  CHECK(flows[1][0].at("args").at("arrived") == 220);
  CHECK(flows[1][1].at("tid") == 1);
  CHECK(flows[1][1].at("ts") == 250);
  CHECK(flows[2][0].at("tid") == 1);  // bar.sync: warp 0 came last
  CHECK(flows[2][1].at("tid") == 2);
}

TEST_CASE("the file is complete after every launch, and launches follow each other") {
  TraceFile file;
  TraceWriter writer(file.path);
  writer.launch_begins("kernel", 2, true);
  one_cta(writer, 0);
  writer.launch_ends(300);
  const size_t first = file.events().size();
  writer.launch_begins("kernel", 2, true);
  one_cta(writer, 0);
  writer.launch_ends(300);
  const json events = file.events();
  CHECK(events.size() == 2 * first);
  double last = 0;
  for (const json& e : events) {
    if (e.at("ph") == "X" && e.at("pid") == 2) last = std::max(last, e.at("ts").get<double>());
    if (e.at("ph") == "X" && e.at("pid") == 2) CHECK(e.at("ts").get<double>() >= 1300);
  }
  CHECK(last > 1300);
}

TEST_CASE("the first CTA is always there, others as far as they fit") {
  TraceFile file;
  {
    TraceWriter writer(file.path, {.admit = 10, .limit = 1000});
    writer.launch_begins("kernel", 2, true);
    for (uint64_t c = 0; c < 4; ++c) one_cta(writer, c);
    writer.launch_ends(300);
  }
  std::map<int, int> per_cta;
  for (const json& e : file.events()) ++per_cta[e.at("pid")];
  CHECK(per_cta.size() == 1);
  CHECK(per_cta.contains(1));
}

TEST_CASE("a trace that was cut short says so") {
  TraceFile file;
  {
    TraceWriter writer(file.path, {.admit = 10, .limit = 12});
    writer.launch_begins("kernel", 2, true);
    one_cta(writer, 0);
    writer.launch_ends(300);
  }
  const json events = file.events();
  CHECK(events.size() == 13);
  CHECK(events.back().at("name") == "truncated");
}

TEST_CASE("a file that cannot be written is named") {
  CHECK_THROWS_WITH(TraceWriter("/nowhere/at/all.json"), ContainsSubstring("/nowhere/at/all.json"));
}
