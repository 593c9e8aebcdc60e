// Where addresses lead, loads, stores, matrix loads and non-bulk asynchronous copies.
#include <fmt/format.h>
#include <sys/mman.h>

#include <bit>
#include <cstring>

#include "gpu/processor.h"
#include "memory/poison.h"

namespace emu::gpu {

namespace {
constexpr size_t kLocalBytes = size_t{1} << 20;  // per thread
}

uint64_t Processor::symbol_value(const Fragment& f, const AddressOperand& address) const {
  const auto offset = static_cast<uint64_t>(address.offset);
  switch (address.symbol) {
    case SymbolBase::None:
      return offset;
    case SymbolBase::CtaShared:
      return memory::shared_address(f.warp->cta->rank, static_cast<uint32_t>(offset));
    case SymbolBase::Frame:
      return f.frame->local_base + offset;
    case SymbolBase::Parameters:
      return launch_.parameters + offset;
  }
  return offset;
}

uint64_t Processor::uniform_address(const Fragment& f, const AddressOperand& address, LaneMask active) const {
  return lane_address(f, address, symbol_value(f, address), std::countr_zero(active));
}

// A 32-bit shared address (with its CTA's rank) from an operand of space `space`.
uint32_t Processor::shared_address(Fragment&, ptx::Space space, uint64_t address, const char* what) {
  if (space == ptx::Space::Shared) return static_cast<uint32_t>(address);
  if (address < (uint64_t{1} << 32) && space != ptx::Space::Generic) return static_cast<uint32_t>(address);
  const memory::Located at = memory::classify(address);
  if (at.space != memory::Space::Shared) {
    throw Fault{cuda::Status::kInvalidAddressSpace,
                fmt::format("{}: {} is not shared memory", what, memory::describe_address(address))};
  }
  return static_cast<uint32_t>(at.offset);
}

Cta& Processor::cta_of_shared(Fragment& f, uint32_t shared, const char* what) {
  Cta& own = *f.warp->cta;
  const uint32_t rank = memory::cta_rank_of(shared);
  if (rank == own.rank) return own;
  if (rank >= own.cluster->ctas.size()) {
    throw Fault{cuda::Status::kIllegalAddress,
                fmt::format("{}: shared address 0x{:08x} names CTA rank {} of a cluster of {}", what, shared,
                            rank, own.cluster->ctas.size())};
  }
  Cta& peer = *own.cluster->ctas[rank];
  if (peer.live_warps == 0) {
    throw Fault{
        cuda::Status::kLaunchFailure,
        fmt::format("{}: CTA rank {} of the cluster, whose shared memory is addressed, has already exited",
                    what, rank)};
  }
  return peer;
}

void Processor::reserve_local(Warp& warp, uint64_t bytes) {
  if (bytes == 0) {
    if (warp.local) munmap(warp.local, kLocalBytes * 32);
    warp.local = nullptr;
    return;
  }
  if (bytes > kLocalBytes) {
    throw Fault{cuda::Status::kHardwareStackError,
                fmt::format("the thread's stack would need {} bytes of local memory; {} are available", bytes,
                            kLocalBytes)};
  }
  if (warp.local) return;
  void* at = mmap(nullptr, kLocalBytes * 32, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw Fault{cuda::Status::kMemoryAllocation, "the host has no memory for local memory"};
  warp.local = static_cast<std::byte*>(at);
  warp.local_stride = kLocalBytes;
}

std::byte* Processor::local_memory(Warp& warp, int lane, uint64_t offset, uint32_t bytes) {
  if (!warp.local) reserve_local(warp, 1);
  if (offset + bytes > kLocalBytes || offset + bytes < offset) return nullptr;
  return warp.local + static_cast<size_t>(lane) * warp.local_stride + offset;
}

void Processor::bad_address(const Fragment& f, ptx::Space space, uint64_t address, uint32_t bytes, int lane,
                            bool write) {
  const memory::Located at = space == ptx::Space::Shared  ? memory::Located{memory::Space::Shared, address}
                             : space == ptx::Space::Local ? memory::Located{memory::Space::Local, address}
                                                          : memory::classify(address);
  const char* verb = write ? "written" : "read";
  if (at.space == memory::Space::Shared) {
    const auto& shared = *f.warp->cta->shared;
    throw Fault{cuda::Status::kIllegalAddress,
                fmt::format("lane {}: {} bytes {} at shared address 0x{:x}; the CTA has [0x{:x}, 0x{:x})",
                            lane, bytes, verb, at.offset, shared.begin(), shared.end())};
  }
  if (at.space == memory::Space::Local) {
    throw Fault{cuda::Status::kIllegalAddress,
                fmt::format("lane {}: {} bytes {} at local offset 0x{:x}, beyond {} bytes", lane, bytes, verb,
                            at.offset, kLocalBytes)};
  }
  throw Fault{cuda::Status::kIllegalAddress,
              fmt::format("lane {}: {} bytes {} out of bounds: {}", lane, bytes, verb,
                          launch_.memory->describe(address, bytes))};
}

Processor::Location Processor::locate(Fragment& f, ptx::Space space, uint64_t address, uint32_t bytes,
                                      int lane, bool write, uint32_t align) {
  if (address & (align - 1)) {
    throw Fault{cuda::Status::kMisalignedAddress,
                fmt::format("lane {}: address 0x{:x} of a {}-byte access is not {}-byte aligned", lane,
                            address, bytes, align)};
  }
  if (space == ptx::Space::Generic) {
    if (address >= memory::kHostAddressEnd) {
      const memory::Located at = memory::classify(address);
      if (at.space == memory::Space::Shared) {
        space = ptx::Space::Shared;
        address = at.offset;
      } else if (at.space == memory::Space::Local) {
        space = ptx::Space::Local;
        address = at.offset;
      } else {
        bad_address(f, space, address, bytes, lane, write);
      }
    }
  }
  Location result;
  if (space == ptx::Space::Shared) {
    const auto shared = static_cast<uint32_t>(address);
    result.cta = &cta_of_shared(f, shared, write ? "store" : "load");
    result.offset = memory::cta_offset_of(shared);
    if (address >> 32 || !result.cta->shared->contains(result.offset, bytes)) {
      bad_address(f, space, address, bytes, lane, write);
    }
    result.bytes = result.cta->shared->generic() + result.offset;
    return result;
  }
  if (space == ptx::Space::Local) {
    result.bytes = local_memory(*f.warp, lane, address, bytes);
    if (!result.bytes) bad_address(f, space, address, bytes, lane, write);
    return result;
  }
  if (!launch_.memory->contains(allocation_, address, bytes))
    bad_address(f, space, address, bytes, lane, write);
  result.bytes = reinterpret_cast<std::byte*>(address);
  return result;
}

bool Processor::own_shared_offsets(const Fragment& f, const Detail& d, LaneMask active, uint32_t bytes,
                                   std::array<uint32_t, 32>& offsets) const {
  if (d.space != ptx::Space::Shared || !d.address.has_base || d.address.wide) return false;
  const Cta& cta = *f.warp->cta;
  const int64_t window = memory::shared_address(cta.rank, 0);
  const int64_t first = window + memory::kSharedScratchBegin;
  const int64_t last = window + cta.shared->end() - bytes;
  const uint32_t* base = f.file.at<uint32_t>(d.address.base);
  LaneMask good = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const int64_t address = int64_t{base[lane]} + d.address.offset;
    const bool plain = address >= first && address <= last && (address & (bytes - 1)) == 0;
    good |= LaneMask{plain} << lane;
    offsets[static_cast<size_t>(lane)] = static_cast<uint32_t>(address - window);
  }
  return (active & ~good) == 0;
}

uint32_t Processor::tag_of(const Fragment& f, const Instr& in) const {
  auto& tags = const_cast<Processor*>(this)->tags_;
  for (size_t i = tags.size(); i-- > 0;) {
    if (tags[i].first == f.frame->program && tags[i].second == in.source) return static_cast<uint32_t>(i);
  }
  tags.emplace_back(f.frame->program, in.source);
  return static_cast<uint32_t>(tags.size() - 1);
}

void Processor::note_shared_write(Fragment& f, const Location& at, uint32_t bytes, int lane,
                                  const Instr& in) {
  memory::SharedMemory& shared = *at.cta->shared;
  if (!shared.tracked()) return;
  if (at.cta == f.warp->cta) {
    shared.note_generic_write(at.offset, bytes, f.warp->index, static_cast<uint32_t>(lane), tag_of(f, in));
  } else {
    shared.publish_range(at.offset, bytes);
  }
}

namespace {

template <typename T>
void widen(LaneFile& file, Ref ref, uint8_t width, int lane, T value, bool is_signed) {
  const uint64_t bits =
      is_signed ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<std::make_signed_t<T>>(value)))
                : static_cast<uint64_t>(value);
  if (width == 8) {
    file.at<uint64_t>(ref)[lane] = bits;
  } else if (width == 4) {
    file.at<uint32_t>(ref)[lane] = static_cast<uint32_t>(bits);
  } else if (width == 2) {
    file.at<uint32_t>(ref)[lane] = static_cast<uint16_t>(bits);
  } else if (width == 16) {
    auto* at = file.at<uint64_t>(ref) + lane * 2;
    at[0] = bits;
    at[1] = 0;
  }
}

