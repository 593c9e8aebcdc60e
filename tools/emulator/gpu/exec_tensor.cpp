// tcgen05: tensor memory, the tensor core's queue, commits. PTX ISA 9.7.16.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "gpu/processor.h"
#include "memory/poison.h"
#include "units/tensor_core.h"

namespace emu::gpu {

namespace {
// Nothing but tcgen05.wait::st says when a store is performed. One that nobody waits for is performed this
// much after its port has served it: later than any hand-off takes.
constexpr Time kUnwaitedStoreDelay = 4000;
}  // namespace

Outcome Processor::exec_tmem_alloc(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Warp& warp = *f.warp;
  if (!gather(f, warp.live)) return Outcome::Retry;
  const int lane = std::countr_zero(active);
  const uint32_t columns = f.file.at<uint32_t>(in.src[0])[lane];
  Sm& sm = *warp.cta->sm;
  const auto address = sm.tmem.try_allocate(warp.cta->owner, columns);
  if (!address) {
    block(f, observe::Stall::Allocation, columns);
    sm.tmem_waiters.push_back({&f, f.serial});
    return Outcome::Retry;
  }
  const uint64_t to = uniform_address(f, d.address, active);
  const Location at = locate(f, d.space, to, 4, lane, true, 4);
  if (!at.cta)
    throw Fault{cuda::Status::kInvalidAddressSpace, "tcgen05.alloc writes its result to shared memory"};
  std::memcpy(at.bytes, &*address, 4);
  note_shared_write(f, at, 4, lane, in);
  note_progress();
  if (timed_) {
    f.time += machine_.tmem_alloc;
    run_time_[f.run_index] = f.time;
  }
  return Outcome::Next;
}

Outcome Processor::exec_tmem_dealloc(Fragment& f, const Instr& in, LaneMask active) {
  Warp& warp = *f.warp;
  if (!gather(f, warp.live)) return Outcome::Retry;
  const int lane = std::countr_zero(active);
  Sm& sm = *warp.cta->sm;
  sm.tmem.deallocate(warp.cta->owner, f.file.at<uint32_t>(in.src[0])[lane],
                     f.file.at<uint32_t>(in.src[1])[lane]);
  note_progress();
  wake_all(sm.tmem_waiters, f.time);
  return Outcome::Next;
}

Outcome Processor::exec_tmem_relinquish(Fragment& f, const Instr&, LaneMask) {
  Warp& warp = *f.warp;
  if (!gather(f, warp.live)) return Outcome::Retry;
  warp.cta->sm->tmem.relinquish(warp.cta->owner);
  return Outcome::Next;
}

namespace {

units::TmemAccess access_at(const Detail& d, uint32_t address) {
  units::TmemAccess access = d.tmem;
  access.address = address;
  return access;
}

}  // namespace

// The load reads tensor memory when its port serves it and delivers the registers afterwards. An instruction
// that names one of them waits for it: a true register dependency is honoured (PTX ISA 9.7.16.6). Nothing
// else is ordered after the load but tcgen05.wait::ld.
Outcome Processor::exec_tmem_load(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Warp& warp = *f.warp;
  if (!gather(f, warp.live)) return Outcome::Retry;
  units::TmemAccess access = access_at(d, static_cast<uint32_t>(uniform_address(f, d.address, active)));
  if (launch_.options->lenient)
    access.address = units::in_own_quarter(access.address, static_cast<int>(warp.index));
  const std::string problem = units::tmem_access_problem(access, static_cast<int>(warp.index));
  if (!problem.empty()) throw Fault{cuda::Status::kLaunchFailure, "tcgen05.ld: " + problem};
  const units::TmemAddress base = units::decode_tmem_address(access.address);
  const int columns = units::tmem_column_count(access);
  Sm& sm = *warp.cta->sm;
  sm.tmem.require_owned(warp.cta->owner, base.column, columns, "tcgen05.ld");
  for (const Ref& ref : d.data) {
    uint32_t* lanes = f.file.at<uint32_t>(ref);
    if (f.mask == ~LaneMask{0}) {
      std::fill_n(lanes, 32, memory::kPoison32);
      continue;
    }
    for (int lane = 0; lane < 32; ++lane) {
      if (f.mask >> lane & 1) lanes[lane] = memory::kPoison32;
    }
  }
  Time& port = sm.tmem_port_free[warp.smsp];
  const Time start = std::max(f.time, port) + jitter(60);
  port = start + columns / machine_.tmem_columns_per_clk;
  const Time ready = std::max(port + machine_.tmem_load_fixed + jitter(200), warp.tmem_loads_done);
  warp.tmem_loads_done = ready;
  PendingLoad& pending = warp.tmem_loads.emplace_back();
  pending.frame = f.frame;
  pending.detail = &d;
  pending.lanes = f.mask;
  pending.ready = ready;
  if (!warp.spare_values.empty()) {
    pending.values = std::move(warp.spare_values.back());
    warp.spare_values.pop_back();
  }
  pending.values.resize(d.data.size() * 32);
  ++warp.cta->in_flight;
  PendingLoad* slot = &pending;
  const Issuer reader = issuer(f, in, active);
  events_.schedule(start, [this, &warp, slot, access, reader](Time) {
    std::array<uint32_t*, 128> rows;
    for (size_t i = 0; i < slot->detail->data.size(); ++i) rows[i] = slot->values.data() + i * 32;
    const units::TmemAddress at = units::decode_tmem_address(access.address);
    serve_port_in_order(warp, at.column, units::tmem_column_count(access), reader);
    units::tmem_load(warp.cta->sm->tmem, access, rows.data());
  });
  events_.schedule(ready, [this, &warp](Time now) { land_tmem_loads(warp, now); });
  if (launch_.listener) {
    launch_.listener->operation(place(f, in), observe::Unit::Tmem, f.time, start, port, ready,
                                static_cast<uint64_t>(columns) * 128, "ld");
  }
  note_progress();
  return Outcome::Next;
}

bool Processor::touches_pending_load(const Warp& warp, const Frame* frame, uint32_t pc) const {
  const IssueInfo& info = frame->program->issue;
  const IssueRange& range = info.instructions[pc];
  const std::span<const uint32_t> slots(info.pool.data() + range.first, size_t{range.reads} + range.writes);
  for (const PendingLoad& load : warp.tmem_loads) {
    if (load.frame != frame) continue;
    for (const Ref& ref : load.detail->data) {
      if (std::find(slots.begin(), slots.end(), ref.slot()) != slots.end()) return true;
    }
  }
  return false;
}

// Loads of a warp land in order.
void Processor::land_tmem_loads(Warp& warp, Time now) {
  while (!warp.tmem_loads.empty() && warp.tmem_loads.front().ready <= now) {
    PendingLoad& load = warp.tmem_loads.front();
    for (size_t i = 0; i < load.detail->data.size(); ++i) {
      const Ref ref = load.detail->data[i];
      uint32_t* to = load.frame->registers + static_cast<size_t>(ref.slot()) * isa::kLanes;
      if (load.lanes == ~LaneMask{0}) {
        std::memcpy(to, load.values.data() + i * 32, sizeof(uint32_t) * 32);
        continue;
      }
      for (int lane = 0; lane < 32; ++lane) {
        if (load.lanes >> lane & 1) to[lane] = load.values[i * 32 + static_cast<size_t>(lane)];
      }
    }
    warp.spare_values.push_back(std::move(load.values));
    warp.tmem_loads.pop_front();
    --warp.cta->in_flight;
  }
  for (size_t i = 0; i < warp.fragments.size(); ++i) {
    Fragment* f = warp.fragments[i];
    if (f->state == Fragment::State::Blocked && f->stall == observe::Stall::TmemLoad) wake(*f, now);
  }
  maybe_retire(*warp.cta, now);
}

Outcome Processor::exec_tmem_store(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Warp& warp = *f.warp;
  if (!gather(f, warp.live)) return Outcome::Retry;
  units::TmemAccess access = access_at(d, static_cast<uint32_t>(uniform_address(f, d.address, active)));
  if (launch_.options->lenient)
    access.address = units::in_own_quarter(access.address, static_cast<int>(warp.index));
  const std::string problem = units::tmem_access_problem(access, static_cast<int>(warp.index));
  if (!problem.empty()) throw Fault{cuda::Status::kLaunchFailure, "tcgen05.st: " + problem};
  const units::TmemAddress base = units::decode_tmem_address(access.address);
  const int columns = units::tmem_column_count(access);
  Sm& sm = *warp.cta->sm;
  sm.tmem.require_owned(warp.cta->owner, base.column, columns, "tcgen05.st");
  Time& port = sm.tmem_port_free[warp.smsp];
  const Time start = std::max(f.time, port) + jitter(60);
  port = start + columns / machine_.tmem_columns_per_clk;
  // Lenient: performed when served, which is what library kernels without tcgen05.wait::st lean on.
  const bool in_order = launch_.options->lenient;
  const Time done =
      std::max(port + (in_order ? 0 : machine_.tmem_store_fixed + jitter(200)), warp.tmem_stores_done);
  warp.tmem_stores_done = done;
  PendingStore& store = warp.tmem_stores.emplace_back();
  store.access = access;
  store.first_column = base.column;
  store.columns = columns;
  store.done = done;
  store.program = f.frame->program;
  store.source = in.source;
  store.values.resize(d.data.size() * 32);
  for (size_t i = 0; i < d.data.size(); ++i) {
    std::memcpy(store.values.data() + i * 32, f.file.at<uint32_t>(d.data[i]), 128);
  }
  ++warp.cta->in_flight;
  const Time delay = in_order ? 0 : kUnwaitedStoreDelay;
  events_.schedule(done + delay, [this, &warp, delay, alive = std::weak_ptr<char>(warp.alive)](Time now) {
    if (alive.expired()) return;
    land_tmem_stores(warp, now - delay, now);
    maybe_retire(*warp.cta, now);
  });
  if (launch_.listener) {
    launch_.listener->operation(place(f, in), observe::Unit::Tmem, f.time, start, port, done,
                                static_cast<uint64_t>(columns) * 128, "st");
  }
  return Outcome::Next;
}

// Performs the warp's stores that their port had served by `until`, in order.
void Processor::land_tmem_stores(Warp& warp, Time until, Time) {
  while (!warp.tmem_stores.empty() && warp.tmem_stores.front().done <= until) {
    const PendingStore& store = warp.tmem_stores.front();
    std::vector<const uint32_t*> rows(store.values.size() / 32);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = store.values.data() + i * 32;
    units::tmem_store(warp.cta->sm->tmem, store.access, rows.data());
    note_progress();
    warp.tmem_stores.pop_front();
    --warp.cta->in_flight;
  }
}

// The port of a lane quarter serves stores and loads in order, whoever issued them. The manual promises
// nothing of the kind without tcgen05.wait::st, but library kernels lean on it: a load that does is reported
// and served.
void Processor::serve_port_in_order(const Warp& loader, int first_column, int columns, const Issuer& reader) {
  for (const auto& warp : loader.cta->warps) {
    if (warp->tmem_stores.empty() || warp->index % 4 != loader.index % 4) continue;
    const bool overlaps =
        std::any_of(warp->tmem_stores.begin(), warp->tmem_stores.end(), [&](const PendingStore& s) {
          return s.first_column < first_column + columns && first_column < s.first_column + s.columns;
        });
    if (!overlaps) continue;
    report_unwaited_store(*loader.cta, static_cast<int>(loader.index % 4), first_column, columns,
                          "tcgen05.ld", reader, "The port's order delivered the new values.");
    land_tmem_stores(*warp, warp->tmem_stores.back().done, 0);
  }
}

void Processor::report_unwaited_store(const Cta& cta, int quarter, int first_column, int columns,
                                      const char* what, const Issuer& reader, const char* outcome) {
  if (launch_.store_reported) return;
  for (const auto& warp : cta.warps) {
    if (quarter >= 0 && static_cast<int>(warp->index % 4) != quarter) continue;
    for (const PendingStore& store : warp->tmem_stores) {
      if (store.first_column >= first_column + columns || first_column >= store.first_column + store.columns)
        continue;
      if (launch_.store_reported.exchange(true)) return;
      const ptx::Instruction& instruction = store.program->function->instructions[store.source];
      launch_.warn(fmt::format(
          "stale read of tensor memory: {} reads columns {} to {} while warp {}'s store to "
          "columns {} to {} is not "
          "performed\n    {}\n  that warp needs tcgen05.wait::st before it hands the columns "
          "over (PTX ISA 9.7.16.6). {}",
          std::string(what) + describe(reader), first_column, first_column + columns - 1, warp->index,
          store.first_column, store.first_column + store.columns - 1,
          ptx::to_string(*store.program->module, *store.program->function, instruction), outcome));
      return;
    }
  }
}

Outcome Processor::exec_tmem_wait(Fragment& f, const Instr& in, LaneMask) {
  Warp& warp = *f.warp;
  if (!gather(f, warp.live)) return Outcome::Retry;
  if (detail(f, in).flag) {
    if (warp.tmem_loads.empty()) return Outcome::Next;
    block(f, observe::Stall::TmemLoad);
  } else {
    land_tmem_stores(warp, f.time, f.time);
    if (warp.tmem_stores.empty()) {
      if (timed_ && f.woken_from != observe::Stall::TmemStore) f.time += machine_.tmem_wait_store;
      f.woken_from = observe::Stall::None;
      return Outcome::Next;
    }
    const Time when = warp.tmem_stores.back().done + (timed_ ? machine_.tmem_wait_store : 0);
    block(f, observe::Stall::TmemStore);
    events_.schedule(when, [this, waiter = Waiter{&f, f.serial}](Time now) { wake(waiter, now); });
  }
  return Outcome::Retry;
}

namespace {

struct MmaTime {
  Time interval;  // cycles the tensor core is busy with it
  Time latency;   // from its start to the results being in place
};

// The multiplication and the shared-memory operand port run side by side; SA's table: N/2 for A in tensor
// memory, max(N/2, (A + B bytes) / 128) for M 128 with both operands in shared memory, N/2 for M 64. Every
// kind takes 32 bytes of each row of A, and AD measured the same interval for f16, f8 and f4 at their own K,
// as NVIDIA's published peaks have it (1, 2, 4, and twice that for a sparse A). Reading scale factors and
// metadata is taken to be hidden, and .ws to cost what the same M and N cost otherwise: nothing is published
// on either.
MmaTime mma_time(const timing::Machine& machine, const units::MmaOperation& op,
                 const units::InstructionDescriptor& s) {
  const bool pair = op.cta_group == 2;
  const bool half_m = pair && s.m == 128;
  const double per_cta = pair ? 0.5 : 1;
  const double multiply = (half_m ? s.n / 2.0 : s.n) / machine.mma_rate_columns;
  const double a_fetch = op.a_in_tmem ? 0 : 32.0 * s.m * per_cta / machine.mma_operand_bytes_per_clk;
  const double b_row = s.sparse ? 64 : 32;
  const double b_fetch = b_row * s.n * per_cta / machine.mma_operand_bytes_per_clk;
  const bool port_bound = !op.a_in_tmem && !(s.m <= 64 && !pair);
  const double floor = port_bound ? machine.mma_min_interval * (half_m ? 0.5 : 1) : 0;
  return {std::max({multiply, port_bound ? a_fetch + b_fetch : 0, floor}),
          multiply + a_fetch + machine.mma_latency};
}

// This CTA, or the pair it belongs to, even one first.
std::vector<Cta*> ctas_of_group(Cta& own, int cta_group, const char* what) {
  if (cta_group == 1) return {&own};
  const uint32_t even = own.rank & ~1u;
  if (even + 1 >= own.cluster->ctas.size()) {
    throw Fault{cuda::Status::kIllegalInstruction,
                fmt::format("{}.cta_group::2 needs a cluster with a CTA pair", what)};
  }
  return {own.cluster->ctas[even].get(), own.cluster->ctas[even + 1].get()};
}

}  // namespace

Outcome Processor::exec_mma(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Warp& warp = *f.warp;
  Cta& own = *warp.cta;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    units::MmaOperation op = d.mma;
    op.d_address = static_cast<uint32_t>(lane_address(f, d.address, symbol_value(f, d.address), lane));
    if (d.a_in_tmem) {
      op.a_address = static_cast<uint32_t>(lane_address(f, d.address2, symbol_value(f, d.address2), lane));
    } else {
      op.a_descriptor = f.file.at<uint64_t>(in.src[0])[lane];
    }
    op.b_descriptor = f.file.at<uint64_t>(in.src[1])[lane];
    op.instruction_descriptor = f.file.at<uint32_t>(in.src[2])[lane];
    for (size_t i = 0; i < d.coordinates.size(); ++i)
      op.disabled_lanes[i] = f.file.at<uint32_t>(d.coordinates[i])[lane];
    if (d.has_extra) op.zero_columns = f.file.at<uint64_t>(in.src[3])[lane];
    const auto tmem_address = [&](const AddressOperand& a) {
      return static_cast<uint32_t>(lane_address(f, a, symbol_value(f, a), lane));
    };
    if (op.sparse) op.metadata_address = tmem_address(d.address3);
    if (op.scale_blocks) {
      op.scale_a_address = tmem_address(d.address3);
      op.scale_b_address = tmem_address(d.address4);
      op.first_scale_copy_only = launch_.options->lenient;
    }
    op.accumulate = ((f.file.predicates[d.extra.raw] >> lane) & 1) != (d.flag ? 1u : 0u);
    const auto problems = units::mma_problems(op);
    if (!problems.empty()) {
      throw Fault{cuda::Status::kIllegalInstruction,
                  fmt::format("tcgen05.mma: {}", fmt::join(problems, "; "))};
    }
    const std::vector<Cta*> ctas = ctas_of_group(own, d.cta_group, "tcgen05.mma");
    const Time issued = f.time;
    Time start = issued + machine_.mma_issue;
    for (const Cta* cta : ctas) start = std::max(start, cta->sm->tensor_free);
    start += jitter(150);
    const auto shape = units::decode_instruction_descriptor(op.instruction_descriptor, op.kind, op.cta_group,
                                                            op.a_in_tmem, op.weight_stationary, op.sparse);
    const units::InstructionDescriptor& s = shape.descriptor;
    const MmaTime cost = mma_time(machine_, op, s);
    // The published latency runs from the issue to the waiter's next instruction.
    Time done = start + cost.latency - machine_.mma_issue - (timed_ ? machine_.mbar_wake : 0) + jitter(300);
    for (Cta* cta : ctas) {
      done = std::max(done, cta->sm->tensor_latest);
      cta->sm->tensor_free = start + cost.interval;
      cta->sm->tensor_latest = done;
      ++cta->in_flight;
    }
    for (Cta* cta : ctas) cta->sm->tensor_latest = done;
    warp.mma_done[static_cast<size_t>(lane)] = done;
    auto in_flight = std::make_shared<std::optional<units::MmaInFlight>>();
    const Issuer where = issuer(f, in, 1u << lane);
    events_.schedule(start, [this, ctas, op, in_flight, where](Time) {
      std::vector<units::SharedView> views;
      std::vector<units::TensorMemory*> tmem;
      for (const Cta* cta : ctas) {
        views.push_back({cta->shared->async(), 0, cta->shared->end()});
        tmem.push_back(&cta->sm->tmem);
      }
      try {
        in_flight->emplace(units::start_mma(op, views, tmem));
        for (const units::TmemRange& range : (*in_flight)->tmem_ranges()) {
          const Cta* cta = ctas[static_cast<size_t>(range.cta)];
          cta->sm->tmem.require_owned(cta->owner, range.first_column, range.columns, "tcgen05.mma");
          if (!range.written || op.accumulate) {
            report_unwaited_store(*cta, -1, range.first_column, range.columns, "tcgen05.mma", where);
          }
        }
      } catch (const units::TensorError& error) {
        throw Fault{cuda::Status::kIllegalAddress,
                    fmt::format("tcgen05.mma: {}{}", error.what(), describe(where))};
      }
      const bool check = std::any_of(ctas.begin(), ctas.end(),
                                     [](const Cta* cta) { return cta->shared->unpublished_words() > 0; });
      if (check && !launch_.stale_reported) {
        (*in_flight)->for_each_shared_range([&](const units::SharedRange& range) {
          report_stale(*ctas[static_cast<size_t>(range.cta)], range.address, range.bytes, "tcgen05.mma",
                       where);
        });
      }
    });
    events_.schedule(done, [this, ctas, in_flight](Time now) {
      (*in_flight)->complete(launch_.options->mma);
      note_progress();
      for (Cta* cta : ctas) {
        --cta->in_flight;
        maybe_retire(*cta, now);
      }
    });
    if (launch_.listener) {
      launch_.listener->operation(place(f, in), observe::Unit::TensorCore, issued, start,
                                  start + cost.interval, done, static_cast<uint64_t>(2.0 * s.m * s.n * s.k),
                                  op.a_in_tmem ? "mma TS" : "mma SS", op.d_address);
    }
  }
  note_progress();
  return Outcome::Next;
}

