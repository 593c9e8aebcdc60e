#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "memory/poison.h"
#include "memory/shared_memory.h"
#include "testing/catch.h"

using namespace emu::memory;

namespace {

void store(SharedMemory& shared, std::uint32_t offset, std::uint32_t value, std::uint32_t warp,
           std::uint32_t lane, std::uint32_t tag = 0) {
  std::memcpy(shared.generic() + offset, &value, 4);
  shared.note_generic_write(offset, 4, warp, lane, tag);
}

std::uint32_t word(const std::byte* image, std::uint32_t offset) {
  std::uint32_t value;
  std::memcpy(&value, image + offset, 4);
  return value;
}

}  // namespace

TEST_CASE("shared memory starts behind the reserved kilobyte, as poison in both views") {
  SharedMemory shared(4096, ProxyView::Strict);
  CHECK(shared.begin() == 0x400);
  CHECK(shared.end() == 0x1400);
  CHECK(shared.contains(0x400, 4096));
  CHECK(shared.contains(0x2E0, 288));  // what cooperative_groups is lent
  CHECK_FALSE(shared.contains(0x2DC, 4));
  CHECK_FALSE(shared.contains(0x400, 4097));
  CHECK_FALSE(shared.contains(0x13FF, 2));
  CHECK_FALSE(shared.contains(0xFFFFFFFF, 4));
  CHECK(looks_poisoned(shared.generic() + 0x400, 4096));
  CHECK(looks_poisoned(shared.async() + 0x400, 4096));
}

TEST_CASE("a store without a fence is not seen by the async proxy, and the word is named") {
  SharedMemory shared(4096, ProxyView::Strict);
  store(shared, 0x480, 42, 3, 17, 99);
  CHECK(word(shared.generic(), 0x480) == 42);
  CHECK(word(shared.async(), 0x480) == kPoison32);
  auto stale = shared.first_stale(0x400, 4096);
  REQUIRE(stale);
  CHECK(stale->offset == 0x480);
  CHECK(stale->warp == 3);
  CHECK(stale->lane == 17);
  CHECK(stale->tag == 99);
  CHECK_FALSE(shared.first_stale(0x400, 0x80));
  CHECK_FALSE(shared.first_stale(0x484, 0x80));
  CHECK(shared.first_stale(0x482, 1));
}

TEST_CASE("a fence publishes the words of the threads that execute it, and no other") {
  SharedMemory shared(4096, ProxyView::Strict);
  store(shared, 0x400, 1, 0, 0);
  store(shared, 0x404, 2, 0, 1);
  store(shared, 0x408, 3, 1, 0);
  CHECK(shared.publish(0, 1u << 1) == 1);
  CHECK(word(shared.async(), 0x400) == kPoison32);
  CHECK(word(shared.async(), 0x404) == 2);
  CHECK(shared.publish(1, ~0u) == 1);
  CHECK(word(shared.async(), 0x408) == 3);
  CHECK(shared.first_stale(0x400, 16)->offset == 0x400);
  CHECK(shared.publish(0, ~0u) == 1);
  CHECK_FALSE(shared.first_stale(0x400, 4096));
  CHECK(shared.publish(7, ~0u) == 0);
}

TEST_CASE("a word written by two threads waits for the fence of the later one") {
  SharedMemory shared(4096, ProxyView::Strict);
  store(shared, 0x400, 1, 0, 5);
  store(shared, 0x400, 2, 1, 6);
  CHECK(shared.publish(0, ~0u) == 0);
  CHECK(word(shared.async(), 0x400) == kPoison32);
  CHECK(shared.publish(1, ~0u) == 1);
  CHECK(word(shared.async(), 0x400) == 2);
}

TEST_CASE("a store after the fence is unpublished again and leaves the old value to the async proxy") {
  SharedMemory shared(4096, ProxyView::Strict);
  store(shared, 0x400, 1, 0, 0);
  shared.publish(0, ~0u);
  store(shared, 0x400, 2, 0, 0);
  CHECK(word(shared.async(), 0x400) == 1);
  CHECK(shared.first_stale(0x400, 4));
}