void load_element(LaneFile& file, Ref ref, uint8_t width, int lane, const std::byte* from, uint8_t bytes,
                  bool is_signed) {
  switch (bytes) {
    case 1: {
      uint8_t v;
      std::memcpy(&v, from, 1);
      return widen(file, ref, width, lane, v, is_signed);
    }
    case 2: {
      uint16_t v;
      std::memcpy(&v, from, 2);
      return widen(file, ref, width, lane, v, is_signed);
    }
    case 4: {
      uint32_t v;
      std::memcpy(&v, from, 4);
      return widen(file, ref, width, lane, v, is_signed);
    }
    case 8: {
      uint64_t v;
      std::memcpy(&v, from, 8);
      return widen(file, ref, width, lane, v, is_signed);
    }
    default:
      if (width == 16) std::memcpy(file.at<std::byte>(ref) + lane * 16, from, 16);
  }
}

const std::byte* register_bytes(const LaneFile& file, Ref ref, uint8_t width, int lane) {
  switch (width) {
    case 8:
      return reinterpret_cast<const std::byte*>(file.at<uint64_t>(ref) + lane);
    case 16:
      return file.at<std::byte>(ref) + lane * 16;
    default:
      return reinterpret_cast<const std::byte*>(file.at<uint32_t>(ref) + lane);
  }
}

}  // namespace

