// PTX text -> module. Parsing a module only indexes it; a body is parsed when it is first asked for.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/error.h"
#include "ptx/function.h"

namespace emu::ptx {

struct ModuleHeader {
  uint32_t version_major = 0;
  uint32_t version_minor = 0;
  std::string target;                       // "sm_100a"
  std::vector<std::string> target_options;  // "debug", "texmode_independent", ...
  uint32_t address_size = 64;
  bool debug = false;  // .target ..., debug (nvcc -G)
};

// What the index knows of a function without its body.
struct FunctionInfo {
  std::string name;
  bool is_entry = false;
  bool is_defined = false;  // false: a declaration, to be found in another module or built in (vprintf)
  Linkage linkage = Linkage::Internal;
  std::vector<Parameter> params;
  std::vector<Parameter> returns;
  Directives directives;
  uint32_t param_bytes = 0;
  uint32_t line = 0;  // of its header in the text
};

class Module {
 public:
  // Copies `text` (up to its first NUL) and indexes it. Throws ParseError.
  static Module parse(std::string_view text, std::string name = "");

  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  const std::string& name() const;
  const ModuleHeader& header() const;
  std::string_view text() const;

  const std::vector<Variable>& variables() const;  // module scope; one per name
  const std::vector<FunctionInfo>& functions()
      const;  // one per name, definitions preferred over declarations
  const std::map<uint32_t, std::string>& files() const;  // .file table

  const Variable* find_variable(std::string_view name) const;  // nullptr when absent
  const FunctionInfo* find_function(std::string_view name) const;

  // The parsed body; the reference stays valid for the life of the module. Thread safe.
  // Throws ParseError when the body is malformed, or when `name` has no body here.
  const Function& function(std::string_view name) const;
  const Function& function(uint32_t index) const;  // index into functions()

  // The text of a .debug_str label (SourceLocation::function), or "" when the module holds none.
  std::string debug_string(std::string_view label) const;

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The PTX text of an instruction as written, on one line without its semicolon.
std::string to_string(const Module& module, const Function& function, const Instruction& instruction);
std::string to_string(const Function& function, const Operand& operand);

}  // namespace emu::ptx
