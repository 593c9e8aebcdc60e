// The bulk copy engine: tensor and one-dimensional copies, reductions, bulk groups, cluster launch control.
// Sources are read when an operation starts, results are written when it completes; in between the
// destination holds poison, because the rules let hardware write it at any time from the issue on.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "gpu/processor.h"
#include "memory/poison.h"
#include "units/bulk_copy.h"
#include "units/tensor_map.h"
#include "units/tma_tile.h"

namespace emu::gpu {

namespace {

using units::BulkFaultKind;

cuda::Status status_of(BulkFaultKind kind) {
  switch (kind) {
    case BulkFaultKind::IllegalInstruction:
      return cuda::Status::kIllegalInstruction;
    case BulkFaultKind::MisalignedAddress:
      return cuda::Status::kMisalignedAddress;
    case BulkFaultKind::IllegalAddress:
      return cuda::Status::kIllegalAddress;
    case BulkFaultKind::Unsupported:
      return cuda::Status::kIllegalInstruction;
    default:
      return cuda::Status::kLaunchFailure;
  }
}

void check(const units::BulkFault& fault) {
  if (fault) throw Fault{status_of(fault.kind), fault.text};
}

}  // namespace

units::BulkGroups& Processor::bulk_groups(Warp& warp, int lane) {
  auto& groups = warp.bulk[static_cast<size_t>(lane)];
  if (!groups) groups = std::make_unique<units::BulkGroups>();
  return *groups;
}

// Queues `rows` on the SM's copy engine; returns when the last one has been served.
Time Processor::tma_service(Sm& sm, Time issue, uint32_t rows, double cycles_per_row, Time* start) {
  *start = std::max(issue, sm.tma_free) + jitter(300);
  const Time end = *start + rows * cycles_per_row;
  sm.tma_free = std::max(sm.tma_free, end);
  return end;
}

void Processor::report_stale(const Cta& cta, uint32_t offset, uint32_t bytes, const char* what,
                             const Issuer& reader) {
  if (!cta.shared->tracked() || cta.shared->unpublished_words() == 0) return;
  const auto stale = cta.shared->first_stale(offset, bytes);
  if (!stale || launch_.stale_reported.exchange(true)) return;
  launch_.warn(fmt::format(
      "stale read through the async proxy: {} reads shared address 0x{:x} of CTA {}, which "
      "thread {} (warp {}, lane {}) "
      "stored with\n    {}\n  and has not published: that thread needs fence.proxy.async (PTX "
      "ISA 9.7.13.4) between the "
      "store and the barrier that hands it over. The old bytes were read; --lenient forgives this.",
      std::string(what) + describe(reader), stale->offset, cta.linear, stale->warp * 32 + stale->lane,
      stale->warp, stale->lane, describe_tag(stale->tag)));
}

// Copies end in about the order they began: the oldest is free first.
std::shared_ptr<Processor::TileCopy> Processor::spare_tile_copy() {
  std::shared_ptr<TileCopy> copy;
  if (!tile_copies_.empty() && tile_copies_.front().use_count() == 1) {
    copy = std::move(tile_copies_.front());
    tile_copies_.pop_front();
    copy->destinations.clear();
  } else {
    copy = std::make_shared<TileCopy>();
  }
  tile_copies_.push_back(copy);
  return copy;
}

namespace {

// A map must be of the copy's mode. One that the kernel edited was not checked when it was encoded.
void check_map(const units::TensorMap& map, bool im2col) {
  if (map.im2col != im2col) {
    throw Fault{cuda::Status::kIllegalInstruction,
                fmt::format("{} copy uses a tensor map of the {} mode", im2col ? "an im2col" : "a tile",
                            map.im2col ? "im2col" : "tile")};
  }
  if (!map.edited) return;
  const std::string broken = im2col ? units::check_im2col(map) : units::check_tiled(map);
  if (!broken.empty()) {
    throw Fault{cuda::Status::kIllegalInstruction,
                "the tensor map that the kernel edited is not valid: " + broken};
  }
}

}  // namespace

Outcome Processor::exec_tensor_copy(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Cta& own = *f.warp->cta;
  Warp& warp = *f.warp;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t map_address = lane_address(f, d.address2, symbol_value(f, d.address2), lane);
    if (map_address % 64 || !launch_.memory->contains(allocation_, map_address, units::kTensorMapBytes)) {
      throw Fault{
          cuda::Status::kIllegalAddress,
          fmt::format(
              "the tensor map must be 128 bytes of global, constant or parameter memory, 64-byte aligned: {}",
              launch_.memory->describe(map_address, units::kTensorMapBytes))};
    }
    const auto map = units::decode(reinterpret_cast<const void*>(map_address));
    if (!map) {
      throw Fault{cuda::Status::kIllegalInstruction,
                  fmt::format("the 128 bytes at 0x{:x} are no tensor map that cuTensorMapEncodeTiled made",
                              map_address)};
    }
    std::array<int32_t, 5> coordinate_values{};
    for (size_t i = 0; i < d.coordinates.size(); ++i)
      coordinate_values[i] = f.file.at<int32_t>(d.coordinates[i])[lane];
    const std::span<const int32_t> coordinates(coordinate_values.data(), d.coordinates.size());
    if (!d.flag && map->rank != d.count) {
      throw Fault{cuda::Status::kIllegalInstruction,
                  fmt::format("a {}-dimensional copy uses a tensor map of rank {}", d.count, map->rank)};
    }
    uint32_t shared = 0;
    if (d.variant != 3) {
      shared = static_cast<uint32_t>(lane_address(f, d.address, symbol_value(f, d.address), lane));
      if (d.space == ptx::Space::Generic && d.variant != 0)
        shared = memory::cta_offset_of(shared) | own.rank << 24;
    }
    const auto direction = d.variant == 0   ? units::TileDirection::Load
                           : d.variant == 1 ? units::TileDirection::Store
                           : d.variant == 2 ? units::TileDirection::Reduce
                                            : units::TileDirection::Prefetch;
    const std::shared_ptr<TileCopy> copy = spare_tile_copy();
    units::TilePlan* const plan = &copy->plan;
    const auto bounds = [this](uint64_t address, uint64_t bytes) {
      return launch_.memory->contains(address, bytes);
    };
    const int64_t source = map_address - launch_.parameters < launch_.request->params.size()
                               ? static_cast<int64_t>(map_address - launch_.parameters)
                               : -1;
    const uint32_t offset = memory::cta_offset_of(shared);
    check_map(*map, !d.offsets.empty());
    if (!d.offsets.empty()) {
      std::array<uint16_t, 3> offset_values{};
      for (size_t i = 0; i < d.offsets.size(); ++i)
        offset_values[i] = static_cast<uint16_t>(f.file.at<uint32_t>(d.offsets[i])[lane]);
      check(units::plan_pixels(*map, direction, coordinates,
                               std::span(offset_values.data(), d.offsets.size()), offset, bounds, *plan));
    } else {
      check(d.flag ? units::plan_four_rows(*map, direction, coordinates, offset, bounds, *plan)
                   : units::plan_tile(*map, direction, coordinates, offset, bounds, *plan));
    }
    if (d.variant == 3) continue;  // a prefetch has no effect but time
    Cta& holder = cta_of_shared(f, shared, "tensor copy");
    if (!holder.shared->contains(offset, plan->shared_bytes)) {
      throw Fault{cuda::Status::kIllegalAddress,
                  fmt::format("the box covers shared [0x{:x}, 0x{:x}); the CTA has [0x{:x}, 0x{:x})", offset,
                              offset + plan->shared_bytes, holder.shared->begin(), holder.shared->end())};
    }
    const bool wide = plan->inner_bytes > 64;
    Time start = 0;
    const Time issued = f.time;
    if (d.variant != 0) {  // shared -> global
      if (d.variant == 2) check(units::check_tile_reduce(d.bulk_op, map->type));
      const uint64_t group = bulk_groups(warp, lane).issue();
      start = std::max(issued, own.sm->tma_store_free) + jitter(300);
      own.sm->tma_store_free = start + plan->image_bytes / machine_.tma_store_bytes_per_clk;
      const Time read = own.sm->tma_store_free + machine_.tma_store_read_latency;
      const Time visible = read + machine_.tma_store_latency + jitter(500);
      copy->reserve(plan->image_bytes);
      ++own.in_flight;
      const bool reduce = d.variant == 2;
      const auto op = d.bulk_op;
      const Issuer reader = issuer(f, in, 1u << lane);
      events_.schedule(start, [this, &own, copy, reader](Time) {
        units::for_each_run(copy->plan, copy->staging.data(),
                            [&](uint32_t at, uint32_t bytes, const std::byte*) {
                              report_stale(own, at, bytes, "a bulk tensor store", reader);
                            });
        units::read_shared(copy->plan, own.shared->async(), copy->staging.data());
      });
      events_.schedule(read, [this, &warp, lane, group](Time now) {
        bulk_groups(warp, lane).read_done(group);
        wake_bulk_waiters(warp, now);
      });
      events_.schedule(visible, [this, &own, &warp, lane, group, copy, reduce, op](Time now) {
        if (reduce) {
          units::reduce_global(copy->plan, op, copy->staging.data());
        } else {
          units::write_global(copy->plan, copy->staging.data());
        }
        note_progress();
        bulk_groups(warp, lane).done(group);
        --own.in_flight;
        wake_bulk_waiters(warp, now);
        maybe_retire(own, now);
      });
      if (launch_.listener) {
        launch_.listener->operation(place(f, in), observe::Unit::TmaStore, issued, start,
                                    own.sm->tma_store_free, visible, plan->image_bytes,
                                    reduce ? "reduce" : "store", 0, source);
      }
      continue;
    }
    // global -> shared, of one CTA or of all in the mask.
    const auto barrier_shared = shared_address(
        f, ptx::Space::Shared, lane_address(f, d.address3, symbol_value(f, d.address3), lane), "tensor copy");
    Cta& barrier_holder = cta_of_shared(f, barrier_shared, "tensor copy");
    const uint32_t barrier_offset = memory::cta_offset_of(barrier_shared);
    std::vector<TileCopy::Destination>& destinations = copy->destinations;
    if (d.has_extra) {
      const uint32_t mask = f.file.at<uint32_t>(d.extra)[lane] & 0xffff;
      for (uint32_t bits = mask; bits; bits &= bits - 1) {
        const auto rank = static_cast<uint32_t>(std::countr_zero(bits));
        Cta& to = cta_of_shared(f, memory::shared_address(rank, offset), "multicast tensor copy");
        Cta* barrier = &to;
        if (d.cta_group == 2) {
          barrier = &cta_of_shared(
              f, memory::shared_address((rank & ~1u) | (barrier_holder.rank & 1u), barrier_offset),
              "multicast tensor copy");
        }
        destinations.push_back({&to, barrier});
      }
    } else {
      const bool pair = d.cta_group == 2 && (holder.rank & ~1u) == (barrier_holder.rank & ~1u);
      if (&holder != &barrier_holder && !pair) {
        throw Fault{
            cuda::Status::kIllegalInstruction,
            fmt::format(
                "the destination lies in CTA rank {} and the mbarrier in rank {}: .cta_group::{} does not "
                "allow that",
                holder.rank, barrier_holder.rank, d.cta_group)};
      }
      destinations.push_back({&holder, &barrier_holder});
    }
    const Time served = tma_service(*own.sm, issued, plan->timing_rows,
                                    wide ? machine_.tma_row_128 : machine_.tma_row, &start);
    const Time visible = served + machine_.tma_l2_latency + jitter(1500);
    if (poison_.size() < plan->image_bytes) {
      poison_.resize(plan->image_bytes);
      memory::fill_poison(poison_.data(), poison_.size());
    }
    for (const TileCopy::Destination& to : destinations) {
      ++to.cta->in_flight;
      units::for_each_run(*plan, poison_.data(), [&](uint32_t at, uint32_t bytes, const std::byte* from) {
        to.cta->shared->async_write(at, from, bytes);
      });
    }
    ++own.in_flight;
    events_.schedule(start, [copy](Time) {
      copy->reserve(copy->plan.image_bytes);
      units::read_global(copy->plan, copy->staging.data());
    });
    events_.schedule(visible, [this, &own, copy, barrier_offset](Time now) {
      for (const TileCopy::Destination& to : copy->destinations) {
        units::for_each_run(copy->plan, copy->staging.data(),
                            [&](uint32_t at, uint32_t bytes, const std::byte* from) {
                              to.cta->shared->async_write(at, from, bytes);
                            });
        --to.cta->in_flight;
        complete_tx(*to.barrier_cta, barrier_offset, copy->plan.full_bytes, now, "tma");
        if (to.cta != &own) maybe_retire(*to.cta, now);
      }
      --own.in_flight;
      maybe_retire(own, now);
    });
    if (launch_.listener) {
      launch_.listener->operation(place(f, in), observe::Unit::Tma, issued, start, served, visible,
                                  plan->full_bytes, "load",
                                  memory::shared_address(barrier_holder.rank, barrier_offset), source);
    }
    f.time += jitter(20);
  }
  note_progress();
  return Outcome::Next;
}