// The arrive happens when everything the thread has issued has completed.
Outcome Processor::exec_commit(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = lane_address(f, d.address, symbol_value(f, d.address), lane);
    const uint32_t shared = shared_address(f, d.space, address, "tcgen05.commit");
    const uint32_t offset = memory::cta_offset_of(shared);
    const Time when =
        std::max(f.time + machine_.commit_issue, f.warp->mma_done[static_cast<size_t>(lane)]) + jitter(50);
    if (d.has_extra) {
      for (uint32_t bits = f.file.at<uint32_t>(d.extra)[lane] & 0xffff; bits; bits &= bits - 1) {
        const auto rank = static_cast<uint32_t>(std::countr_zero(bits));
        start_commit(f, in, cta_of_shared(f, memory::shared_address(rank, offset), "tcgen05.commit"), offset,
                     when);
      }
    } else {
      start_commit(f, in, cta_of_shared(f, shared, "tcgen05.commit"), offset, when);
    }
  }
  note_progress();
  return Outcome::Next;
}

void Processor::start_commit(Fragment& f, const Instr&, Cta& cta, uint32_t offset, Time when) {
  (void)f;
  ++cta.in_flight;
  events_.schedule(when, [this, &cta, offset](Time now) {
    --cta.in_flight;
    barrier_result(cta, offset, cta.mbarriers.arrive(offset), now, "commit");
    maybe_retire(cta, now);
  });
}

