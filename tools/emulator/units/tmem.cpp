#include "units/tmem.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace emu::units {

TmemAddress decode_tmem_address(std::uint32_t address) {
  const auto column = static_cast<int>(address & 0xFFFF);
  if (column >= kTmemColumns) {
    throw TensorError(
        fmt::format("tensor memory address {:#010x}: column {} lies past the last, 511", address, column));
  }
  return {static_cast<int>((address >> 16) % kTmemLanes), column};
}

TensorMemory::TensorMemory() : cells_(static_cast<std::size_t>(kTmemLanes) * kTmemColumns, kTmemPoison) {}

std::optional<std::uint32_t> TensorMemory::try_allocate(Owner owner, std::uint32_t columns) {
  if (columns < kUnit || columns > kTmemColumns || !std::has_single_bit(columns)) {
    throw TensorError(
        fmt::format("tcgen05.alloc of {} columns: the count must be a power of two from 32 to 512", columns));
  }
  Cta& cta = ctas_[owner];
  if (cta.relinquished) {
    throw TensorError("tcgen05.alloc after tcgen05.relinquish_alloc_permit in the same CTA");
  }
  if (columns > cta.smallest_allocation) {
    throw TensorError(
        fmt::format("tcgen05.alloc of {} columns after one of {}: successive allocations of a CTA must not "
                    "grow; allocate the larger first",
                    columns, cta.smallest_allocation));
  }
  const int wanted = static_cast<int>(columns) / kUnit;
  const auto first =
      std::search_n(holder_.begin(), holder_.end(), wanted, std::nullopt,
                    [](const std::optional<Owner>& holder, std::nullopt_t) { return !holder; });
  if (first == holder_.end()) {
    return std::nullopt;
  }
  std::fill_n(first, wanted, owner);
  std::fill_n(last_holder_.begin() + (first - holder_.begin()), wanted, owner);
  cta.smallest_allocation = columns;
  const auto column_index = static_cast<std::uint32_t>(first - holder_.begin()) * kUnit;
  cta.live[column_index] = columns;
  std::fill_n(column(static_cast<int>(column_index)), static_cast<std::size_t>(columns) * kTmemLanes,
              kTmemPoison);
  return column_index;
}

void TensorMemory::deallocate(Owner owner, std::uint32_t address, std::uint32_t columns) {
  const auto cta = ctas_.find(owner);
  const auto allocation =
      cta == ctas_.end() ? decltype(cta->second.live.end()){} : cta->second.live.find(address);
  if (cta == ctas_.end() || allocation == cta->second.live.end()) {
    throw TensorError(fmt::format("tcgen05.dealloc of {:#010x}: this CTA has no allocation there{}", address,
                                  cta == ctas_.end() ? "" : fmt::format(" (it holds: {})", leftover(owner))));
  }
  if (allocation->second != columns) {
    throw TensorError(fmt::format("tcgen05.dealloc of {} columns at {:#010x}: {} were allocated there",
                                  columns, address, allocation->second));
  }
  std::fill_n(holder_.begin() + address / kUnit, columns / kUnit, std::nullopt);
  cta->second.live.erase(allocation);
}

void TensorMemory::relinquish(Owner owner) { ctas_[owner].relinquished = true; }

std::string TensorMemory::leftover(Owner owner) const {
  const auto cta = ctas_.find(owner);
  if (cta == ctas_.end()) {
    return {};
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> live(cta->second.live.begin(), cta->second.live.end());
  std::sort(live.begin(), live.end());
  std::string text;
  for (const auto& [first, columns] : live) {
    text += fmt::format("{}{} columns at {:#010x}", text.empty() ? "" : ", ", columns, first);
  }
  return text;
}

void TensorMemory::retire(Owner owner) {
  for (std::optional<Owner>& holder : holder_) {
    if (holder == owner) {
      holder.reset();
    }
  }
  ctas_.erase(owner);
}

bool TensorMemory::owns(Owner owner, int first_column, int columns) const {
  if (first_column < 0 || columns <= 0 || first_column + columns > kTmemColumns) {
    return false;
  }
  const int last = (first_column + columns - 1) / kUnit;
  for (int unit = first_column / kUnit; unit <= last; ++unit) {
    if (!holds(unit, owner)) return false;
  }
  return true;
}

void TensorMemory::require_owned(Owner owner, int first_column, int columns, const std::string& what) const {
  if (owns(owner, first_column, columns)) {
    return;
  }
  if (first_column < 0 || columns <= 0 || first_column + columns > kTmemColumns) {
    throw TensorError(fmt::format("{}: columns {} to {} leave tensor memory, whose last column is 511", what,
                                  first_column, first_column + columns - 1));
  }
  int bad = first_column;
  while (holds(bad / kUnit, owner)) {
    ++bad;
  }
  const bool freed = !holder_[bad / kUnit] && last_holder_[bad / kUnit] == owner;
  const char* why = holder_[bad / kUnit] ? "belongs to another CTA; tcgen05.alloc must return it first"
                    : freed
                        ? "has been deallocated; tcgen05.dealloc must wait for the last use of every warp. "
                          "--lenient forgives this until somebody takes the columns"
                        : "is not allocated; tcgen05.alloc must return it first";
  throw TensorError(fmt::format("{}: column {} of columns {} to {} {}", what, bad, first_column,
                                first_column + columns - 1, why));
}

int TensorMemory::free_columns() const {
  return kUnit * static_cast<int>(std::count_if(holder_.begin(), holder_.end(),
                                                [](const auto& holder) { return !holder; }));
}

}  // namespace emu::units
