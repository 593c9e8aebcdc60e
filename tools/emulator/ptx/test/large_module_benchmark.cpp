// Prints how long a module as large as a library attention kernel's takes: 14 MB, sixty entries.
#include <fmt/format.h>

#include <chrono>

#include "ptx/module.h"

namespace {

std::string large_module(size_t entries, size_t scopes) {
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n";
  for (size_t e = 0; e < entries; ++e) {
    text += fmt::format(
        ".visible .entry kernel{}(\n.param .u64 .ptr .align 1 kernel{}_param_0\n)\n.maxntid 512\n{{\n", e, e);
    text += fmt::format(".reg .pred %p<{}>;\n.reg .b32 %r<{}>;\n.reg .b64 %rd<{}>;\n", scopes + 1,
                        scopes * 4 + 4, scopes + 2);
    text += fmt::format("ld.param.u64 %rd0, [kernel{}_param_0];\n", e);
    for (size_t i = 0; i < scopes; ++i) {
      text += fmt::format("add.s32 %r{}, %r{}, 1;\nmul.wide.s32 %rd{}, %r{}, 4;\n", 4 * i + 4, 4 * i, i + 1,
                          4 * i + 4);
      text += fmt::format("setp.lt.s32 %p{}, %r{}, {};\n@%p{} bra $L__BB{}_{};\n", i, 4 * i + 4, i, i, e, i);
      text += fmt::format(
          "{{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%r{}], %r{};\n"
          "@P1 bra.uni DONE;\nbra.uni LAB_WAIT;\nDONE:\n}}\n",
          4 * i, 4 * i + 4);
      text += fmt::format("ld.shared.v2.b32 {{%r{}, %r{}}}, [%r{}+16];\nadd.f32 %r{}, %r{}, 0f3F800000;\n",
                          4 * i + 1, 4 * i + 2, 4 * i + 4, 4 * i + 3, 4 * i + 1);
      text += fmt::format("st.global.f32 [%rd{}], %r{};\n$L__BB{}_{}:\n", i + 1, 4 * i + 3, e, i);
    }
    text += "ret;\n}\n";
  }
  return text;
}

}  // namespace

int main() {
  using Clock = std::chrono::steady_clock;
  const auto ms = [](Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
  const std::string text = large_module(60, 640);
  const auto begin = Clock::now();
  const emu::ptx::Module module = emu::ptx::Module::parse(text, "large");
  const auto indexed = Clock::now();
  const emu::ptx::Function& first = module.function("kernel0");
  const auto parsed = Clock::now();
  fmt::print("{:.1f} MB indexed in {:.1f} ms\n", static_cast<double>(text.size()) / 1e6, ms(indexed - begin));
  fmt::print("first entry, {} instructions, {} registers in {} slots: {:.1f} ms\n", first.instructions.size(),
             first.registers.size(), first.num_slots, ms(parsed - indexed));
  for (const auto& info : module.functions()) module.function(info.name);
  fmt::print("all {} entries: {:.0f} ms\n", module.functions().size(), ms(Clock::now() - parsed));
}
