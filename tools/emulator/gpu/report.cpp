// Where a fault happened, and why nothing can run any more.
#include <fmt/format.h>

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <set>

#include "gpu/processor.h"

namespace emu::gpu {

namespace {

std::string source_line(const Program& program, const ptx::Instruction& instruction) {
  if (instruction.location < 0) return fmt::format("line {} of the PTX", instruction.line);
  const ptx::SourceLocation& location =
      program.function->locations[static_cast<size_t>(instruction.location)];
  const auto& files = program.module->files();
  const auto file = files.find(location.file);
  return fmt::format("{}:{}", file == files.end() ? std::string("?") : file->second, location.line);
}

// The names alone of a mangled nested name. Enough where a demangler gives up, as it does on CUTLASS's
// kernels.
std::string names_of_mangled(const std::string& name) {
  size_t at = name.starts_with("_ZN") ? 3 : name.starts_with("_Z") ? 2 : name.size();
  std::string result;
  while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at]))) {
    size_t length = 0;
    while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at]))) {
      length = std::min(10 * length + static_cast<size_t>(name[at++] - '0'), name.size());
    }
    if (!result.empty()) result += "::";
    result += name.substr(at, length);
    at += length;
  }
  if (result.empty()) return name;
  return at < name.size() && name[at] == 'I' ? result + "<...>" : result;
}

// A name as the source spells it; of one that would fill the screen the template arguments are left out.
std::string readable(const std::string& name) {
  constexpr size_t kLong = 200;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string full = status == 0 && text ? text : name;
  std::free(text);
  if (full.size() <= kLong) return full;
  if (status != 0) return names_of_mangled(name);
  std::string plain;
  for (int depth = 0; const char c : full) {
    if (c == '(' && depth == 0) return plain;
    if (c == '<' && ++depth == 1) plain += "<...>";
    if (depth == 0) plain += c;
    if (c == '>') --depth;
  }
  return plain;
}

const char* stall_text(observe::Stall stall) {
  using S = observe::Stall;
  switch (stall) {
    case S::Barrier:
      return "bar.sync";
    case S::Mbarrier:
      return "mbarrier wait";
    case S::TmemLoad:
      return "tcgen05.wait::ld";
    case S::TmemStore:
      return "tcgen05.wait::st";
    case S::ClusterBarrier:
      return "barrier.cluster.wait";
    case S::Gather:
      return "other lanes of the warp";
    case S::BulkGroup:
      return "an asynchronous group";
    case S::Allocation:
      return "tcgen05.alloc";
    default:
      return "nothing";
  }
}

}  // namespace

const observe::Site& Launch::site(const Program& program, const ptx::Instruction& instruction) {
  auto& entry = sites_[&instruction];
  if (entry) return *entry;
  entry = std::make_unique<observe::Site>();
  entry->opcode = instruction.opcode;
  const auto& files = program.module->files();
  const std::string outermost = program.function->is_entry ? kernel->name : program.function->name;
  for (int32_t at = instruction.location; at >= 0;) {
    const ptx::SourceLocation& location = program.function->locations[static_cast<size_t>(at)];
    const auto file = files.find(location.file);
    // Finding a label in .debug_str takes a walk through it.
    auto [function, fresh] = function_names_.try_emplace({program.module, location.function});
    if (fresh && !location.function.empty()) {
      function->second = program.module->debug_string(location.function);
      if (function->second.empty()) function->second = location.function;
    }
    entry->frames.push_back(
        {file == files.end() ? std::string("?") : file->second, location.line,
         observe::short_function_name(location.function.empty() ? outermost : function->second)});
    at = location.inlined_at;
  }
  for (size_t i = 0; i < entry->frames.size() && entry->kernel_frame < 0; ++i) {
    if (entry->frames[i].file.ends_with(".cu")) entry->kernel_frame = static_cast<int>(i);
  }
  if (entry->kernel_frame < 0) entry->kernel_frame = static_cast<int>(entry->frames.size()) - 1;
  return *entry;
}

observe::Place Processor::place(const Fragment& f, const Instr& in) const {
  observe::Place at;
  at.sm = f.warp->cta->sm->id;
  at.cta = f.warp->cta->linear;
  at.warp = static_cast<int32_t>(f.warp->index);
  const ptx::Instruction& instruction = ptx_of(f, in);
  at.site = &launch_.site(*f.frame->program, instruction);
  at.opcode = at.site->opcode;
  if (!at.site->frames.empty()) {
    const observe::Frame& frame = at.site->frames[static_cast<size_t>(at.site->kernel_frame)];
    at.line = frame.line;
    at.file = frame.file;
  }
  return at;
}

