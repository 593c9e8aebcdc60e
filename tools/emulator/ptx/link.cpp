#include "ptx/link.h"

#include <fmt/format.h>

#include <unordered_map>

namespace emu::ptx {
namespace {

bool is_definition(const Variable& variable) { return variable.linkage != Linkage::Extern; }
bool is_definition(const FunctionInfo& function) { return function.is_defined; }

bool is_shared(Linkage linkage) { return linkage != Linkage::Internal; }
bool is_strong(Linkage linkage) { return linkage == Linkage::Visible || linkage == Linkage::Extern; }

// The best definition other modules may use: the strong one, else the first.
template <typename Symbol, typename Find>
std::pair<uint32_t, const Symbol*> find_shared(const std::vector<const Module*>& modules, Find find) {
  std::pair<uint32_t, const Symbol*> best{0, nullptr};
  for (uint32_t m = 0; m < modules.size(); ++m) {
    const Symbol* symbol = find(*modules[m]);
    if (symbol == nullptr || !is_definition(*symbol) || !is_shared(symbol->linkage)) continue;
    if (is_strong(symbol->linkage)) return {m, symbol};
    if (best.second == nullptr) best = {m, symbol};
  }
  return best;
}

template <typename Symbols>
void check_unique(const std::vector<const Module*>& modules, Symbols symbols) {
  std::unordered_map<std::string_view, const Module*> owner;
  for (const Module* module : modules) {
    for (const auto& symbol : symbols(*module)) {
      if (!is_definition(symbol) || symbol.linkage != Linkage::Visible) continue;
      const auto [it, added] = owner.emplace(symbol.name, module);
      if (!added)
        throw ParseError(0, 0, symbol.name,
                         fmt::format("one definition of it, but modules '{}' and '{}' both define it",
                                     it->second->name(), module->name()));
    }
  }
}

}  // namespace

Program::Program(std::vector<const Module*> modules) : modules_(std::move(modules)) {
  check_unique(
      modules_, [](const Module& m) -> const auto& { return m.variables(); });
  check_unique(
      modules_, [](const Module& m) -> const auto& { return m.functions(); });
}

VariableSite Program::variable(uint32_t from, std::string_view name) const {
  const Variable* own = modules_.at(from)->find_variable(name);
  if (own != nullptr && is_definition(*own) && (own->linkage == Linkage::Internal || is_strong(own->linkage)))
    return {from, own};
  const auto [module, symbol] =
      find_shared<Variable>(modules_, [&](const Module& m) { return m.find_variable(name); });
  return {module, symbol};
}

FunctionSite Program::function(uint32_t from, std::string_view name) const {
  const FunctionInfo* own = modules_.at(from)->find_function(name);
  if (own != nullptr && own->is_defined && (own->linkage == Linkage::Internal || is_strong(own->linkage)))
    return {from, own};
  const auto [module, symbol] =
      find_shared<FunctionInfo>(modules_, [&](const Module& m) { return m.find_function(name); });
  return {module, symbol};
}

FunctionSite Program::entry(std::string_view name) const {
  FunctionSite site;
  for (uint32_t m = 0; m < modules_.size(); ++m) {
    const FunctionInfo* info = modules_[m]->find_function(name);
    if (info == nullptr || !info->is_entry || !info->is_defined) continue;
    if (site.function == nullptr || info->linkage == Linkage::Visible) site = {m, info};
  }
  return site;
}

}  // namespace emu::ptx
