#include "memory/global_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>

#include "memory/address_space.h"
#include "memory/poison.h"

namespace emu::memory {
namespace {

constexpr std::uint64_t kPage = 4096;
// From here on a block has its pages to itself, so that they can be closed when it is freed.
constexpr std::uint64_t kOwnPagesFrom = 16 * kPage;
constexpr std::size_t kRememberedFrees = 4096;
constexpr std::uint64_t kNullPage = 1 << 16;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

bool counts_against_capacity(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::Device:
    case AllocationKind::Module:
    case AllocationKind::Constant:
    case AllocationKind::Heap:
      return true;
    default:
      return false;
  }
}

// What the arena sets aside for a block: its bytes and the gap behind them.
std::uint64_t footprint(std::uint64_t bytes) {
  return round_up(bytes + GlobalMemory::kGuardBytes,
                  bytes >= kOwnPagesFrom ? kPage : GlobalMemory::kMinimumAlignment);
}

std::string describe_block(const Allocation& block) {
  std::string name = block.label.empty() ? "" : fmt::format(" '{}'", block.label);
  return fmt::format("{}-byte {}{} at 0x{:x}", block.bytes, kind_name(block.kind), name, block.begin);
}

std::string count_bytes(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

}  // namespace

const char* kind_name(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::Device:
      return "cudaMalloc allocation";
    case AllocationKind::Managed:
      return "cudaMallocManaged allocation";
    case AllocationKind::PinnedHost:
      return "pinned host allocation";
    case AllocationKind::Module:
      return "__device__ variable";
    case AllocationKind::Constant:
      return "__constant__ variable";
    case AllocationKind::Parameter:
      return "kernel parameter buffer";
    case AllocationKind::Stack:
      return "local memory";
    case AllocationKind::Heap:
      return "device heap block";
    case AllocationKind::Adopted:
      return "registered host range";
  }
  return "allocation";
}

MemoryStatus GlobalMemory::allocate(std::uint64_t bytes, AllocationKind kind, std::uint64_t& address,
                                    std::string label, std::uint64_t alignment) {
  address = 0;
  if (bytes == 0) return MemoryStatus::Ok;
  if (bytes > reserved_) return MemoryStatus::OutOfMemory;
  std::unique_lock lock(mutex_);
  bool counted = counts_against_capacity(kind);
  if (counted && bytes > capacity_ - std::min(used_, capacity_)) return MemoryStatus::OutOfMemory;

  alignment = std::max(alignment, bytes >= kOwnPagesFrom ? kPage : kMinimumAlignment);
  std::uint64_t begin = take_range(footprint(bytes), alignment);
  if (begin == 0) return MemoryStatus::OutOfMemory;
  bool lazy = bytes > kEagerPoisonBytes && map_poison(begin, begin + bytes);
  if (!lazy && !open_pages(begin, begin + bytes)) {
    return_range(begin, begin + footprint(bytes));
    return MemoryStatus::OutOfMemory;
  }
  if (!lazy) fill_poison(reinterpret_cast<void*>(begin), bytes);

  auto block = std::make_unique<Allocation>();
  *block = {begin, bytes, kind, std::move(label), ++serial_};
  live_[begin] = std::move(block);
  if (counted) used_ += bytes;
  address = begin;
  return MemoryStatus::Ok;
}

MemoryStatus GlobalMemory::free(std::uint64_t address) {
  if (address == 0) return MemoryStatus::Ok;
  std::unique_lock lock(mutex_);
  auto found = live_.find(address);
  if (found == live_.end()) {
    if (find_locked(address)) return MemoryStatus::InteriorPointer;
    bool was_live =
        std::any_of(freed_.begin(), freed_.end(), [&](const auto& block) { return block->begin == address; });
    return was_live ? MemoryStatus::AlreadyFreed : MemoryStatus::NotAnAllocation;
  }
  std::unique_ptr<Allocation> block = std::move(found->second);
  live_.erase(found);
  epoch_.fetch_add(1, std::memory_order_release);
  if (block->kind != AllocationKind::Adopted) {
    if (counts_against_capacity(block->kind)) used_ -= block->bytes;
    return_range(block->begin, block->begin + footprint(block->bytes));
  }
  freed_.push_back(std::move(block));
  if (freed_.size() > kRememberedFrees) freed_.pop_front();
  return MemoryStatus::Ok;
}

