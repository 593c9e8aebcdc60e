#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "timing/machine.h"

namespace emu::cli {
namespace {

struct Options {
  std::string machine = "b200";
  std::optional<uint64_t> jitter;
  bool flat = false, timing = false, fast_mma = false, exact_mma = false;
  bool lenient = false, stats = false, supported = false, list_parameters = false;
  std::string trace, snapshot, sample;
  std::vector<std::string> settings;
  double timeout_s = 0;
  int workers = 0;
};

void declare(CLI::App& app, Options& o) {
  app.add_option("--machine", o.machine, "GPU to emulate: b200 (default) or h200")
      ->check(CLI::IsMember({"b200", "h200"}));
  app.add_option("--jitter", o.jitter, "draw every delay that the rules leave open at random from this seed");
  auto* flat = app.add_flag("--flat", o.flat, "every instruction costs one cycle: fast, no modelled time");
  app.add_flag("--timing", o.timing, "the full cost model: events measure modelled time")->excludes(flat);
  auto* fast = app.add_flag("--fast-mma", o.fast_mma, "matrix products in plain FP32: faster, not bit-exact");
  app.add_flag("--exact-mma", o.exact_mma, "matrix products bit for bit as the tensor core does them")
      ->excludes(fast);
  app.add_flag("--lenient", o.lenient, "forgive the missing fences that hardware was seen to forgive");
  app.add_flag("--stats", o.stats, "print instruction and unit statistics at the end");
  app.add_option("--trace", o.trace, "write a Perfetto trace to this file");
  app.add_option("--snapshot", o.snapshot,
                 "dump what memory holds when CTA 0 first reaches a source line, for `layout snapshot`: "
                 "smem@LINE, tmem@LINE, "
                 "tmem@FILE:LINE#N for the N-th time; writes snapshot_<kind>_<line>.json");
  app.add_option("--set", o.settings, "change a constant of the timing model: name=value (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--sample", o.sample, "SMs simulated in full when timing a large grid, or off");
  app.add_option("--workers", o.workers, "host threads (default: one per core)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--timeout", o.timeout_s, "host seconds after which a launch is stopped")
      ->check(CLI::PositiveNumber);
  app.add_flag("--supported", o.supported, "print the table of supported instruction forms and exit");
  app.add_flag("--list-parameters", o.list_parameters,
               "print the constants of the timing model for --machine and exit");
}

// True if all of `text` is a number that fits.
template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string parameter_table(const std::string& machine) {
  std::string table =
      fmt::format("{:<26} {:>10}  {:<16} {:<4} {}\n", "constant", "value", "unit", "conf", "source");
  for (const timing::Parameter& p : timing::parameters(machine)) {
    table += fmt::format("{:<26} {:>10g}  {:<16} {:<4} {}\n", p.name, p.value, p.unit,
                         static_cast<char>(p.confidence), p.source);
  }
  return table;
}

// Throws CLI::ValidationError for what CLI11 cannot check by itself.
nlohmann::json to_json(const Options& o) {
  nlohmann::json json;
  json["machine"] = o.machine;
  if (o.jitter) json["jitter"] = *o.jitter;
  if (o.flat || o.timing) json["timing"] = o.timing ? "full" : "flat";
  if (o.fast_mma || o.exact_mma) json["mma"] = o.fast_mma ? "fast" : "exact";
  if (o.lenient) json["lenient"] = true;
  if (o.stats) json["stats"] = true;
  if (!o.trace.empty())
    json["trace"] = std::filesystem::absolute(o.trace).string();  // the program may change directory
  if (!o.snapshot.empty()) json["snapshot"] = o.snapshot;
  if (o.timeout_s > 0) json["timeout_s"] = o.timeout_s;
  if (o.workers > 0) json["workers"] = o.workers;
  if (o.sample == "off") {
    json["sample"] = "off";
  } else if (uint32_t count = 0; !o.sample.empty()) {
    if (!parse_number(o.sample, count)) {
      throw CLI::ValidationError("--sample", "\"" + o.sample + "\" is neither a number of SMs nor off");
    }
    json["sample"] = count;
  }
  for (const std::string& setting : o.settings) {
    const size_t equals = setting.find('=');
    double value = 0;
    if (equals == std::string::npos || !parse_number(std::string_view(setting).substr(equals + 1), value)) {
      throw CLI::ValidationError("--set", "\"" + setting + "\" is not of the form name=number");
    }
    json["set"][setting.substr(0, equals)] = value;
  }
  return json;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Parsed parse_command_line(const std::vector<std::string>& arguments) {
  CLI::App app(
      "emu [options] -- program arguments...\n\n"
      "Runs a CUDA program on an emulated GPU. The program must be linked with -cudart shared and carry PTX\n"
      "for the machine (-gencode arch=compute_100a,code=compute_100a).",
      "emu");
  Options options;
  declare(app, options);
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> own(arguments.begin(), separator);
  std::reverse(own.begin(), own.end());  // CLI11 takes them from the back
  try {
    app.parse(own);
    Command command;
    command.supported = options.supported;
    if (options.list_parameters) return {std::nullopt, parameter_table(options.machine), 0};
    command.options_json = to_json(options).dump();
    if (separator != arguments.end()) command.program.assign(separator + 1, arguments.end());
    if (command.program.empty() && !command.supported) {
      return {std::nullopt, "emu: no program given; usage: emu [options] -- program arguments...\n", 2};
    }
    return {command, "", 0};
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, fmt::format("emu: {} (emu --help lists the options)\n", one_line(error.what())), 2};
  }
}

}  // namespace emu::cli
