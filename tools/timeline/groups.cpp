#include "timeline/groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace timeline {

namespace {

// Operations of one group follow each other as fast as they are issued; a longer pause separates two groups.
constexpr double kLongestPause = 300;

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
}

}  // namespace

std::string expand(const std::string& name, int n, int i) {
  std::string text = name;
  if (n < 0) replace(text, " of Q{n}", "");
  replace(text, "{n}", n < 0 ? "" : std::to_string(n));
  replace(text, "{i}", i < 0 ? "" : std::to_string(i));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::vector<Group> groups(const Cta& cta, int track, const std::string& unit, const Labels& labels) {
  std::vector<Group> list;
  const auto slices = cta.tracks.find(track);
  if (slices == cta.tracks.end()) return list;
  std::map<const OperationRule*, std::set<uint64_t>> targets;
  std::map<std::pair<const OperationRule*, uint64_t>, size_t> counts;
  for (const Slice& slice : slices->second) {
    const OperationRule* rule = labels.operation(unit, slice);
    // A TMA load's target is its mbarrier, which may change with the ring's slot.
    const uint64_t target = track == kTensorCore ? slice.target : 0;
    const bool joins = rule && !list.empty() && list.back().rule == rule && list.back().target == target &&
                       slice.begin - list.back().end <= kLongestPause;
    if (!joins) {
      Group group;
      group.rule = rule;
      group.target = target;
      group.begin = slice.begin;
      group.name = slice.name;
      group.index = counts[{rule, target}]++;
      list.push_back(group);
      targets[rule].insert(target);
    }
    Group& group = list.back();
    group.end = slice.end;
    group.visible = std::max(group.visible, slice.visible);
    group.busy += slice.end - slice.begin;
    ++group.operations;
  }
  for (Group& group : list) {
    if (!group.rule) continue;
    const auto& all = targets[group.rule];
    if (all.size() > 1) group.rank = static_cast<int>(std::distance(all.begin(), all.find(group.target)));
    group.name = expand(group.rule->name, group.rank, static_cast<int>(group.index));
  }
  return list;
}

}  // namespace timeline
