#include "timeline/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "timeline/attention_labels.h"

namespace timeline {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 11> kFills = {"Q",  "K",  "V",  "S",   "P",   "O",
                                                     "n1", "n2", "n3", "bad", "none"};

void check_keys(const json& entry, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : entry.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw std::runtime_error(fmt::format("labels: \"{}\" is not known in {}", key, entry.dump()));
    }
  }
}

std::string fill_of(const json& entry) {
  const auto fill = entry.at("fill").get<std::string>();
  if (std::find(kFills.begin(), kFills.end(), fill) == kFills.end()) {
    throw std::runtime_error(
        fmt::format("labels: \"{}\" is no fill; there are {}", fill, fmt::join(kFills, ", ")));
  }
  return fill;
}

const json& list(const json& root, const char* key) {
  static const json kEmpty = json::array();
  return root.contains(key) ? root.at(key) : kEmpty;
}

Labels from_json(const json& root) {
  Labels labels;
  check_keys(root, {"roles", "work", "operations"});
  for (const json& entry : list(root, "roles")) {
    check_keys(entry, {"function", "name"});
    labels.roles.push_back({entry.at("function"), entry.at("name")});
  }
  for (const json& entry : list(root, "work")) {
    check_keys(entry, {"function", "name", "fill"});
    labels.work.push_back({entry.at("function"), entry.at("name"), fill_of(entry)});
  }
  for (const json& entry : list(root, "operations")) {
    check_keys(entry, {"unit", "function", "text", "source", "name", "fill"});
    OperationRule rule;
    rule.unit = entry.at("unit");
    rule.function = entry.value("function", std::string());
    rule.text = entry.value("text", std::string());
    if (entry.contains("source")) rule.source = entry.at("source").get<int64_t>();
    rule.name = entry.at("name");
    rule.fill = fill_of(entry);
    labels.operations.push_back(std::move(rule));
  }
  return labels;
}

}  // namespace

Labels parse_labels(const std::string& text) {
  try {
    return from_json(json::parse(text));
  } catch (const json::exception& error) {
    throw std::runtime_error(fmt::format("labels: {}", error.what()));
  }
}

Labels default_labels() { return parse_labels(kAttentionLabels); }

const RoleRule* Labels::role(const std::vector<Slice>& warp) const {
  for (const RoleRule& rule : roles) {
    for (const Slice& slice : warp) {
      if (slice.name == rule.function) return &rule;
    }
  }
  return nullptr;
}

const WorkRule* Labels::work_of(const Slice& slice) const {
  for (const WorkRule& rule : work) {
    if (rule.function == slice.name) return &rule;
  }
  return nullptr;
}

const OperationRule* Labels::operation(const std::string& unit, const Slice& slice) const {
  for (const OperationRule& rule : operations) {
    if (rule.unit != unit) continue;
    if (!rule.function.empty() &&
        std::find(slice.stack.begin(), slice.stack.end(), rule.function) == slice.stack.end()) {
      continue;
    }
    if (!rule.text.empty() && slice.text.find(rule.text) == std::string::npos) continue;
    if (rule.source && *rule.source != slice.source) continue;
    return &rule;
  }
  return nullptr;
}

}  // namespace timeline
