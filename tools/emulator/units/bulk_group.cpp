#include "units/bulk_group.h"

namespace emu::units {

BulkGroups::Group& BulkGroups::group(std::uint64_t number) {
  if (groups_.empty()) first_ = next_;
  if (number - first_ >= groups_.size()) groups_.resize(number - first_ + 1);
  return groups_[number - first_];
}

std::uint64_t BulkGroups::issue() {
  Group& open = group(next_);
  ++open.reads;
  ++open.writes;
  return next_;
}

void BulkGroups::commit() {
  if (!groups_.empty()) group(next_);
  ++next_;
  drop_complete();
}

void BulkGroups::read_done(std::uint64_t number) {
  Group& of = group(number);
  if (of.reads > 0) --of.reads;
}

void BulkGroups::done(std::uint64_t number) {
  Group& of = group(number);
  if (of.writes > 0) --of.writes;
  if (of.reads > of.writes) of.reads = of.writes;
  drop_complete();
}

void BulkGroups::drop_complete() {
  std::size_t complete = 0;
  while (complete < groups_.size() && first_ + complete < next_ && groups_[complete].writes == 0) ++complete;
  groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(complete));
  first_ += complete;
}

bool BulkGroups::wait_satisfied(std::uint32_t newest, bool reads_only) const {
  if (next_ < newest) return true;
  for (std::size_t i = 0; i < groups_.size() && first_ + i < next_ - newest; ++i) {
    if ((reads_only ? groups_[i].reads : groups_[i].writes) != 0) return false;
  }
  return true;
}

bool BulkGroups::idle() const {
  for (const Group& group : groups_) {
    if (group.writes != 0) return false;
  }
  return true;
}

std::uint32_t BulkGroups::pending(bool reads_only) const {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < groups_.size() && first_ + i < next_; ++i) {
    count += (reads_only ? groups_[i].reads : groups_[i].writes) != 0;
  }
  return count;
}

}  // namespace emu::units
