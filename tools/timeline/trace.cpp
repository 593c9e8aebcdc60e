#include "timeline/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace timeline {

namespace {

using nlohmann::json;

// "kernel.cu:89 load_tile" -> "load_tile"
std::string function_of(const std::string& frame) { return frame.substr(frame.find(' ') + 1); }

Slice slice_of(const json& event) {
  Slice slice;
  slice.begin = event.at("ts").get<double>();
  slice.end = slice.begin + event.at("dur").get<double>();
  slice.name = event.at("name").get<std::string>();
  const auto found = event.find("args");
  if (found == event.end()) return slice;
  const json& args = *found;
  slice.text = args.value("text", std::string());
  slice.label = args.value("label", std::string());
  slice.warp = args.value("warp", -1);
  slice.target = args.value("target", uint64_t{0});
  slice.source = args.value("source", int64_t{-1});
  slice.visible = args.value("visible", slice.end);
  slice.object = args.value("object", uint64_t{0});
  slice.phase = args.value("phase", uint64_t{0});
  slice.cycles = args.value("cycles", slice.end - slice.begin);
  if (const auto waits = args.find("waits"); waits != args.end()) {
    for (const auto& [reason, cycles] : waits->items()) slice.waits[reason] = cycles.get<double>();
  }
  if (const auto stack = args.find("stack"); stack != args.end()) {
    for (const json& frame : *stack) slice.stack.push_back(function_of(frame.get<std::string>()));
  }
  return slice;
}

void describe(Cta& cta, const json& args) {
  cta.kernel = args.value("kernel", std::string());
  cta.launch = args.value("launch", 1);
  cta.number = args.value("cta", uint64_t{0});
  cta.sm = args.value("sm", uint64_t{0});
  cta.clock_ghz = args.value("clock_ghz", 0.0);
  cta.modelled = args.value("modelled", true);
}

void finish(Cta& cta) {
  bool any = false;
  for (auto& [track, slices] : cta.tracks) {
    // Enclosing slices first where several begin together.
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    if (!is_warp(track) || slices.empty()) continue;
    cta.begin = any ? std::min(cta.begin, slices.front().begin) : slices.front().begin;
    for (const Slice& slice : slices) cta.end = std::max(cta.end, slice.end);
    any = true;
  }
  std::stable_sort(cta.flows.begin(), cta.flows.end(),
                   [](const Flow& a, const Flow& b) { return a.ended < b.ended; });
}

Trace from_json(const json& root) {
  std::map<int, Cta> ctas;
  std::map<uint64_t, Flow> open;
  for (const json& event : root.at("traceEvents")) {
    const std::string kind = event.at("ph").get<std::string>();
    const int pid = event.at("pid").get<int>();
    if (kind == "M") {
      if (event.at("name") == "process_name") describe(ctas[pid], event.at("args"));
      continue;
    }
    const int tid = event.at("tid").get<int>();
    if (kind == "X") {
      ctas[pid].tracks[tid].push_back(slice_of(event));
    } else if (kind == "s") {
      open[event.at("id").get<uint64_t>()] = {tid, 0, event.at("args").at("arrived").get<double>(), 0};
    } else if (kind == "f") {
      Flow flow = open.at(event.at("id").get<uint64_t>());
      flow.to = tid;
      flow.ended = event.at("ts").get<double>();
      ctas[pid].flows.push_back(flow);
    }
  }
  Trace trace;
  for (auto& [pid, cta] : ctas) {
    finish(cta);
    trace.ctas.push_back(std::move(cta));
  }
  return trace;
}

}  // namespace

Trace parse_trace(const std::string& text) {
  try {
    return from_json(json::parse(text));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("not a trace that emu --trace wrote: {}", error.what()));
  }
}

Trace read_trace(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", path));
  return parse_trace({std::istreambuf_iterator<char>(in), {}});
}

}  // namespace timeline
