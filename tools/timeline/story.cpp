#include "timeline/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "timeline/groups.h"

namespace timeline {

namespace {

// Waits for the same phase with less than this between them are one: try_wait gave up in between.
constexpr double kRetryGap = 100;

double overlap(double begin, double end, double from, double to) {
  return std::max(0.0, std::min(end, to) - std::max(begin, from));
}

std::string percent(double part, double whole) {
  return fmt::format("{:.0f} %", whole > 0 ? 100 * part / whole : 0);
}

std::string cycles_tip(const std::string& what, double begin, double end) {
  return fmt::format("{}: {:.0f} cycles, from {:.0f} to {:.0f}", what, end - begin, begin, end);
}

// "mbarrier::wait(&shared.qk_done[q], parity);" -> "qk_done"
std::string barrier_name(const Slice& wait) {
  const size_t at = wait.text.find('&');
  if (at == std::string::npos) return "mbarrier";
  size_t end = at + 1;
  std::string name;
  for (; end < wait.text.size(); ++end) {
    const char c = wait.text[end];
    if (c == '.') {
      name.clear();
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      name += c;
    } else {
      break;
    }
  }
  return name.empty() ? "mbarrier" : name;
}

// "Q1 K 4" -> "Q1K", "QK"
std::vector<std::string> brief(const Group& group) {
  std::vector<std::string> forms = {expand(group.rule->name, group.rank, -1),
                                    expand(group.rule->name, -1, -1)};
  for (std::string& form : forms) std::erase(form, ' ');
  return forms;
}

double waited(const Slice& work, const std::string& reason) {
  const auto found = work.waits.find(reason);
  return found == work.waits.end() ? 0 : found->second;
}

std::string work_tip(const std::string& name, const Slice& work) {
  std::string text = cycles_tip(name, work.begin, work.end);
  for (const auto& [reason, cycles] : work.waits) text += fmt::format(", {}: {:.0f}", reason, cycles);
  return text;
}

bool is_wait(const Slice& slice) { return slice.name.starts_with("wait: "); }

// --- roles

struct Role {
  std::vector<int> warps;
  const RoleRule* rule = nullptr;
  std::set<uint64_t> barriers;  // mbarriers that the first warp waits for
};

std::set<uint64_t> barriers_of(const std::vector<Slice>& warp) {
  std::set<uint64_t> set;
  for (const Slice& slice : warp) {
    if (slice.name == "wait: mbarrier") set.insert(slice.object);
  }
  return set;
}

// Warps that run the same code on the same barriers do the same thing on other rows.
bool alike(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  std::set<uint64_t> all = a, common;
  all.insert(b.begin(), b.end());
  for (const uint64_t object : a) {
    if (b.contains(object)) common.insert(object);
  }
  return all.empty() || common.size() * 2 >= all.size();
}

std::vector<Role> roles(const Cta& cta, const Labels& labels) {
  std::vector<Role> list;
  for (const auto& [track, slices] : cta.tracks) {
    if (!is_warp(track)) continue;
    const RoleRule* rule = labels.role(slices);
    const std::set<uint64_t> barriers = barriers_of(slices);
    auto role = std::find_if(list.begin(), list.end(),
                             [&](const Role& r) { return r.rule == rule && alike(r.barriers, barriers); });
    if (role == list.end()) role = list.insert(list.end(), Role{{}, rule, barriers});
    role->warps.push_back(track - 1);
  }
  return list;
}

std::string role_title(const Role& role, const std::vector<Role>& all, const Cta& cta) {
  int rank = 0, same = 0;
  for (const Role& other : all) {
    if (other.rule != role.rule) continue;
    if (&other == &role) rank = same;
    ++same;
  }
  const std::string other = all.size() == 1 ? "all warps" : cta.kernel;
  const std::string name = role.rule ? expand(role.rule->name, same > 1 ? rank : -1, -1) : other;
  const int first = role.warps.front(), last = role.warps.back();
  const bool whole = last - first + 1 == static_cast<int>(role.warps.size());
  if (role.warps.size() == 1) return fmt::format("{} ({})", name, first);
  return whole ? fmt::format("{} ({}-{})", name, first, last)
               : fmt::format("{} ({})", name, fmt::join(role.warps, ","));
}

// --- rows

class Teller {
 public:
  Teller(const Cta& cta, const Labels& labels, Story& story) : cta_(cta), labels_(labels), story_(story) {}

