// Constants, comments, spacing, and errors.
#include "ptx/constant.h"
#include "ptx/test/helpers.h"
#include "testing/catch.h"

using namespace emu::ptx;
using namespace emu::ptx::test;

namespace {

int64_t value_of(const std::string& text) {
  Cursor cursor(text);
  const Constant constant = parse_constant(cursor);
  REQUIRE(cursor.at_end());
  return constant.bits;
}

}  // namespace

TEST_CASE("integer constants are read in the four bases of PTX ISA 4.5.1") {
  CHECK(value_of("0") == 0);
  CHECK(value_of("42") == 42);
  CHECK(value_of("0x1F") == 31);
  CHECK(value_of("0XfF") == 255);
  CHECK(value_of("017") == 15);
  CHECK(value_of("0b101") == 5);
  CHECK(value_of("7U") == 7);
  CHECK(value_of("0xFFFFFFFFFFFFFFFFU") == -1);
  CHECK(value_of("18446744073709551615") == -1);
  CHECK(value_of("-9223372036854775808") == INT64_MIN);
}

TEST_CASE("constant expressions follow the precedence of C") {
  CHECK(value_of("1+2*3") == 7);
  CHECK(value_of("(1+2)*3") == 9);
  CHECK(value_of("1<<4|3") == 19);
  CHECK(value_of("~0&0xF0") == 0xF0);
  CHECK(value_of("-8>>1") == -4);
  CHECK(value_of("(.u64)-8>>60") == 15);
  CHECK(value_of("7/2") == 3);
  CHECK(value_of("-7%3") == -1);
  CHECK(value_of("1<2 ? 10 : 20") == 10);
  CHECK(value_of("1==2||3>=3&&!0") == 1);
  CHECK(value_of("5^1") == 4);
  CHECK(value_of("1<<64") == 0);
  CHECK(value_of("WARP_SZ-1") == 31);
  CHECK(value_of("(-9223372036854775807-1)/-1") == INT64_MIN);
}

TEST_CASE("floating constants keep their bits") {
  CHECK(value_of("0f3F800000") == 0x3F800000);
  CHECK(value_of("0F7fffffff") == 0x7FFFFFFF);
  CHECK(value_of("0d3FF0000000000000") == 0x3FF0000000000000);
  CHECK(value_of("-0f3F800000") == 0xBF800000);
  CHECK(value_of("1.5") == 0x3FF8000000000000);
  CHECK(value_of("25e-2") == 0x3FD0000000000000);
}

TEST_CASE("a malformed constant is refused with its place") {
  for (const char* text : {"0x", "0b2", "089", "0f3F80", "0d1", "12ab", "99999999999999999999", "1/0", "(1",
                           "1.5.2", "", "0f0x000000", "1.5+2", "(.f32)1"}) {
    INFO(text);
    Cursor cursor(text);
    CHECK_THROWS_AS(parse_constant(cursor), ParseError);
  }
}

TEST_CASE("deeply nested expressions are refused, not recursed into") {
  const std::string deep = fmt::format("{}1{}", std::string(100000, '('), std::string(100000, ')'));
  CHECK(body_error(fmt::format("mov.b32 r, {};", deep)) != "");
  CHECK(body_error(fmt::format(".reg .b32 r; mov.b32 r, {}1;", std::string(100000, '-'))).find("64 deep") !=
        std::string::npos);
}

TEST_CASE("statements need no spaces and share lines") {
  const Sample s(
      ".reg .b32 %r<4>;.reg .pred p,q;mov.b32 %r1,%tid.x;{max.f32 %r2,%r1,%r1,%r1;}setp.eq.s32 p|q,%r1,0;@!p "
      "mov.s32 %r3,-1;ret;");
  REQUIRE(s.function.instructions.size() == 5);
  CHECK(s.text(s.operand(0, 1)) == "%tid.x");
  CHECK(s.at(1).num_operands == 4);
  CHECK(s.operand(2, 0).kind == OperandKind::PredicatePair);
  CHECK(s.at(3).guard == s.reg("p"));
  CHECK(s.at(3).guard_negated);
}

TEST_CASE("an operand may follow its opcode at once") {
  const Sample s(".reg .b32 %r<3>; tcgen05.ld.sync.aligned.32x32b.x1.b32{%r1},[%r2]; mov.b32%r1,%r2;");
  CHECK(s.at(0).opcode == "tcgen05.ld.sync.aligned.32x32b.x1.b32");
  CHECK(s.text(s.operand(0, 0)) == "{%r1}");
  CHECK(s.at(1).opcode == "mov.b32");
}

TEST_CASE("comments are spaces, wherever they stand") {
  const Sample s("/* { */ .reg .b32 r; // }\n add /* x\n y */ .s32 r, r, /**/ 1; // ;");
  CHECK(s.at(0).opcode == "add.s32");
  CHECK(s.at(0).line == 8);
  CHECK(s.text(0) == "add .s32 r, r, 1");
  CHECK(body_error("/* never closed").find("'*/'") != std::string::npos);
}

TEST_CASE("an error says line, column, what was found and what was expected") {
  try {
    Sample sample(".reg .b32 r;\n  mov.b32 r, unknown;");
    FAIL("must not parse");
  } catch (const ParseError& error) {
    CHECK(error.line == 8);
    CHECK(error.column == 14);
    CHECK(error.found == "unknown");
    CHECK(std::string(error.what()).find("line 8, column 14: found 'unknown', expected a register") !=
          std::string::npos);
  }
}

TEST_CASE("what the front end does not know is refused by name") {
  CHECK(module_error(kHeader + ".alias f, g;").find("alias") != std::string::npos);
  CHECK(module_error(kHeader + ".texref t;").find("texref") != std::string::npos);
  CHECK(module_error(kHeader + ".entry k() .newdirective 3 {}").find("newdirective") != std::string::npos);
  CHECK(body_error(".tex .u64 t;").find("tex") != std::string::npos);
  CHECK(body_error(".reg .v4 .b32 v;").find(".v4") != std::string::npos);
  CHECK(body_error("mov.u32 %nosuch, 1;").find("%nosuch") != std::string::npos);
  CHECK(module_error(".version 9.0\n.target sm_100a\n.address_size 32\n").find("64") != std::string::npos);
  CHECK(module_error("") != "");
}

TEST_CASE("each distinct opcode has one process-wide number") {
  const Form a = intern_form("test.form.a"), b = intern_form("test.form.b");
  CHECK(a.id != b.id);
  CHECK(intern_form(std::string("test.form.") + "a").id == a.id);
  CHECK(form_text(b.id) == "test.form.b");
  CHECK(form_count() > std::max(a.id, b.id));
}
