#include "observe/trace_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace emu::observe {

namespace {

enum Track { kWarp = 1, kTensorCore = 1000, kTma, kTmaStore, kTmem = 1010, kMufu = 1020, kBarrier = 2000 };

// Uses of a MUFU that follow each other within this many cycles are one slice.
constexpr double kRunGap = 32;
// Shorter waits for an operand, a pipe or an issue slot are left to --stats: there are hundreds of thousands.
constexpr double kShortStall = 24;

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Hundredths of a cycle are more than the model knows.
std::string number(double x) {
  std::string text = fmt::format("{:.2f}", x);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string base_name(std::string_view file) { return std::string(file.substr(file.rfind('/') + 1)); }

int track_of(Unit unit, int warp) {
  switch (unit) {
    case Unit::TensorCore:
      return kTensorCore;
    case Unit::Tma:
      return kTma;
    case Unit::TmaStore:
      return kTmaStore;
    case Unit::Mufu:
      return kMufu + warp % 4;
    default:
      return kTmem + warp % 4;
  }
}

std::string track_name(Unit unit, int warp) {
  const bool own = unit == Unit::Tmem || unit == Unit::Mufu;
  return own ? fmt::format("{} {}", name(unit), warp % 4) : std::string(name(unit));
}

bool asynchronous(Stall stall) {
  return stall != Stall::Issue && stall != Stall::Dependency && stall != Stall::Pipe;
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path, Limits limits) : limits_(limits) {
  file_ = std::fopen(path.c_str(), "w");
  if (!file_)
    throw std::runtime_error(fmt::format("cannot write the trace {}: {}", path, std::strerror(errno)));
  fmt::print(
      file_,
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"unit\":\"one microsecond of the viewer is one SM "
      "clock cycle\"}},\"traceEvents\":[\n");
  tail_ = std::ftell(file_);
  std::fputs("]}\n", file_);
}

TraceWriter::~TraceWriter() { std::fclose(file_); }

// The file is complete after every launch, because a program need not end in an orderly way.
void TraceWriter::put(std::string_view event) {
  if (events_ >= limits_.limit) {
    truncated_ = true;
    return;
  }
  if (events_++ > 0) std::fputs(",\n", file_);
  std::fwrite(event.data(), 1, event.size(), file_);
}

void TraceWriter::name_thread(int pid, int tid, const std::string& name) {
  put(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid, tid,
                  quote(name)));
  put(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                  pid, tid, tid));
}

void TraceWriter::slice(int pid, int tid, double begin, double end, std::string_view name,
                        const std::string& arguments) {
  put(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"args":{{{}}}}})", pid, tid,
                  number(begin + offset_), number(end - begin), quote(name), arguments));
}

void TraceWriter::flow(const Cta& cta, const Phase& from, int to_tid, double to) {
  ++flows_;
  put(fmt::format(R"({{"ph":"s","cat":"arrive","name":"arrive","id":{},"pid":{},"tid":{},"ts":{},"args":)"
                  R"({{"arrived":{}}}}})",
                  flows_, cta.pid, from.tid, number(from.inside + offset_), number(from.time + offset_)));
  put(fmt::format(R"({{"ph":"f","bp":"e","cat":"arrive","name":"arrive","id":{},"pid":{},"tid":{},"ts":{}}})",
                  flows_, cta.pid, to_tid, number(to + offset_)));
}

// Arguments that say where an instruction stands.
std::string TraceWriter::describe(const Place& at) {
  std::string stack;
  if (at.site) {
    for (const Frame& frame : at.site->frames) {
      stack += fmt::format("{}{}", stack.empty() ? "" : ",",
                           quote(fmt::format("{}:{} {}", base_name(frame.file), frame.line, frame.function)));
    }
  }
  return fmt::format(R"("line":{},"text":{},"opcode":{},"stack":[{}])",
                     quote(fmt::format("{}:{}", base_name(at.file), at.line)),
                     quote(sources_.line(std::string(at.file), at.line)), quote(at.opcode), stack);
}

void TraceWriter::launch_begins(std::string_view kernel, double clock_ghz, bool modelled) {
  std::fseek(file_, tail_, SEEK_SET);
  kernel_ = short_function_name(kernel);
  clock_ghz_ = clock_ghz;
  modelled_ = modelled;
  ++launches_;
  ctas_.clear();
}

void TraceWriter::launch_ends(double cycles) {
  for (auto& [linear, cta] : ctas_) {  // of a launch that failed
    for (size_t w = 0; w < cta.warps.size(); ++w) {
      move_to(cta, kWarp + static_cast<int>(w), cta.warps[w], nullptr, cta.warps[w].end);
    }
  }
  ctas_.clear();
  offset_ += cycles + 1000;
  tail_ = std::ftell(file_);
  fmt::print(file_, "{}]}}\n", truncated_ ? ",\n{\"ph\":\"M\",\"name\":\"truncated\",\"pid\":0}" : "");
  std::fflush(file_);
}

