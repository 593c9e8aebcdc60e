#include "gpu/processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace emu::gpu {

namespace {

// Flat cost: how far a warp may run ahead of the others, in instructions. Long enough to amortise the switch.
constexpr Time kFlatQuantum = 256;
// A fragment whose siblings wait for it at a reconvergence point may execute this much before they go on
// without it (independent thread scheduling: a lane that spins on what a parked lane will do must not hang).
constexpr uint64_t kPatience = 1 << 16;
// Time limits of waits that expire in a row without anything having changed: the launch is stuck.
constexpr uint64_t kFruitlessExpiries = 256;

}  // namespace

const Processor::ExecFn Processor::kExec[] = {
#define EMU_EXEC_ROW(name, function) &Processor::exec_##function,
    EMU_GPU_OPS(EMU_EXEC_ROW)
#undef EMU_EXEC_ROW
};

Processor::Processor(Launch& launch, uint32_t index, uint64_t first, uint64_t stride, uint64_t end,
                     uint32_t resident)
    : launch_(launch),
      machine_(launch.options->machine),
      costs_(cost_table(launch.options->machine)),
      forwarding_(forwarding_table(launch.options->machine)),
      index_(index),
      next_cluster_(first),
      stride_(stride),
      end_cluster_(end),
      resident_(std::max(resident, 1u)),
      timed_(launch.options->timed),
      random_(launch.options->jitter.value_or(0) * 0x9E3779B97F4A7C15ull + index) {
  clusters_.resize(resident_);
}

Processor::~Processor() = default;

void Processor::enter(Fragment& f) {
  f.state = Fragment::State::Runnable;
  f.run_index = runnable_.size();
  runnable_.push_back(&f);
  run_time_.push_back(f.time);
  newcomer_ = std::min(newcomer_, f.time);
}

void Processor::leave(Fragment& f) {
  if (f.state != Fragment::State::Runnable) return;
  const size_t last = runnable_.size() - 1;
  runnable_[f.run_index] = runnable_[last];
  run_time_[f.run_index] = run_time_[last];
  runnable_[f.run_index]->run_index = f.run_index;
  runnable_.pop_back();
  run_time_.pop_back();
  f.state = Fragment::State::Blocked;
}

void Processor::wake(Fragment& f, Time when) {
  if (f.state != Fragment::State::Blocked) return;
  ++f.serial;
  f.time = std::max(f.time, when);
  if (launch_.listener && f.stall != observe::Stall::None) {
    const Instr& in = f.frame->program->code[f.pc];
    launch_.listener->stalled(place(f, in), f.stall, f.blocked_at, f.time, f.wait_object, f.wait_value);
  }
  f.woken_from = f.stall;
  f.stall = observe::Stall::None;
  enter(f);
}

void Processor::wake_all(std::vector<Waiter>& waiters, Time when) {
  std::vector<Waiter> woken;
  woken.swap(waiters);
  for (const Waiter& waiter : woken) wake(waiter, when);
}

void Processor::block(Fragment& f, observe::Stall reason, uint64_t object, uint64_t value) {
  leave(f);
  ++f.serial;
  f.stall = reason;
  f.wait_object = object;
  f.wait_value = value;
  f.blocked_at = f.time;
  f.wait_expired = false;
}

void Processor::limit_wait(Fragment& f, Time when) {
  const uint64_t serial = f.serial;
  events_.schedule(
      when,
      [this, &f, serial](Time now) {
        if (f.serial != serial || f.state != Fragment::State::Blocked) return;
        f.wait_expired = true;
        wake(f, now);
        f.wait_expired = true;
      },
      true);
}