TEST_CASE("an asynchronous write reaches both views and settles what was unpublished") {
  SharedMemory shared(4096, ProxyView::Strict);
  store(shared, 0x400, 1, 0, 0);
  store(shared, 0x410, 5, 0, 0);
  std::uint32_t values[4] = {6, 7, 8, 9};
  shared.async_write(0x400, values, 16);
  CHECK(word(shared.generic(), 0x400) == 6);
  CHECK(word(shared.async(), 0x40C) == 9);
  CHECK(shared.unpublished_words() == 1);
  CHECK(shared.publish(0, ~0u) == 1);
  CHECK(word(shared.async(), 0x400) == 6);
  CHECK(word(shared.async(), 0x410) == 5);
}

TEST_CASE("stores from outside the CTA can be published by range") {
  SharedMemory shared(4096, ProxyView::Strict);
  store(shared, 0x400, 1, 0, 0);
  shared.publish_range(0x400, 4);
  CHECK(word(shared.async(), 0x400) == 1);
  CHECK_FALSE(shared.first_stale(0x400, 4));
}

TEST_CASE("the lenient view is one image that nothing tracks") {
  for (ProxyView view : {ProxyView::Lenient, ProxyView::Untracked}) {
    SharedMemory shared(4096, view);
    store(shared, 0x400, 42, 0, 0);
    CHECK(shared.async() == shared.generic());
    CHECK_FALSE(shared.first_stale(0x400, 4096));
    CHECK(shared.publish(0, ~0u) == 0);
    std::uint32_t value = 7;
    shared.async_write(0x404, &value, 4);
    CHECK(word(shared.generic(), 0x404) == 7);
  }
}

TEST_CASE("random stores, fences and asynchronous writes agree with a word-by-word model") {
  constexpr std::uint32_t kBytes = 8192, kWords = kBytes / 4;
  SharedMemory shared(kBytes, ProxyView::Strict);
  std::vector<std::uint32_t> generic(kWords, kPoison32), async(kWords, kPoison32);
  std::vector<int> owner(kWords, -1);
  std::mt19937 random(7);
  for (int step = 0; step < 20000; ++step) {
    std::uint32_t warp = random() % 4, mask = random() % 4 ? ~0u : random();
    switch (random() % 8) {
      case 0: {  // fence
        shared.publish(warp, mask);
        for (std::uint32_t w = 0; w < kWords; ++w) {
          if (owner[w] < 0 || owner[w] / 32 != static_cast<int>(warp) || !(mask >> (owner[w] % 32) & 1))
            continue;
          async[w] = generic[w];
          owner[w] = -1;
        }
        break;
      }
      case 1: {  // asynchronous write of 16 words
        std::uint32_t at = random() % (kWords - 16), values[16];
        for (std::uint32_t& value : values) value = random();
        shared.async_write(0x400 + at * 4, values, 64);
        for (std::uint32_t i = 0; i < 16; ++i)
          generic[at + i] = async[at + i] = values[i], owner[at + i] = -1;
        break;
      }
      default: {  // one store instruction of 4, 8 or 16 bytes a lane
        std::uint32_t words = 1u << random() % 3, offsets[32] = {},
                      base = random() % (kWords / words - 32) * words;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          std::uint32_t at = base + lane * words;
          offsets[lane] = 0x400 + at * 4;
          if (!(mask >> lane & 1)) continue;
          for (std::uint32_t i = 0; i < words; ++i) {
            generic[at + i] = random();
            std::memcpy(shared.generic() + offsets[lane] + i * 4, &generic[at + i], 4);
            owner[at + i] = static_cast<int>(warp * 32 + lane);
          }
        }
        shared.note_generic_write(offsets, mask, words * 4, warp, 0);
      }
    }
  }
  CHECK(std::memcmp(shared.generic() + 0x400, generic.data(), kBytes) == 0);
  CHECK(std::memcmp(shared.async() + 0x400, async.data(), kBytes) == 0);
  for (std::uint32_t w = 0; w < kWords; ++w)
    CHECK(shared.first_stale(0x400 + w * 4, 4).has_value() == (owner[w] >= 0));
  CHECK(shared.unpublished_words() ==
        static_cast<std::uint32_t>(std::count_if(owner.begin(), owner.end(), [](int o) { return o >= 0; })));
}