void TraceWriter::cta_begins(const Place& at, double, uint32_t warps) {
  const bool first = pids_ == 0;
  if (!first && events_ >= limits_.admit) return;
  Cta& cta = ctas_[at.cta];
  cta.pid = ++pids_;
  cta.warps.resize(warps);
  put(fmt::format(
      R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{},"kernel":{},"launch":{},"cta":{},"sm":{},)"
      R"("clock_ghz":{},"modelled":{}}}}})",
      cta.pid, quote(fmt::format("{} launch {}: CTA {} on SM {}", kernel_, launches_, at.cta, at.sm)),
      quote(kernel_), launches_, at.cta, at.sm, clock_ghz_, modelled_));
  for (uint32_t w = 0; w < warps; ++w) {
    name_thread(cta.pid, kWarp + static_cast<int>(w), fmt::format("warp {}", w));
  }
}

TraceWriter::Cta* TraceWriter::find(const Place& at) {
  const auto it = ctas_.find(at.cta);
  return it == ctas_.end() ? nullptr : &it->second;
}

void TraceWriter::cta_ends(const Place& at, double) {
  Cta* cta = find(at);
  if (!cta) return;
  for (size_t w = 0; w < cta->warps.size(); ++w) {
    move_to(*cta, kWarp + static_cast<int>(w), cta->warps[w], nullptr, cta->warps[w].end);
  }
  for (size_t s = 0; s < cta->mufu.size(); ++s) close_run(*cta, s);
  ctas_.erase(at.cta);
}

// Opens and closes the functions of the kernel's source file in which the warp was and now is.
void TraceWriter::move_to(Cta& cta, int tid, Warp& warp, const Site* site, double time) {
  if (site && site == warp.site) return;
  std::vector<const Frame*> frames;  // outermost first
  if (site) {
    for (auto frame = site->frames.rbegin(); frame != site->frames.rend(); ++frame) {
      if (frame->file == site->frames.back().file) frames.push_back(&*frame);
    }
  }
  size_t same = 0;
  while (same < frames.size() && same < warp.stack.size() &&
         warp.stack[same].function == frames[same]->function) {
    ++same;
  }
  while (warp.stack.size() > same) {
    const Open& open = warp.stack.back();
    std::string waits;
    for (size_t i = 0; i < kStalls; ++i) {
      if (open.waits[i] == 0) continue;
      waits += fmt::format("{}{}:{}", waits.empty() ? "" : ",", quote(name(static_cast<Stall>(i))),
                           number(open.waits[i]));
    }
    slice(cta.pid, tid, open.begin, std::max(open.begin, warp.end), open.function,
          fmt::format(R"("line":{},"waits":{{{}}})", quote(open.line), waits));
    warp.stack.pop_back();
  }
  for (size_t i = same; i < frames.size(); ++i) {
    warp.stack.push_back(
        {frames[i]->function, fmt::format("{}:{}", base_name(frames[i]->file), frames[i]->line), time, {}});
  }
  warp.site = site;
}

void TraceWriter::close_run(Cta& cta, size_t smsp) {
  Run& run = cta.mufu[smsp];
  if (run.count > 0) {
    slice(cta.pid, kMufu + static_cast<int>(smsp), run.begin, run.end,
          fmt::format("{} instructions", run.count), fmt::format(R"("cycles":{})", number(run.cycles)));
  }
  run = {};
}

void TraceWriter::issued(const Place& at, double time, uint32_t slots, uint8_t, const PipeCycles& pipes) {
  Cta* cta = find(at);
  if (!cta) return;
  Warp& warp = cta->warps[static_cast<size_t>(at.warp)];
  move_to(*cta, kWarp + at.warp, warp, at.site, std::max(time, warp.end));
  warp.end = std::max(warp.end, time + slots);
  const double cycles = pipes[static_cast<size_t>(Pipe::Mufu)];
  if (cycles == 0) return;
  const size_t smsp = static_cast<size_t>(at.warp) % 4;
  if (cta->units.emplace(kMufu + static_cast<int>(smsp), true).second) {
    name_thread(cta->pid, kMufu + static_cast<int>(smsp), track_name(Unit::Mufu, at.warp));
  }
  Run& run = cta->mufu[smsp];
  if (run.count > 0 && time > run.end + kRunGap) close_run(*cta, smsp);
  if (run.count == 0) run.begin = run.end = time;
  run.end = std::max(run.end, time + cycles);
  run.cycles += cycles;
  ++run.count;
}

