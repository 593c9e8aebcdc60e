#include "ptx/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "ptx/constant.h"
#include "ptx/dataflow.h"
#include "ptx/declaration.h"
#include "ptx/flow.h"
#include "ptx/operand.h"
#include "ptx/slots.h"

namespace emu::ptx {
namespace {

constexpr size_t kMaxInstructions = size_t{1} << 24;
constexpr size_t kMaxTableEntries = 1 << 16;

// "add .s32" is the same opcode as "add.s32".
std::string without_spaces(std::string_view text) {
  std::string packed;
  for (const char c : text)
    if (Cursor::is_word(c) || c == '.' || c == ':') packed += c;
  return packed;
}

class BodyParser {
 public:
  BodyParser(std::string_view text, const Cursor::Place& open, const FunctionInfo& info,
             const ModuleNames& module)
      : cursor_(text, open), names_(function_, module), operands_(cursor_, function_, names_) {
    function_.name = info.name;
    function_.is_entry = info.is_entry;
    function_.linkage = info.linkage;
    function_.directives = info.directives;
    function_.params = info.params;
    function_.returns = info.returns;
    function_.param_bytes = info.param_bytes;
    for (const auto* list : {&info.params, &info.returns})
      for (const Parameter& parameter : *list) {
        if (parameter.reg >= 0) continue;
        uint32_t& align = info.is_entry ? function_.param_align : function_.call_param_align;
        align = std::max(align, parameter.align);
        if (!info.is_entry)
          function_.call_param_bytes =
              std::max<uint64_t>(function_.call_param_bytes, parameter.offset + parameter.size);
      }
  }

  Function parse() {
    cursor_.expect('{', "before a function body");
    names_.open(cursor_);
    names_.bind_parameters(cursor_);
    while (names_.depth() > 0) statement();
    finish();
    return std::move(function_);
  }

 private:
  void statement() {
    switch (cursor_.peek()) {
      case '\0':
        cursor_.fail("a statement, or the '}' that ends the function");
      case ';':
        cursor_.accept(';');
        return;
      case '.':
        directive({});
        return;
      case '{':
        names_.open(cursor_);
        cursor_.accept('{');
        return;
      case '}':
        if (names_.depth() == 1) append_return();
        names_.close(cursor_);
        cursor_.accept('}');
        return;
      default:
        labelled_or_instruction();
    }
  }

  void labelled_or_instruction() {
    const Cursor::Place begin = cursor_.place();
    if (cursor_.accept('@')) {
      Instruction instruction;
      instruction.guard = operands_.guard(instruction.guard_negated);
      const std::string_view opcode = cursor_.opcode();
      this->instruction(begin, instruction, opcode);
      return;
    }
    const std::string_view word = cursor_.opcode();
    if (word.empty()) cursor_.fail("an instruction, a label or a directive");
    if (cursor_.accept(':'))
      label(word);
    else
      instruction(begin, {}, word);
  }

  // A label, or the table that carries its name.
  void label(std::string_view name) {
    if (cursor_.peek() == '.') {
      Cursor ahead = cursor_;
      const std::string_view word = ahead.dotted_word("a directive");
      if (word == "callprototype" || word == "branchtargets" || word == "calltargets") {
        directive(name);
        return;
      }
    }
    names_.declare_label(cursor_, name, static_cast<uint32_t>(function_.instructions.size()));
  }

  void instruction(const Cursor::Place& begin, Instruction instruction, std::string_view opcode) {
    if (opcode.empty() || Cursor::is_digit(opcode[0]) || opcode[0] == '.')
      cursor_.fail_at(begin, "an instruction");
    if (function_.instructions.size() == kMaxInstructions)
      cursor_.fail("at most 2^24 instructions in a function");
    Form form;
    if (cursor_.peek() == '.') {
      std::string whole(opcode);
      while (cursor_.peek() == '.') whole += without_spaces(cursor_.opcode());
      form = intern_form(whole);
    } else {
      form = intern_form(opcode);
    }
    instruction.opcode = form.text;
    instruction.form = form.id;
    instruction.line = begin.line;
    instruction.location = location_;
    operands_.parse(instruction);
    instruction.text_begin = static_cast<uint32_t>(begin.offset);
    instruction.text_length = static_cast<uint32_t>(cursor_.offset() - 1 - begin.offset);
    function_.instructions.push_back(instruction);
  }

  void directive(std::string_view label) {
    const Cursor::Place begin = cursor_.place();
    const std::string_view name = cursor_.dotted_word("a directive");
    if (name == "reg") {
      registers();
    } else if (name == "loc") {
      location();
    } else if (name == "pragma") {
      do cursor_.string_literal();
      while (cursor_.accept(','));
      cursor_.expect(';', "after .pragma");
    } else if (name == "branchtargets") {
      branch_targets(label);
    } else if (name == "calltargets") {
      call_targets(label);
    } else if (name == "callprototype") {
      call_prototype(label);
    } else if (const auto space = find_variable_space(name)) {
      for (Variable& variable : parse_variables(cursor_, *space, Linkage::Internal))
        names_.declare_variable(cursor_, std::move(variable));
    } else {
      cursor_.fail_at(begin, "a directive this front end knows inside a function body");
    }
  }

  // ".reg .b32 %r<10>, x, y;"
  void registers() {
    const std::string_view type_name = cursor_.dotted_word("a register type such as .b32");
    const auto type = find_type(type_name);
    if (!type) cursor_.fail(fmt::format("a scalar register type instead of .{} before this", type_name));
    do {
      const std::string_view name = cursor_.word("the name of a register");
      if (cursor_.accept('<')) {
        const int64_t count = parse_literal(cursor_, 0, 1 << 20, "a number of registers");
        cursor_.expect('>', "after a number of registers");
        names_.declare_register_range(cursor_, name, static_cast<uint32_t>(count), type->reg_class);
      } else {
        names_.declare_register(cursor_, name, type->reg_class);
      }
    } while (cursor_.accept(','));
    cursor_.expect(';', "after a register declaration");
  }