Processor::Run Processor::run(uint64_t budget) {
  const uint64_t stop_at = instructions_ + budget;
  const uint64_t progress_before = progress_;
  uint64_t fruitless = 0, progress_seen = progress_;
  try {
    if (launched_ctas_ == 0) start_clusters(timed_ ? machine_.cta_start : 0);
    while (!launch_.failed.load(std::memory_order_relaxed)) {
      if (runnable_.empty()) {
        if (events_.any_hard()) {
          events_.fire_next();
          continue;
        }
        if (quiesce()) continue;
        if (!events_.empty()) {
          if (progress_ != progress_seen) {
            progress_seen = progress_;
            fruitless = 0;
          }
          if (++fruitless > kFruitlessExpiries) report_deadlock();
          events_.fire_next();
          continue;
        }
        const bool done = std::all_of(clusters_.begin(), clusters_.end(), [](const auto& c) { return !c; });
        if (done) {
          sms_.clear();
          return Run::Finished;
        }
        report_deadlock();
      }
      const Time first = run_time_.first_time();
      if (events_.next_time() <= first) {
        events_.fire_next();
        continue;
      }
      Fragment& f = *runnable_[run_time_.first()];
      // Finite, so that a lone fragment's patience is looked at.
      const Time limit = std::min({events_.next_time(), run_time_.second_time(), first + kPatience});
      current_ = &f;
      if (timed_) {
        step<true>(f, limit);
      } else {
        step<false>(f, std::max(limit, first + kFlatQuantum));
      }
      current_ = nullptr;
      if (instructions_ >= stop_at)
        return progress_ == progress_before && only_spins() ? Run::Idle : Run::Budget;
    }
  } catch (const Fault& fault) {
    launch_.fail(fault);
  } catch (const units::TensorError& error) {
    launch_.fail({cuda::Status::kLaunchFailure, error.what()});
  }
  return Run::Finished;
}

namespace {

uint64_t register_hash(const Fragment& f) {
  uint64_t hash = 14695981039346656037ull;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  const Program& program = *f.frame->program;
  for (size_t i = isa::kFirstSlot * isa::kLanes; i < static_cast<size_t>(program.num_slots) * isa::kLanes;
       ++i) {
    mix(f.frame->registers[i]);
  }
  for (uint32_t predicate : f.frame->predicates) mix(predicate);
  return hash;
}

}  // namespace

// With memory unchanged, a fragment that returns to an instruction with the same registers will do so
// forever, unless another processor writes what it reads.
bool Processor::only_spins() {
  constexpr int kSteps = 4096;
  const uint64_t before = progress_;
  for (size_t i = 0; i < runnable_.size(); ++i) {
    Fragment& f = *runnable_[i];
    const uint32_t pc = f.pc;
    const uint64_t serial = f.serial;
    const uint64_t hash = register_hash(f);
    bool back = false;
    for (int n = 0; n < kSteps && !back; ++n) {
      step<false>(f, f.time);
      if (f.serial != serial || f.state != Fragment::State::Runnable || progress_ != before) return false;
      back = f.pc == pc && register_hash(f) == hash;
    }
    if (!back) return false;
  }
  return progress_ == before;
}

void Processor::handle(Fragment& f, const Fault& fault) {
  const Instr& in = f.frame->program->code[f.pc];
  throw Fault{fault.status, fault.text + describe_place(f, in, f.mask)};
}

