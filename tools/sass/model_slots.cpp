// Prints, as JSON, what the timing model issues for every instruction of a PTX file's kernels, with source
// lines and loops: the model's half of the table that tools/sass/sass_table.py draws.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gpu/loader.h"
#include "memory/global_memory.h"
#include "timing/sass_cost.h"
#include "timing/sass_flow.h"
#include "timing/sass_schedule.h"

namespace {

using nlohmann::json;
using namespace emu;

json instruction_json(const gpu::Program& program, const timing::SassFlow& flow, uint32_t i) {
  const ptx::Function& function = *program.function;
  const ptx::Instruction& instruction = function.instructions[i];
  const timing::Cost& cost = program.issue.instructions[i].cost;
  json out{{"index", i},
           {"opcode", instruction.opcode},
           {"text", ptx::to_string(*program.module, function, instruction)},
           {"class", timing::class_name(cost.pipe)},
           {"slots", cost.slots},
           {"extra_fma", cost.extra_fma},
           {"extra_alu", cost.extra_alu},
           {"extra_uniform", cost.extra_uniform},
           {"extra_control", cost.extra_control},
           {"stall", cost.stall},
           {"block", flow.block(i)},
           {"loop", flow.loop_of[flow.block(i)]},
           {"convergence", static_cast<int>(flow.convergence[flow.block(i)])}};
  if (instruction.location >= 0) {
    const auto& location = function.locations[static_cast<size_t>(instruction.location)];
    const auto& files = program.module->files();
    const auto file = files.find(location.file);
    out["file"] = file == files.end() ? "" : file->second;
    out["line"] = location.line;
  }
  return out;
}

json kernel_json(const gpu::Kernel& kernel) {
  const gpu::Program& program = *kernel.programs.front();
  const timing::SassFlow flow(*program.function);
  json loops = json::array(), instructions = json::array();
  for (const timing::SassLoop& loop : flow.loops) {
    loops.push_back({{"header", loop.header}, {"blocks", loop.blocks}, {"spin", loop.spin}});
  }
  for (uint32_t i = 0; i < program.function->instructions.size(); ++i) {
    instructions.push_back(instruction_json(program, flow, i));
  }
  std::vector<timing::Cost> costs;
  for (const gpu::IssueRange& range : program.issue.instructions) costs.push_back(range.cost);
  const timing::Machine machine = timing::machine("b200");
  return {{"kernel", kernel.name},
          {"loops", loops},
          {"instructions", instructions},
          {"cycles", timing::block_cycles(*program.function, costs, machine, true)},
          {"cycles_in_ptx_order", timing::block_cycles(*program.function, costs, machine, false)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) == "--help") {
    std::cerr << "usage: model_slots FILE.ptx   prints the model's issue slots per instruction as JSON\n";
    return argc == 2 ? 0 : 2;
  }
  std::ifstream file(argv[1]);
  if (!file) {
    std::cerr << fmt::format("model_slots: {} cannot be read\n", argv[1]);
    return 1;
  }
  std::stringstream text;
  text << file.rdbuf();
  try {
    memory::GlobalMemory memory;
    const std::vector<std::string> texts{text.str()};
    auto module = gpu::load_module(texts, argv[1], memory);
    json kernels = json::array();
    for (const ptx::FunctionInfo& info : module->texts.front()->functions()) {
      if (info.is_entry && info.is_defined)
        kernels.push_back(kernel_json(gpu::kernel_of(*module, info.name)));
    }
    std::cout << kernels.dump() << "\n";
  } catch (const std::exception& error) {
    std::cerr << fmt::format("model_slots: {}\n", error.what());
    return 1;
  }
}
