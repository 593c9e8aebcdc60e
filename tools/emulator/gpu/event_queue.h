// Things that will happen at a modelled time: completions of asynchronous operations, time limits of waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace emu::gpu {

// SM clock cycles since the launch began.
using Time = double;
inline constexpr Time kNever = std::numeric_limits<double>::infinity();

// Actions lie in slots that are used again, and the heap orders small keys: a launch schedules millions of
// events, and an allocation for each would show.
class EventQueue {
 public:
  EventQueue() = default;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() { clear(); }

  // action(time) is called once. Equal times fire in the order they were scheduled. A soft event is only a
  // time limit of a wait: when soft events are all that is left, nothing is in flight.
  template <typename Action>
  void schedule(Time time, Action&& action, bool soft = false) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    slots_[free_.back()].hold(std::forward<Action>(action));
    heap_.push_back({time, next_++, free_.back(), soft});
    free_.pop_back();
    std::push_heap(heap_.begin(), heap_.end(), Later{});
    if (!soft) ++hard_;
  }
  bool empty() const { return heap_.empty(); }
  bool any_hard() const { return hard_ > 0; }
  Time next_time() const { return heap_.empty() ? kNever : heap_.front().time; }

  void fire_next() {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    const Event event = heap_.back();
    heap_.pop_back();
    if (!event.soft) --hard_;
    // The slot is free only afterwards: what the action schedules must not overwrite it.
    const Release release{*this, event.slot};
    slots_[event.slot].call(event.time);
  }
  void clear() {
    for (const Event& event : heap_) {
      slots_[event.slot].drop();
      free_.push_back(event.slot);
    }
    heap_.clear();
    hard_ = 0;
  }

 private:
  struct Slot {
    static constexpr size_t kInline = 128;
    alignas(std::max_align_t) std::byte bytes[kInline];
    void (*invoke)(void*, Time) = nullptr;
    void (*destroy)(void*) = nullptr;

    template <typename Action>
    void hold(Action&& action) {
      using Held = std::remove_cvref_t<Action>;
      if constexpr (sizeof(Held) <= kInline && alignof(Held) <= alignof(std::max_align_t)) {
        new (bytes) Held(std::forward<Action>(action));
        invoke = [](void* at, Time time) { (*std::launder(static_cast<Held*>(at)))(time); };
        destroy = [](void* at) { std::launder(static_cast<Held*>(at))->~Held(); };
      } else {
        hold([boxed = std::make_unique<Held>(std::forward<Action>(action))](Time time) { (*boxed)(time); });
      }
    }
    void call(Time time) { invoke(bytes, time); }
    void drop() { destroy(bytes); }
  };
  struct Release {
    EventQueue& queue;
    uint32_t slot;
    ~Release() {
      queue.slots_[slot].drop();
      queue.free_.push_back(slot);
    }
  };
  struct Event {
    Time time;
    uint64_t order;
    uint32_t slot;
    bool soft;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  std::vector<Event> heap_;
  std::deque<Slot> slots_;  // a slot stays where it is
  std::vector<uint32_t> free_;
  uint64_t next_ = 0;
  uint64_t hard_ = 0;
};

}  // namespace emu::gpu
