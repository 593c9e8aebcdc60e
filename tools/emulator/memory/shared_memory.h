// One CTA's shared memory, seen by its threads (generic proxy) and by the asynchronous units (async proxy).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory/address_space.h"

namespace emu::memory {

enum class ProxyView : std::uint8_t {
  Strict,    // two images: the async proxy sees a thread's stores only after that thread's fence.proxy.async
  Lenient,   // one image: stores are visible to the async proxy at once, as hardware mostly behaves
  Untracked  // one image, for programs in which nothing reads shared memory asynchronously
};

// A word that a thread has stored and not yet published to the async proxy.
struct StaleWord {
  std::uint32_t offset = 0;  // CTA-relative address of the 4-byte word
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
  std::uint32_t tag = 0;  // the instruction tag given with the store
};

// All offsets are CTA-relative shared addresses (bits 23:0 of the 32-bit address): the first usable byte is
// kSharedReservedBytes. The raw images are indexed by the same offsets. Not thread-safe: one worker runs a
// CTA at a time.
class SharedMemory {
 public:
  // bytes: static + dynamic shared memory of the CTA, without the reserved first KB. Both images start as
  // poison.
  SharedMemory(std::uint32_t bytes, ProxyView view);

  std::uint32_t begin() const { return kSharedReservedBytes; }
  std::uint32_t end() const { return end_; }
  bool contains(std::uint32_t offset, std::uint64_t bytes) const {
    return offset >= kSharedScratchBegin && bytes <= end_ && offset <= end_ - bytes;
  }
  ProxyView view() const { return view_; }
  bool tracked() const { return view_ == ProxyView::Strict; }

  std::byte* generic() { return generic_.get(); }
  const std::byte* generic() const { return generic_.get(); }
  const std::byte* async() const { return async_ ? async_.get() : generic_.get(); }

  // After a thread's store of `bytes` at `offset` into generic(): marks the words it touches as unpublished.
  // warp < 64, lane < 32. A word two threads wrote belongs to the later one, whose fence then publishes all
  // of it.
  void note_generic_write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t warp, std::uint32_t lane,
                          std::uint32_t tag) {
    if (tracked()) mark(offset, bytes, warp, lane, tag);
  }
  // The same for one store instruction of a warp: lane l of `lanes` stored `bytes` at offsets[l].
  void note_generic_write(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t bytes,
                          std::uint32_t warp, std::uint32_t tag) {
    if (tracked()) mark_lanes(offsets, lanes, bytes, warp, tag);
  }

  // fence.proxy.async by the lanes of `lane_mask` of `warp`: their words become visible to the async proxy.
  // Returns how many words that were.
  std::uint32_t publish(std::uint32_t warp, std::uint32_t lane_mask);
  // Makes a range visible whoever wrote it: for stores whose writer is not a thread of this CTA (distributed
  // shared memory).
  void publish_range(std::uint32_t offset, std::uint32_t bytes);

  // A write by an asynchronous unit: both images, and nothing in the range is unpublished any more.
  void async_write(std::uint32_t offset, const void* from, std::uint32_t bytes);
  // The first word of the range that the async proxy would read without what a thread has stored there.
  std::optional<StaleWord> first_stale(std::uint32_t offset, std::uint32_t bytes) const;
  std::uint32_t unpublished_words() const { return unpublished_; }

 private:
  static constexpr std::uint16_t kClean = 0xFFFF;
  struct WarpWords {  // the words a warp has not published
    std::vector<std::uint64_t> bits;
    std::uint32_t lo = ~0u, hi = 0;  // range of non-zero entries of bits
  };
  void mark(std::uint32_t offset, std::uint32_t bytes, std::uint32_t warp, std::uint32_t lane,
            std::uint32_t tag);
  void mark_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t bytes, std::uint32_t warp,
                  std::uint32_t tag);
  bool mark_contiguous(const std::uint32_t* offsets, std::uint32_t bytes, std::uint32_t warp,
                       std::uint32_t tag);
  bool mark_quad(WarpWords& words, std::uint32_t word, std::uint16_t owner, std::uint32_t tag);
  void mark_word(std::uint32_t word, std::uint16_t owner, std::uint32_t tag);
  void clear_word(std::uint32_t word);
  void clear_range(std::uint32_t offset, std::uint32_t bytes);
  void publish_whole_warp(WarpWords& words);
  void publish_lanes(WarpWords& words, std::uint32_t lane_mask);
  void copy_words(std::uint32_t word, std::uint32_t count);
  WarpWords& words_of(std::uint32_t warp);
  void note_groups(WarpWords& words, std::uint32_t lo, std::uint32_t hi);
  // False: no word of the range is unpublished. Tiles and what threads store lie apart in most kernels, and this
  // spares the search of every tile.
  bool may_hold_unpublished(std::uint32_t offset, std::uint32_t bytes) const;

  ProxyView view_;
  std::uint32_t end_;
  std::unique_ptr<std::byte[]> generic_;
  std::unique_ptr<std::byte[]> async_;    // null unless tracked
  std::vector<std::uint16_t> owner_;      // per word: warp * 32 + lane, or kClean
  std::unique_ptr<std::uint32_t[]> tag_;  // per word; meaningful where it has an owner
  std::vector<WarpWords> warps_;
  std::uint32_t unpublished_ = 0;
  std::uint32_t lo_ = ~0u, hi_ = 0;  // groups that hold all unpublished words
};

}  // namespace emu::memory
