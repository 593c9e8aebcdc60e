// timeline trace.json: draws what happened in one CTA as an SVG.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "timeline/draw.h"
#include "timeline/labels.h"
#include "timeline/story.h"
#include "timeline/trace.h"

namespace {

struct Options {
  std::string trace, output, labels, iterations, title;
  std::optional<uint64_t> cta;
  std::optional<int> launch;
  std::optional<double> from, to;
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", path));
  return {std::istreambuf_iterator<char>(in), {}};
}

// The CTA asked for, or the first of the last launch.
const timeline::Cta& choose(const timeline::Trace& trace, const Options& options) {
  if (trace.ctas.empty()) throw std::runtime_error("the trace holds no CTA");
  const int launch = options.launch.value_or(trace.ctas.back().launch);
  const timeline::Cta* found = nullptr;
  std::string have;
  for (const timeline::Cta& cta : trace.ctas) {
    have += fmt::format(" {}:{}", cta.launch, cta.number);
    const bool fits = cta.launch == launch && (!options.cta || cta.number == *options.cta);
    if (fits && !found) found = &cta;
  }
  if (!found) throw std::runtime_error(fmt::format("no such CTA; the trace holds, as launch:CTA,{}", have));
  return *found;
}

struct Window {
  double from = 0, to = 0;
  std::string text;
  size_t iterations = 0;
};

Window window(const timeline::Cta& cta, const std::vector<double>& starts, const Options& options) {
  if (options.from || options.to) {
    Window w{options.from.value_or(cta.begin), options.to.value_or(cta.end), "", 0};
    if (w.from >= w.to)
      throw std::runtime_error(fmt::format("--from {} is not before --to {}", w.from, w.to));
    return w;
  }
  std::string text = options.iterations;
  if (text.empty() && starts.size() >= 7) text = "3..5";
  if (text.empty()) return {cta.begin, cta.end, "the whole CTA", 0};
  size_t first = 0, last = 0;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%zu..%zu%c", &first, &last, &rest);
  if (read == 1 && text.find_first_not_of("0123456789") == std::string::npos) {
    last = first;
  } else if (read != 2 || last < first) {
    throw std::runtime_error(fmt::format("--iterations \"{}\" is not of the form 3..5", text));
  }
  if (last >= starts.size()) {
    throw std::runtime_error(fmt::format("iteration {} asked for, the CTA has {} (0 to {})", last,
                                         starts.size(), starts.empty() ? 0 : starts.size() - 1));
  }
  const double to = last + 1 < starts.size() ? starts[last + 1] : cta.end;
  const std::string name =
      first == last ? fmt::format("iteration {}", first) : fmt::format("iterations {} to {}", first, last);
  return {starts[first], to, name, last - first + 1};
}

std::string subtitle(const timeline::Cta& cta, const Window& w, size_t iterations) {
  std::string text = fmt::format("CTA {} of {}, ", cta.number, cta.kernel);
  if (!w.text.empty()) text += w.text + (w.iterations > 0 ? fmt::format(" of {}", iterations) : "") + ", ";
  text +=
      fmt::format("{} cycles from cycle {}", timeline::thousands(w.to - w.from), timeline::thousands(w.from));
  if (w.iterations > 1) {
    text += fmt::format(", {} an iteration",
                        timeline::thousands((w.to - w.from) / static_cast<double>(w.iterations)));
  }
  if (cta.modelled) return text + fmt::format("; modelled at {} GHz.", cta.clock_ghz);
  return text + "; every instruction counted as one cycle (no modelled time).";
}

void run(const Options& options) {
  const timeline::Trace trace = timeline::read_trace(options.trace);
  const timeline::Labels labels =
      options.labels.empty() ? timeline::default_labels() : timeline::parse_labels(read(options.labels));
  const timeline::Cta& cta = choose(trace, options);
  const std::vector<double> starts = timeline::iterations(cta, labels);
  const Window w = window(cta, starts, options);
  const std::string title = options.title.empty() ? "Who waits for whom: " + cta.kernel : options.title;
  const std::string svg =
      timeline::draw(timeline::tell(cta, labels, w.from, w.to), {title, subtitle(cta, w, starts.size())});
  std::ofstream out(options.output, std::ios::binary);
  out << svg;
  if (!out.flush()) throw std::runtime_error(fmt::format("cannot write {}", options.output));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Draws what happened in one CTA, from a trace that `emu --timing --trace FILE` wrote.",
               "timeline");
  Options options;
  app.add_option("trace", options.trace, "the trace")->required();
  app.add_option("-o,--output", options.output, "the SVG to write")->required();
  app.add_option("--launch", options.launch, "launch of the program (default: the last)");
  app.add_option("--cta", options.cta, "linear index of the CTA (default: the first)");
  auto* iterations =
      app.add_option("--iterations", options.iterations, "window in iterations of the main loop: 3..5, or 4");
  auto* from = app.add_option("--from", options.from, "window: first cycle")->excludes(iterations);
  app.add_option("--to", options.to, "window: last cycle")->excludes(iterations);
  (void)from;
  app.add_option("--labels", options.labels, "JSON with names for functions and operations (see README.md)");
  app.add_option("--title", options.title, "heading of the picture");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "timeline: {}\n", error.what());
    return 2;
  }
}
