// Branches, exits, clocks, address conversion.
#include <fmt/format.h>

#include <bit>

#include "gpu/processor.h"

namespace emu::gpu {

Outcome Processor::exec_nop(Fragment&, const Instr&, LaneMask) { return Outcome::Next; }
Outcome Processor::exec_tensor_fence(Fragment&, const Instr&, LaneMask) { return Outcome::Next; }

Outcome Processor::exec_unsupported(Fragment& f, const Instr& in, LaneMask) {
  throw Fault{cuda::Status::kIllegalInstruction, fmt::format("not supported: {}", detail(f, in).name)};
}

Outcome Processor::exec_branch(Fragment& f, const Instr& in, LaneMask active) {
  if (active == f.mask) {
    f.pc = in.aux;
    // A jump that ptxas replaces by predication costs nothing.
    if (timed_ && f.frame->program->issue.instructions[in.source].cost.issue_slots() > 0) {
      f.time += machine_.branch_taken;
    }
    return Outcome::Jump;
  }
  if (active != 0) split(f, active, in.aux, ptx_of(f, in).reconverge);
  return Outcome::Next;
}

Outcome Processor::exec_branch_table(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint32_t* index = f.file.at<uint32_t>(in.src[0]);
  LaneMask rest = active;
  while (rest) {
    const uint32_t choice = index[std::countr_zero(rest)];
    if (choice >= d.targets.size()) {
      throw Fault{cuda::Status::kInvalidPc,
                  fmt::format("brx.idx index {} exceeds the table of {} targets", choice, d.targets.size())};
    }
    LaneMask same = 0;
    for (LaneMask scan = rest; scan; scan &= scan - 1) {
      const int lane = std::countr_zero(scan);
      if (index[lane] == choice) same |= 1u << lane;
    }
    rest &= ~same;
    if (same == f.mask) {
      f.pc = d.targets[choice];
      return Outcome::Jump;
    }
    split(f, same, d.targets[choice], ptx_of(f, in).reconverge);
  }
  return Outcome::Next;
}

Outcome Processor::exec_exit(Fragment& f, const Instr&, LaneMask active) {
  Warp& warp = *f.warp;
  const Time now = f.time;
  warp.live &= ~active;
  const int group = f.group;
  f.mask &= ~active;
  for (Frame* frame = f.frame; frame; frame = frame->caller) frame->lanes &= ~active;
  const bool gone = f.mask == 0;
  if (gone) free_fragment(f);
  remove_from_groups(warp, active, group, -2);
  if (warp.live == 0) {
    warp_exited(warp, now);
  } else {
    retry_gatherers(warp, now);
    for (uint32_t id = 0; id < warp.cta->barriers.size(); ++id) check_cta_barrier(*warp.cta, id, now);
    check_cluster_barrier(*warp.cta->cluster, now);
  }
  return gone ? Outcome::Gone : Outcome::Next;
}

Outcome Processor::exec_trap(Fragment&, const Instr&, LaneMask) {
  throw Fault{cuda::Status::kLaunchFailure, "trap"};
}

Outcome Processor::exec_breakpoint(Fragment&, const Instr&, LaneMask) {
  throw Fault{cuda::Status::kLaunchFailure, "brkpt reached, and there is no debugger to stop in"};
}

Outcome Processor::exec_nanosleep(Fragment& f, const Instr& in, LaneMask active) {
  const uint32_t ns = f.file.at<uint32_t>(in.src[0])[std::countr_zero(active)];
  // PTX ISA 9.7.19: somewhere between zero and twice the time, at most a millisecond.
  f.time += std::min<double>(ns, 1e6) * machine_.clock_ghz;
  run_time_[f.run_index] = f.time;
  return Outcome::Next;
}

Outcome Processor::exec_set_max_registers(Fragment& f, const Instr& in, LaneMask) {
  const Detail& d = detail(f, in);
  if (d.immediate < 24 || d.immediate > 256 || d.immediate % 8) {
    throw Fault{cuda::Status::kIllegalInstruction,
                fmt::format("setmaxnreg {}: a multiple of 8 from 24 to 256 is needed", d.immediate)};
  }
  return Outcome::Next;
}

// Grids run one after another here, so the prerequisites of griddepcontrol.wait have always completed.
Outcome Processor::exec_grid_dependency(Fragment&, const Instr&, LaneMask) { return Outcome::Next; }

Outcome Processor::exec_clock(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  using S = ptx::SpecialRegister;
  const auto which = static_cast<S>(d.variant);
  const uint64_t cycles = static_cast<uint64_t>(f.time);
  const double start_ns = launch_.request->start_ns;
  // A wall clock never reads zero on hardware; programs use it as a seed or a deadline, so it starts at one
  // second.
  const uint64_t ns = static_cast<uint64_t>(1e9 + start_ns + f.time / machine_.clock_ghz);
  uint64_t value = 0;
  switch (which) {
    case S::Clock:
    case S::Clock64:
      value = cycles;
      break;
    case S::ClockHi:
      value = cycles >> 32;
      break;
    case S::Globaltimer:
    case S::GlobaltimerLo:
      value = ns;
      break;
    case S::GlobaltimerHi:
      value = ns >> 32;
      break;
    default:
      break;
  }
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (d.bytes == 8) {
      f.file.at<uint64_t>(in.dst[0])[lane] = value;
    } else {
      f.file.at<uint32_t>(in.dst[0])[lane] = static_cast<uint32_t>(value);
    }
  }
  return Outcome::Next;
}

