// calibrate: measures a GPU's constants, or the emulator's model of them, and sets one beside the other.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "benchmark.h"
#include "cuda_check.h"

namespace calibrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNotable = 20;  // per cent

constexpr const char* kHelp =
    "calibrate [options]\n\n"
    "Measures a GPU's constants with small kernels. On the emulator (emu -- calibrate) the same kernels read "
    "the\n"
    "model's.\n\n"
    "  --json FILE      write device, date and every value to FILE (- for standard output)\n"
    "  --compare FILE   set the values beside those recorded in FILE, with the model's error\n"
    "  --limit PERCENT  exit with 1 where the median error of the comparison is above it\n"
    "  --only TEXT      only benchmarks whose name contains TEXT\n"
    "  --list           print the names and leave\n"
    "  --markdown       print the comparison as a Markdown table\n"
    "  --help           this text\n";

struct Options {
  std::string json, compare, only;
  bool list = false, markdown = false;
  std::optional<double> limit;  // per cent
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) throw std::invalid_argument(argument + " needs a value");
      return std::string(argv[++i]);
    };
    if (argument == "--json") {
      options.json = value();
    } else if (argument == "--compare") {
      options.compare = value();
    } else if (argument == "--only") {
      options.only = value();
    } else if (argument == "--limit") {
      const std::string text = value();
      char* end = nullptr;
      options.limit = std::strtod(text.c_str(), &end);
      if (text.empty() || *end) throw std::invalid_argument("--limit '" + text + "' is not a number");
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument == "--markdown") {
      options.markdown = true;
    } else {
      throw std::invalid_argument("unknown option " + argument);
    }
  }
  return options;
}

std::string today() {
  char text[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

struct Device {
  std::string name;
  bool emulated = false;
  Target target;
  Json description;
};

Device this_device() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "no usable CUDA device");
  if (properties.major != 9 && properties.major != 10) {
    throw std::runtime_error(std::string(properties.name) + " has compute capability " +
                             std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                             "; this program holds code for 9.0 and 10.0");
  }
  int driver = 0, clock_khz = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0), "cudaDevAttrClockRate");
  Device device;
  device.name = properties.name;
  device.emulated = device.name.find("emulated") != std::string::npos;
  device.target = {.blackwell = properties.major == 10, .sms = properties.multiProcessorCount};
  device.description = {
      {"device", device.name},
      {"source", device.emulated ? "modelled" : "measured"},
      {"date", today()},
      {"compute_capability", std::to_string(properties.major) + "." + std::to_string(properties.minor)},
      {"sms", properties.multiProcessorCount},
      {"driver_cuda", driver},
      {"clock_mhz", clock_khz / 1000}};
  return device;
}

std::vector<Benchmark> benchmarks(const Target& target, const std::string& only) {
  std::vector<Benchmark> all;
  for (auto* part : {pipe_benchmarks, shared_benchmarks, barrier_benchmarks, bulk_benchmarks,
                     memory_benchmarks, tensor_benchmarks}) {
    for (Benchmark& benchmark : part(target)) {
      if (benchmark.name.find(only) != std::string::npos) all.push_back(std::move(benchmark));
    }
  }
  if (all.empty())
    throw std::invalid_argument("no benchmark's name contains '" + only + "' (--list prints them)");
  return all;
}

// A GPU is measured three times and the smallest disturbance kept: the median. The emulator repeats itself.
double value_of(const Benchmark& benchmark, bool emulated) {
  if (emulated) return benchmark.run();
  std::vector<double> values{benchmark.run(), benchmark.run(), benchmark.run()};
  std::sort(values.begin(), values.end());
  return values[1];
}

Json read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.contains("values")) {
    throw std::runtime_error(path + " is not what calibrate --json writes");
  }
  return json;
}

struct Row {
  std::string name, unit;
  double measured, modelled;
  double error() const { return 100 * (modelled - measured) / measured; }
};

void print_rows(const std::vector<Row>& rows, bool markdown) {
  std::printf(markdown ? "| %-28s | %-14s | %9s | %9s | %7s |\n" : "%-30s %-14s %10s %10s %8s\n", "constant",
              "unit", "measured", "modelled", "error");
  if (markdown) std::printf("|---|---|--:|--:|--:|\n");
  for (const Row& row : rows) {
    std::printf(markdown ? "| %-28s | %-14s | %9.2f | %9.2f | %+5.1f %% |\n"
                         : "%-30s %-14s %10.2f %10.2f %+6.1f %%\n",
                row.name.c_str(), row.unit.c_str(), row.measured, row.modelled, row.error());
  }
}

// Returns the median error in per cent.
double compare(const Json& here, const Json& recorded, bool markdown) {
  const bool modelled_here = here.at("source") == "modelled";
  std::vector<Row> rows;
  std::vector<std::string> missing;
  for (const auto& [name, entry] : recorded.at("values").items()) {
    if (!here.at("values").contains(name)) {
      missing.push_back(name);
      continue;
    }
    const double there = entry.at("value"), value = here.at("values").at(name).at("value");
    rows.push_back({name, entry.at("unit"), modelled_here ? there : value, modelled_here ? value : there});
  }
  if (rows.empty()) throw std::runtime_error("the recorded file and this run have no benchmark in common");
  print_rows(rows, markdown);
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(std::abs(row.error()));
  std::sort(errors.begin(), errors.end());
  const size_t n = errors.size();
  const double median = n % 2 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
  const auto notable = std::count_if(errors.begin(), errors.end(), [](double e) { return e > kNotable; });
  std::printf("\n%zu constants, median error %.1f %%, %td above %.0f %%", n, median, notable, kNotable);
  for (const Row& row : rows) {
    if (std::abs(row.error()) > kNotable) std::printf("\n  %-30s %+.0f %%", row.name.c_str(), row.error());
  }
  std::printf("\n");
  if (!missing.empty()) std::printf("%zu recorded constants were not run here\n", missing.size());
  return median;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const Device device = this_device();
  const auto list = benchmarks(device.target, options.only);
  if (options.list) {
    for (const Benchmark& benchmark : list)
      std::printf("%-30s %s\n", benchmark.name.c_str(), benchmark.unit.c_str());
    return 0;
  }
  Json result = device.description;
  result["values"] = Json::object();
  for (const Benchmark& benchmark : list) {
    const double value = value_of(benchmark, device.emulated);
    result["values"][benchmark.name] = {{"value", std::round(value * 1000) / 1000}, {"unit", benchmark.unit}};
    if (options.compare.empty() && options.json != "-") {
      std::printf("%-30s %10.2f %s\n", benchmark.name.c_str(), value, benchmark.unit.c_str());
      std::fflush(stdout);
    }
  }
  if (options.json == "-") {
    std::cout << result.dump(1) << "\n";
  } else if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << result.dump(1) << "\n";
    if (!file) throw std::runtime_error("cannot write " + options.json);
  }
  if (options.compare.empty()) return 0;
  const double median = compare(result, read(options.compare), options.markdown);
  if (options.limit && median > *options.limit) {
    std::fprintf(stderr, "calibrate: the median error is %.1f %%, above the limit of %.1f %%\n", median,
                 *options.limit);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace calibrate

int main(int argc, char** argv) {
  try {
    if (argc == 2 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
      std::fputs(calibrate::kHelp, stdout);
      return 0;
    }
    return calibrate::run(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "calibrate: %s (--help lists the options)\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate: %s\n", error.what());
    return 1;
  }
}
