// What the parts of a kernel are called in its timeline: rules that match functions of the source, so that
// they need no upkeep when lines move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "timeline/trace.h"

namespace timeline {

// In names, {n} stands for the number of the query tile and its like: the rank of the accumulator among those
// that the rule's operations write, or of the role among those of the same rule; it is dropped where there is
// only one. {i} counts the rule's groups of operations from 0.
struct RoleRule {
  std::string function;  // a warp that runs it has this role
  std::string name;      // "row warps of Q{n}"
};
struct WorkRule {
  std::string function;
  std::string name;
  std::string fill;  // class of svg/palette.h
};
struct OperationRule {
  std::string unit;               // "tensor core", "TMA load", "TMA store"
  std::string function;           // empty: any
  std::string text;               // part of the source line, empty: any
  std::optional<int64_t> source;  // offset of the tensor map among the parameters
  std::string name;
  std::string fill;
};

struct Labels {
  std::vector<RoleRule> roles;
  std::vector<WorkRule> work;
  std::vector<OperationRule> operations;

  const RoleRule* role(const std::vector<Slice>& warp) const;
  const WorkRule* work_of(const Slice& slice) const;
  const OperationRule* operation(const std::string& unit, const Slice& slice) const;
};

// Throws std::runtime_error naming the entry at fault.
Labels parse_labels(const std::string& json);
// Those of the chapters' kernels.
Labels default_labels();

}  // namespace timeline
