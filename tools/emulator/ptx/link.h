// Several modules (nvcc -rdc=true) seen as one program: externs are resolved by name. Modules that were not
// built to be linked are programs of one module each.
#pragma once
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace emu::ptx {

// A definition and the module that holds it.
struct VariableSite {
  uint32_t module = 0;
  const Variable* variable = nullptr;
};
struct FunctionSite {
  uint32_t module = 0;
  const FunctionInfo* function = nullptr;
};

class Program {
 public:
  // Throws ParseError (line 0) when two modules define one non-weak symbol.
  explicit Program(std::vector<const Module*> modules);

  const std::vector<const Module*>& modules() const { return modules_; }

  // The definition `name` means inside module `from`: its own, else the visible one, else the first weak or
  // common one. A null pointer inside the site means unresolved; the caller decides whether it is built in.
  VariableSite variable(uint32_t from, std::string_view name) const;
  FunctionSite function(uint32_t from, std::string_view name) const;

  // The launchable entry of that name, whichever module defines it.
  FunctionSite entry(std::string_view name) const;

 private:
  std::vector<const Module*> modules_;
};

}  // namespace emu::ptx
