// When each runnable fragment can go on, and which comes first. A processor that holds a cluster has hundreds
// of fragments, and asks after every instruction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/event_queue.h"

namespace emu::gpu {

// A tournament: every inner node holds the earlier of its two children, the one of lower index among equals.
class RunTimes {
 public:
  // Stands for an element in an assignment.
  class Element {
   public:
    Element(RunTimes& times, size_t index) : times_(times), index_(index) {}
    void operator=(Time time) { times_.set(index_, time); }
    void operator=(const Element& other) { times_.set(index_, static_cast<Time>(other)); }
    operator Time() const { return times_.nodes_[times_.leaves_ + index_].time; }

   private:
    RunTimes& times_;
    size_t index_;
  };

  size_t size() const { return size_; }
  Element operator[](size_t index) { return {*this, index}; }

  void push_back(Time time) {
    if (size_ == leaves_) grow();
    set(size_++, time);
  }
  void pop_back() { set(--size_, kNever); }

  // The index of the earliest, the lowest of equals, and its time; of an empty set, 0 and kNever.
  size_t first() const { return nodes_[1].index; }
  Time first_time() const { return nodes_[1].time; }

  // The time of the earliest of all others.
  Time second_time() const {
    Time second = kNever;
    for (size_t node = leaves_ + first(); node > 1; node /= 2)
      second = std::min(second, nodes_[node ^ 1].time);
    return second;
  }

 private:
  struct Node {
    Time time = kNever;
    size_t index = 0;
  };

  void set(size_t index, Time time) {
    size_t node = leaves_ + index;
    nodes_[node].time = time;
    while (node > 1) {
      node /= 2;
      const Node& left = nodes_[2 * node];
      const Node& right = nodes_[2 * node + 1];
      nodes_[node] = right.time < left.time ? right : left;
    }
  }

  void grow() {
    std::vector<Node> old(nodes_.begin() + static_cast<std::ptrdiff_t>(leaves_), nodes_.end());
    leaves_ *= 2;
    nodes_.assign(2 * leaves_, {});
    for (size_t i = 0; i < leaves_; ++i) nodes_[leaves_ + i].index = i;
    for (size_t i = 0; i < old.size(); ++i) set(i, old[i].time);
  }

  size_t size_ = 0;
  size_t leaves_ = 1;
  std::vector<Node> nodes_ = std::vector<Node>(2);
};

}  // namespace emu::gpu
