// Operations that belong together: the eight MMAs of one Q K, the two boxes of one tile.
#pragma once

#include <string>
#include <vector>

#include "timeline/labels.h"

namespace timeline {

struct Group {
  const OperationRule* rule = nullptr;  // null: no rule matches, and the group is one operation
  uint64_t target = 0;
  int rank = -1;     // of the accumulator among those of the rule, -1: there is only one
  size_t index = 0;  // among the groups of this rule and accumulator
  double begin = 0, end = 0, visible = 0;
  size_t operations = 0;
  double busy = 0;  // cycles that the unit served them
  std::string name;
};

// In order of time. `unit` is the name that rules use.
std::vector<Group> groups(const Cta& cta, int track, const std::string& unit, const Labels& labels);

// `name` with {n} and {i} filled in; a negative number drops its placeholder, and what is then left dangling.
std::string expand(const std::string& name, int n, int i);

}  // namespace timeline