void TraceWriter::stalled(const Place& at, Stall stall, double begin, double end, uint64_t object,
                          uint64_t phase) {
  // Lanes that wait for the rest of their warp: the warp's track shows what the rest does.
  if (stall == Stall::Join || stall == Stall::Gather) return;
  Cta* cta = find(at);
  if (!cta) return;
  Warp& warp = cta->warps[static_cast<size_t>(at.warp)];
  begin = std::max(begin, warp.end);  // another fragment of the warp may have worked meanwhile
  if (end <= begin) return;
  move_to(*cta, kWarp + at.warp, warp, at.site, begin);
  warp.end = std::max(warp.end, end);
  for (Open& open : warp.stack) open.waits[static_cast<size_t>(stall)] += end - begin;
  if (!asynchronous(stall) && end - begin < kShortStall) return;
  std::string arguments = describe(at);
  const Phase* cause = nullptr;
  if (stall == Stall::Mbarrier) {
    arguments += fmt::format(R"(,"object":{},"phase":{})", object, phase);
    const auto barrier = cta->barriers.find(object);
    if (barrier != cta->barriers.end()) cause = &barrier->second.latest;
  } else if (stall == Stall::Barrier) {
    arguments += fmt::format(R"(,"object":{},"phase":{})", object, phase);
    const auto barrier = cta->named.find(static_cast<uint32_t>(object));
    if (barrier != cta->named.end()) cause = &barrier->second;
  }
  slice(cta->pid, kWarp + at.warp, begin, end, fmt::format("wait: {}", name(stall)), arguments);
  const int tid = kWarp + at.warp;
  if (cause && cause->tid > 0 && cause->phase == phase && cause->tid != tid) flow(*cta, *cause, tid, end);
}

void TraceWriter::operation(const Place& at, Unit unit, double issue, double start, double end,
                            double visible, uint64_t bytes, std::string_view label, uint64_t target,
                            int64_t source) {
  Cta* cta = find(at);
  if (!cta) return;
  const int tid = track_of(unit, at.warp);
  if (cta->units.emplace(tid, true).second) name_thread(cta->pid, tid, track_name(unit, at.warp));
  std::string name(label);
  if (at.site && !at.site->frames.empty()) {
    name = fmt::format("{} {}", at.site->frames[static_cast<size_t>(at.site->kernel_frame)].function, label);
  }
  const std::string_view amount = unit == Unit::TensorCore ? "flops" : "bytes";
  slice(cta->pid, tid, start, end, name,
        fmt::format(R"({},"label":{},"warp":{},"issue":{},"visible":{},"{}":{},"target":{},"source":{})",
                    describe(at), quote(label), at.warp, number(issue + offset_), number(visible + offset_),
                    amount, bytes, target, source));
  if (unit == Unit::Tma) cta->loads[target] = {tid, start, end, visible};
  if (unit == Unit::TensorCore) cta->mmas.push_back({tid, start, end, visible});
}

void TraceWriter::arrived(const Place& at, double time, uint64_t object, uint64_t phase, bool completed,
                          std::string_view by) {
  Cta* cta = find(at);
  if (!cta) return;
  auto [entry, fresh] = cta->barriers.try_emplace(object);
  Barrier& barrier = entry->second;
  if (fresh) {
    barrier.tid = kBarrier + static_cast<int>(cta->barriers.size());
    name_thread(cta->pid, barrier.tid, fmt::format("mbarrier 0x{:x}", object));
  }
  ++barrier.arrivals;
  if (!completed) return;
  const double end = std::max(time, barrier.since);
  slice(cta->pid, barrier.tid, barrier.since, end, fmt::format("phase {}", phase),
        fmt::format(R"("arrivals":{},"completed_by":{})", barrier.arrivals, quote(by)));
  barrier.arrivals = 0;
  barrier.since = end;
  barrier.latest = {phase, 0, 0, time};
  if (at.warp >= 0) {
    const Warp& warp = cta->warps[static_cast<size_t>(at.warp)];
    barrier.latest.tid = kWarp + at.warp;
    barrier.latest.inside = std::max(0.0, std::min(time, warp.end) - 0.5);
  } else if (const auto load = cta->loads.find(object); load != cta->loads.end() && by != "commit") {
    barrier.latest.tid = load->second.tid;
    barrier.latest.inside = load->second.start;
  } else if (by == "commit") {
    // A commit arrives when the operations before it have completed: the latest of them is the cause.
    const Operation* last = nullptr;
    for (const Operation& mma : cta->mmas) {
      if (mma.visible <= time + 0.01) last = &mma;
    }
    if (!last) return;
    barrier.latest.tid = last->tid;
    barrier.latest.inside = last->start;
    const size_t done = static_cast<size_t>(last - cta->mmas.data());
    cta->mmas.erase(cta->mmas.begin(), cta->mmas.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

void TraceWriter::met(const Place& at, double time, uint32_t barrier, uint64_t phase) {
  Cta* cta = find(at);
  if (!cta) return;
  const Warp& warp = cta->warps[static_cast<size_t>(at.warp)];
  cta->named[barrier] = {phase, kWarp + at.warp, std::max(0.0, std::min(time, warp.end) - 0.5), time};
}

}  // namespace emu::observe
