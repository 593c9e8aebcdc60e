#include "memory/shared_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/poison.h"

namespace emu::memory {
namespace {

constexpr std::uint32_t kWordsPerGroup = 64;  // words one entry of a warp's bit set stands for
constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint64_t kImageAlignment = 1024;

std::unique_ptr<std::byte[]> poisoned_image(std::uint32_t bytes) {
  std::unique_ptr<std::byte[]> image(new std::byte[bytes]);
  fill_poison(image.get(), bytes);
  return image;
}

}  // namespace

SharedMemory::SharedMemory(std::uint32_t bytes, ProxyView view)
    : view_(view), end_(kSharedReservedBytes + bytes) {
  // Whole groups, so that a group of words can be copied without looking where memory ends.
  auto backing = static_cast<std::uint32_t>((end_ + kImageAlignment - 1) / kImageAlignment * kImageAlignment);
  generic_ = poisoned_image(backing);
  if (!tracked()) return;
  async_ = poisoned_image(backing);
  owner_.assign(backing / kWordBytes, kClean);
  tag_.reset(new std::uint32_t[backing / kWordBytes]);
}

SharedMemory::WarpWords& SharedMemory::words_of(std::uint32_t warp) {
  if (warp >= warps_.size()) warps_.resize(warp + 1);
  WarpWords& words = warps_[warp];
  if (words.bits.empty()) words.bits.resize(owner_.size() / kWordsPerGroup);
  return words;
}

void SharedMemory::clear_word(std::uint32_t word) {
  if (owner_[word] == kClean) return;
  warps_[owner_[word] / 32].bits[word / kWordsPerGroup] &= ~(std::uint64_t{1} << (word % kWordsPerGroup));
  owner_[word] = kClean;
  --unpublished_;
}

// Before the words are counted: where none was left, the range begins anew.
void SharedMemory::note_groups(WarpWords& words, std::uint32_t lo, std::uint32_t hi) {
  words.lo = std::min(words.lo, lo);
  words.hi = std::max(words.hi, hi);
  lo_ = unpublished_ == 0 ? lo : std::min(lo_, lo);
  hi_ = unpublished_ == 0 ? hi : std::max(hi_, hi);
}

bool SharedMemory::may_hold_unpublished(std::uint32_t offset, std::uint32_t bytes) const {
  constexpr std::uint32_t kGroupBytes = kWordsPerGroup * kWordBytes;
  return unpublished_ != 0 && bytes != 0 && offset < hi_ * kGroupBytes && offset + bytes > lo_ * kGroupBytes;
}

void SharedMemory::mark_word(std::uint32_t word, std::uint16_t owner, std::uint32_t tag) {
  tag_[word] = tag;
  if (owner_[word] == owner) return;
  clear_word(word);
  owner_[word] = owner;
  WarpWords& words = warps_[owner / 32];
  std::uint32_t group = word / kWordsPerGroup;
  words.bits[group] |= std::uint64_t{1} << (word % kWordsPerGroup);
  note_groups(words, group, group + 1);
  ++unpublished_;
}

void SharedMemory::mark(std::uint32_t offset, std::uint32_t bytes, std::uint32_t warp, std::uint32_t lane,
                        std::uint32_t tag) {
  WarpWords& words = words_of(warp);
  auto owner = static_cast<std::uint16_t>(warp * 32 + lane);
  if (bytes == 16 && offset % 16 == 0 && mark_quad(words, offset / kWordBytes, owner, tag)) return;
  for (std::uint32_t word = offset / kWordBytes; word * kWordBytes < offset + bytes; ++word) {
    mark_word(word, owner, tag);
  }
}

void SharedMemory::mark_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t bytes,
                              std::uint32_t warp, std::uint32_t tag) {
  if (lanes == ~0u && mark_contiguous(offsets, bytes, warp, tag)) return;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    mark(offsets[lane], bytes, warp, lane, tag);
  }
}

// A whole warp storing side by side to words that are all published. False: go lane by lane.
bool SharedMemory::mark_contiguous(const std::uint32_t* offsets, std::uint32_t bytes, std::uint32_t warp,
                                   std::uint32_t tag) {
  if (bytes % kWordBytes != 0 || offsets[0] % kWordBytes != 0) return false;
  for (std::uint32_t lane = 1; lane < 32; ++lane) {
    if (offsets[lane] != offsets[0] + lane * bytes) return false;
  }
  std::uint32_t first = offsets[0] / kWordBytes, each = bytes / kWordBytes, count = 32 * each;
  std::uint32_t claimed = 0;
  for (std::uint32_t i = 0; i < count; ++i) claimed |= owner_[first + i] ^ kClean;
  if (claimed != 0) return false;
  WarpWords& words = words_of(warp);
  std::fill_n(&tag_[first], count, tag);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::fill_n(&owner_[first + lane * each], each, static_cast<std::uint16_t>(warp * 32 + lane));
  }
  std::uint32_t last = first + count - 1, lo = first / kWordsPerGroup, hi = last / kWordsPerGroup;
  for (std::uint32_t group = lo; group <= hi; ++group) {
    std::uint64_t bits = ~std::uint64_t{0};
    if (group == lo) bits &= ~std::uint64_t{0} << (first % kWordsPerGroup);
    if (group == hi) bits &= ~std::uint64_t{0} >> (kWordsPerGroup - 1 - last % kWordsPerGroup);
    words.bits[group] |= bits;
  }
  note_groups(words, lo, hi + 1);
  unpublished_ += count;
  return true;
}