Outcome Processor::exec_bulk_copy(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Cta& own = *f.warp->cta;
  Warp& warp = *f.warp;
  static constexpr units::BulkDirection kDirections[] = {
      units::BulkDirection::GlobalToShared, units::BulkDirection::SharedToCluster,
      units::BulkDirection::SharedToGlobal, units::BulkDirection::PrefetchL2};
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint32_t bytes = f.file.at<uint32_t>(in.src[0])[lane];
    const uint64_t to = d.variant == 3 ? 0 : lane_address(f, d.address, symbol_value(f, d.address), lane);
    const uint64_t from = lane_address(f, d.address2, symbol_value(f, d.address2), lane);
    check(units::check_bulk_copy(kDirections[d.variant], to, from, bytes));
    if (d.variant == 3 || bytes == 0) continue;
    const uint32_t rows = (bytes + 127) / 128;
    Time start = 0;
    const Time issued = f.time;
    auto staging = std::make_shared<std::vector<std::byte>>(bytes);
    if (d.variant == 2) {
      const Location source = locate(f, ptx::Space::Shared, from, bytes, lane, false, 16);
      locate(f, ptx::Space::Global, to, bytes, lane, true, 16);
      const uint64_t group = bulk_groups(warp, lane).issue();
      start = std::max(issued, own.sm->tma_store_free) + jitter(300);
      own.sm->tma_store_free = start + bytes / machine_.tma_store_bytes_per_clk;
      const Time read = own.sm->tma_store_free + machine_.tma_store_read_latency;
      const uint32_t mask = d.flag3 ? f.file.at<uint32_t>(d.extra)[lane] & 0xffff : 0xffff;
      const Issuer reader = issuer(f, in, 1u << lane);
      ++own.in_flight;
      events_.schedule(start, [this, source, staging, bytes, reader](Time) {
        report_stale(*source.cta, source.offset, bytes, "a bulk store", reader);
        std::memcpy(staging->data(), source.cta->shared->async() + source.offset, bytes);
      });
      events_.schedule(read, [this, &warp, lane, group](Time now) {
        bulk_groups(warp, lane).read_done(group);
        wake_bulk_waiters(warp, now);
      });
      events_.schedule(read + machine_.tma_store_latency + jitter(500), [this, &own, &warp, lane, group, to,
                                                                         staging, mask](Time now) {
        units::copy_masked(reinterpret_cast<void*>(to), staging->data(),
                           static_cast<uint32_t>(staging->size()), static_cast<uint16_t>(mask));
        note_progress();
        bulk_groups(warp, lane).done(group);
        --own.in_flight;
        wake_bulk_waiters(warp, now);
        maybe_retire(own, now);
      });
      if (launch_.listener) {
        launch_.listener->operation(place(f, in), observe::Unit::TmaStore, issued, start,
                                    own.sm->tma_store_free, read + machine_.tma_store_latency, bytes,
                                    "bulk store");
      }
      continue;
    }
    const bool from_shared = d.variant == 1;
    // .ignore_oob: so many bytes at either end need not exist, and what arrives in their place is not
    // promised (PTX ISA 9.7.9.26.4.1 of 9.2).
    const uint32_t left = d.flag ? f.file.at<uint32_t>(in.src[1])[lane] : 0;
    const uint32_t right = d.flag ? f.file.at<uint32_t>(in.src[2])[lane] : 0;
    if (left > 15 || right > 15) {
      throw Fault{
          cuda::Status::kIllegalInstruction,
          fmt::format(
              "cp.async.bulk.ignore_oob ignores {} bytes on the left and {} on the right: 0 to 15 may "
              "be ignored on either side",
              left, right)};
    }
    const uint32_t taken = bytes - std::min(bytes, left + right);
    const Location source = locate(f, from_shared ? ptx::Space::Shared : ptx::Space::Global, from + left,
                                   std::max(taken, 1u), lane, false, d.flag ? 1 : 16);
    const auto barrier_shared =
        static_cast<uint32_t>(lane_address(f, d.address3, symbol_value(f, d.address3), lane));
    const uint32_t barrier_offset = memory::cta_offset_of(barrier_shared);
    const uint32_t offset = memory::cta_offset_of(static_cast<uint32_t>(to));
    std::vector<TileCopy::Destination> destinations;
    if (d.has_extra) {
      for (uint32_t bits = f.file.at<uint32_t>(d.extra)[lane] & 0xffff; bits; bits &= bits - 1) {
        Cta& cta =
            cta_of_shared(f, memory::shared_address(static_cast<uint32_t>(std::countr_zero(bits)), offset),
                          "multicast bulk copy");
        destinations.push_back({&cta, &cta});
      }
    } else {
      Cta& cta = cta_of_shared(f, static_cast<uint32_t>(to), "bulk copy");
      Cta& barrier = cta_of_shared(f, barrier_shared, "bulk copy");
      if (&cta != &barrier) {
        throw Fault{cuda::Status::kIllegalInstruction,
                    "the mbarrier of a bulk copy must lie in the CTA of the destination"};
      }
      destinations.push_back({&cta, &barrier});
    }
    std::vector<std::byte> poison(bytes);
    memory::fill_poison(poison.data(), bytes);
    for (const TileCopy::Destination& destination : destinations) {
      if (!destination.cta->shared->contains(offset, bytes)) {
        bad_address(f, ptx::Space::Shared, to, bytes, lane, true);
      }
      destination.cta->shared->async_write(offset, poison.data(), bytes);
      ++destination.cta->in_flight;
    }
    const Time served = tma_service(*own.sm, issued, rows, machine_.bulk_line, &start);
    const Time visible = served + machine_.bulk_l2_latency + jitter(1500);
    const Issuer reader = issuer(f, in, 1u << lane);
    ++own.in_flight;
    events_.schedule(start, [this, source, staging, from, bytes, left, taken, from_shared, reader](Time) {
      if (from_shared) {
        report_stale(*source.cta, source.offset, bytes, "a bulk copy", reader);
        std::memcpy(staging->data(), source.cta->shared->async() + source.offset, bytes);
      } else {
        if (taken < bytes) memory::fill_poison(staging->data(), bytes);
        std::memcpy(staging->data() + left, reinterpret_cast<const void*>(from + left), taken);
      }
    });
    events_.schedule(visible, [this, &own, staging, destinations, offset, barrier_offset, bytes](Time now) {
      for (const TileCopy::Destination& destination : destinations) {
        destination.cta->shared->async_write(offset, staging->data(), bytes);
        --destination.cta->in_flight;
        complete_tx(*destination.barrier_cta, barrier_offset, bytes, now, "bulk copy");
        if (destination.cta != &own) maybe_retire(*destination.cta, now);
      }
      --own.in_flight;
      maybe_retire(own, now);
    });
    if (launch_.listener) {
      launch_.listener->operation(place(f, in), observe::Unit::Tma, issued, start, served, visible, bytes,
                                  "bulk",
                                  memory::shared_address(destinations[0].barrier_cta->rank, barrier_offset));
    }
  }
  note_progress();
  return Outcome::Next;
}

