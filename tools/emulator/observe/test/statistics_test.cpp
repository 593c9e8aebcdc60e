#include "observe/statistics.h"

#include "testing/catch.h"

namespace {

using namespace emu::observe;

Site site(const char* function, uint32_t line) {
  Site s;
  s.opcode = "fma.rn.f32";
  s.frames = {{"/src/kernel.cu", line, function}, {"/src/kernel.cu", 90, "attention_kernel"}};
  s.kernel_frame = 0;
  return s;
}

Place at(int warp, const Site& s) {
  Place place;
  place.warp = warp;
  place.site = &s;
  return place;
}

PipeCycles on(Pipe pipe, double cycles) {
  PipeCycles pipes{};
  pipes[static_cast<size_t>(pipe)] = cycles;
  return pipes;
}

// One CTA of three warps, 1000 cycles: two row warps, each 100 MUFU instructions of 8 cycles and 400 cycles
// at an mbarrier; one MMA warp that issues 10 and waits for 900; the tensor core busy for 250.
std::string run(double mufu_cycles) {
  const Site row = site("row_loop", 40), wait = site("row_loop", 41), mma = site("mma_loop", 50);
  std::string text;
  Statistics statistics([&](const std::string& report) { text = report; });
  statistics.launch_begins("_ZN7chapter12_GLOBAL__N_116attention_kernelEv", 2, true);
  statistics.cta_begins(Place{}, 0, 3);
  for (int i = 0; i < 100; ++i) {
    for (int warp : {0, 1}) {
      statistics.issued(at(warp, row), i * 4.0, 1, 0, on(Pipe::Mufu, mufu_cycles));
    }
  }
  for (int warp : {0, 1}) statistics.stalled(at(warp, wait), Stall::Mbarrier, 400, 800, 0x400, 0);
  for (int i = 0; i < 10; ++i) statistics.issued(at(2, mma), i, 1, 0, on(Pipe::Uniform, 1));
  statistics.stalled(at(2, mma), Stall::Mbarrier, 10, 910, 0x408, 0);
  statistics.stalled(at(2, mma), Stall::Join, 0, 1000, 0, 0);
  statistics.operation(at(2, mma), Unit::TensorCore, 0, 100, 350, 400, 1, "mma SS", 0, -1);
  statistics.cta_ends(Place{}, 1000);
  statistics.launch_ends(1000);
  return text;
}

}  // namespace

TEST_CASE("the report of a small run, to the letter") {
  CHECK(
      run(8) ==
      R"(emu: statistics of attention_kernel: 1 CTAs on 1 SMs, 1000 cycles (0.0005 ms at 2 GHz), 210 warp instructions of machine code

  of the warps' time   instructions  issuing  mbarrier
  row_loop, warps 0-1           200   10.0 %    40.0 %
  mma_loop, warp 2               10    1.0 %    90.0 %

  busy share of the units
     40.0 %  MUFU
     25.0 %  tensor core
      5.2 %  issue slots

  longest waits, of all warps' time
     30.0 %  kernel.cu:50 (mbarrier)
     26.7 %  kernel.cu:41 (mbarrier)

  bottleneck: no unit; the busiest, MUFU, works only 40.0 % of the time. row_loop, warps 0-1 wait 40.0 % of theirs for: mbarrier
)");
}

TEST_CASE("a unit that is busy most of the time is named as the bottleneck") {
  CHECK_THAT(run(16), ContainsSubstring("bottleneck: MUFU, busy 80.0 % of the time\n"));
}

TEST_CASE("without modelled time there is nothing to share out") {
  std::string text;
  Statistics statistics([&](const std::string& report) { text = report; });
  statistics.launch_begins("kernel", 2, false);
  statistics.cta_begins(Place{}, 0, 1);
  statistics.cta_ends(Place{}, 10);
  statistics.host_worked(30'000'000, 0.5);
  statistics.launch_ends(10);
  CHECK_THAT(text, ContainsSubstring("counted under --timing only"));
  CHECK_THAT(text, ContainsSubstring("emulated here in 0.50 s: 30.00 M warp instructions of PTX, 60.0 M a second"));
}

TEST_CASE("function names lose their namespaces and arguments") {
  CHECK(short_function_name("_ZN7chapter12_GLOBAL__N_17softmaxEf") == "softmax");
  CHECK(short_function_name("_ZN39_INTERNAL_8e5b9ec7_9_kernel_cu_fbe467ab7chapter41_GLOBAL__N__8e5b9ec7_9_kernel_cu_"
                            "fbe467ab7softmaxERNS1_8RowStateEjjjfb") == "softmax");  // nvcc 13
  CHECK(short_function_name("void chapter::(anonymous namespace)::launch(float, int)") == "launch");
  CHECK(short_function_name("std::vector<int>::size() const") == "size");
  CHECK(short_function_name("kernel") == "kernel");
}
