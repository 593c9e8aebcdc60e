// Read-modify-write on the memory of the simulated machine, safe against the other worker threads.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

namespace emu::memory {

// Replaces *at by update(*at) and returns the value before. T: a 16-, 32- or 64-bit unsigned integer,
// naturally aligned.
template <class T, class Update>
T atomic_update(void* at, Update&& update) {
  std::atomic_ref<T> ref(*static_cast<T*>(at));
  T before = ref.load(std::memory_order_relaxed);
  while (!ref.compare_exchange_weak(before, update(before), std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
  }
  return before;
}

template <class T>
T atomic_load(const void* at) {
  return std::atomic_ref<T>(*static_cast<T*>(const_cast<void*>(at))).load(std::memory_order_acquire);
}

template <class T>
void atomic_store(void* at, T value) {
  std::atomic_ref<T>(*static_cast<T*>(at)).store(value, std::memory_order_release);
}

// atom.cas: stores `desired` if the word equals `expected`; returns the word before.
template <class T>
T atomic_compare_swap(void* at, T expected, T desired) {
  std::atomic_ref<T>(*static_cast<T*>(at))
      .compare_exchange_strong(expected, desired, std::memory_order_acq_rel);
  return expected;
}

// atom.inc / atom.dec of PTX: wrap at `limit`.
inline std::uint32_t wrapping_inc(std::uint32_t value, std::uint32_t limit) {
  return value >= limit ? 0 : value + 1;
}
inline std::uint32_t wrapping_dec(std::uint32_t value, std::uint32_t limit) {
  return value == 0 || value > limit ? limit : value - 1;
}

}  // namespace emu::memory
