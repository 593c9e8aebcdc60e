// conformance: runs small kernels and records their results, or compares them with a recording.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "compare.h"
#include "record.h"
#include "table.h"
#include "worker.h"

using namespace conformance;

namespace {

constexpr char kUsage[] =
    "conformance --list                 print the cases and how many a family has\n"
    "conformance --record FILE          run on a GPU and write every result\n"
    "conformance --compare FILE         run and compare with a recording; exit code 1 if a case differs\n"
    "            --only TEXT            only cases whose name contains TEXT (may be repeated)\n"
    "            --timeout SECONDS      for one case; 20 if not given\n";

struct Options {
  std::string mode, file;
  std::vector<std::string> only;
  int timeout_s = 20;
};

[[noreturn]] void usage_error(const std::string& problem) {
  std::fprintf(stderr, "conformance: %s\n%s", problem.c_str(), kUsage);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    auto value = [&] { return ++i < argc ? argv[i] : (usage_error(argument + " needs a value"), ""); };
    if (argument == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (argument == "--list") {
      options.mode = argument;
    } else if (argument == "--record" || argument == "--compare") {
      options.mode = argument, options.file = value();
    } else if (argument == "--only") {
      options.only.push_back(value());
    } else if (argument == "--timeout") {
      options.timeout_s = std::atoi(value());
    } else {
      usage_error("unknown option " + argument);
    }
  }
  if (options.mode.empty()) usage_error("nothing to do");
  return options;
}

bool selected(const Options& options, const Case& test) {
  return options.only.empty() || std::any_of(options.only.begin(), options.only.end(), [&](const auto& text) {
           return test.name.find(text) != std::string::npos;
         });
}

int list(const std::vector<const Case*>& cases) {
  std::map<std::string, int> families;
  for (const Case* test : cases) {
    std::printf("%-44s %5zu words  %s\n", test->name.c_str(), test->words,
                test->prints        ? "text"
                : test->bound.exact ? test->bound.text.c_str()
                                    : "bits");
    ++families[test->family()];
  }
  for (const auto& [family, count] : families) std::printf("%4d %s\n", count, family.c_str());
  std::printf("%4zu cases\n", cases.size());
  return 0;
}

int record(const Options& options, const std::vector<const Case*>& cases) {
  std::ofstream file(options.file);
  if (!file) usage_error("cannot write " + options.file);
  file << describe_device() << "\n";
  int errors = 0;
  run_cases(cases, options.timeout_s, [&](const Case& test, const Result& result) {
    file << to_line(test.name, result) << std::endl;
    if (!result.error.empty()) ++errors, std::printf("%s: %s\n", test.name.c_str(), result.error.c_str());
  });
  std::printf("%zu recorded, %d of them ended in an error\n", cases.size(), errors);
  return 0;
}

int compare(const Options& options, const std::vector<const Case*>& cases) {
  std::string device;
  const std::map<std::string, Result> recorded = read_results(options.file, &device);
  std::printf("recorded on %s\n", device.c_str());
  int passed = 0, failed = 0;
  std::map<std::string, std::pair<int, int>> families;
  run_cases(cases, options.timeout_s, [&](const Case& test, const Result& result) {
    const auto expected = recorded.find(test.name);
    const std::string difference = expected == recorded.end()
                                       ? "is not in the recording"
                                       : find_difference(test, expected->second, result);
    if (!difference.empty()) std::printf("%s: %s\n", test.name.c_str(), difference.c_str());
    ++(difference.empty() ? passed : failed);
    ++(difference.empty() ? families[test.family()].first : families[test.family()].second);
    std::fflush(stdout);
  });
  for (const auto& [family, counts] : families)
    std::printf("%-14s %3d passed, %d failed\n", family.c_str(), counts.first, counts.second);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const Table table = all_cases();
  std::vector<const Case*> cases;
  std::set<std::string> names;
  for (const Case& test : table) {
    if (!names.insert(test.name).second) usage_error("two cases are called " + test.name);
    if (selected(options, test)) cases.push_back(&test);
  }
  if (cases.empty()) usage_error("no case's name contains what --only asks for");
  if (options.mode == "--list") return list(cases);
  return options.mode == "--record" ? record(options, cases) : compare(options, cases);
}