// The usual vector store, to words that are all published or all this thread's already. False: go word by
// word.
bool SharedMemory::mark_quad(WarpWords& words, std::uint32_t word, std::uint16_t owner, std::uint32_t tag) {
  constexpr std::uint64_t kEach = 0x0001000100010001;
  std::uint64_t owners, own = kEach * owner;
  std::memcpy(&owners, &owner_[word], sizeof(owners));
  if (owners != own && owners != kEach * kClean) return false;
  std::fill_n(&tag_[word], 4, tag);
  if (owners == own) return true;
  std::memcpy(&owner_[word], &own, sizeof(own));
  std::uint32_t group = word / kWordsPerGroup;
  words.bits[group] |= std::uint64_t{0xF} << (word % kWordsPerGroup);
  note_groups(words, group, group + 1);
  unpublished_ += 4;
  return true;
}

void SharedMemory::copy_words(std::uint32_t word, std::uint32_t count) {
  std::memcpy(async_.get() + word * kWordBytes, generic_.get() + word * kWordBytes, count * kWordBytes);
  std::fill_n(owner_.begin() + word, count, kClean);
  unpublished_ -= count;
}

void SharedMemory::publish_whole_warp(WarpWords& words) {
  for (std::uint32_t group = words.lo; group < words.hi; ++group) {
    std::uint64_t bits = words.bits[group];
    words.bits[group] = 0;
    std::uint32_t at = group * kWordsPerGroup;
    while (bits != 0) {
      auto skip = static_cast<std::uint32_t>(std::countr_zero(bits));
      bits >>= skip;
      auto run = static_cast<std::uint32_t>(std::countr_one(bits));
      copy_words(at + skip, run);
      at += skip + run;
      bits = run == 64 ? 0 : bits >> run;
    }
  }
  words.lo = ~0u;
  words.hi = 0;
}

void SharedMemory::publish_lanes(WarpWords& words, std::uint32_t lane_mask) {
  for (std::uint32_t group = words.lo; group < words.hi; ++group) {
    for (std::uint64_t bits = words.bits[group]; bits != 0; bits &= bits - 1) {
      auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
      std::uint32_t word = group * kWordsPerGroup + bit;
      if ((lane_mask >> (owner_[word] % 32) & 1) == 0) continue;
      words.bits[group] &= ~(std::uint64_t{1} << bit);
      copy_words(word, 1);
    }
  }
}

std::uint32_t SharedMemory::publish(std::uint32_t warp, std::uint32_t lane_mask) {
  if (!tracked() || warp >= warps_.size()) return 0;
  std::uint32_t before = unpublished_;
  WarpWords& words = warps_[warp];
  if (lane_mask == ~0u) {
    publish_whole_warp(words);
  } else {
    publish_lanes(words, lane_mask);
  }
  return before - unpublished_;
}

void SharedMemory::clear_range(std::uint32_t offset, std::uint32_t bytes) {
  if (!may_hold_unpublished(offset, bytes)) return;
  for (std::uint32_t word = offset / kWordBytes; word * kWordBytes < offset + bytes; ++word) clear_word(word);
}

void SharedMemory::publish_range(std::uint32_t offset, std::uint32_t bytes) {
  if (!tracked()) return;
  std::memcpy(async_.get() + offset, generic_.get() + offset, bytes);
  clear_range(offset, bytes);
}

void SharedMemory::async_write(std::uint32_t offset, const void* from, std::uint32_t bytes) {
  std::memcpy(generic_.get() + offset, from, bytes);
  if (!tracked()) return;
  std::memcpy(async_.get() + offset, from, bytes);
  clear_range(offset, bytes);
}

std::optional<StaleWord> SharedMemory::first_stale(std::uint32_t offset, std::uint32_t bytes) const {
  if (!may_hold_unpublished(offset, bytes)) return std::nullopt;
  auto first = owner_.begin() + offset / kWordBytes;
  auto last = owner_.begin() + (offset + bytes + kWordBytes - 1) / kWordBytes;
  auto found = std::find_if(first, last, [](std::uint16_t owner) { return owner != kClean; });
  if (found == last) return std::nullopt;
  auto word = static_cast<std::uint32_t>(found - owner_.begin());
  return StaleWord{word * kWordBytes, *found / 32u, *found % 32u, tag_[word]};
}

}  // namespace emu::memory