  void unit(int track, const std::string& name) {
    if (!cta_.tracks.contains(track)) return;
    Row row;
    row.title = name;
    double busy = 0;
    for (const Group& group : groups(cta_, track, name, labels_)) {
      if (group.visible <= story_.from || group.begin >= story_.to) continue;
      Block block;
      block.begin = group.begin;
      block.end = group.end;
      block.label = group.name;
      if (group.rule) block.brief = brief(group);
      block.fill = group.rule ? group.rule->fill : "n2";
      block.tip =
          fmt::format("{}, {} operations, results visible at {:.0f}",
                      cycles_tip(group.name, group.begin, group.end), group.operations, group.visible);
      busy += group.busy * overlap(group.begin, group.end, story_.from, story_.to) /
              std::max(1e-9, group.end - group.begin);
      if (group.rule) means(group.rule->fill, expand(group.rule->name, -1, -1));
      row.blocks.push_back(std::move(block));
      row.flights.emplace_back(group.begin, group.visible);
    }
    row.detail = fmt::format("busy {}", percent(busy, story_.to - story_.from));
    add(std::move(row), {track});
  }

  void warps(const Role& role, const std::vector<Role>& all) {
    const std::vector<Slice>& slices = cta_.tracks.at(role.warps.front() + 1);
    Row row;
    row.title = role_title(role, all, cta_);
    double barriers = 0, operands = 0, tensor_memory = 0;
    const auto [from, to] = std::pair(story_.from, story_.to);
    for (const Slice& slice : slices) {
      const bool mbarrier = slice.name == "wait: mbarrier", barrier = slice.name == "wait: bar.sync";
      if (mbarrier || barrier) {
        barriers += overlap(slice.begin, slice.end, from, to);
        wait(row, slice, mbarrier);
      } else if (is_wait(slice)) {
        if (slice.end > from && slice.begin < to) {
          row.waits.push_back({slice.begin, slice.end, slice.name.substr(6)});
        }
      } else if (const WorkRule* rule = labels_.work_of(slice)) {
        if (slice.end <= from || slice.begin >= to) continue;
        row.blocks.push_back({Block::Kind::Work,
                              slice.begin,
                              slice.end,
                              rule->name,
                              {},
                              rule->fill,
                              work_tip(rule->name, slice)});
        const double part =
            overlap(slice.begin, slice.end, from, to) / std::max(1e-9, slice.end - slice.begin);
        operands += part * waited(slice, "dependency");
        tensor_memory += part * (waited(slice, "tmem load") + waited(slice, "tmem store"));
        means(rule->fill, rule->name);
      }
    }
    std::erase_if(row.blocks, [&](const Block& b) { return b.end <= from || b.begin >= to; });
    row.detail = fmt::format("waits at barriers {}", percent(barriers, to - from));
    if (operands + tensor_memory > 0.01 * (to - from)) {
      row.more = fmt::format("operands {}, TMEM {}", percent(operands, to - from),
                             percent(tensor_memory, to - from));
    }
    std::set<int> tracks;
    for (const int warp : role.warps) tracks.insert(warp + 1);
    add(std::move(row), tracks);
  }

  void pipe(int first, const std::string& name) {
    Row row;
    row.title = name;
    double busy = 0;
    for (int s = 0; s < kSubPartitions; ++s) {
      const auto track = cta_.tracks.find(first + s);
      if (track == cta_.tracks.end()) continue;
      for (const Slice& use : track->second) {
        if (use.end <= story_.from || use.begin >= story_.to) continue;
        const double part = overlap(use.begin, use.end, story_.from, story_.to) / (use.end - use.begin);
        busy += use.cycles * part;
        row.uses.push_back(use);
      }
    }
    if (row.uses.empty()) return;
    row.pipes = kSubPartitions;
    row.detail = fmt::format("busy {}", percent(busy, kSubPartitions * (story_.to - story_.from)));
    add(std::move(row), {});
  }