Outcome Processor::exec_load(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint64_t symbol = symbol_value(f, d.address);
  const uint32_t bytes = uint32_t{d.bytes} * d.count;
  const bool is_signed = d.type == ValueType::Signed;
  if (std::array<uint32_t, 32> offsets; own_shared_offsets(f, d, active, bytes, offsets)) {
    const std::byte* image = f.warp->cta->shared->generic();
    for (uint8_t i = 0; i < d.count; ++i) {
      if (!d.data_width[i]) continue;
      const bool words = d.bytes == 4 && d.data_width[i] == 4;
      uint32_t* to = words ? f.file.at<uint32_t>(d.data[i]) : nullptr;
      for (LaneMask rest = active; rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const std::byte* from = image + offsets[static_cast<size_t>(lane)] + i * d.bytes;
        if (words) {
          std::memcpy(to + lane, from, 4);
        } else {
          load_element(f.file, d.data[i], d.data_width[i], lane, from, d.bytes, is_signed);
        }
      }
    }
    return Outcome::Next;
  }
  // An address without a register is the same for every lane, and so is what it holds, except in local
  // memory.
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = lane_address(f, d.address, symbol, lane);
    const Location at = locate(f, d.space, address, bytes, lane, false, bytes);
    if (d.count == 1 && d.bytes == 4 && d.data_width[0] == 4) {
      std::memcpy(f.file.at<uint32_t>(d.data[0]) + lane, at.bytes, 4);
      continue;
    }
    for (uint8_t i = 0; i < d.count; ++i) {
      if (d.data_width[i]) {
        load_element(f.file, d.data[i], d.data_width[i], lane, at.bytes + i * d.bytes, d.bytes, is_signed);
      }
    }
  }
  return Outcome::Next;
}

