// A synthetic run through the trace writer, the reader and the drawing.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "observe/trace_writer.h"
#include "svg/check.h"
#include "testing/catch.h"
#include "timeline/draw.h"
#include "timeline/groups.h"
#include "timeline/labels.h"
#include "timeline/story.h"
#include "timeline/trace.h"

namespace {

using namespace timeline;
using emu::observe::Place;
using emu::observe::Site;
using emu::observe::Stall;
using emu::observe::Unit;

Site site(const char* opcode, std::initializer_list<std::pair<const char*, uint32_t>> functions) {
  Site s;
  s.opcode = opcode;
  for (const auto& [function, line] : functions) s.frames.push_back({"kernel.cu", line, function});
  s.kernel_frame = 0;
  return s;
}

Place at(int warp, const Site& s) {
  Place place;
  place.warp = warp;
  place.site = &s;
  place.file = s.frames.front().file;
  place.line = s.frames.front().line;
  place.opcode = s.opcode;
  return place;
}

// One MMA warp and one row warp, `count` iterations of 1000 cycles: Q K for 200, then the row warp's row_max
// for 300, which ends the MMA warp's wait.
Trace two_warps(int count) {
  const auto path = std::filesystem::temp_directory_path() / "timeline_test.json";
  const Site mma = site("tcgen05.mma", {{"issue_qk", 10}, {"mma_loop", 20}, {"kernel", 90}});
  const Site mma_wait = site("mbarrier.try_wait", {{"mma_loop", 22}, {"kernel", 90}});
  const Site row_wait = site("mbarrier.try_wait", {{"row_loop", 40}, {"kernel", 91}});
  const Site work = site("max.f32", {{"row_max", 30}, {"row_loop", 41}, {"kernel", 91}});
  {
    emu::observe::TraceWriter writer(path.string());
    writer.launch_begins("kernel", 2.0, true);
    Place cta;
    writer.cta_begins(cta, 0, 2);
    const emu::observe::PipeCycles none{};
    for (int i = 0; i < count; ++i) {
      const double t = 1000.0 * i;
      const auto phase = static_cast<uint64_t>(i);
      writer.issued(at(0, mma), t, 1, 0, none);
      writer.operation(at(0, mma), Unit::TensorCore, t, t, t + 200, t + 250, 1 << 20, "mma SS", 0, -1);
      Place unit;
      writer.arrived(unit, t + 250, 0x400, phase, true, "commit");
      writer.stalled(at(1, row_wait), Stall::Mbarrier, t, t + 280, 0x400, phase);
      writer.issued(at(1, work), t + 280, 300, 0, none);
      writer.arrived(at(1, work), t + 600, 0x408, phase, true, "thread");
      writer.stalled(at(0, mma_wait), Stall::Mbarrier, t + 1, t + 630, 0x408, phase);
    }
    writer.cta_ends(cta, 1000.0 * count);
    writer.launch_ends(1000.0 * count);
  }
  Trace trace = read_trace(path.string());
  std::filesystem::remove(path);
  return trace;
}

const Row& row(const Story& story, const std::string& title) {
  for (const Row& r : story.rows) {
    if (r.title == title) return r;
  }
  throw std::runtime_error("no row " + title);
}

}  // namespace

TEST_CASE("iterations begin where the tensor core starts the loop's first product") {
  const Trace trace = two_warps(4);
  REQUIRE(trace.ctas.size() == 1);
  CHECK(iterations(trace.ctas[0], default_labels()) == std::vector<double>{0, 1000, 2000, 3000});
}

TEST_CASE("a story names the roles and counts the window's busy and waiting time") {
  const Trace trace = two_warps(4);
  const Story story = tell(trace.ctas[0], default_labels(), 1000, 2000);
  CHECK(row(story, "tensor core").detail == "busy 20 %");
  CHECK(row(story, "MMA warp (0)").detail == "waits at barriers 63 %");
  CHECK(row(story, "row warps (1)").detail == "waits at barriers 28 %");
  REQUIRE(row(story, "tensor core").blocks.size() == 1);
  CHECK(row(story, "tensor core").blocks[0].label == "Q K 1");
}

TEST_CASE("arrows run from the arrival to the wait that it ended, in both directions") {
  const Trace trace = two_warps(4);
  const Story story = tell(trace.ctas[0], default_labels(), 1000, 2000);
  const auto title = [&](size_t r) { return story.rows[r].title; };
  REQUIRE(story.arrows.size() == 2);
  CHECK(title(story.arrows[0].from) == "tensor core");
  CHECK(title(story.arrows[0].to) == "row warps (1)");
  CHECK(story.arrows[0].arrived == 1250);
  CHECK(story.arrows[0].ended == 1280);
  CHECK(title(story.arrows[1].from) == "row warps (1)");
  CHECK(title(story.arrows[1].to) == "MMA warp (0)");
  CHECK(story.arrows[1].arrived == 1600);
  CHECK(story.arrows[1].ended == 1630);
}

TEST_CASE("the picture passes the picture checker at any zoom, and is the same every time") {
  const Trace trace = two_warps(8);
  for (const auto& [from, to] : {std::pair(0.0, 8000.0), {1000.0, 2000.0}, {1100.0, 1150.0}}) {
    const Story story = tell(trace.ctas[0], default_labels(), from, to);
    const std::string svg = draw(story, {"Title", "Subtitle."});
    CHECK(svg::check(svg) == std::vector<std::string>{});
    CHECK(svg == draw(story, {"Title", "Subtitle."}));
  }
}

TEST_CASE("placeholders of names are filled in or dropped") {
  CHECK(expand("Q{n} K {i}", 1, 4) == "Q1 K 4");
  CHECK(expand("Q{n} K {i}", -1, 4) == "Q K 4");
  CHECK(expand("Q{n} K {i}", -1, -1) == "Q K");
  CHECK(expand("row warps of Q{n}", 0, -1) == "row warps of Q0");
  CHECK(expand("row warps of Q{n}", -1, -1) == "row warps");
}

TEST_CASE("what is no trace and what are no labels is said so") {
  CHECK_THROWS_WITH(parse_trace("{\"traceEvents\": [{}]}"), ContainsSubstring("not a trace that emu"));
  CHECK_THROWS_WITH(parse_labels(R"({"work": [{"function": "f", "name": "f", "fill": "mauve"}]})"),
                    "labels: \"mauve\" is no fill; there are Q, K, V, S, P, O, n1, n2, n3, bad, none");
  CHECK_THROWS(parse_labels(R"({"rolls": []})"));
}