MemoryStatus GlobalMemory::adopt(const void* at, std::uint64_t bytes, std::string label) {
  auto begin = reinterpret_cast<std::uint64_t>(at);
  std::unique_lock lock(mutex_);
  auto next = live_.lower_bound(begin);
  if (find_locked(begin) || (next != live_.end() && next->first < begin + bytes))
    return MemoryStatus::AlreadyAdopted;
  auto block = std::make_unique<Allocation>();
  *block = {begin, bytes, AllocationKind::Adopted, std::move(label), ++serial_};
  live_[begin] = std::move(block);
  return MemoryStatus::Ok;
}

const Allocation* GlobalMemory::find_locked(std::uint64_t address) const {
  auto next = live_.upper_bound(address);
  if (next == live_.begin()) return nullptr;
  const Allocation* block = std::prev(next)->second.get();
  return address < block->end() ? block : nullptr;
}

const Allocation* GlobalMemory::find(std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  return find_locked(address);
}

bool GlobalMemory::contains(std::uint64_t address, std::uint64_t bytes) const {
  const Allocation* block = find(address);
  return block != nullptr && bytes <= block->end() - address;
}

bool GlobalMemory::refill(AllocationCache& cache, std::uint64_t address, std::uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  const Allocation* block = find_locked(address);
  if (block == nullptr) return false;
  cache = {block->begin, block->bytes, epoch_.load(std::memory_order_relaxed)};
  return bytes <= block->end() - address;
}

std::string GlobalMemory::describe(std::uint64_t address, std::uint64_t bytes) const {
  std::string what = fmt::format("{} at 0x{:x}", count_bytes(bytes), address);
  if (address < kNullPage) return what + ": a null pointer or an offset from one";
  if (classify(address).space != Space::Global) return what + ": " + describe_address(address);
  std::shared_lock lock(mutex_);
  if (const Allocation* block = find_locked(address)) {
    if (bytes <= block->end() - address)
      return fmt::format("{}: inside the {}", what, describe_block(*block));
    return fmt::format("{}: the last {} lie past the end of the {}", what,
                       count_bytes(address + bytes - block->end()), describe_block(*block));
  }
  for (auto block = freed_.rbegin(); block != freed_.rend(); ++block) {
    if (address - (*block)->begin < (*block)->bytes) {
      return fmt::format("{}: inside the {}, which has been freed", what, describe_block(**block));
    }
  }
  if (live_.empty()) return what + ": no device memory is allocated";
  // A program does not walk off its parameters but off a neighbour that it allocated.
  const auto named = [](const auto& entry) { return entry.second->kind != AllocationKind::Parameter; };
  auto next = live_.upper_bound(address);
  auto before = std::find_if(std::make_reverse_iterator(next), live_.rend(), named);
  auto after = std::find_if(next, live_.end(), named);
  const Allocation* below = before == live_.rend() ? nullptr : before->second.get();
  const Allocation* above = after == live_.end() ? nullptr : after->second.get();
  if (!below && !above) return what + ": no device memory is allocated";
  if (below && (!above || address - below->end() <= above->begin - address)) {
    std::uint64_t gap = address - below->end();
    return fmt::format("{}: {} past the end of the {}", what, gap == 0 ? "just" : count_bytes(gap),
                       describe_block(*below));
  }
  return fmt::format("{}: {} before the {}", what, count_bytes(above->begin - address),
                     describe_block(*above));
}

std::uint64_t GlobalMemory::used() const {
  std::shared_lock lock(mutex_);
  return used_;
}

std::vector<Allocation> GlobalMemory::live() const {
  std::shared_lock lock(mutex_);
  std::vector<Allocation> all;
  for (const auto& [begin, block] : live_) all.push_back(*block);
  return all;
}

}  // namespace emu::memory