// In the tensor core's queue: an mma issued after it finds the data (PTX ISA 9.7.16.6).
Outcome Processor::exec_tmem_copy(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Cta& own = *f.warp->cta;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto to = static_cast<uint32_t>(lane_address(f, d.address, symbol_value(f, d.address), lane));
    const units::TmemCopy copy{d.copy, to, f.file.at<uint64_t>(in.src[0])[lane], d.copy_format};
    const std::string problem = units::tmem_copy_problem(copy);
    if (!problem.empty()) throw Fault{cuda::Status::kIllegalInstruction, "tcgen05.cp: " + problem};
    const std::vector<Cta*> ctas = ctas_of_group(own, d.cta_group, "tcgen05.cp");
    const int column = units::decode_tmem_address(to).column;
    const int columns = units::tmem_copy_columns(d.copy);
    Time start = f.time + machine_.mma_issue;
    for (Cta* cta : ctas) {
      cta->sm->tmem.require_owned(cta->owner, column, columns, "tcgen05.cp");
      start = std::max(start, cta->sm->tensor_free);
    }
    start += jitter(150);
    const double bytes = 4.0 * units::tmem_copy_rows(d.copy) * columns;
    Time done = start + bytes / machine_.mma_operand_bytes_per_clk + machine_.tmem_store_fixed + jitter(300);
    for (Cta* cta : ctas) done = std::max(done, cta->sm->tensor_latest);
    f.warp->mma_done[static_cast<size_t>(lane)] = done;
    const std::string where = describe_place(f, in, 1u << lane);
    for (Cta* cta : ctas) {
      cta->sm->tensor_free = cta->sm->tensor_latest = done;
      ++cta->in_flight;
      auto words = std::make_shared<std::vector<uint32_t>>();
      events_.schedule(start, [this, cta, copy, words, where](Time) {
        try {
          *words = units::gather_tmem_copy(copy, {cta->shared->async(), 0, cta->shared->end()});
        } catch (const units::TensorError& error) {
          throw Fault{cuda::Status::kIllegalAddress, fmt::format("tcgen05.cp: {}{}", error.what(), where)};
        }
      });
      events_.schedule(done, [this, cta, copy, words](Time now) {
        units::land_tmem_copy(copy, *words, cta->sm->tmem);
        note_progress();
        --cta->in_flight;
        maybe_retire(*cta, now);
      });
    }
  }
  note_progress();
  return Outcome::Next;
}