template <bool kTimed>
void Processor::step(Fragment& f, Time limit) {
  Warp& warp = *f.warp;
  const Instr* code = f.frame->program->code.data();
  LaneFile file = f.file;
  uint32_t pc = f.pc;
  Time now = f.time;
  uint64_t executed = 0;
  newcomer_ = kNever;
  const auto save = [&] {
    f.pc = pc;
    f.time = now;
    run_time_[f.run_index] = now;
    instructions_ += executed;
    warp.instructions += executed;
    if (f.group >= 0) {
      f.steps_since_split += executed;
      if (f.steps_since_split > kPatience) {
        f.steps_since_split = 0;
        release_parked(warp);
      }
    }
    executed = 0;
  };
  try {
    while (true) {
      const Instr& in = code[pc];
      if (in.join && f.group >= 0) {
        const Group& group = warp.groups[static_cast<size_t>(f.group)];
        if (group.pc == pc && group.frame == f.frame) {
          save();
          if (!arrive_at_join(f)) return;
          now = f.time;
        }
      }
      if (in.watch) [[unlikely]]
        reached_watched(f, in, now);
      LaneMask guard = file.predicates[in.guard];
      if (in.guard_negated) guard = ~guard;
      const LaneMask active = f.mask & guard;
      if (!warp.tmem_loads.empty() && touches_pending_load(warp, f.frame, pc)) {
        save();
        block(f, observe::Stall::TmemLoad);
        return;
      }
      if constexpr (kTimed) {
        f.pc = pc;
        f.time = now;
        // An instruction that waited does not issue a second time.
        if (!f.issued && !issue(f, in, active, limit)) {  // cannot issue before `limit`: f.time says when
          now = f.time;
          save();
          return;
        }
        now = f.time;
        f.issued = false;
      }
      ++executed;
      if (in.kind == isa::Kind::Alu) {
        if (active) in.alu(file, in, active);
        ++pc;
      } else {
        f.pc = pc;
        f.time = now;
        const Outcome outcome = execute(f, in, active);
        if (outcome == Outcome::Gone) {
          instructions_ += executed;
          warp.instructions += executed;
          return;
        }
        if (outcome == Outcome::Retry || outcome == Outcome::BlockNext) {
          if (outcome == Outcome::BlockNext) ++f.pc;
          f.issued = kTimed && outcome == Outcome::Retry;
          instructions_ += executed;
          warp.instructions += executed;
          return;
        }
        pc = outcome == Outcome::Jump ? f.pc : pc + 1;
        now = f.time;
        // It may spin on what the fragments and events that it let loose have yet to do.
        limit = std::min(limit, std::min(newcomer_, events_.next_time()) + (kTimed ? 0 : kFlatQuantum));
        if (f.file.base[0] != file.base[0]) {  // a call or return changed the frame
          code = f.frame->program->code.data();
          file = f.file;
        }
        if (f.state != Fragment::State::Runnable) {  // the operation put it to sleep before going on
          f.pc = pc;
          instructions_ += executed;
          warp.instructions += executed;
          return;
        }
      }
      if constexpr (!kTimed) now += 1;
      if (now > limit) {
        save();
        return;
      }
    }
  } catch (const Fault& fault) {
    f.pc = pc;
    handle(f, fault);
  } catch (const units::TensorError& error) {
    f.pc = pc;
    handle(f, {cuda::Status::kLaunchFailure, error.what()});
  }
}

Outcome Processor::execute(Fragment& f, const Instr& in, LaneMask active) {
  if (in.kind == isa::Kind::AluSync) {
    LaneMask needed = f.warp->live;
    if (in.member_source >= 0 && active) {
      const Ref member = in.wide ? in.wide[in.member_source] : in.src[in.member_source];
      const uint32_t* masks = f.file.at<uint32_t>(member);
      needed = 0;
      for (LaneMask rest = active; rest; rest &= rest - 1) needed |= masks[std::countr_zero(rest)];
    }
    if (active) {
      const LaneMask before = f.mask;
      if (!gather(f, needed)) return Outcome::Retry;
      if (f.mask != before) {
        LaneMask guard = f.file.predicates[in.guard];
        if (in.guard_negated) guard = ~guard;
        active = f.mask & guard;
      }
      in.alu(f.file, in, active);
    }
    return Outcome::Next;
  }
  const Op op = static_cast<Op>(in.op);
  if (!active && op != Op::Branch) return Outcome::Next;
  return (this->*kExec[in.op])(f, in, active);
}

