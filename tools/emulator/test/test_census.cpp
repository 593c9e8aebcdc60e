// What public sm_100a programs ask for, counted over their PTX and their undefined symbols, against what the
// decoder and the two libraries accept: instruction forms with their operands, special registers, directives,
// API functions.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "cuda/driver_table.h"
#include "gpu/loader.h"
#include "gpu/op.h"
#include "testing/catch.h"

using namespace emu;

namespace {

std::string read(const std::string& name) {
  std::ifstream in(std::string(CENSUS_DIR) + "/" + name);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& name) {
  std::vector<std::string> lines;
  const std::string text = read(name);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (text[at] != '#' && end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// One entry for each instruction, so that a refusal concerns that instruction alone. It stands first;
// parameters come with it, and a label to branch to.
std::string entry_with(size_t index, const std::string& instruction) {
  return fmt::format(
      ".entry f{}(.param .align 16 .b8 argument[32]) {{ .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<140>;"
      " .reg .b64 %d<20>; .reg .b128 %q<4>; .param .align 16 .b8 outgoing[32]; {}; L: ret; }}\n",
      index, instruction);
}

constexpr const char* kHeader = ".version 9.0\n.target sm_100a\n.address_size 64\n";

// "" when the decoder accepts every instruction of the entry, else the first text it refuses.
std::string refusal(gpu::LoadedModule& module, const std::string& entry) {
  try {
    const gpu::Kernel& kernel = gpu::kernel_of(module, entry);
    for (const auto& program : kernel.programs)
      for (const gpu::Instr& in : program->code)
        if (in.kind == isa::Kind::Engine && static_cast<gpu::Op>(in.op) == gpu::Op::Unsupported)
          return fmt::format("instruction {} of {}", &in - program->code.data(), entry);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::vector<std::string> refused(const std::vector<std::string>& instructions) {
  std::string text = kHeader + std::string(".func callee() { ret; }\n");
  for (size_t i = 0; i < instructions.size(); ++i) text += entry_with(i, instructions[i]);
  memory::GlobalMemory memory;
  const auto module = gpu::load_module(std::span(&text, 1), "census", memory);
  std::vector<std::string> out;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const std::string why = refusal(*module, fmt::format("f{}", i));
    if (!why.empty()) out.push_back(instructions[i] + ": " + why);
  }
  return out;
}

}  // namespace

TEST_CASE("every instruction form of the census is decoded") {
  std::vector<std::string> instructions;
  for (std::string& line : lines_of("census_forms.txt")) {
    const size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    line[tab] = ' ';
    instructions.push_back(line);
  }
  REQUIRE(instructions.size() > 440);
  CHECK(refused(instructions) == std::vector<std::string>{});
}

TEST_CASE("an unknown instruction, modifier, operand count or special register is refused") {
  const std::vector<std::string> wrong = {
      "wgmma.fence.sync.aligned",
      "mbarrier.init.shared::cta.sideways.b64 [%r0], %r1",
      "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1",
      "add.s32 %r0, %r1",
      "mov.u32 %r0, %no_such_register",
  };
  for (const std::string& instruction : wrong) {
    CAPTURE(instruction);
    bool accepted = true;
    try {
      accepted = refused({instruction}).empty();
    } catch (const std::exception&) {
      accepted = false;
    }
    CHECK_FALSE(accepted);
  }
}

TEST_CASE("every special register of the census can be read") {
  std::vector<std::string> instructions;
  for (const char* name : {"ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y",
                           "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z", "cluster_ctarank", "cluster_ctaid.x",
                           "cluster_ctaid.y", "cluster_ctaid.z", "smid", "envreg1", "envreg2"})
    instructions.push_back(fmt::format("mov.u32 %r0, %{}", name));
  for (const char* name : {"globaltimer", "clock64"})
    instructions.push_back(fmt::format("mov.u64 %d0, %{}", name));
  CHECK(refused(instructions) == std::vector<std::string>{});
}

TEST_CASE("every directive and spelling of the census is read, linked and decoded") {
  const std::string texts[] = {
      read("census_module.ptx"),
      std::string(kHeader) +
          ".visible .global .align 4 .b8 shared_table[16] = {1, 2, 3};\n"
          ".visible .func (.param .b32 r) elsewhere (.param .b32 a)\n"
          "{ .reg .b32 %r<2>; ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret; }\n"};
  memory::GlobalMemory memory;
  const auto module = gpu::load_module(texts, "census module", memory);
  for (const char* entry : {"kernel", "hidden_kernel"}) {
    CHECK(refusal(*module, entry) == "");
  }
}

TEST_CASE("every driver function of the census is implemented") {
  int count = 0;
  for (const std::string& name : lines_of("census_calls.txt")) {
    if (name.starts_with("cuda") || name.starts_with("__cuda")) continue;
    CAPTURE(name);
    CHECK(cuda::find_driver_function(name) != nullptr);
    ++count;
  }
  CHECK(count > 25);
}
