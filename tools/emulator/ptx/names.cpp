#include "ptx/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ptx/declaration.h"

namespace emu::ptx {
namespace {

constexpr uint32_t kMaxDepth = 256;
constexpr size_t kMaxRegisters = 1 << 20;

RegClass register_class(uint32_t bytes) {
  if (bytes <= 2) return RegClass::B16;
  if (bytes <= 4) return RegClass::B32;
  return bytes <= 8 ? RegClass::B64 : RegClass::B128;
}

}  // namespace

void BodyNames::open(Cursor& cursor) {
  if (depth() == kMaxDepth) cursor.fail("braces nested less than 256 deep");
  scopes_.push_back({singles_.mark(), ranges_.mark(), variables_.mark(), tables_.mark(), labels_.mark(),
                     uses_.size(), call_param_bytes_});
}

void BodyNames::close(Cursor& cursor) {
  const Scope& scope = scopes_.back();
  // A label belongs to the block that defines it; what is not defined in this one is looked for in the
  // enclosing one, when that closes.
  size_t kept = scope.uses;
  for (size_t i = scope.uses; i < uses_.size(); ++i) {
    const LabelUse use = uses_[i];
    const auto* label = labels_.find(use.label);
    if (label != nullptr && label->depth == depth())
      resolve(use, label->value);
    else if (depth() == 1)
      cursor.fail_at(use.place, "a label defined in this scope or one around it");
    else
      uses_[kept++] = use;
  }
  uses_.resize(kept);
  singles_.close(scope.singles);
  ranges_.close(scope.ranges);
  variables_.close(scope.variables);
  tables_.close(scope.tables);
  labels_.close(scope.labels);
  // Call scopes follow one another: the next one may use the same parameter bytes.
  call_param_bytes_ = scope.call_param_bytes;
  scopes_.pop_back();
}

void BodyNames::resolve(const LabelUse& use, uint32_t instruction) {
  if (use.where == LabelUse::Where::Target)
    function_.instructions[use.index].target = static_cast<int32_t>(instruction);
  else
    function_.branch_tables[use.index][use.element] = instruction;
}

int32_t BodyNames::add_registers(Cursor& cursor, uint32_t count) {
  if (function_.registers.size() + count > kMaxRegisters)
    cursor.fail("at most 2^20 registers in a function before this");
  return static_cast<int32_t>(function_.registers.size());
}

int32_t BodyNames::declare_register(Cursor& cursor, std::string_view name, RegClass reg_class) {
  const int32_t id = add_registers(cursor, 1);
  if (!singles_.bind(name, depth(), id))
    cursor.fail(fmt::format("no second register {} in one scope before this", name));
  function_.registers.push_back({std::string(name), reg_class});
  return id;
}

void BodyNames::declare_register_range(Cursor& cursor, std::string_view prefix, uint32_t count,
                                       RegClass reg_class) {
  const int32_t first = add_registers(cursor, count);
  if (!ranges_.bind(prefix, depth(), {first, count}))
    cursor.fail(fmt::format("no second range {}<n> in one scope before this", prefix));
  for (uint32_t i = 0; i < count; ++i)
    function_.registers.push_back({fmt::format("{}{}", prefix, i), reg_class});
}

int32_t BodyNames::find_register(std::string_view name) const {
  int32_t found = -1;
  uint32_t found_depth = 0;
  if (const auto* single = singles_.find(name)) {
    found = single->value;
    found_depth = single->depth;
  }
  // %r12 may be number 12 of %r<n> or number 2 of %r1<n>.
  constexpr size_t kMaxDigits = 7;
  for (size_t split = name.size();
       split > 1 && name.size() - split < kMaxDigits && Cursor::is_digit(name[split - 1]);) {
    --split;
    if (name[split] == '0' && split + 1 != name.size()) continue;
    const auto* range = ranges_.find(name.substr(0, split));
    if (range == nullptr || range->depth <= found_depth) continue;
    uint32_t number = 0;
    std::from_chars(name.data() + split, name.data() + name.size(), number);
    if (number >= range->value.count) continue;
    found = range->value.first + static_cast<int32_t>(number);
    found_depth = range->depth;
  }
  return found;
}

void BodyNames::declare_variable(Cursor& cursor, Variable variable) {
  const auto index = static_cast<uint32_t>(function_.variables.size());
  function_.variables.push_back(std::move(variable));
  Variable& added = function_.variables.back();
  if (added.name.empty()) return;
  auto place = [&](uint64_t& bytes, uint32_t& block_align) {
    added.offset = align_up(bytes, added.align);
    bytes = added.offset + added.size;
    block_align = std::max(block_align, added.align);
  };
  switch (added.space) {
    case Space::Shared:
      place(function_.shared_bytes, function_.shared_align);
      break;
    case Space::Local:
      place(function_.local_bytes, function_.local_align);
      break;
    case Space::Param:
      place(call_param_bytes_, function_.call_param_align);
      function_.call_param_bytes = std::max(function_.call_param_bytes, call_param_bytes_);
      break;
    default:
      break;  // .global and .const in a body are laid out with the module's
  }
  if (!variables_.bind(added.name, depth(), {SymbolKind::LocalVariable, index}))
    cursor.fail(fmt::format("no second variable {} in one scope before this", added.name));
}

void BodyNames::bind_parameters(Cursor& cursor) {
  auto bind = [&](std::vector<Parameter>& list, SymbolKind kind) {
    for (uint32_t i = 0; i < list.size(); ++i) {
      Parameter& parameter = list[i];
      if (parameter.name.empty()) cursor.fail("a name for every parameter of a function with a body");
      if (parameter.reg >= 0)
        parameter.reg = declare_register(cursor, parameter.name, register_class(parameter.element_bytes));
      else if (!variables_.bind(parameter.name, depth(), {kind, i}))
        cursor.fail(fmt::format("no second parameter {} before this", parameter.name));
    }
  };
  bind(function_.params, SymbolKind::Parameter);
  bind(function_.returns, SymbolKind::ReturnParameter);
  call_param_bytes_ = function_.call_param_bytes;
}

int32_t BodyNames::find_symbol(std::string_view name) {
  if (const auto* local = variables_.find(name)) return symbol(local->value.kind, local->value.index, name);
  if (const auto it = module_.variables.find(name); it != module_.variables.end())
    return symbol(SymbolKind::ModuleVariable, it->second, name);
  if (const auto it = module_.functions.find(name); it != module_.functions.end())
    return symbol(SymbolKind::Function, it->second, name);
  return -1;
}

int32_t BodyNames::symbol(SymbolKind kind, uint32_t index, std::string_view name) {
  const uint64_t key = static_cast<uint64_t>(kind) << 32 | index;
  const auto [it, added] = symbols_.emplace(key, static_cast<int32_t>(function_.symbols.size()));
  if (added) function_.symbols.push_back({kind, index, std::string(name)});
  return it->second;
}

void BodyNames::declare_label(Cursor& cursor, std::string_view name, uint32_t instruction) {
  if (!labels_.bind(name, depth(), instruction))
    cursor.fail(fmt::format("no second label {} in one scope before this", name));
}

void BodyNames::declare_table(Cursor& cursor, std::string_view name, Table table) {
  if (!tables_.bind(name, depth(), table))
    cursor.fail(fmt::format("no second table {} in one scope before this", name));
}

std::optional<BodyNames::Table> BodyNames::find_table(std::string_view name) const {
  if (const auto* table = tables_.find(name)) return table->value;
  return std::nullopt;
}

}  // namespace emu::ptx
