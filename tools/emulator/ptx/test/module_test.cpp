// Whole modules that nvcc made, several of them linked, and what happens to damaged ones.
#include <random>
#include <thread>

#include "ptx/link.h"
#include "ptx/test/helpers.h"
#include "testing/catch.h"

using namespace emu::ptx;
using namespace emu::ptx::test;

namespace {

const char* const kKernel = "_Z6kernelPfPK13__nv_bfloat16if";

// Comments out, leading tabs and trailing blanks off: how fatbinary stores PTX.
std::string as_stored(const std::string& text) {
  std::istringstream lines(text);
  std::string stored = "\n\n\n\n\n\n\n\n", line;
  while (std::getline(lines, line)) {
    line = line.substr(0, line.find("//"));
    line.erase(0, line.find_first_not_of('\t'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.pop_back();
    stored += line + "\n";
  }
  return stored;
}

}  // namespace

TEST_CASE("a kernel with inline assembly, calls and a switch parses as nvcc wrote it") {
  const Module module = Module::parse(read_data("features.ptx"), "features");
  CHECK(module.find_variable("pointer_to_counter")->relocations.at(0).generic);
  CHECK(module.find_variable("ops")->relocations.size() == 2);
  CHECK(module.find_variable("managed_value")->managed);
  CHECK(module.find_variable("dynamic_smem")->unsized);
  CHECK(module.find_function("vprintf")->linkage == Linkage::Extern);
  const Function& kernel = module.function(kKernel);
  CHECK(kernel.is_entry);
  CHECK(kernel.directives.maxntid[0] == 128);
  CHECK(kernel.directives.minnctapersm == 1);
  CHECK(kernel.param_bytes == 24);
  CHECK(kernel.shared_bytes == 528);  // 16 bytes of barriers and 512 of tile
  CHECK(kernel.local_bytes == 24);
  CHECK(kernel.prototypes.size() == 1);
  CHECK(kernel.num_slots < 32);
  CHECK(kernel.instructions.back().opcode == "ret");
}

TEST_CASE("text as a fat binary stores it gives the same instructions") {
  const std::string text = read_data("features.ptx");
  const Module plain = Module::parse(text), stored = Module::parse(as_stored(text));
  const Function &a = plain.function(kKernel), &b = stored.function(kKernel);
  REQUIRE(a.instructions.size() == b.instructions.size());
  for (size_t i = 0; i < a.instructions.size(); ++i) {
    CHECK(to_string(plain, a, a.instructions[i]) == to_string(stored, b, b.instructions[i]));
    CHECK(a.instructions[i].target == b.instructions[i].target);
  }
  CHECK(a.slot_of_register == b.slot_of_register);
}

TEST_CASE("line information does not change the program") {
  const Module plain = Module::parse(read_data("features.ptx")),
               lines = Module::parse(read_data("features_lineinfo.ptx"));
  const Function &a = plain.function(kKernel), &b = lines.function(kKernel);
  REQUIRE(a.instructions.size() == b.instructions.size());
  bool inlined = false;
  for (const Instruction& instruction : b.instructions) {
    REQUIRE(instruction.location >= 0);
    const SourceLocation& location = b.locations[instruction.location];
    CHECK(lines.files().count(location.file) == 1);
    inlined |= location.inlined_at >= 0 && lines.debug_string(location.function) == "_Z4waitjj";
  }
  CHECK(inlined);
}

TEST_CASE("a debug build parses") {
  const Module module = Module::parse(read_data("debug.ptx"));
  CHECK(module.header().debug);
  CHECK(module.function("_Z5scalePii").instructions.size() > 10);
}

TEST_CASE("modules are linked by name") {
  const Module main = Module::parse(read_data("link_main.ptx"), "main");
  const Module library = Module::parse(read_data("link_library.ptx"), "library");
  const Program program({&main, &library});
  CHECK(program.entry("_Z5applyPi").module == 0);
  CHECK(program.entry("nosuch").function == nullptr);
  CHECK(program.function(0, "_Z5twicei").module == 1);
  CHECK(program.function(0, "_Z5twicei").function->is_defined);
  CHECK(program.variable(0, "bias").module == 1);
  CHECK(program.variable(0, "bias").variable->initial_bytes[0] == 11);
  CHECK(program.variable(1, "bias").module == 1);
  CHECK(program.function(0, "vprintf").function == nullptr);
}

TEST_CASE("linking prefers a module's own internals and strong over weak definitions") {
  const Module a =
      Module::parse(kHeader + ".global .u32 x = 1; .weak .global .u32 w = 1; .extern .global .u32 e;", "a");
  const Module b = Module::parse(
      kHeader + ".visible .global .u32 x = 2; .visible .global .u32 w = 2; .visible .global .u32 e = 2;",
      "b");
  const Module c = Module::parse(kHeader + ".extern .global .u32 x; .weak .global .u32 w = 3;", "c");
  const Program program({&a, &b, &c});
  CHECK(program.variable(0, "x").module == 0);
  CHECK(program.variable(2, "x").module == 1);
  CHECK(program.variable(0, "w").module == 1);
  CHECK(program.variable(0, "e").module == 1);
  CHECK(Program({&a, &c}).variable(2 - 1, "w").module == 0);
  CHECK(Program({&a, &c}).variable(0, "e").variable == nullptr);
  const Module twin = Module::parse(kHeader + ".visible .global .u32 x = 4;", "twin");
  CHECK_THROWS_AS(Program({&b, &twin}), ParseError);
}

TEST_CASE("one body may be asked for from several threads") {
  const Module module = Module::parse(read_data("features.ptx"));
  std::vector<const Function*> seen(8);
  std::vector<std::thread> threads;
  for (auto& function : seen) threads.emplace_back([&] { function = &module.function(kKernel); });
  for (std::thread& thread : threads) thread.join();
  for (const Function* function : seen) CHECK(function == seen[0]);
}

TEST_CASE("damaged text gives an error or a program, never a crash") {
  const std::string good = read_data("features.ptx");
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = good;
    for (uint32_t edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.resize(at + 1);
          break;
        case 1:
          text[at] = static_cast<char>(32 + random() % 95);
          break;
        case 2:
          text.erase(at, random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
          break;
      }
      if (text.empty()) text = " ";
    }
    refused += module_error(text) != "";
  }
  CHECK(refused > 300);
}
