#include "gpu/options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gpu/snapshot.h"

namespace emu::gpu {

Options options_from_json(const std::string& text) {
  using nlohmann::json;
  Options options;
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception& error) {
    throw std::invalid_argument(fmt::format("EMU_OPTIONS is not JSON: {}", error.what()));
  }
  if (!root.is_object()) throw std::invalid_argument("EMU_OPTIONS must be a JSON object");
  options.machine = timing::machine(root.value("machine", std::string("b200")));
  for (const auto& [key, value] : root.items()) {
    try {
      if (key == "machine") continue;
      if (key == "jitter") {
        options.jitter = value.get<uint64_t>();
      } else if (key == "timing") {
        const auto mode = value.get<std::string>();
        if (mode != "flat" && mode != "full") throw std::invalid_argument("timing is 'flat' or 'full'");
        options.timed = mode == "full";
      } else if (key == "mma") {
        const auto mode = value.get<std::string>();
        if (mode != "exact" && mode != "fast") throw std::invalid_argument("mma is 'exact' or 'fast'");
        options.mma = mode == "fast" ? units::MmaPrecision::Fast : units::MmaPrecision::Exact;
      } else if (key == "lenient") {
        options.lenient = value.get<bool>();
      } else if (key == "stats") {
        options.stats = value.get<bool>();
      } else if (key == "trace") {
        options.trace = value.get<std::string>();
      } else if (key == "snapshot") {
        options.snapshot = value.get<std::string>();
        parse_snapshot_request(options.snapshot);
      } else if (key == "timeout_s") {
        options.timeout_s = value.get<double>();
      } else if (key == "workers") {
        options.workers = value.get<int>();
      } else if (key == "sample") {
        if (value.is_string() && value.get<std::string>() == "off") {
          options.sample_off = true;
        } else {
          options.sample = value.get<uint32_t>();
        }
      } else if (key == "set") {
        for (const auto& [name, number] : value.items())
          timing::set(options.machine, name, number.get<double>());
      } else {
        throw std::invalid_argument("it is not known");
      }
    } catch (const std::exception& error) {
      throw std::invalid_argument(fmt::format("EMU_OPTIONS key '{}': {}", key, error.what()));
    }
  }
  return options;
}

Options options_from_environment() {
  const char* text = std::getenv("EMU_OPTIONS");
  return text && *text ? options_from_json(text) : Options{};
}

}  // namespace emu::gpu