Outcome Processor::exec_store(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint64_t symbol = symbol_value(f, d.address);
  const uint32_t bytes = uint32_t{d.bytes} * d.count;
  if (std::array<uint32_t, 32> offsets; own_shared_offsets(f, d, active, bytes, offsets)) {
    memory::SharedMemory& shared = *f.warp->cta->shared;
    for (uint8_t i = 0; i < d.count; ++i) {
      if (!d.data_width[i]) continue;
      const std::byte* from = register_bytes(f.file, d.data[i], d.data_width[i], 0);
      const size_t stride = std::max<size_t>(d.data_width[i], 4);
      for (LaneMask rest = active; rest; rest &= rest - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(rest));
        std::byte* to = shared.generic() + offsets[lane] + i * d.bytes;
        if (d.bytes == 4) {
          std::memcpy(to, from + lane * stride, 4);
        } else {
          std::memcpy(to, from + lane * stride, d.bytes);
        }
      }
    }
    if (shared.tracked())
      shared.note_generic_write(offsets.data(), active, bytes, f.warp->index, tag_of(f, in));
    note_progress();
    return Outcome::Next;
  }
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = lane_address(f, d.address, symbol, lane);
    const Location at = locate(f, d.space, address, bytes, lane, true, bytes);
    for (uint8_t i = 0; i < d.count; ++i) {
      if (d.data_width[i]) {
        std::memcpy(at.bytes + i * d.bytes, register_bytes(f.file, d.data[i], d.data_width[i], lane),
                    d.bytes);
      }
    }
    if (at.cta) note_shared_write(f, at, bytes, lane, in);
  }
  note_progress();
  return Outcome::Next;
}

// PTX ISA 9.7.14.5.15: thread t of group j gives the address of row t % 8 of matrix j; register j of thread t
// holds columns 2(t % 4) and 2(t % 4) + 1 of row t / 4, or with .trans rows 2(t % 4) and the next of column t
// / 4.
Outcome Processor::exec_load_matrix(Fragment& f, const Instr& in, LaneMask) {
  const Detail& d = detail(f, in);
  if (!gather(f, f.warp->live)) return Outcome::Retry;
  const uint64_t symbol = symbol_value(f, d.address);
  for (uint32_t j = 0; j < d.count; ++j) {
    uint16_t rows[8][8];
    for (int r = 0; r < 8; ++r) {
      const int lane = static_cast<int>(j) * 8 + r;
      const Location at = locate(f, d.space, lane_address(f, d.address, symbol, lane), 16, lane, false, 16);
      std::memcpy(rows[r], at.bytes, 16);
    }
    uint32_t* out = f.file.at<uint32_t>(d.data[j]);
    for (int t = 0; t < 32; ++t) {
      const int a = t / 4, b = 2 * (t % 4);
      const uint16_t low = d.flag ? rows[b][a] : rows[a][b];
      const uint16_t high = d.flag ? rows[b + 1][a] : rows[a][b + 1];
      out[t] = low | uint32_t{high} << 16;
    }
  }
  return Outcome::Next;
}

