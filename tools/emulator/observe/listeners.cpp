#include "observe/listeners.h"

#include <cstdio>

#include "observe/statistics.h"
#include "observe/trace_writer.h"

namespace emu::observe {

std::unique_ptr<Listener> make_listener(bool stats, const std::string& trace) {
  std::vector<std::unique_ptr<Listener>> chosen;
  if (stats) {
    chosen.push_back(std::make_unique<Statistics>(
        [](const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }));
  }
  if (!trace.empty()) chosen.push_back(std::make_unique<TraceWriter>(trace));
  if (chosen.empty()) return nullptr;
  if (chosen.size() == 1) return std::move(chosen.front());
  return std::make_unique<FanOut>(std::move(chosen));
}

}  // namespace emu::observe
