// What a name means at one point of a body: registers, variables, tables, and labels still to come.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/cursor.h"
#include "ptx/function.h"
#include "ptx/scope.h"

namespace emu::ptx {

// Module scope as a body sees it.
struct ModuleNames {
  std::unordered_map<std::string_view, uint32_t> variables;
  std::unordered_map<std::string_view, uint32_t> functions;
};

// A branch to a label, resolved when the scope that defines the label closes.
struct LabelUse {
  std::string_view label;
  enum class Where : uint8_t { Target, BranchTable } where;
  uint32_t index;    // instruction, or branch table
  uint32_t element;  // of the branch table
  Cursor::Place place;
};

class BodyNames {
 public:
  BodyNames(Function& function, const ModuleNames& module) : function_(function), module_(module) {}

  // Scopes. The body itself is one.
  void open(Cursor& cursor);
  void close(Cursor& cursor);
  uint32_t depth() const { return static_cast<uint32_t>(scopes_.size()); }

  // Registers: one name, or name0..name(count-1) from name<count>.
  int32_t declare_register(Cursor& cursor, std::string_view name, RegClass reg_class);
  void declare_register_range(Cursor& cursor, std::string_view prefix, uint32_t count, RegClass reg_class);
  int32_t find_register(std::string_view name) const;  // -1 when there is none

  // Adds the variable to the function and lays it out in its space.
  void declare_variable(Cursor& cursor, Variable variable);
  void bind_parameters(Cursor& cursor);

  // Index into Function::symbols of what `name` means here, or -1.
  int32_t find_symbol(std::string_view name);

  // Labels and the tables that are named like labels.
  enum class TableKind : uint8_t { Prototype, BranchTable, CallTargets };
  struct Table {
    TableKind kind;
    uint32_t index;
  };
  void declare_label(Cursor& cursor, std::string_view name, uint32_t instruction);
  void declare_table(Cursor& cursor, std::string_view name, Table table);
  std::optional<Table> find_table(std::string_view name) const;
  void use_label(const LabelUse& use) { uses_.push_back(use); }

 private:
  struct Range {
    int32_t first;
    uint32_t count;
  };
  struct Scope {
    size_t singles, ranges, variables, tables, labels, uses;
    uint64_t call_param_bytes;
  };

  int32_t add_registers(Cursor& cursor, uint32_t count);
  int32_t symbol(SymbolKind kind, uint32_t index, std::string_view name);
  void resolve(const LabelUse& use, uint32_t instruction);

  Function& function_;
  const ModuleNames& module_;
  std::vector<Scope> scopes_;
  ScopedNames<int32_t> singles_;
  ScopedNames<Range> ranges_;
  struct Referent {
    SymbolKind kind;
    uint32_t index;
  };
  ScopedNames<Referent> variables_;
  ScopedNames<Table> tables_;
  ScopedNames<uint32_t> labels_;
  std::vector<LabelUse> uses_;
  std::unordered_map<uint64_t, int32_t> symbols_;
  uint64_t call_param_bytes_ = 0;
};

}  // namespace emu::ptx