// Explicit is what the launch or the kernel's directives ask for; one CTA a cluster is the default.
Outcome Processor::exec_explicit_cluster(Fragment& f, const Instr& in, LaneMask active) {
  const cuda::Dim3& shape = launch_.request->cluster;
  const bool asked = launch_.request->cluster_from_launch || uint64_t{shape.x} * shape.y * shape.z > 1;
  uint32_t& predicate = f.file.predicates[in.dst[0].raw];
  predicate = asked ? predicate | active : predicate & ~active;
  return Outcome::Next;
}

// PTX ISA 9.7.20.3: memory of the thread's stack until the function returns, as a local address. All lanes
// take the largest size, so that frames above begin at one offset.
Outcome Processor::exec_alloca(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const auto alignment = static_cast<uint64_t>(d.immediate);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    throw Fault{cuda::Status::kIllegalInstruction,
                fmt::format("alloca: an alignment of {} bytes is no power of two", alignment)};
  }
  uint64_t bytes = 0;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    bytes = std::max(bytes, d.bytes == 8 ? f.file.at<uint64_t>(in.src[0])[lane]
                                         : uint64_t{f.file.at<uint32_t>(in.src[0])[lane]});
  }
  const uint64_t top = uint64_t{f.frame->local_base} + f.frame->program->frame_bytes;
  const uint64_t begin = (top + f.frame->alloca_bytes + alignment - 1) / alignment * alignment;
  reserve_local(*f.warp, std::max(bytes, begin + bytes + 1));
  f.frame->alloca_bytes = static_cast<uint32_t>(begin + bytes - top);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (d.bytes == 8) {
      f.file.at<uint64_t>(in.dst[0])[lane] = begin;
    } else {
      f.file.at<uint32_t>(in.dst[0])[lane] = static_cast<uint32_t>(begin);
    }
  }
  return Outcome::Next;
}

Outcome Processor::exec_move_address(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint64_t value = symbol_value(f, d.address);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (d.bytes == 8) {
      f.file.at<uint64_t>(in.dst[0])[lane] = value;
    } else {
      f.file.at<uint32_t>(in.dst[0])[lane] = static_cast<uint32_t>(value);
    }
  }
  return Outcome::Next;
}

