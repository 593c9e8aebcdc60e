#include <cstring>
#include <span>
#include <vector>

#include "gpu/engine.h"
#include "gpu/event_queue.h"
#include "gpu/options.h"
#include "gpu/snapshot.h"
#include "memory/global_memory.h"
#include "testing/catch.h"

using namespace emu;
using namespace emu::gpu;

TEST_CASE("events fire in the order of their times, equal times in the order they were scheduled") {
  EventQueue queue;
  std::vector<int> fired;
  queue.schedule(5, [&](Time) { fired.push_back(1); });
  queue.schedule(
      2, [&](Time) { fired.push_back(2); }, true);
  queue.schedule(5, [&](Time) { fired.push_back(3); });
  REQUIRE(queue.next_time() == 2);
  REQUIRE(queue.any_hard());
  while (!queue.empty()) queue.fire_next();
  REQUIRE(fired == std::vector<int>{2, 1, 3});
}

TEST_CASE("time limits of waits alone are not something in flight") {
  EventQueue queue;
  queue.schedule(
      1, [](Time) {}, true);
  REQUIRE_FALSE(queue.empty());
  REQUIRE_FALSE(queue.any_hard());
}

TEST_CASE("options are read from flat JSON, and what is not known is refused by name") {
  const Options options = options_from_json(
      R"({"machine":"h200","jitter":7,"timing":"flat","mma":"fast","lenient":true,"set":{"ii_mufu":4}})");
  REQUIRE(options.machine.name == "h200");
  REQUIRE(options.machine.num_sms == 132);
  REQUIRE(options.machine.ii_mufu == 4);
  REQUIRE(options.machine.overridden);
  REQUIRE(options.jitter == 7u);
  REQUIRE_FALSE(options.timed);
  REQUIRE(options.lenient);
  REQUIRE_THROWS_WITH(options_from_json(R"({"speed":3})"), ContainsSubstring("'speed'"));
  REQUIRE_THROWS_WITH(options_from_json(R"({"set":{"warp_drive":1}})"), ContainsSubstring("warp_drive"));
  REQUIRE_THROWS_WITH(options_from_json(R"({"timing":"exact"})"), ContainsSubstring("'flat' or 'full'"));
  REQUIRE_THROWS_WITH(options_from_json("[]"), ContainsSubstring("object"));
  REQUIRE_THROWS_WITH(options_from_json(R"({"machine":"gtx"})"), ContainsSubstring("b200 or h200"));
}

TEST_CASE("a snapshot names its kind, file, line and occurrence") {
  const SnapshotRequest request = parse_snapshot_request("tmem@kernel.cu:212#3");
  REQUIRE(request.tensor_memory);
  REQUIRE(request.file == "kernel.cu");
  REQUIRE(request.line == 212);
  REQUIRE(request.occurrence == 3);
  REQUIRE(parse_snapshot_request("smem@7").line == 7);
  for (const char* wrong : {"", "smem", "smem@", "smem@x", "tmem@5#0", "regs@5", "smem@0"}) {
    REQUIRE_THROWS_WITH(parse_snapshot_request(wrong), ContainsSubstring("smem@LINE"));
  }
}

namespace {

// out[i] = i * i for 64 threads, written by hand.
constexpr const char* kSquares = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry squares(.param .u64 squares_param_0)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [squares_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.lo.s32 %r2, %r1, %r1;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
}
.visible .entry broken()
{
  frobnicate.u32 1;
  ret;
}
)";

cuda::LaunchResult run(cuda::Engine& engine, cuda::ModuleHandle module, const char* entry,
                       uint64_t parameter) {
  cuda::LaunchRequest request;
  request.module = module;
  request.entry = entry;
  request.block = {64, 1, 1};
  request.params.resize(8);
  std::memcpy(request.params.data(), &parameter, 8);
  return engine.launch(request);
}

}  // namespace

TEST_CASE("the engine runs PTX text, and modelled time does not depend on who watches or how often it runs") {
  auto engine = make_engine(Options{});
  const std::string text = kSquares;
  const auto module = engine->load_module(std::span(&text, 1), "test");
  uint64_t out = 0;
  REQUIRE(engine->global_memory().allocate(256, memory::AllocationKind::Device, out) ==
          memory::MemoryStatus::Ok);
  const cuda::LaunchResult first = run(*engine, module, "squares", out);
  REQUIRE(first.report.empty());
  for (uint32_t i = 0; i < 64; ++i) REQUIRE(reinterpret_cast<const uint32_t*>(out)[i] == i * i);
  REQUIRE(first.time_modelled);
  REQUIRE(first.modelled_ns > 0);
  REQUIRE(run(*engine, module, "squares", out).modelled_ns == first.modelled_ns);
}

TEST_CASE(
    "an instruction the engine does not know stops the launch with its text, a stray store with the "
    "allocation") {
  auto engine = make_engine(Options{});
  const std::string text = kSquares;
  const auto module = engine->load_module(std::span(&text, 1), "test");
  const cuda::LaunchResult unknown = run(*engine, module, "broken", 0);
  REQUIRE(unknown.status == cuda::Status::kIllegalInstruction);
  REQUIRE_THAT(unknown.report, ContainsSubstring("frobnicate.u32 1"));
  uint64_t small = 0;
  REQUIRE(engine->global_memory().allocate(128, memory::AllocationKind::Device, small) ==
          memory::MemoryStatus::Ok);
  const cuda::LaunchResult stray = run(*engine, module, "squares", small);
  REQUIRE(stray.status == cuda::Status::kIllegalAddress);
  REQUIRE_THAT(stray.report, ContainsSubstring("128-byte cudaMalloc allocation"));
  REQUIRE_THROWS_AS(engine->kernel_info(module, "nothing"), cuda::EngineError);
}