// A watched instruction: the line of a snapshot, or one that uses what tcgen05.ld may not have delivered.
void Processor::reached_watched(const Fragment& f, const Instr& in, Time now) {
  const Program& program = *f.frame->program;
  const ptx::Instruction& instruction = program.function->instructions[in.source];
  if (const auto read = program.unwaited.find(instruction.text_begin);
      read != program.unwaited.end() && !launch_.kernel->load_reported.exchange(true)) {
    std::string load;
    for (const ptx::Instruction& candidate : program.function->instructions) {
      if (candidate.text_begin == read->second)
        load = ptx::to_string(*program.module, *program.function, candidate);
    }
    launch_.warn(fmt::format(
        "a register of tcgen05.ld is used before tcgen05.wait::ld{}\n    loaded by {}\n  the value is "
        "there, but nothing else is ordered after the load (PTX ISA 9.7.16.6): wait for it first. If the "
        "source "
        "does, the compiler moved the use above the wait.",
        describe(issuer(f, in, f.mask)), load));
  }
  const Cta& cta = *f.warp->cta;
  if (!launch_.snapshot || cta.linear != 0 || instruction.location < 0) return;
  const auto& location = program.function->locations[static_cast<size_t>(instruction.location)];
  if (location.line != launch_.snapshot->line) return;
  if (++launch_.snapshot_hits != launch_.snapshot->occurrence) return;
  const std::string name = write_snapshot(*launch_.snapshot, cta, now);
  std::fprintf(stderr, "emu: CTA (0,0,0) reached line %u at cycle %.0f: wrote %s\n", launch_.snapshot->line,
               now, name.c_str());
}

Time Processor::jitter(Time bound) {
  if (!launch_.options->jitter) return 0;
  return bound * static_cast<double>(random_() >> 11) * 0x1.0p-53;
}

bool Processor::quiesce() {
  bool released = false;
  for (auto& cluster : clusters_) {
    if (!cluster) continue;
    for (auto& cta : cluster->ctas) {
      for (auto& warp : cta->warps) {
        const bool parked = std::any_of(warp->groups.begin(), warp->groups.end(),
                                        [](const Group& g) { return g.used && g.arrived; });
        if (parked) {
          release_parked(*warp);
          released = true;
        }
      }
    }
  }
  return released;
}

void Processor::start_clusters(Time now) {
  const auto sms = static_cast<uint32_t>(launch_.request->cluster.count());
  for (uint32_t i = 0; i < sms; ++i) {
    sms_.push_back(std::make_unique<Sm>());
    sms_.back()->tmem.forgive_early_deallocation(launch_.options->lenient);
    sms_.back()->id = index_ * sms + i;
  }
  for (uint32_t slot = 0; slot < resident_ && next_cluster_ < end_cluster_; ++slot) {
    if (clusters_[slot]) continue;
    start_cluster(next_cluster_, slot, now);
    next_cluster_ += stride_;
  }
}

void Processor::start_cluster(uint64_t linear, uint32_t slot, Time now) {
  auto cluster = std::make_unique<Cluster>();
  cluster->linear = linear;
  cluster->slot = slot;
  const uint32_t size = static_cast<uint32_t>(launch_.request->cluster.count());
  cluster->live_ctas = size;
  for (uint32_t rank = 0; rank < size; ++rank) cluster->ctas.push_back(make_cta(*cluster, rank, now));
  Cluster& placed = *(clusters_[slot] = std::move(cluster));
  for (auto& cta : placed.ctas) {
    for (auto& warp : cta->warps) {
      Frame* frame = new_frame(*warp, launch_.kernel->programs[0].get());
      frame->lanes = warp->live;
      const Time start = now + jitter(200);
      new_fragment(*warp, frame, warp->live, 0, -1, start);
    }
    if (launch_.listener) {
      observe::Place at;
      at.sm = cta->sm->id;
      at.cta = cta->linear;
      launch_.listener->cta_begins(at, now, static_cast<uint32_t>(cta->warps.size()));
    }
  }
}