Outcome Processor::exec_store_matrix(Fragment& f, const Instr& in, LaneMask) {
  const Detail& d = detail(f, in);
  if (!gather(f, f.warp->live)) return Outcome::Retry;
  const uint64_t symbol = symbol_value(f, d.address);
  for (uint32_t j = 0; j < d.count; ++j) {
    uint16_t rows[8][8];
    const uint32_t* from = f.file.at<uint32_t>(d.data[j]);
    for (int t = 0; t < 32; ++t) {
      const int a = t / 4, b = 2 * (t % 4);
      (d.flag ? rows[b][a] : rows[a][b]) = static_cast<uint16_t>(from[t]);
      (d.flag ? rows[b + 1][a] : rows[a][b + 1]) = static_cast<uint16_t>(from[t] >> 16);
    }
    for (int r = 0; r < 8; ++r) {
      const int lane = static_cast<int>(j) * 8 + r;
      const Location at = locate(f, d.space, lane_address(f, d.address, symbol, lane), 16, lane, true, 16);
      std::memcpy(at.bytes, rows[r], 16);
      // The elements come from all lanes; the lane that gave the address stands for the store.
      if (at.cta) note_shared_write(f, at, 16, lane, in);
    }
  }
  note_progress();
  return Outcome::Next;
}

Outcome Processor::exec_store_bulk(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = lane_address(f, d.address, symbol_value(f, d.address), lane);
    const uint64_t bytes =
        d.bytes == 8 ? f.file.at<uint64_t>(in.src[0])[lane] : f.file.at<uint32_t>(in.src[0])[lane];
    if (bytes % 8 || bytes > (16u << 20)) {
      throw Fault{cuda::Status::kIllegalInstruction,
                  fmt::format("st.bulk of {} bytes: a multiple of 8 up to 16 MiB is needed", bytes)};
    }
    const Location at = locate(f, d.space, address, static_cast<uint32_t>(bytes), lane, true, 8);
    std::memset(at.bytes, 0, bytes);
    if (at.cta) note_shared_write(f, at, static_cast<uint32_t>(bytes), lane, in);
  }
  note_progress();
  return Outcome::Next;
}

units::BulkGroups& Processor::copy_groups(Warp& warp, int lane) {
  auto& groups = warp.copies[static_cast<size_t>(lane)];
  if (!groups) groups = std::make_unique<units::BulkGroups>();
  return *groups;
}

// cp.async: global memory is read and shared memory written when the copy completes, through the generic
// proxy.
Outcome Processor::exec_copy_async(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Warp& warp = *f.warp;
  struct Piece {
    std::byte* to;
    uint64_t from;
    uint32_t take;
    uint64_t group;
    int lane;
    Location at;
  };
  std::vector<Piece> pieces;
  const Time done = f.time + machine_.lat_l2 + jitter(400);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    uint32_t take = d.bytes;
    if (d.has_extra) take = std::min<uint32_t>(take, f.file.at<uint32_t>(d.extra)[lane]);
    if (d.flag2) {
      const bool ignore = ((f.file.predicates[d.extra.raw] >> lane) & 1) != (d.flag3 ? 1u : 0u);
      if (ignore) take = 0;
    }
    const uint64_t to = lane_address(f, d.address, symbol_value(f, d.address), lane);
    const uint64_t from = lane_address(f, d.address2, symbol_value(f, d.address2), lane);
    const Location at = locate(f, ptx::Space::Shared, to, d.bytes, lane, true, d.bytes);
    if (take) locate(f, ptx::Space::Global, from, take, lane, false, d.bytes);
    pieces.push_back({at.bytes, from, take, copy_groups(warp, lane).issue(), lane, at});
    warp.copies_done[static_cast<size_t>(lane)] = std::max(warp.copies_done[static_cast<size_t>(lane)], done);
  }
  ++warp.cta->in_flight;
  const uint32_t bytes = d.bytes;
  const uint32_t tag = tag_of(f, in);
  events_.schedule(done, [this, &warp, pieces = std::move(pieces), bytes, tag](Time now) {
    for (const Piece& piece : pieces) {
      std::memcpy(piece.to, reinterpret_cast<const void*>(piece.from), piece.take);
      std::memset(piece.to + piece.take, 0, bytes - piece.take);
      if (piece.at.cta == warp.cta) {
        piece.at.cta->shared->note_generic_write(piece.at.offset, bytes, warp.index,
                                                 static_cast<uint32_t>(piece.lane), tag);
      }
      copy_groups(warp, piece.lane).done(piece.group);
    }
    note_progress();
    --warp.cta->in_flight;
    wake_bulk_waiters(warp, now);
    maybe_retire(*warp.cta, now);
  });
  return Outcome::Next;
}