Outcome Processor::exec_bulk_reduce(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Cta& own = *f.warp->cta;
  Warp& warp = *f.warp;
  const bool to_shared = d.variant == 1;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint32_t bytes = f.file.at<uint32_t>(in.src[0])[lane];
    const uint64_t to = lane_address(f, d.address, symbol_value(f, d.address), lane);
    const uint64_t from = lane_address(f, d.address2, symbol_value(f, d.address2), lane);
    const auto direction =
        to_shared ? units::BulkDirection::SharedToCluster : units::BulkDirection::SharedToGlobal;
    check(units::check_bulk_reduce(direction, d.bulk_op, d.bulk_type, to, from, bytes));
    if (bytes == 0) continue;
    const Location source = locate(f, ptx::Space::Shared, from, bytes, lane, false, 16);
    const Location target =
        locate(f, to_shared ? ptx::Space::Shared : ptx::Space::Global, to, bytes, lane, true, 16);
    Location barrier;
    uint64_t group = 0;
    if (to_shared) {
      barrier = mbarrier_at(f, d, d.address3, lane, "bulk reduction");
    } else {
      group = bulk_groups(warp, lane).issue();
    }
    const Time start = std::max(f.time, own.sm->tma_store_free) + jitter(300);
    const Time read = start + bytes / machine_.tma_store_bytes_per_clk;
    own.sm->tma_store_free = read;
    auto staging = std::make_shared<std::vector<std::byte>>(bytes);
    const Issuer reader = issuer(f, in, 1u << lane);
    ++own.in_flight;
    if (to_shared) ++target.cta->in_flight;
    events_.schedule(start, [this, source, staging, bytes, reader](Time) {
      report_stale(*source.cta, source.offset, bytes, "a bulk reduction", reader);
      std::memcpy(staging->data(), source.cta->shared->async() + source.offset, bytes);
    });
    const Detail* detail_of = &d;
    events_.schedule(
        read + machine_.tma_store_latency + jitter(500),
        [this, &own, &warp, lane, group, target, barrier, staging, to_shared, detail_of](Time now) {
          const auto size = static_cast<uint32_t>(staging->size());
          units::bulk_reduce(detail_of->bulk_op, detail_of->bulk_type, target.bytes, staging->data(), size);
          note_progress();
          --own.in_flight;
          if (to_shared) {
            target.cta->shared->publish_range(target.offset, size);
            --target.cta->in_flight;
            complete_tx(*barrier.cta, barrier.offset, size, now, "bulk reduction");
            if (target.cta != &own) maybe_retire(*target.cta, now);
          } else {
            units::BulkGroups& groups = bulk_groups(warp, lane);
            groups.read_done(group);
            groups.done(group);
            wake_bulk_waiters(warp, now);
          }
          maybe_retire(own, now);
        });
    if (launch_.listener) {
      launch_.listener->operation(place(f, in), observe::Unit::TmaStore, f.time, start,
                                  own.sm->tma_store_free, read + machine_.tma_store_latency, bytes,
                                  "bulk reduce");
    }
  }
  note_progress();
  return Outcome::Next;
}

