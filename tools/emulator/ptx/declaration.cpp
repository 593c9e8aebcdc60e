#include "ptx/declaration.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "ptx/constant.h"
#include "ptx/initializer.h"

namespace emu::ptx {
namespace {

constexpr uint64_t kMaxVariableBytes = 1ull << 40;
constexpr int64_t kMaxAlign = 1 << 20;
constexpr int64_t kMaxParameterBytes = 1 << 20;
constexpr size_t kMaxDimensions = 16;

struct TypeRow {
  std::string_view name;
  Type type;
};

constexpr TypeRow kTypes[] = {
    {"b32", {4, RegClass::B32, false}},    {"b64", {8, RegClass::B64, false}},
    {"b16", {2, RegClass::B16, false}},    {"b8", {1, RegClass::B16, false}},
    {"b128", {16, RegClass::B128, false}}, {"pred", {0, RegClass::Pred, false}},
    {"u8", {1, RegClass::B16, false}},     {"u16", {2, RegClass::B16, false}},
    {"u32", {4, RegClass::B32, false}},    {"u64", {8, RegClass::B64, false}},
    {"s8", {1, RegClass::B16, false}},     {"s16", {2, RegClass::B16, false}},
    {"s32", {4, RegClass::B32, false}},    {"s64", {8, RegClass::B64, false}},
    {"f16", {2, RegClass::B16, true}},     {"bf16", {2, RegClass::B16, true}},
    {"f32", {4, RegClass::B32, true}},     {"f64", {8, RegClass::B64, true}},
    {"f16x2", {4, RegClass::B32, false}},  {"bf16x2", {4, RegClass::B32, false}},
    {"f32x2", {8, RegClass::B64, false}},  {"tf32", {4, RegClass::B32, false}},
};

uint32_t parse_align(Cursor& cursor) {
  const int64_t align = parse_integer(cursor, 1, kMaxAlign, "an alignment in bytes");
  if (!std::has_single_bit(static_cast<uint64_t>(align)))
    cursor.fail("an alignment that is a power of two before this");
  return static_cast<uint32_t>(align);
}

// ".attribute(.managed)"; .unified(uuid, uuid) only names the symbol for another loader.
void parse_attributes(Cursor& cursor, Variable& variable) {
  cursor.expect('(', "after .attribute");
  do {
    const std::string_view name = cursor.dotted_word("an attribute");
    if (name == "managed") {
      variable.managed = true;
    } else if (name == "unified") {
      cursor.expect('(', "after .unified");
      do parse_constant(cursor);
      while (cursor.accept(','));
      cursor.expect(')', "after .unified");
    } else {
      cursor.fail(fmt::format(".managed or .unified instead of .{} before this", name));
    }
  } while (cursor.accept(','));
  cursor.expect(')', "after the attributes");
}

struct ElementType {
  Type type{4, RegClass::B32, false};
  uint32_t elements = 1;  // of .v2, .v4, .v8
  uint32_t align = 0;     // 0: natural
  uint32_t bytes() const { return type.bytes * elements; }
};

// [.attribute(...)] [.align n] [.vN] .type, in any order ptxas accepts.
ElementType parse_element_type(Cursor& cursor, Variable* variable) {
  ElementType element;
  while (true) {
    const std::string_view name = cursor.dotted_word("a type such as .b32");
    if (name == "align") {
      element.align = parse_align(cursor);
    } else if (name == "v2" || name == "v4" || name == "v8") {
      element.elements = static_cast<uint32_t>(name[1] - '0');
    } else if (name == "attribute" && variable != nullptr) {
      parse_attributes(cursor, *variable);
    } else if (const auto type = find_type(name); type && type->bytes != 0) {
      element.type = *type;
      return element;
    } else {
      cursor.fail(fmt::format("a type that memory can hold instead of .{} before this", name));
    }
  }
}

// "[2][3]" -> {2, 3}; an empty first bracket gives -1.
std::vector<int64_t> parse_dimensions(Cursor& cursor) {
  std::vector<int64_t> dimensions;
  while (cursor.accept('[')) {
    if (dimensions.size() == kMaxDimensions) cursor.fail("at most 16 array dimensions");
    if (dimensions.empty() && cursor.peek() == ']')
      dimensions.push_back(-1);
    else
      dimensions.push_back(
          parse_integer(cursor, 0, static_cast<int64_t>(kMaxVariableBytes), "an array dimension"));
    cursor.expect(']', "after an array dimension");
    if (dimensions.size() > 1 && (dimensions.back() == 0 || dimensions.front() == 0))
      cursor.fail("no dimension of zero in an array of arrays before this");
  }
  return dimensions;
}

uint64_t array_bytes(Cursor& cursor, uint64_t element_bytes, const std::vector<int64_t>& dimensions) {
  uint64_t bytes = element_bytes;
  for (const int64_t n : dimensions) {
    if (n > 0 && bytes > kMaxVariableBytes / static_cast<uint64_t>(n))
      cursor.fail("a variable below 2^40 bytes before this");
    bytes *= n < 0 ? 1 : static_cast<uint64_t>(n);
  }
  return bytes;
}

Variable parse_declarator(Cursor& cursor, const ElementType& element, const Variable& common) {
  Variable variable = common;
  variable.name = cursor.word("the name of a variable");
  variable.element_bytes = element.bytes();
  variable.align = element.align != 0 ? element.align : element.bytes();
  std::vector<int64_t> dimensions = parse_dimensions(cursor);
  const bool open = !dimensions.empty() && dimensions[0] < 0;
  variable.size = array_bytes(cursor, element.bytes(), dimensions);
  if (element.elements > 1) dimensions.push_back(element.elements);
  if (cursor.accept('=')) {
    parse_initializer(cursor, {element.type, dimensions, open}, variable);
  } else if (open) {
    variable.unsized = true;
    variable.size = 0;
  }
  return variable;
}

Parameter parse_parameter(Cursor& cursor, uint32_t& offset) {
  Parameter parameter;
  const std::string_view space = cursor.dotted_word("a .param or .reg parameter");
  if (space != "param" && space != "reg")
    cursor.fail(fmt::format(".param or .reg instead of .{} before this", space));
  if (space == "reg") parameter.reg = 0;  // numbered when the body is parsed
  const ElementType element = parse_element_type(cursor, nullptr);
  if (cursor.peek() == '.') {
    if (cursor.dotted_word(".ptr") != "ptr") cursor.fail(".ptr or a name before this");
    parameter.is_pointer = true;
    while (cursor.peek() == '.') {
      const std::string_view word = cursor.dotted_word("a pointer attribute");
      if (word == "align") {
        parse_align(cursor);  // of what it points to
      } else if (const auto pointee = find_variable_space(word)) {
        parameter.pointer_space = *pointee;
      } else {
        cursor.fail(fmt::format(".align or a state space instead of .{} before this", word));
      }
    }
  }
  parameter.name = cursor.accept_word();
  parameter.element_bytes = element.bytes();
  parameter.align = element.align != 0 ? element.align : element.bytes();
  const std::vector<int64_t> dimensions = parse_dimensions(cursor);
  const bool open = !dimensions.empty() && dimensions[0] < 0;
  const uint64_t bytes = open ? 0 : array_bytes(cursor, element.bytes(), dimensions);
  const uint64_t begin = align_up(offset, parameter.align);
  if (begin + bytes > static_cast<uint64_t>(kMaxParameterBytes))
    cursor.fail("parameters below 2^20 bytes before this");
  parameter.size = static_cast<uint32_t>(bytes);
  parameter.offset = static_cast<uint32_t>(begin);
  if (parameter.reg < 0) offset = static_cast<uint32_t>(begin + bytes);
  return parameter;
}

std::array<uint32_t, 3> parse_extents(Cursor& cursor) {
  std::array<uint32_t, 3> extents{1, 1, 1};
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i > 0 && !cursor.accept(',')) break;
    extents[i] =
        static_cast<uint32_t>(parse_integer(cursor, 1, std::numeric_limits<int32_t>::max(), "an extent"));
  }
  return extents;
}

}  // namespace