std::unique_ptr<Cta> Processor::make_cta(Cluster& cluster, uint32_t rank, Time now) {
  const cuda::LaunchRequest& request = *launch_.request;
  auto cta = std::make_unique<Cta>();
  cta->rank = rank;
  cta->cluster = &cluster;
  cta->sm = sms_[rank].get();
  cta->owner = ++owner_serial_;
  cta->started = now;
  const cuda::Dim3& c = request.cluster;
  const cuda::Dim3& clusters = launch_.clusters;
  const uint64_t linear = cluster.linear;
  cta->id.x = static_cast<uint32_t>(linear % clusters.x) * c.x + rank % c.x;
  cta->id.y = static_cast<uint32_t>(linear / clusters.x % clusters.y) * c.y + rank / c.x % c.y;
  cta->id.z = static_cast<uint32_t>(linear / clusters.x / clusters.y) * c.z + rank / c.x / c.y;
  cta->linear = cta->id.x + uint64_t{request.grid.x} * (cta->id.y + uint64_t{request.grid.y} * cta->id.z);
  const auto view = !launch_.kernel->reads_shared_async ? memory::ProxyView::Untracked
                    : launch_.options->lenient          ? memory::ProxyView::Lenient
                                                        : memory::ProxyView::Strict;
  cta->shared = std::make_unique<memory::SharedMemory>(launch_.shared_bytes, view);
  const uint32_t threads = static_cast<uint32_t>(request.block.count());
  const uint32_t warps = (threads + 31) / 32;
  cta->live_warps = warps;
  for (uint32_t w = 0; w < warps; ++w) {
    auto warp = std::make_unique<Warp>();
    warp->cta = cta.get();
    warp->index = w;
    warp->smsp = w % 4;
    const uint32_t lanes = std::min(32u, threads - w * 32);
    warp->all = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warp->live = warp->all;
    fill_special(*warp);
    cta->warps.push_back(std::move(warp));
  }
  ++launched_ctas_;
  launch_.ctas_run.fetch_add(1, std::memory_order_relaxed);
  return cta;
}

void Processor::fill_special(Warp& warp) {
  using S = isa::SpecialSlot;
  warp.special.assign(static_cast<size_t>(S::Count) * isa::kLanes, 0);
  const cuda::LaunchRequest& r = *launch_.request;
  const Cta& cta = *warp.cta;
  const auto all = [&](S slot, uint32_t value) { std::fill_n(warp.special_slot(slot), isa::kLanes, value); };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t thread = warp.index * 32 + lane;
    warp.special_slot(S::TidX)[lane] = thread % r.block.x;
    warp.special_slot(S::TidY)[lane] = thread / r.block.x % r.block.y;
    warp.special_slot(S::TidZ)[lane] = thread / r.block.x / r.block.y;
    warp.special_slot(S::LaneId)[lane] = lane;
    warp.special_slot(S::LanemaskEq)[lane] = 1u << lane;
    warp.special_slot(S::LanemaskLt)[lane] = (1u << lane) - 1;
    warp.special_slot(S::LanemaskLe)[lane] = (2u << lane) - 1;
    warp.special_slot(S::LanemaskGt)[lane] = ~((2u << lane) - 1);
    warp.special_slot(S::LanemaskGe)[lane] = ~((1u << lane) - 1);
  }
  all(S::NtidX, r.block.x), all(S::NtidY, r.block.y), all(S::NtidZ, r.block.z);
  all(S::CtaidX, cta.id.x), all(S::CtaidY, cta.id.y), all(S::CtaidZ, cta.id.z);
  all(S::NctaidX, r.grid.x), all(S::NctaidY, r.grid.y), all(S::NctaidZ, r.grid.z);
  all(S::WarpId, warp.index), all(S::NwarpId, static_cast<uint32_t>((r.block.count() + 31) / 32));
  all(S::SmId, cta.sm->id), all(S::NsmId, static_cast<uint32_t>(machine_.num_sms));
  for (int lane = 0; lane < 32; ++lane) {
    reinterpret_cast<uint64_t*>(warp.special_slot(S::GridId))[lane] = launch_.grid_id;
  }
  const cuda::Dim3& c = r.cluster;
  const uint64_t linear = cta.cluster->linear;
  all(S::ClusterIdX, static_cast<uint32_t>(linear % launch_.clusters.x));
  all(S::ClusterIdY, static_cast<uint32_t>(linear / launch_.clusters.x % launch_.clusters.y));
  all(S::ClusterIdZ, static_cast<uint32_t>(linear / launch_.clusters.x / launch_.clusters.y));
  all(S::NclusterIdX, launch_.clusters.x), all(S::NclusterIdY, launch_.clusters.y);
  all(S::NclusterIdZ, launch_.clusters.z);
  all(S::ClusterCtaidX, cta.rank % c.x), all(S::ClusterCtaidY, cta.rank / c.x % c.y);
  all(S::ClusterCtaidZ, cta.rank / c.x / c.y);
  all(S::ClusterNctaidX, c.x), all(S::ClusterNctaidY, c.y), all(S::ClusterNctaidZ, c.z);
  all(S::ClusterCtarank, cta.rank), all(S::ClusterNctarank, static_cast<uint32_t>(c.count()));
  all(S::DynamicSmemSize, r.dynamic_shared);
  all(S::TotalSmemSize, launch_.shared_bytes + memory::kSharedReservedBytes);
  all(S::Envreg1, static_cast<uint32_t>(launch_.grid_workspace >> 32));
  all(S::Envreg2, static_cast<uint32_t>(launch_.grid_workspace));
}