Outcome Processor::exec_copy_async_commit(Fragment& f, const Instr&, LaneMask active) {
  for (LaneMask rest = active; rest; rest &= rest - 1) copy_groups(*f.warp, std::countr_zero(rest)).commit();
  return Outcome::Next;
}

Outcome Processor::exec_copy_async_wait(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const units::BulkGroups& groups = copy_groups(*f.warp, std::countr_zero(rest));
    const bool done =
        d.flag ? groups.idle() : groups.wait_satisfied(static_cast<uint32_t>(d.immediate), false);
    if (!done) {
      block(f, observe::Stall::BulkGroup, 0, d.immediate);
      return Outcome::Retry;
    }
  }
  return Outcome::Next;
}

void Processor::wake_bulk_waiters(Warp& warp, Time now) {
  for (size_t i = 0; i < warp.fragments.size(); ++i) {
    Fragment* f = warp.fragments[i];
    if (f->state == Fragment::State::Blocked && f->stall == observe::Stall::BulkGroup) wake(*f, now);
  }
}

Outcome Processor::exec_copy_async_arrive(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  Warp& warp = *f.warp;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Location at = mbarrier_at(f, d, d.address, lane, "cp.async.mbarrier.arrive");
    if (!d.flag) check_mbarrier(at.cta->mbarriers.increment_pending(at.offset));
    const Time when = std::max(f.time, warp.copies_done[static_cast<size_t>(lane)]);
    ++at.cta->in_flight;
    events_.schedule(when, [this, cta = at.cta, offset = at.offset](Time now) {
      --cta->in_flight;
      barrier_result(*cta, offset, cta->mbarriers.arrive(offset), now, "cp.async");
      maybe_retire(*cta, now);
    });
  }
  return Outcome::Next;
}

// st.async and, with d.flag, red.async: a store to or a reduction in shared memory of the cluster that
// credits its bytes to an mbarrier there when it lands.
Outcome Processor::exec_store_async(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint32_t bytes = uint32_t{d.bytes} * d.count;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t to = lane_address(f, d.address, symbol_value(f, d.address), lane);
    const Location at = locate(f, ptx::Space::Shared, to, bytes, lane, true, bytes);
    const Location barrier = mbarrier_at(f, d, d.address2, lane, "st.async");
    std::vector<std::byte> value(bytes);
    for (uint8_t i = 0; i < d.count; ++i) {
      std::memcpy(value.data() + i * d.bytes, register_bytes(f.file, d.data[i], d.data_width[i], lane),
                  d.bytes);
    }
    ++at.cta->in_flight;
    events_.schedule(
        f.time + machine_.lat_l2 + jitter(300), [this, at, barrier, &d, value = std::move(value)](Time now) {
          if (d.flag) {
            reduce_word(d, at.bytes, value.data());
            at.cta->shared->publish_range(at.offset, static_cast<uint32_t>(value.size()));
          } else {
            at.cta->shared->async_write(at.offset, value.data(), static_cast<uint32_t>(value.size()));
          }
          note_progress();
          --at.cta->in_flight;
          complete_tx(*barrier.cta, barrier.offset, static_cast<uint32_t>(value.size()), now, "st.async");
          maybe_retire(*at.cta, now);
        });
  }
  return Outcome::Next;
}

}  // namespace emu::gpu