// In order with every mma and cp of the queue (PTX ISA 9.7.16.6).
Outcome Processor::exec_tmem_shift(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto address = static_cast<uint32_t>(lane_address(f, d.address, symbol_value(f, d.address), lane));
    const std::string problem = units::tmem_shift_problem(address);
    if (!problem.empty()) throw Fault{cuda::Status::kIllegalInstruction, "tcgen05.shift: " + problem};
    const std::vector<Cta*> ctas = ctas_of_group(*f.warp->cta, d.cta_group, "tcgen05.shift");
    const int column = units::decode_tmem_address(address).column;
    Time done = f.time + machine_.mma_issue;
    for (Cta* cta : ctas) {
      cta->sm->tmem.require_owned(cta->owner, column, units::kTmemShiftColumns, "tcgen05.shift");
      done = std::max({done, cta->sm->tensor_free, cta->sm->tensor_latest});
    }
    done += machine_.tmem_shift + jitter(300);
    f.warp->mma_done[static_cast<size_t>(lane)] = done;
    const Issuer where = issuer(f, in, 1u << lane);
    for (Cta* cta : ctas) {
      cta->sm->tensor_free = cta->sm->tensor_latest = done;
      ++cta->in_flight;
      events_.schedule(done, [this, cta, address, column, where](Time now) {
        report_unwaited_store(*cta, -1, column, units::kTmemShiftColumns, "tcgen05.shift", where);
        units::shift_tmem(address, cta->sm->tmem);
        note_progress();
        --cta->in_flight;
        maybe_retire(*cta, now);
      });
    }
  }
  note_progress();
  return Outcome::Next;
}

}  // namespace emu::gpu