Outcome Processor::exec_bulk_commit(Fragment& f, const Instr&, LaneMask active) {
  for (LaneMask rest = active; rest; rest &= rest - 1) bulk_groups(*f.warp, std::countr_zero(rest)).commit();
  return Outcome::Next;
}

Outcome Processor::exec_bulk_wait(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    if (!bulk_groups(*f.warp, std::countr_zero(rest))
             .wait_satisfied(static_cast<uint32_t>(d.immediate), d.flag)) {
      block(f, observe::Stall::BulkGroup, 0, d.immediate);
      return Outcome::Retry;
    }
  }
  return Outcome::Next;
}

// clusterlaunchcontrol: a running cluster takes over one that has not started. Ours hands out clusters from
// this processor's own list, so that the hand-over is deterministic.
Outcome Processor::exec_clc_try_cancel(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const int lane = std::countr_zero(active);
  const uint64_t to = lane_address(f, d.address, symbol_value(f, d.address), lane);
  const uint64_t bar = lane_address(f, d.address3, symbol_value(f, d.address3), lane);
  const Location target = locate(f, ptx::Space::Shared, to, 16, lane, true, 16);
  const uint32_t barrier_offset = memory::cta_offset_of(static_cast<uint32_t>(bar));
  uint32_t response[4] = {0, 0, 0, 0};
  if (next_cluster_ < end_cluster_) {
    const uint64_t linear = next_cluster_;
    next_cluster_ += stride_;
    const cuda::Dim3& c = launch_.request->cluster;
    const cuda::Dim3& g = launch_.clusters;
    response[0] = static_cast<uint32_t>(linear % g.x) * c.x;
    response[1] = static_cast<uint32_t>(linear / g.x % g.y) * c.y;
    response[2] = static_cast<uint32_t>(linear / g.x / g.y) * c.z;
    response[3] = 1;
    launch_.ctas_run.fetch_add(c.count());
  }
  std::vector<Cta*> ctas;
  if (d.flag2) {
    for (auto& cta : f.warp->cta->cluster->ctas) ctas.push_back(cta.get());
  } else {
    ctas.push_back(target.cta);
  }
  std::vector<std::byte> bytes(16);
  std::memcpy(bytes.data(), response, 16);
  for (Cta* cta : ctas) ++cta->in_flight;
  events_.schedule(f.time + machine_.lat_l2 + jitter(500),
                   [this, ctas, offset = target.offset, barrier_offset, bytes](Time now) {
                     for (Cta* cta : ctas) {
                       cta->shared->async_write(offset, bytes.data(), 16);
                       --cta->in_flight;
                       complete_tx(*cta, barrier_offset, 16, now, "clusterlaunchcontrol");
                       maybe_retire(*cta, now);
                     }
                   });
  return Outcome::Next;
}

Outcome Processor::exec_clc_query(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    uint32_t response[4];
    std::memcpy(response, f.file.at<std::byte>(in.src[0]) + lane * 16, 16);
    if (d.variant == 0) {
      uint32_t& predicate = f.file.predicates[in.dst[0].raw];
      predicate = (predicate & ~(1u << lane)) | (response[3] == 1 ? 1u << lane : 0);
    } else if (d.variant == 1) {
      for (size_t i = 0; i < d.data.size(); ++i) {
        if (d.data_width[i]) f.file.at<uint32_t>(d.data[i])[lane] = i < 3 ? response[i] : memory::kPoison32;
      }
    } else {
      f.file.at<uint32_t>(d.data[0])[lane] = response[d.variant - 2];
    }
  }
  return Outcome::Next;
}

}  // namespace emu::gpu