Outcome Processor::exec_convert_address(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint64_t symbol = d.flag2 ? symbol_value(f, d.address) : 0;
  // Parameters of a device function live in local memory (its frame); an entry's in the launch's block, which
  // is global.
  const bool frame_space =
      d.space == ptx::Space::Local || (d.space == ptx::Space::Param && !f.frame->program->function->is_entry);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    uint64_t value = d.flag2        ? symbol
                     : d.bytes == 8 ? f.file.at<uint64_t>(in.src[0])[lane]
                                    : f.file.at<uint32_t>(in.src[0])[lane];
    if (d.space == ptx::Space::Shared) {
      value = d.flag ? value - memory::kSharedWindow : memory::kSharedWindow + value;
    } else if (frame_space) {
      value = d.flag ? value - memory::kLocalWindow : memory::kLocalWindow + value;
    }
    if (d.bytes == 8) {
      f.file.at<uint64_t>(in.dst[0])[lane] = value;
    } else {
      f.file.at<uint32_t>(in.dst[0])[lane] = static_cast<uint32_t>(value);
    }
  }
  return Outcome::Next;
}

Outcome Processor::exec_is_space(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  uint32_t& result = f.file.predicates[in.dst[0].raw];
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t value =
        d.bytes == 8 ? f.file.at<uint64_t>(in.src[0])[lane] : f.file.at<uint32_t>(in.src[0])[lane];
    const memory::Located at = memory::classify(value);
    bool inside = false;
    switch (d.space) {
      case ptx::Space::Shared:
        inside =
            at.space == memory::Space::Shared &&
            (d.cluster_scope || memory::cta_rank_of(static_cast<uint32_t>(at.offset)) == f.warp->cta->rank);
        break;
      case ptx::Space::Local:
        inside = at.space == memory::Space::Local;
        break;
      case ptx::Space::Global: {
        const auto* allocation = launch_.memory->find(value);
        inside = at.space == memory::Space::Global &&
                 !(allocation && (allocation->kind == memory::AllocationKind::Constant ||
                                  allocation->kind == memory::AllocationKind::Parameter));
        break;
      }
      case ptx::Space::Const:
      case ptx::Space::Param: {
        const auto* allocation = launch_.memory->find(value);
        const auto wanted = d.space == ptx::Space::Const ? memory::AllocationKind::Constant
                                                         : memory::AllocationKind::Parameter;
        inside = allocation && allocation->kind == wanted;
        break;
      }
      case ptx::Space::Generic:
        break;
    }
    result = (result & ~(1u << lane)) | (inside ? 1u << lane : 0);
  }
  return Outcome::Next;
}

Outcome Processor::exec_map_shared(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint32_t* rank = f.file.at<uint32_t>(in.src[1]);
  const uint64_t symbol = d.flag2 ? symbol_value(f, d.address) : 0;
  const uint64_t size = launch_.request->cluster.count();
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    uint64_t value = d.flag2        ? symbol
                     : d.bytes == 8 ? f.file.at<uint64_t>(in.src[0])[lane]
                                    : f.file.at<uint32_t>(in.src[0])[lane];
    if (rank[lane] >= size) {
      throw Fault{cuda::Status::kIllegalInstruction,
                  fmt::format("mapa: rank {} in a cluster of {} CTAs", rank[lane], size)};
    }
    const uint64_t window = d.flag ? 0 : memory::kSharedWindow;
    if (d.flag2 && window) value += window;
    const auto offset = memory::cta_offset_of(static_cast<uint32_t>(value - window));
    value = window + memory::shared_address(rank[lane], offset);
    if (d.bytes == 8) {
      f.file.at<uint64_t>(in.dst[0])[lane] = value;
    } else {
      f.file.at<uint32_t>(in.dst[0])[lane] = static_cast<uint32_t>(value);
    }
  }
  return Outcome::Next;
}

Outcome Processor::exec_cta_rank(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint64_t symbol = d.flag2 ? symbol_value(f, d.address) : 0;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t value = d.flag2        ? symbol
                           : d.bytes == 8 ? f.file.at<uint64_t>(in.src[0])[lane]
                                          : f.file.at<uint32_t>(in.src[0])[lane];
    f.file.at<uint32_t>(in.dst[0])[lane] = memory::cta_rank_of(static_cast<uint32_t>(value));
  }
  return Outcome::Next;
}

Outcome Processor::exec_create_policy(Fragment& f, const Instr& in, LaneMask active) {
  // A cache policy is opaque and only ever handed back as a hint.
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    f.file.at<uint64_t>(in.dst[0])[std::countr_zero(rest)] = 0x1000000000000000ull;
  }
  return Outcome::Next;
}

}  // namespace emu::gpu