std::optional<Type> find_type(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::optional<Space> find_variable_space(std::string_view name) {
  if (name == "param") return Space::Param;
  if (name == "global") return Space::Global;
  if (name == "shared") return Space::Shared;
  if (name == "local") return Space::Local;
  if (name == "const") return Space::Const;
  return std::nullopt;
}

uint64_t align_up(uint64_t offset, uint64_t align) { return (offset + align - 1) & ~(align - 1); }

std::vector<Variable> parse_variables(Cursor& cursor, Space space, Linkage linkage) {
  Variable common;
  common.space = space;
  common.linkage = linkage;
  const ElementType element = parse_element_type(cursor, &common);
  std::vector<Variable> variables;
  do variables.push_back(parse_declarator(cursor, element, common));
  while (cursor.accept(','));
  cursor.expect(';', "after a variable");
  return variables;
}

std::vector<Parameter> parse_parameters(Cursor& cursor, uint32_t& offset) {
  std::vector<Parameter> parameters;
  cursor.expect('(', "before the parameters");
  if (cursor.accept(')')) return parameters;
  do parameters.push_back(parse_parameter(cursor, offset));
  while (cursor.accept(','));
  cursor.expect(')', "after the parameters");
  return parameters;
}

Signature parse_signature(Cursor& cursor) {
  Signature signature;
  // The return list is written first but laid out last, so that an argument's offset is the same for
  // every function with these parameters.
  uint32_t return_bytes = 0;
  if (cursor.peek() == '(') signature.returns = parse_parameters(cursor, return_bytes);
  signature.name = cursor.word("the name of a function");
  uint32_t offset = 0;
  if (cursor.peek() == '(') signature.params = parse_parameters(cursor, offset);
  signature.param_bytes = offset;
  for (Parameter& parameter : signature.returns) {
    if (parameter.reg >= 0) continue;
    parameter.offset = static_cast<uint32_t>(align_up(offset, parameter.align));
    offset = parameter.offset + parameter.size;
  }
  signature.frame_bytes = offset;
  return signature;
}

Directives parse_directives(Cursor& cursor) {
  Directives directives;
  auto number = [&] {
    return static_cast<uint32_t>(
        parse_integer(cursor, 0, std::numeric_limits<int32_t>::max(), "a directive's number"));
  };
  while (cursor.peek() == '.') {
    const std::string_view name = cursor.dotted_word("a performance directive");
    if (name == "maxntid")
      directives.maxntid = parse_extents(cursor);
    else if (name == "reqntid")
      directives.reqntid = parse_extents(cursor);
    else if (name == "reqnctapercluster")
      directives.reqnctapercluster = parse_extents(cursor);
    else if (name == "minnctapersm")
      directives.minnctapersm = number();
    else if (name == "maxnctapersm")
      number();  // deprecated alias without effect on execution
    else if (name == "maxnreg")
      directives.maxnreg = number();
    else if (name == "maxclusterrank")
      directives.maxclusterrank = number();
    else if (name == "explicitcluster")
      directives.explicitcluster = true;
    else if (name == "blocksareclusters")
      directives.blocksareclusters = true;
    else if (name == "noreturn")
      directives.noreturn = true;
    else if (name == "abi_preserve" || name == "abi_preserve_control")
      number();
    else if (name == "pragma") {
      do cursor.string_literal();
      while (cursor.accept(','));
      cursor.expect(';', "after .pragma");
    } else
      cursor.fail(
          fmt::format("a performance directive this front end knows instead of .{} before this", name));
  }
  return directives;
}

}  // namespace emu::ptx
