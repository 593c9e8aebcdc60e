// Names bound in nested brace scopes: the innermost binding wins, leaving a scope uncovers what it hid.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emu::ptx {

template <typename T>
class ScopedNames {
 public:
  struct Binding {
    uint32_t depth;
    T value;
  };

  // False when `name` is already bound at this depth.
  bool bind(std::string_view name, uint32_t depth, T value) {
    auto it = bindings_.find(name);
    if (it == bindings_.end()) it = bindings_.emplace(std::string(name), std::vector<Binding>()).first;
    auto& stack = it->second;
    if (!stack.empty() && stack.back().depth == depth) return false;
    stack.push_back({depth, value});
    order_.push_back(&stack);
    return true;
  }

  const Binding* find(std::string_view name) const {
    const auto it = bindings_.find(name);
    return it == bindings_.end() || it->second.empty() ? nullptr : &it->second.back();
  }

  size_t mark() const { return order_.size(); }

  // Removes every binding made since mark().
  void close(size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) order_.back()->pop_back();
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::vector<Binding>, Hash, std::equal_to<>> bindings_;
  std::vector<std::vector<Binding>*> order_;  // nodes of an unordered_map do not move
};

}  // namespace emu::ptx