void Processor::warp_exited(Warp& warp, Time now) {
  Cta& cta = *warp.cta;
  --cta.live_warps;
  note_progress();
  for (uint32_t id = 0; id < cta.barriers.size(); ++id) check_cta_barrier(cta, id, now);
  check_cluster_barrier(*cta.cluster, now);
  maybe_retire(cta, now);
}

void Processor::maybe_retire(Cta& cta, Time now) {
  if (cta.live_warps > 0 || cta.in_flight > 0 || cta.retired) return;
  cta.retired = true;
  const std::string leftover = cta.sm->tmem.leftover(cta.owner);
  if (!leftover.empty()) {
    throw Fault{cuda::Status::kLaunchFailure,
                fmt::format("CTA {} ended without tcgen05.dealloc: {}", cta.linear, leftover)};
  }
  cta.sm->tmem.retire(cta.owner);
  if (launch_.listener) {
    observe::Place at;
    at.sm = cta.sm->id;
    at.cta = cta.linear;
    launch_.listener->cta_ends(at, now);
  }
  end_time_ = std::max(end_time_, now);
  if (--cta.cluster->live_ctas == 0) retire_cluster(*cta.cluster, now);
}

void Processor::retire_cluster(Cluster& cluster, Time now) {
  cluster_ends_.push_back(now);
  const uint32_t slot = cluster.slot;
  // The objects are still on the call stack: an event of their own takes them down.
  events_.schedule(now, [this, slot](Time when) {
    for (auto& cta : clusters_[slot]->ctas) {
      for (auto& warp : cta->warps) {
        for (Fragment* fragment : warp->fragments) {
          fragment->state = Fragment::State::Free;
          ++fragment->serial;
          free_fragments_.push_back(fragment);
        }
        if (warp->local) reserve_local(*warp, 0);
      }
    }
    clusters_[slot].reset();
    if (next_cluster_ < end_cluster_) {
      const uint64_t linear = next_cluster_;
      next_cluster_ += stride_;
      start_cluster(linear, slot, when + (timed_ ? machine_.cta_replace + machine_.cta_start : 0));
    }
  });
}

}  // namespace emu::gpu
