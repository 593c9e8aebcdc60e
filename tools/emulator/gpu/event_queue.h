// Things that will happen at a modelled time: completions of asynchronous operations, time limits of waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace emu::gpu {

// SM clock cycles since the launch began.
using Time = double;
inline constexpr Time kNever = std::numeric_limits<double>::infinity();

class EventQueue {
 public:
  using Action = std::function<void(Time)>;

  // Equal times fire in the order they were scheduled. A soft event is only a time limit of a wait: when soft
  // events are all that is left, nothing is in flight.
  void schedule(Time time, Action action, bool soft = false) {
    heap_.push_back({time, next_++, soft, std::move(action)});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
    if (!soft) ++hard_;
  }
  bool empty() const { return heap_.empty(); }
  bool any_hard() const { return hard_ > 0; }
  Time next_time() const { return heap_.empty() ? kNever : heap_.front().time; }

  void fire_next() {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    Event event = std::move(heap_.back());
    heap_.pop_back();
    if (!event.soft) --hard_;
    event.action(event.time);
  }
  void clear() {
    heap_.clear();
    hard_ = 0;
  }

 private:
  struct Event {
    Time time;
    uint64_t order;
    bool soft;
    Action action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  std::vector<Event> heap_;
  uint64_t next_ = 0;
  uint64_t hard_ = 0;
};

}  // namespace emu::gpu
