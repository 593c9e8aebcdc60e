#include "ptx/module.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <unordered_map>

#include "ptx/body.h"
#include "ptx/constant.h"
#include "ptx/declaration.h"
#include "ptx/names.h"

namespace emu::ptx {

struct Module::State {
  std::string name;
  std::string text;
  ModuleHeader header;
  std::vector<Variable> variables;
  std::vector<FunctionInfo> functions;
  std::vector<std::optional<Cursor::Place>> bodies;  // opening brace of each function
  std::map<uint32_t, std::string> files;
  std::vector<std::string_view> debug_strings;  // bodies of .debug_str sections
  ModuleNames names;                            // views into `text`

  mutable std::mutex mutex;  // guards `parsed`
  mutable std::vector<std::unique_ptr<Function>> parsed;
};

namespace {

// Walks module scope once: declarations are kept, bodies are stepped over. A template only because
// Module::State is private to Module.
template <typename State>
class Indexer {
 public:
  explicit Indexer(State& state) : state_(state), cursor_(state.text) {}

  void run() {
    while (!cursor_.at_end()) {
      if (cursor_.accept(';')) continue;
      if (cursor_.accept("@@")) {  // DWARF lines of old assemblers
        cursor_.skip_line();
        continue;
      }
      directive();
    }
    if (state_.header.target.empty()) cursor_.fail(".version and .target in the text");
  }

 private:
  void directive() {
    const Cursor::Place begin = cursor_.place();
    const std::string_view name = cursor_.dotted_word("a module directive");
    if (name == "entry" || name == "func") return function(name == "entry", Linkage::Internal, begin);
    if (const auto space = variable_space(name)) return variables(*space, Linkage::Internal, begin);
    if (name == "visible") return linked(Linkage::Visible);
    if (name == "extern") return linked(Linkage::Extern);
    if (name == "weak") return linked(Linkage::Weak);
    if (name == "common") return linked(Linkage::Common);
    if (name == "version") return version();
    if (name == "target") return target();
    if (name == "address_size") return address_size();
    if (name == "file") return file();
    if (name == "section") return section();
    if (name == "pragma") return pragma();
    cursor_.fail_at(begin, "a module directive this front end knows");
  }

  static std::optional<Space> variable_space(std::string_view name) {
    const auto space = find_variable_space(name);
    return space == Space::Param || space == Space::Local ? std::nullopt : space;
  }

  void linked(Linkage linkage) {
    const Cursor::Place begin = cursor_.place();
    const std::string_view name =
        cursor_.dotted_word(".entry, .func or a state space after a linking directive");
    if (name == "entry" || name == "func") return function(name == "entry", linkage, begin);
    if (const auto space = variable_space(name)) return variables(*space, linkage, begin);
    cursor_.fail_at(begin, ".entry, .func, .global, .shared or .const after a linking directive");
  }

  void version() {
    const std::string_view text = (cursor_.skip_spaces(), cursor_.number());
    const size_t dot = text.find('.');
    if (dot == std::string_view::npos) cursor_.fail("a version such as 9.0 before this");
    Cursor major(text.substr(0, dot)), minor(text.substr(dot + 1));
    state_.header.version_major = static_cast<uint32_t>(parse_integer(major, 1, 1000, "a major version"));
    state_.header.version_minor = static_cast<uint32_t>(parse_integer(minor, 0, 1000, "a minor version"));
  }

  void target() {
    state_.header.target = cursor_.word("a target such as sm_100a");
    while (cursor_.accept(',')) state_.header.target_options.emplace_back(cursor_.word("a target option"));
    for (const std::string& option : state_.header.target_options) state_.header.debug |= option == "debug";
  }

  void address_size() {
    const Cursor::Place begin = cursor_.place();
    state_.header.address_size = static_cast<uint32_t>(parse_integer(cursor_, 32, 64, "an address size"));
    if (state_.header.address_size != 64) cursor_.fail_at(begin, "an address size of 64");
  }

  // .file number "name"[, timestamp, size]
  void file() {
    const auto number = static_cast<uint32_t>(parse_integer(cursor_, 0, 1 << 30, "a file number"));
    state_.files[number] = cursor_.string_literal();
    while (cursor_.accept(',')) parse_constant(cursor_);
  }

  void section() {
    const std::string_view name = cursor_.dotted_word("the name of a section");
    cursor_.skip_spaces();
    const size_t begin = cursor_.offset();
    cursor_.skip_braces();
    if (name == "debug_str") state_.debug_strings.push_back(cursor_.slice(begin + 1, cursor_.offset() - 1));
  }

  void pragma() {
    do cursor_.string_literal();
    while (cursor_.accept(','));
    cursor_.expect(';', "after .pragma");
  }

  void variables(Space space, Linkage linkage, const Cursor::Place& begin) {
    if (space == Space::Const && cursor_.accept('[')) {  // numbered constant banks, PTX ISA 5.1.3
      if (parse_integer(cursor_, 0, 10, "a constant bank") != 0)
        cursor_.fail_at(begin, "constant bank 0 only");
      cursor_.expect(']', "after a constant bank");
    }
    for (Variable& variable : parse_variables(cursor_, space, linkage))
      add_variable(std::move(variable), begin);
  }

  void add_variable(Variable variable, const Cursor::Place& begin) {
    const auto index = static_cast<uint32_t>(state_.variables.size());
    const auto [it, added] = variable_index_.emplace(variable.name, index);
    if (added) {
      state_.variables.push_back(std::move(variable));
      return;
    }
    Variable& old = state_.variables[it->second];
    if (variable.linkage == Linkage::Extern) return;
    if (old.linkage != Linkage::Extern && old.linkage != Linkage::Common)
      cursor_.fail_at(begin, fmt::format("one definition of {} in a module", variable.name));
    old = std::move(variable);
  }

