#include "cuda/options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace emu::cuda {

RuntimeOptions parse_runtime_options(const char* json) {
  RuntimeOptions options;
  if (!json || !*json) return options;
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) {
    throw std::invalid_argument(fmt::format("EMU_OPTIONS is no JSON object: {}", json));
  }
  if (const auto machine = parsed.find("machine"); machine != parsed.end()) {
    if (!machine->is_string())
      throw std::invalid_argument("EMU_OPTIONS: \"machine\" must be \"b200\" or \"h200\"");
    options.machine = machine->get<std::string>();
  }
  return options;
}

}  // namespace emu::cuda
