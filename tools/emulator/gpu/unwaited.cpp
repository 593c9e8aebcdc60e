#include "gpu/unwaited.h"

#include <set>
#include <vector>

#include "ptx/dataflow.h"
#include "ptx/flow.h"

namespace emu::gpu {

namespace {

// Which loads may be in flight, one bit a load.
using Loads = std::vector<bool>;

// A plain move between registers, vectors included. Compilers put such moves anywhere, and the assembler
// makes them names of the same register: a copy is no use, but what uses the copy is.
bool is_copy(const ptx::Instruction& instruction) {
  return instruction.guard < 0 && instruction.opcode.starts_with("mov.");
}

struct Analysis {
  const ptx::Function& function;
  std::map<uint32_t, uint32_t> number;                      // instruction -> load
  std::vector<uint32_t> instruction_of;                     // load -> instruction
  std::map<int32_t, std::set<uint32_t>> loads_of_register;  // copies included

  explicit Analysis(const ptx::Function& f) : function(f) {
    for (uint32_t i = 0; i < f.instructions.size(); ++i) {
      if (!ptx::is_async_register_load(f.instructions[i])) continue;
      const auto load = static_cast<uint32_t>(instruction_of.size());
      number[i] = load;
      instruction_of.push_back(i);
      ptx::for_each_register(f, f.instructions[i], [&](int32_t reg, ptx::Access access) {
        if (access != ptx::Access::Read) loads_of_register[reg].insert(load);
      });
    }
    while (follow_copies()) {
    }
  }

  // The loads whose registers an instruction reads.
  std::set<uint32_t> loads_read_by(const ptx::Instruction& instruction) const {
    std::set<uint32_t> loads;
    ptx::for_each_register(function, instruction, [&](int32_t reg, ptx::Access access) {
      const auto found = loads_of_register.find(reg);
      if (access == ptx::Access::Read && found != loads_of_register.end())
        loads.insert(found->second.begin(), found->second.end());
    });
    return loads;
  }

  bool follow_copies() {
    bool changed = false;
    for (const ptx::Instruction& instruction : function.instructions) {
      if (!is_copy(instruction)) continue;
      const std::set<uint32_t> loads = loads_read_by(instruction);
      if (loads.empty()) continue;
      ptx::for_each_register(function, instruction, [&](int32_t reg, ptx::Access access) {
        if (access != ptx::Access::Write) return;
        std::set<uint32_t>& known = loads_of_register[reg];
        const size_t before = known.size();
        known.insert(loads.begin(), loads.end());
        changed = changed || known.size() != before;
      });
    }
    return changed;
  }

  void step(uint32_t i, Loads& in_flight) const {
    const ptx::Instruction& instruction = function.instructions[i];
    if (ptx::is_async_register_wait(instruction) && instruction.guard < 0) {
      in_flight.assign(in_flight.size(), false);
    } else if (const auto load = number.find(i); load != number.end()) {
      in_flight[load->second] = true;
    } else {
      // A register that is written anew no longer holds what the load brings.
      const std::set<uint32_t> copied =
          is_copy(instruction) ? loads_read_by(instruction) : std::set<uint32_t>{};
      ptx::for_each_register(function, instruction, [&](int32_t reg, ptx::Access access) {
        const auto found = loads_of_register.find(reg);
        if (access != ptx::Access::Write || found == loads_of_register.end()) return;
        for (const uint32_t load : found->second) {
          if (!copied.contains(load)) in_flight[load] = false;
        }
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
      if (!ptx::is_async_register_wait(instruction) && !is_copy(instruction)) {
        for (const uint32_t load : analysis.loads_read_by(instruction)) {
          if (state[load])
            found[instruction.text_begin] = function.instructions[analysis.instruction_of[load]].text_begin;
        }
      }
      analysis.step(i, state);
    }
  }
  return found;
}

}  // namespace emu::gpu