  SourceLocation position() {
    SourceLocation location;
    auto number = [&](std::string_view what) {
      return static_cast<uint32_t>(parse_integer(cursor_, 0, std::numeric_limits<int32_t>::max(), what));
    };
    location.file = number("a file number");
    location.line = number("a line number");
    location.column = number("a column number");
    return location;
  }

  // ".loc file line column[, function_name label[+n], inlined_at file line column]"
  void location() {
    SourceLocation location = position();
    if (cursor_.accept(',')) {
      if (cursor_.word("function_name") != "function_name") cursor_.fail("function_name before this");
      location.function = cursor_.word("a label of the .debug_str section");
      if (cursor_.accept('+'))
        location.function += fmt::format("+{}", parse_integer(cursor_, 0, INT32_MAX, "an offset"));
      cursor_.expect(',', "before inlined_at");
      if (cursor_.word("inlined_at") != "inlined_at") cursor_.fail("inlined_at before this");
      const SourceLocation site = position();
      // The call site is a position given before; its own inlining, if any, comes with it.
      const auto known = latest_location_.find({site.file, site.line, site.column});
      location.inlined_at = known != latest_location_.end() ? known->second : add_location(site);
    }
    location_ = add_location(location);
  }

  int32_t add_location(const SourceLocation& location) {
    const std::tuple key{location.file, location.line, location.column};
    const auto known = latest_location_.find(key);
    if (known != latest_location_.end()) {
      const SourceLocation& old = function_.locations[known->second];
      if (old.function == location.function && old.inlined_at == location.inlined_at) return known->second;
    }
    const auto index = static_cast<int32_t>(function_.locations.size());
    function_.locations.push_back(location);
    latest_location_[key] = index;
    return index;
  }

  void require_label(std::string_view label) {
    if (label.empty()) cursor_.fail("a label in front of this table's directive");
  }

  void branch_targets(std::string_view label) {
    require_label(label);
    const auto table = static_cast<uint32_t>(function_.branch_tables.size());
    uint32_t count = 0;
    do {
      LabelUse use{};
      use.where = LabelUse::Where::BranchTable;
      use.index = table;
      use.element = count++;
      if (count > kMaxTableEntries) cursor_.fail("at most 65536 branch targets");
      use.place = cursor_.place();
      use.label = cursor_.word("a label");
      names_.use_label(use);
    } while (cursor_.accept(','));
    cursor_.expect(';', "after .branchtargets");
    function_.branch_tables.emplace_back(count, 0);
    names_.declare_table(cursor_, label, {BodyNames::TableKind::BranchTable, table});
  }

  void call_targets(std::string_view label) {
    require_label(label);
    std::vector<uint32_t> targets;
    do {
      const Cursor::Place begin = cursor_.place();
      const int32_t symbol = names_.find_symbol(cursor_.word("a function"));
      if (symbol < 0 || function_.symbols[symbol].kind != SymbolKind::Function)
        cursor_.fail_at(begin, "a function");
      targets.push_back(static_cast<uint32_t>(symbol));
    } while (cursor_.accept(','));
    cursor_.expect(';', "after .calltargets");
    const auto index = static_cast<uint32_t>(function_.call_targets.size());
    function_.call_targets.push_back(std::move(targets));
    names_.declare_table(cursor_, label, {BodyNames::TableKind::CallTargets, index});
  }

  void call_prototype(std::string_view label) {
    require_label(label);
    Signature signature = parse_signature(cursor_);
    parse_directives(cursor_);
    cursor_.expect(';', "after .callprototype");
    const auto index = static_cast<uint32_t>(function_.prototypes.size());
    function_.prototypes.push_back(
        {std::string(label), std::move(signature.returns), std::move(signature.params)});
    names_.declare_table(cursor_, label, {BodyNames::TableKind::Prototype, index});
  }

  // A body may end without ret, and a label may stand at its end: both mean a return.
  void append_return() {
    Instruction instruction;
    const Form form = intern_form("ret");
    instruction.opcode = form.text;
    instruction.form = form.id;
    instruction.line = cursor_.line();
    instruction.location = location_;
    instruction.text_begin = static_cast<uint32_t>(cursor_.offset());
    instruction.first_operand = static_cast<uint32_t>(function_.operands.size());
    function_.instructions.push_back(instruction);
  }

  void finish() {
    drop_unneeded_return();
    const FlowGraph graph = build_flow_graph(function_);
    mark_reconvergence(function_, graph);
    assign_slots(function_, graph);
  }

  // The appended return goes when nothing falls through to it or jumps to it.
  void drop_unneeded_return() {
    auto& code = function_.instructions;
    if (code.size() < 2 || !ends_path(code[code.size() - 2])) return;
    const auto last = static_cast<uint32_t>(code.size() - 1);
    for (const Instruction& instruction : code)
      if (instruction.target == static_cast<int32_t>(last)) return;
    for (const auto& table : function_.branch_tables)
      for (const uint32_t target : table)
        if (target == last) return;
    code.pop_back();
  }

  Cursor cursor_;
  Function function_;
  BodyNames names_;
  OperandParser operands_;
  int32_t location_ = -1;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int32_t> latest_location_;
};

}  // namespace

Function parse_body(std::string_view text, const Cursor::Place& open, const FunctionInfo& info,
                    const ModuleNames& module) {
  return BodyParser(text, open, info, module).parse();
}

}  // namespace emu::ptx
