#include "gpu/unwaited.h"

#include <vector>

#include "ptx/dataflow.h"
#include "ptx/flow.h"

namespace emu::gpu {

namespace {

// Which loads may be in flight, one bit a load.
using Loads = std::vector<bool>;

struct Analysis {
  const ptx::Function& function;
  std::map<uint32_t, uint32_t> number;   // instruction -> load
  std::vector<uint32_t> instruction_of;  // load -> instruction
  std::multimap<int32_t, uint32_t> loads_of_register;

  explicit Analysis(const ptx::Function& f) : function(f) {
    for (uint32_t i = 0; i < f.instructions.size(); ++i) {
      if (!ptx::is_async_register_load(f.instructions[i])) continue;
      const auto load = static_cast<uint32_t>(instruction_of.size());
      number[i] = load;
      instruction_of.push_back(i);
      ptx::for_each_register(f, f.instructions[i], [&](int32_t reg, ptx::Access access) {
        if (access != ptx::Access::Read) loads_of_register.emplace(reg, load);
      });
    }
  }

  void step(uint32_t i, Loads& in_flight) const {
    const ptx::Instruction& instruction = function.instructions[i];
    if (ptx::is_async_register_wait(instruction) && instruction.guard < 0) {
      in_flight.assign(in_flight.size(), false);
    } else if (const auto load = number.find(i); load != number.end()) {
      in_flight[load->second] = true;
    } else {
      // A register that is written anew no longer holds what the load brings.
      ptx::for_each_register(function, instruction, [&](int32_t reg, ptx::Access access) {
        if (access != ptx::Access::Write) return;
        for (auto [it, end] = loads_of_register.equal_range(reg); it != end; ++it)
          in_flight[it->second] = false;
      });
    }
  }
};

}  // namespace

std::map<uint32_t, uint32_t> unwaited_reads(const ptx::Function& function) {
  std::map<uint32_t, uint32_t> found;
  const Analysis analysis(function);
  if (analysis.instruction_of.empty()) return found;
  const ptx::FlowGraph graph = ptx::build_flow_graph(function);
  std::vector<Loads> entry(graph.blocks.size(), Loads(analysis.instruction_of.size(), false));
  std::vector<uint32_t> work;
  for (uint32_t b = static_cast<uint32_t>(graph.blocks.size()); b-- > 0;) work.push_back(b);
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    Loads state = entry[b];
    for (uint32_t i = graph.blocks[b].begin; i < graph.blocks[b].end; ++i) analysis.step(i, state);
    for (const uint32_t next : graph.blocks[b].successors) {
      bool changed = false;
      for (size_t load = 0; load < state.size(); ++load) {
        if (state[load] && !entry[next][load]) entry[next][load] = changed = true;
      }
      if (changed) work.push_back(next);
    }
  }
  for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
    Loads state = entry[b];
    for (uint32_t i = graph.blocks[b].begin; i < graph.blocks[b].end; ++i) {
      const ptx::Instruction& instruction = function.instructions[i];
      if (!ptx::is_async_register_wait(instruction)) {
        ptx::for_each_register(function, instruction, [&](int32_t reg, ptx::Access access) {
          if (access != ptx::Access::Read) return;
          for (auto [it, end] = analysis.loads_of_register.equal_range(reg); it != end; ++it) {
            if (state[it->second]) {
              found[instruction.text_begin] =
                  function.instructions[analysis.instruction_of[it->second]].text_begin;
            }
          }
        });
      }
      analysis.step(i, state);
    }
  }
  return found;
}

}  // namespace emu::gpu