std::string Processor::describe(const Issuer& issuer) const {
  const Program& program = *issuer.program;
  const ptx::Instruction& instruction = program.function->instructions[issuer.source];
  std::string text = fmt::format(
      "\n    at {}: {}\n    kernel {}, CTA ({},{},{}), warp {}", source_line(program, instruction),
      ptx::to_string(*program.module, *program.function, instruction), readable(launch_.kernel->name),
      issuer.cta.x, issuer.cta.y, issuer.cta.z, issuer.warp);
  if (issuer.lanes && std::has_single_bit(issuer.lanes)) {
    text += fmt::format(", lane {}", std::countr_zero(issuer.lanes));
  } else if (issuer.lanes) {
    text += fmt::format(", lanes 0x{:08x}", issuer.lanes);
  }
  if (issuer.in_call) text += fmt::format(", in function {}", readable(program.function->name));
  return text;
}

std::string Processor::describe_tag(uint32_t tag) const {
  if (tag >= tags_.size()) return "an unknown store";
  const auto& [program, source] = tags_[tag];
  const ptx::Instruction& instruction = program->function->instructions[source];
  return fmt::format("{}: {}", source_line(*program, instruction),
                     ptx::to_string(*program->module, *program->function, instruction));
}

std::string Processor::describe_wait(const Fragment& f) const {
  const Program& program = *f.frame->program;
  const ptx::Instruction& instruction = program.function->instructions[program.code[f.pc].source];
  std::string text = fmt::format("warp {} lanes 0x{:08x}: {} at {}", f.warp->index, f.mask,
                                 stall_text(f.stall), source_line(program, instruction));
  switch (f.stall) {
    case observe::Stall::Mbarrier: {
      const auto offset = memory::cta_offset_of(static_cast<uint32_t>(f.wait_object));
      const units::Mbarrier* barrier = f.wait_cta ? f.wait_cta->mbarriers.find(offset) : nullptr;
      text += fmt::format(" on shared 0x{:x}: waits for the end of phase {}, ", f.wait_object, f.wait_value);
      text += barrier ? units::describe(*barrier) : "no live mbarrier there";
      break;
    }
    case observe::Stall::Barrier: {
      const NamedBarrier& barrier = f.warp->cta->barriers[f.wait_object & 15];
      std::string missing, gone;
      for (const auto& warp : f.warp->cta->warps) {
        if (warp->live & ~barrier.arrived[warp->index]) missing += fmt::format(" {}", warp->index);
        if (warp->live == 0) gone += fmt::format(" {}", warp->index);
      }
      text += fmt::format(
          " on barrier {}: {} threads expected; warps that have not arrived:{}; warps that have exited:{}",
          f.wait_object, barrier.expected ? fmt::format("{}", barrier.expected) : "all",
          missing.empty() ? " none" : missing, gone.empty() ? " none" : gone);
      break;
    }
    case observe::Stall::Gather:
      text += fmt::format(": needs lanes 0x{:08x}, missing 0x{:08x}", f.wait_object,
                          f.wait_object & f.warp->live & ~f.mask);
      break;
    case observe::Stall::Allocation:
      text += fmt::format(": {} columns wanted, {} free on the SM", f.wait_object,
                          f.warp->cta->sm->tmem.free_columns());
      break;
    default:
      break;
  }
  return text;
}

void Processor::report_deadlock() {
  std::string text = "deadlock: no warp can run and nothing is in flight";
  int shown = 0;
  for (const auto& cluster : clusters_) {
    if (!cluster) continue;
    for (const auto& cta : cluster->ctas) {
      if (cta->retired) continue;
      if (++shown > 4) continue;
      text += fmt::format("\n  CTA ({},{},{}):", cta->id.x, cta->id.y, cta->id.z);
      for (const auto& warp : cta->warps) {
        for (const Fragment* f : warp->fragments) text += "\n    " + describe_wait(*f);
        for (const Group& group : warp->groups) {
          if (group.used && group.arrived) {
            text += fmt::format(
                "\n    warp {} lanes 0x{:08x}: at a reconvergence point, waiting for lanes 0x{:08x}",
                warp->index, group.arrived, group.members & ~group.arrived);
          }
        }
      }
      for (const units::Mbarrier* barrier : cta->mbarriers.live()) {
        text +=
            fmt::format("\n    mbarrier at shared 0x{:x}: {}", barrier->offset, units::describe(*barrier));
      }
    }
  }
  if (shown > 4) text += fmt::format("\n  and {} more CTAs", shown - 4);
  throw Fault{cuda::Status::kLaunchFailure, text};
}

}  // namespace emu::gpu
