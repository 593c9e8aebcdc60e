// Pages of the arena: reserving, opening, closing, and poison that costs nothing until it is read.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "memory/global_memory.h"
#include "memory/poison.h"

namespace emu::memory {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLeastReservation = std::uint64_t{8} << 30;
// A private mapping of this file is what a large block starts as: one mapping per 32 MiB keeps 183 GB well
// below the kernel's default limit of 65530 mappings a process.
constexpr std::uint64_t kPoisonFileBytes = std::uint64_t{32} << 20;

std::uint64_t page_floor(std::uint64_t address) { return address & ~(kPage - 1); }
std::uint64_t page_ceil(std::uint64_t address) { return page_floor(address + kPage - 1); }
void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

int make_poison_file() {
  int file = memfd_create("emulator-poison", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(kPoisonFileBytes)) == 0) {
    void* all = mmap(nullptr, kPoisonFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (all != MAP_FAILED) {
      fill_poison(all, kPoisonFileBytes);
      munmap(all, kPoisonFileBytes);
      return file;
    }
  }
  close(file);
  return -1;
}

}  // namespace

GlobalMemory::GlobalMemory(std::uint64_t capacity, std::uint64_t reservation) : capacity_(capacity) {
  reserved_ = page_ceil(reservation != 0 ? reservation : capacity * 2 + (std::uint64_t{1} << 40));
  std::uint64_t least = std::min(reserved_, kLeastReservation);
  for (;; reserved_ = page_ceil(reserved_ / 2)) {
    if (reserved_ < least) {
      throw std::runtime_error(
          "the emulator could not reserve 8 GiB of address space for device memory; raise the limit "
          "(ulimit -v unlimited)");
    }
    void* at = mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    base_ = reinterpret_cast<std::uint64_t>(at);
    break;
  }
  cursor_ = base_;
  free_[base_] = base_ + reserved_;
}

GlobalMemory::~GlobalMemory() {
  munmap(pointer(base_), reserved_);
  if (poison_file_ >= 0) close(poison_file_);
}

bool GlobalMemory::open_pages(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t first = page_floor(begin);
  return mprotect(pointer(first), page_ceil(end) - first, PROT_READ | PROT_WRITE) == 0;
}

bool GlobalMemory::map_poison(std::uint64_t begin, std::uint64_t end) {
  if (poison_file_ < 0) poison_file_ = make_poison_file();
  if (poison_file_ < 0) return false;
  for (std::uint64_t at = begin; at < end; at += kPoisonFileBytes) {
    std::uint64_t bytes = std::min(kPoisonFileBytes, page_ceil(end) - at);
    void* mapped = mmap(pointer(at), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                        poison_file_, 0);
    if (mapped == MAP_FAILED) return false;
  }
  return true;
}

void GlobalMemory::close_pages(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  // Mapping afresh, unlike mprotect, also gives the pages back to the host.
  mmap(pointer(begin), end - begin, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
}

void GlobalMemory::return_range(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t merged_begin = begin, merged_end = end;
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == end) {
    merged_end = after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    auto before = std::prev(after);
    if (before->second == begin) {
      merged_begin = before->first;
      free_.erase(before);
    }
  }
  free_[merged_begin] = merged_end;
  // Only pages that no live allocation shares.
  close_pages(std::max(page_ceil(merged_begin), page_floor(begin)),
              std::min(page_floor(merged_end), page_ceil(end)));
}

std::uint64_t GlobalMemory::take_range(std::uint64_t bytes, std::uint64_t alignment) {
  auto fit = [&](std::uint64_t from, std::uint64_t until) -> std::uint64_t {
    auto range = free_.upper_bound(from);
    if (range != free_.begin() && std::prev(range)->second > from) --range;
    for (; range != free_.end() && range->first < until; ++range) {
      std::uint64_t begin = (std::max(range->first, from) + alignment - 1) & ~(alignment - 1);
      std::uint64_t range_end = range->second;
      if (begin > range_end || range_end - begin < bytes) continue;
      std::uint64_t range_begin = range->first;
      free_.erase(range);
      if (range_begin < begin) free_[range_begin] = begin;
      if (begin + bytes < range_end) free_[begin + bytes] = range_end;
      return begin;
    }
    return 0;
  };
  std::uint64_t begin = fit(cursor_, base_ + reserved_);
  if (begin == 0) begin = fit(base_, cursor_);
  if (begin != 0) cursor_ = begin + bytes;
  return begin;
}

}  // namespace emu::memory
