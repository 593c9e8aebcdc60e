#include "observe/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace emu::observe {

namespace {

constexpr double kSubPartitions = 4;
// A unit busy for less than this share of the time does not set the pace by itself.
constexpr double kBottleneck = 0.6;
// Columns of the table, in this order. Lanes that only wait for the others of their warp are left out: the
// warp is doing what the others do.
constexpr Stall kColumns[] = {Stall::Issue,     Stall::Dependency, Stall::Pipe,           Stall::Mbarrier,
                              Stall::Barrier,   Stall::TmemLoad,   Stall::TmemStore,      Stall::Tma,
                              Stall::BulkGroup, Stall::Sleep,      Stall::ClusterBarrier, Stall::Allocation,
                              Stall::Launch};

bool counted(Stall stall) {
  return std::find(std::begin(kColumns), std::end(kColumns), stall) != std::end(kColumns);
}

// "0-3, 8"
std::string ranges(const std::vector<size_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (j > i) text += fmt::format("-{}", numbers[j]);
    i = j + 1;
  }
  return text;
}

std::string file_line(const Site& site) {
  if (site.frames.empty()) return "no line information";
  const Frame& frame = site.frames[static_cast<size_t>(std::max(site.kernel_frame, 0))];
  return fmt::format("{}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

// The function called by the kernel itself in which an instruction stands, or the kernel.
std::string outer_function(const Site& site) {
  if (site.frames.empty()) return "kernel";
  const size_t depth = site.frames.size();
  const Frame& frame = site.frames[depth >= 2 ? depth - 2 : depth - 1];
  const bool own = depth >= 2 && frame.file == site.frames.back().file;
  return own ? frame.function : site.frames.back().function;
}

// Instructions that two warps have in common, as a share of those that either executes.
double likeness(const std::map<const Site*, uint64_t>& a, const std::map<const Site*, uint64_t>& b) {
  uint64_t common = 0, all = 0;
  for (const auto& [site, count] : a) {
    const auto other = b.find(site);
    const uint64_t there = other == b.end() ? 0 : other->second;
    common += std::min(count, there);
    all += std::max(count, there);
  }
  for (const auto& [site, count] : b) all += a.contains(site) ? 0 : count;
  return all ? static_cast<double>(common) / static_cast<double>(all) : 1;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }
std::string percent(double x) { return fmt::format("{:.1f} %", 100 * x); }

}  // namespace

void Statistics::launch_begins(std::string_view kernel, double clock_ghz, bool modelled) {
  *this = Statistics(std::move(print_));
  kernel_ = short_function_name(kernel);
  clock_ghz_ = clock_ghz;
  modelled_ = modelled;
}

void Statistics::host_worked(uint64_t warp_instructions, double seconds) {
  host_instructions_ = warp_instructions;
  host_seconds_ = seconds;
}

void Statistics::launch_ends(double cycles) { print_(report(cycles) + host_line()); }

void Statistics::cta_begins(const Place& at, double time, uint32_t warps) {
  ++ctas_;
  cta_began_[at.cta] = time;
  cta_warps_[at.cta] = warps;
  if (warps_.size() < warps) warps_.resize(warps);
  SmTime& sm = sms_[at.sm];
  sm.first = sm.any ? std::min(sm.first, time) : time;
  sm.any = true;
}

void Statistics::cta_ends(const Place& at, double time) {
  for (uint32_t w = 0; w < cta_warps_[at.cta]; ++w) warps_[w].resident += time - cta_began_[at.cta];
  sms_[at.sm].last = std::max(sms_[at.sm].last, time);
}

void Statistics::issued(const Place& at, double, uint32_t slots, uint8_t, const PipeCycles& pipes) {
  Warp& warp = warps_[static_cast<size_t>(at.warp)];
  ++warp.instructions;
  warp.slots += slots;
  if (at.site) ++warp.sites[at.site];
  slots_ += slots;
  for (size_t i = 0; i < kPipes; ++i) pipes_[i] += pipes[i];
}

void Statistics::stalled(const Place& at, Stall stall, double begin, double end, uint64_t, uint64_t) {
  warps_[static_cast<size_t>(at.warp)].stalls[static_cast<size_t>(stall)] += end - begin;
  if (at.site && counted(stall)) places_[{at.site, stall}] += end - begin;
}

void Statistics::operation(const Place&, Unit unit, double, double start, double end, double, uint64_t,
                           std::string_view, uint64_t, int64_t) {
  unit_cycles_[static_cast<size_t>(unit)] += end - start;
}

std::vector<Statistics::Role> Statistics::roles() const {
  std::vector<Role> roles;
  for (size_t w = 0; w < warps_.size(); ++w) {
    Role* mine = nullptr;
    for (Role& role : roles) {
      if (likeness(warps_[role.warps.front()].sites, warps_[w].sites) >= 0.5) mine = &role;
      if (mine) break;
    }
    if (!mine) mine = &roles.emplace_back();
    mine->warps.push_back(w);
    mine->total.instructions += warps_[w].instructions;
    mine->total.slots += warps_[w].slots;
    mine->total.resident += warps_[w].resident;
    for (size_t i = 0; i < kStalls; ++i) mine->total.stalls[i] += warps_[w].stalls[i];
    for (const auto& [site, count] : warps_[w].sites) mine->total.sites[site] += count;
  }
  for (Role& role : roles) {
    std::map<std::string, uint64_t> functions;
    for (const auto& [site, count] : role.total.sites) functions[outer_function(*site)] += count;
    uint64_t most = 0;
    for (const auto& [function, count] : functions) {
      if (count > most) role.name = function;
      most = std::max(most, count);
    }
    // One role: the kernel itself, whichever of its functions takes most instructions.
    if (roles.size() == 1 && !functions.empty()) role.name = kernel_;
    role.name = fmt::format("{}, warp{} {}", role.name.empty() ? "no instructions" : role.name,
                            role.warps.size() > 1 ? "s" : "", ranges(role.warps));
  }
  return roles;
}

double Statistics::sm_cycles() const {
  double cycles = 0;
  for (const auto& [id, sm] : sms_) cycles += std::max(0.0, sm.last - sm.first);
  return cycles;
}

std::vector<Statistics::Busy> Statistics::units() const {
  const double sm = sm_cycles();
  const auto unit = [&](Unit u) { return share(unit_cycles_[static_cast<size_t>(u)], sm); };
  const auto pipe = [&](Pipe p, double count) { return share(pipes_[static_cast<size_t>(p)], sm * count); };
  std::vector<Busy> list = {
      {"tensor core", unit(Unit::TensorCore)},
      {"MUFU", pipe(Pipe::Mufu, kSubPartitions)},
      {"FMA pipe", pipe(Pipe::Fma, kSubPartitions)},
      {"ALU pipe", pipe(Pipe::Alu, kSubPartitions)},
      {"FP64 pipe", pipe(Pipe::Fp64, kSubPartitions)},
      {"issue slots", share(slots_, sm * kSubPartitions)},
      {"TMEM port", share(unit_cycles_[static_cast<size_t>(Unit::Tmem)], sm * kSubPartitions)},
      {"shared-memory port", pipe(Pipe::SharedPort, 1)},
      {"global-memory path", pipe(Pipe::Memory, 1)},
      {"TMA loads", unit(Unit::Tma)},
      {"TMA stores", unit(Unit::TmaStore)}};
  std::erase_if(list, [](const Busy& busy) { return busy.share == 0; });
  std::stable_sort(list.begin(), list.end(), [](const Busy& a, const Busy& b) { return a.share > b.share; });
  return list;
}

// The places where warps waited longest.
std::string Statistics::waits(const std::vector<Role>& roles) const {
  double resident = 0;
  for (const Role& role : roles) resident += role.total.resident;
  std::map<std::pair<std::string, Stall>, double> lines;
  for (const auto& [key, cycles] : places_) lines[{file_line(*key.first), key.second}] += cycles;
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [key, cycles] : lines) {
    sorted.push_back({cycles, fmt::format("{} ({})", key.first, name(key.second))});
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = "\n  longest waits, of all warps' time\n";
  for (size_t i = 0; i < std::min<size_t>(5, sorted.size()); ++i) {
    text += fmt::format("    {:>7}  {}\n", percent(share(sorted[i].first, resident)), sorted[i].second);
  }
  return sorted.empty() ? "" : text;
}

// What holds back the role that issues most.
std::string Statistics::longest_wait(const std::vector<Role>& roles) const {
  const auto busiest = std::max_element(roles.begin(), roles.end(), [](const Role& a, const Role& b) {
    return share(a.total.slots, a.total.resident) < share(b.total.slots, b.total.resident);
  });
  Stall longest = kColumns[0];
  const auto cycles = [&](Stall stall) { return busiest->total.stalls[static_cast<size_t>(stall)]; };
  for (Stall stall : kColumns) {
    if (cycles(stall) > cycles(longest)) longest = stall;
  }
  return fmt::format("{} wait {} of theirs for: {}", busiest->name,
                     percent(share(cycles(longest), busiest->total.resident)), name(longest));
}

std::string Statistics::host_line() const {
  if (host_seconds_ <= 0) return "";
  return fmt::format("\n  emulated here in {:.2f} s: {:.2f} M warp instructions of PTX, {:.1f} M a second\n",
                     host_seconds_, static_cast<double>(host_instructions_) * 1e-6,
                     static_cast<double>(host_instructions_) * 1e-6 / host_seconds_);
}

std::string Statistics::report(double cycles) const {
  uint64_t instructions = 0;
  for (const Warp& warp : warps_) instructions += warp.instructions;
  std::string text = fmt::format("emu: statistics of {}: {} CTAs", kernel_, ctas_);
  if (!modelled_) {
    return text + "; who issued what, and when, is counted under --timing only (this run had --flat)\n";
  }
  text +=
      fmt::format(" on {} SMs, {:.0f} cycles ({:.4f} ms at {} GHz), {} warp instructions of machine code\n",
                  sms_.size(), cycles, cycles / clock_ghz_ * 1e-6, clock_ghz_, instructions);
  const std::vector<Role> all = roles();
  size_t width = 4;
  for (const Role& role : all) width = std::max(width, role.name.size());
  std::vector<Stall> columns;
  for (Stall stall : kColumns) {
    for (const Role& role : all) {
      if (share(role.total.stalls[static_cast<size_t>(stall)], role.total.resident) < 0.0005) continue;
      columns.push_back(stall);
      break;
    }
  }
  text += fmt::format("\n  {:<{}}  {:>12}  {:>7}", "of the warps' time", std::max<size_t>(width, 18),
                      "instructions", "issuing");
  width = std::max<size_t>(width, 18);
  for (Stall stall : columns)
    text += fmt::format("  {:>{}}", name(stall), std::max<size_t>(7, name(stall).size()));
  text += "\n";
  for (const Role& role : all) {
    text += fmt::format("  {:<{}}  {:>12}  {:>7}", role.name, width, role.total.instructions,
                        percent(share(role.total.slots, role.total.resident)));
    for (Stall stall : columns) {
      text += fmt::format("  {:>{}}",
                          percent(share(role.total.stalls[static_cast<size_t>(stall)], role.total.resident)),
                          std::max<size_t>(7, name(stall).size()));
    }
    text += "\n";
  }
  const std::vector<Busy> busy = units();
  text += "\n  busy share of the units\n";
  for (const Busy& unit : busy) text += fmt::format("    {:>7}  {}\n", percent(unit.share), unit.name);
  text += waits(all);
  if (busy.empty()) return text;
  if (busy.front().share >= kBottleneck) {
    return text + fmt::format("\n  bottleneck: {}, busy {} of the time\n", busy.front().name,
                              percent(busy.front().share));
  }
  return text + fmt::format("\n  bottleneck: no unit; the busiest, {}, works only {} of the time. {}\n",
                            busy.front().name, percent(busy.front().share), longest_wait(all));
}

}  // namespace emu::observe