  void function(bool is_entry, Linkage linkage, const Cursor::Place& begin) {
    FunctionInfo info;
    info.is_entry = is_entry;
    info.linkage = linkage;
    info.line = begin.line;
    skip_attributes();
    const Cursor::Place signature_begin = cursor_.place();
    Signature signature = parse_signature(cursor_);
    if (is_entry && !signature.returns.empty())
      cursor_.fail_at(signature_begin, "an entry without return values");
    info.name = std::move(signature.name);
    info.params = std::move(signature.params);
    info.returns = std::move(signature.returns);
    info.param_bytes = signature.param_bytes;
    info.directives = parse_directives(cursor_);
    if (cursor_.accept(';')) return add_function(std::move(info), std::nullopt, begin);
    const Cursor::Place open = cursor_.place();
    cursor_.skip_braces();
    info.is_defined = true;
    add_function(std::move(info), open, begin);
  }

  // ".func .attribute(.unified(...))" names the function for other loaders and changes nothing here.
  void skip_attributes() {
    while (cursor_.peek() == '.') {
      const Cursor::Place begin = cursor_.place();
      const std::string_view name = cursor_.dotted_word("an attribute");
      if (name == "noreturn") continue;
      if (name != "attribute") cursor_.fail_at(begin, "a function's name or .attribute");
      cursor_.expect('(', "after .attribute");
      for (size_t depth = 1; depth > 0;) {
        if (cursor_.accept(')'))
          --depth;
        else if (cursor_.accept('('))
          ++depth;
        else if (cursor_.peek() == '.')
          cursor_.dotted_word("an attribute");
        else if (!cursor_.accept(','))
          parse_constant(cursor_);
      }
    }
  }

  void add_function(FunctionInfo info, std::optional<Cursor::Place> body, const Cursor::Place& begin) {
    const auto index = static_cast<uint32_t>(state_.functions.size());
    const auto [it, added] = function_index_.emplace(info.name, index);
    if (added) {
      state_.functions.push_back(std::move(info));
      state_.bodies.push_back(body);
      return;
    }
    if (!body) return;
    if (state_.bodies[it->second])
      cursor_.fail_at(begin, fmt::format("one definition of function {} in a module", info.name));
    state_.functions[it->second] = std::move(info);
    state_.bodies[it->second] = body;
  }

  State& state_;
  Cursor cursor_;
  std::unordered_map<std::string, uint32_t> variable_index_, function_index_;
};

}  // namespace

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

Module Module::parse(std::string_view text, std::string name) {
  if (text.size() >= 0xFFFFFFFFu)
    throw ParseError(0, 0, fmt::format("{} bytes", text.size()), "a module below 4 GiB");
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->text = text.substr(0, text.find('\0'));
  Indexer(*state).run();
  for (uint32_t i = 0; i < state->variables.size(); ++i)
    state->names.variables.emplace(state->variables[i].name, i);
  for (uint32_t i = 0; i < state->functions.size(); ++i)
    state->names.functions.emplace(state->functions[i].name, i);
  state->parsed.resize(state->functions.size());
  return Module(std::move(state));
}

const std::string& Module::name() const { return state_->name; }
const ModuleHeader& Module::header() const { return state_->header; }
std::string_view Module::text() const { return state_->text; }
const std::vector<Variable>& Module::variables() const { return state_->variables; }
const std::vector<FunctionInfo>& Module::functions() const { return state_->functions; }
const std::map<uint32_t, std::string>& Module::files() const { return state_->files; }

const Variable* Module::find_variable(std::string_view name) const {
  const auto it = state_->names.variables.find(name);
  return it == state_->names.variables.end() ? nullptr : &state_->variables[it->second];
}

const FunctionInfo* Module::find_function(std::string_view name) const {
  const auto it = state_->names.functions.find(name);
  return it == state_->names.functions.end() ? nullptr : &state_->functions[it->second];
}

const Function& Module::function(std::string_view name) const {
  const auto it = state_->names.functions.find(name);
  if (it == state_->names.functions.end())
    throw ParseError(0, 0, std::string(name), "the name of a function in this module");
  return function(it->second);
}

const Function& Module::function(uint32_t index) const {
  if (index >= state_->functions.size())
    throw ParseError(0, 0, fmt::format("function {}", index),
                     fmt::format("a number below {}", state_->functions.size()));
  const FunctionInfo& info = state_->functions[index];
  if (!state_->bodies[index])
    throw ParseError(info.line, 1, info.name,
                     "a function with a body: this one is only declared in this module");
  const std::lock_guard lock(state_->mutex);
  auto& parsed = state_->parsed[index];
  if (!parsed)
    parsed =
        std::make_unique<Function>(parse_body(state_->text, *state_->bodies[index], info, state_->names));
  return *parsed;
}

std::string Module::debug_string(std::string_view label) const {
  for (const std::string_view section : state_->debug_strings) {
    Cursor cursor(section);
    bool inside = false;
    std::string value;
    while (!cursor.at_end()) {
      if (const std::string_view word = cursor.accept_word(); !word.empty() && cursor.accept(':')) {
        inside = word == label;
        continue;
      }
      if (cursor.peek() != '.' || cursor.dotted_word("a type") != "b8") break;
      do {
        const char c = static_cast<char>(parse_constant(cursor).bits);
        if (inside && c == '\0') return value;
        if (inside) value += c;
      } while (cursor.accept(','));
    }
  }
  return {};
}

}  // namespace emu::ptx
