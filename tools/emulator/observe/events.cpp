#include "observe/events.h"

#include <cxxabi.h>

#include <cstdlib>

namespace emu::observe {

std::string_view name(Stall stall) {
  static constexpr std::array<std::string_view, kStalls> kNames = {
      "none", "issue slot",      "dependency", "pipe", "bar.sync", "mbarrier",   "tmem load",  "tmem store",
      "tma",  "cluster barrier", "lanes",      "join", "sleep",    "bulk group", "tmem alloc", "launch"};
  return kNames[static_cast<size_t>(stall)];
}

std::string_view name(Unit unit) {
  static constexpr std::array<std::string_view, static_cast<size_t>(Unit::Count)> kNames = {
      "tensor core", "TMA load", "TMA store", "TMEM port", "MUFU"};
  return kNames[static_cast<size_t>(unit)];
}

std::string short_function_name(std::string_view symbol) {
  std::string text(symbol);
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && demangled) text = demangled.get();
  // Cut at the parenthesis of the arguments, not at "(anonymous namespace)".
  const std::string anonymous = "(anonymous namespace)::";
  for (size_t at; (at = text.find(anonymous)) != std::string::npos;) text.erase(at, anonymous.size());
  std::string plain;  // without template arguments, up to the function's own
  for (int depth = 0; const char c : text) {
    if (c == '(' && depth == 0) break;
    depth += c == '<' ? 1 : 0;
    if (depth == 0) plain += c;
    depth -= c == '>' ? 1 : 0;
  }
  text = plain;
  const size_t scope = text.rfind("::");
  if (scope != std::string::npos) text = text.substr(scope + 2);
  const size_t space = text.rfind(' ');
  return space == std::string::npos ? text : text.substr(space + 1);
}

void FanOut::launch_begins(std::string_view kernel, double clock_ghz, bool modelled) {
  for (const auto& l : listeners_) l->launch_begins(kernel, clock_ghz, modelled);
}
void FanOut::host_worked(uint64_t warp_instructions, double seconds) {
  for (const auto& l : listeners_) l->host_worked(warp_instructions, seconds);
}
void FanOut::launch_ends(double cycles) {
  for (const auto& l : listeners_) l->launch_ends(cycles);
}
void FanOut::cta_begins(const Place& at, double time, uint32_t warps) {
  for (const auto& l : listeners_) l->cta_begins(at, time, warps);
}
void FanOut::cta_ends(const Place& at, double time) {
  for (const auto& l : listeners_) l->cta_ends(at, time);
}
void FanOut::issued(const Place& at, double time, uint32_t slots, uint8_t cost_class,
                    const PipeCycles& pipes) {
  for (const auto& l : listeners_) l->issued(at, time, slots, cost_class, pipes);
}
void FanOut::stalled(const Place& at, Stall stall, double begin, double end, uint64_t object,
                     uint64_t phase) {
  for (const auto& l : listeners_) l->stalled(at, stall, begin, end, object, phase);
}
void FanOut::operation(const Place& at, Unit unit, double issue, double start, double end, double visible,
                       uint64_t bytes, std::string_view label, uint64_t target, int64_t source) {
  for (const auto& l : listeners_) {
    l->operation(at, unit, issue, start, end, visible, bytes, label, target, source);
  }
}
void FanOut::arrived(const Place& at, double time, uint64_t object, uint64_t phase, bool completed,
                     std::string_view by) {
  for (const auto& l : listeners_) l->arrived(at, time, object, phase, completed, by);
}
void FanOut::met(const Place& at, double time, uint32_t barrier, uint64_t phase) {
  for (const auto& l : listeners_) l->met(at, time, barrier, phase);
}

}  // namespace emu::observe