  // One arrow for each phase and row, though each of a role's warps waited.
  void arrows() {
    std::set<std::tuple<size_t, size_t, double>> seen;
    for (const Flow& flow : cta_.flows) {
      if (flow.arrived < story_.from || flow.ended > story_.to) continue;
      const auto from = rows_.find(flow.from), to = rows_.find(flow.to);
      if (from == rows_.end() || to == rows_.end() || from->second == to->second) continue;
      if (!seen.emplace(from->second, to->second, flow.arrived).second) continue;
      story_.arrows.push_back({from->second, to->second, flow.arrived, flow.ended});
    }
  }

 private:
  void add(Row row, const std::set<int>& tracks) {
    for (const int track : tracks) rows_[track] = story_.rows.size();
    story_.rows.push_back(std::move(row));
  }

  void wait(Row& row, const Slice& slice, bool mbarrier) {
    const auto kind = mbarrier ? Block::Kind::MbarrierWait : Block::Kind::BarrierWait;
    const std::string name = mbarrier ? barrier_name(slice) : "bar.sync";
    Block* last = row.blocks.empty() ? nullptr : &row.blocks.back();
    if (last && last->kind == kind && last->label == name && slice.begin - last->end < kRetryGap) {
      last->end = slice.end;
    } else {
      row.blocks.push_back({kind, slice.begin, slice.end, name, {}, "n1", ""});
      last = &row.blocks.back();
    }
    last->tip = cycles_tip("waits for " + name, last->begin, last->end);
  }

  void means(const std::string& fill, const std::string& meaning) {
    auto& list = story_.meanings;
    const auto entry = std::find_if(list.begin(), list.end(), [&](const auto& m) { return m.first == fill; });
    if (entry == list.end()) {
      list.emplace_back(fill, meaning);
    } else if ((", " + entry->second + ",").find(", " + meaning + ",") == std::string::npos) {
      entry->second += ", " + meaning;
    }
  }

  const Cta& cta_;
  const Labels& labels_;
  Story& story_;
  std::map<int, size_t> rows_;  // by track
};

}  // namespace

std::vector<double> iterations(const Cta& cta, const Labels& labels) {
  std::vector<double> starts;
  const OperationRule* rule = nullptr;
  uint64_t target = 0;
  for (const Group& group : groups(cta, kTensorCore, "tensor core", labels)) {
    if (!group.rule) continue;
    if (!rule) {
      rule = group.rule;
      target = group.target;
    }
    if (group.rule == rule && group.target == target) starts.push_back(group.begin);
  }
  return starts;
}

Story tell(const Cta& cta, const Labels& labels, double from, double to) {
  Story story;
  story.from = from;
  story.to = to;
  story.iterations = iterations(cta, labels);
  Teller teller(cta, labels, story);
  const std::vector<Role> all = roles(cta, labels);
  // A warp that does nothing but issue to a unit stands next to it.
  const auto commands = [&](const Role& role, int track) {
    const auto slices = cta.tracks.find(track);
    return slices != cta.tracks.end() && role.warps.size() == 1 && all.size() > 1 &&
           slices->second.front().warp == role.warps.front();
  };
  teller.unit(kTmaLoads, "TMA load");
  for (const Role& role : all) {
    if (commands(role, kTmaLoads)) teller.warps(role, all);
  }
  for (const Role& role : all) {
    if (commands(role, kTensorCore)) teller.warps(role, all);
  }
  teller.unit(kTensorCore, "tensor core");
  for (const Role& role : all) {
    if (!commands(role, kTmaLoads) && !commands(role, kTensorCore)) teller.warps(role, all);
  }
  teller.unit(kTmaStores, "TMA store");
  teller.pipe(kMufu, "MUFU");
  teller.pipe(kTmem, "TMEM ports");
  teller.arrows();
  return story;
}

}  // namespace timeline
