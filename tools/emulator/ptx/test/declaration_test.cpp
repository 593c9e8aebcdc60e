// Module scope: header, variables with initialisers, parameters, directives, files.
#include "ptx/test/helpers.h"
#include "testing/catch.h"

using namespace emu::ptx;
using namespace emu::ptx::test;

namespace {

std::vector<uint8_t> bytes(std::initializer_list<int> values) {
  std::vector<uint8_t> result;
  for (const int v : values) result.push_back(static_cast<uint8_t>(v));
  return result;
}

Variable variable(const std::string& text) {
  const Module module = Module::parse(kHeader + text);
  REQUIRE(module.variables().size() == 1);
  return module.variables()[0];
}

}  // namespace

TEST_CASE("the header is captured") {
  const Module module = Module::parse(".version 8.10\n.target sm_100a, debug\n.address_size 64\n", "unit");
  CHECK(module.header().version_major == 8);
  CHECK(module.header().version_minor == 10);
  CHECK(module.header().target == "sm_100a");
  CHECK(module.header().debug);
  CHECK(module.name() == "unit");
}

TEST_CASE("text ends at its first NUL, as stored in a fat binary") {
  const std::string text = "\n\n\n\n\n\n\n\n" + kHeader + std::string(1, '\0') + "garbage {";
  CHECK(Module::parse(text).header().target == "sm_100a");
}

TEST_CASE("variables have size, alignment and linkage") {
  const Variable v = variable(".visible .global .align 16 .b32 x[3][5];");
  CHECK(v.size == 60);
  CHECK(v.align == 16);
  CHECK(v.element_bytes == 4);
  CHECK(v.linkage == Linkage::Visible);
  CHECK(!v.has_initializer);
  CHECK(variable(".global .v4 .f32 x;").align == 16);
  CHECK(variable(".const .f64 x;").align == 8);
  CHECK(variable(".weak .global .u8 x;").linkage == Linkage::Weak);
  CHECK(variable(".common .global .u8 x;").linkage == Linkage::Common);
  CHECK(variable(".global .attribute(.managed) .align 4 .u32 x = 3;").managed);
}

TEST_CASE("dynamic shared memory is an extern array without size") {
  const Variable v = variable(".extern .shared .align 1024 .b8 smem[];");
  CHECK(v.unsized);
  CHECK(v.size == 0);
  CHECK(v.align == 1024);
  CHECK(v.space == Space::Shared);
  CHECK(v.linkage == Linkage::Extern);
}

TEST_CASE("initialisers are stored little-endian") {
  CHECK(variable(".global .u32 x = 0x01020304;").initial_bytes == bytes({4, 3, 2, 1}));
  CHECK(variable(".global .b16 x[3] = {1, -1};").initial_bytes == bytes({1, 0, 255, 255}));
  CHECK(variable(".const .f32 x = 0f3F800000;").initial_bytes == bytes({0, 0, 128, 63}));
  CHECK(variable(".const .f32 x = 1.0;").initial_bytes == bytes({0, 0, 128, 63}));
  CHECK(variable(".const .f64 x = 1.0;").initial_bytes == bytes({0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
  CHECK(variable(".global .b8 x[2][2] = {{1}, {2, 3}};").initial_bytes == bytes({1, 0, 2, 3}));
  const Variable open = variable(".global .b16 x[] = {1, 2, 3};");
  CHECK(open.size == 6);
  CHECK(!open.unsized);
}

TEST_CASE("initialisers may hold addresses, generic addresses and bytes of addresses") {
  const Module module = Module::parse(kHeader +
                                      ".global .u32 v;\n.func f() { ret; }\n"
                                      ".global .u64 t[4] = {f, generic(v), generic(v)+8, v-4};\n"
                                      ".global .b8 m[2] = {0xFF(v), 0xFF00(generic(v))};");
  const auto& t = module.find_variable("t")->relocations;
  REQUIRE(t.size() == 4);
  CHECK(t[0].symbol == "f");
  CHECK(!t[0].generic);
  CHECK(t[1].generic);
  CHECK(t[2].addend == 8);
  CHECK(t[2].offset == 16);
  CHECK(t[3].addend == -4);
  const auto& m = module.find_variable("m")->relocations;
  REQUIRE(m.size() == 2);
  CHECK(m[0].bytes == 1);
  CHECK(m[1].mask == 0xFF00);
  CHECK(m[1].shift == 8);
  CHECK(m[1].generic);
}

TEST_CASE("initialisers that do not fit are refused") {
  CHECK(module_error(kHeader + ".global .b8 x[2] = {1,2,3};").find("no more values") != std::string::npos);
  CHECK(module_error(kHeader + ".global .b8 x[2] = {{1},2};").find("braces") != std::string::npos);
  CHECK(module_error(kHeader + ".global .b8 x[2] = {{1}};") != "");
  CHECK(module_error(kHeader + ".global .b8 x[99999999][99999999][99999999];").find("2^40") !=
        std::string::npos);
  CHECK(module_error(kHeader + ".global .b8 x[][0] = {1};") != "");
  CHECK(module_error(kHeader + ".global .align 3 .b8 x;").find("power of two") != std::string::npos);
  CHECK(module_error(kHeader + ".global .u32 x; .global .u32 x;").find("one definition") !=
        std::string::npos);
}

TEST_CASE("a launch parameter block is laid out by size and alignment") {
  const Module module =
      Module::parse(kHeader +
                    ".entry k(.param .u32 a, .param .u64 .ptr .global .align 16 b, .param .u8 c,\n"
                    ".param .align 128 .b8 map[128], .param .align 4 .b8 d[12]) { ret; }");
  const FunctionInfo& k = *module.find_function("k");
  REQUIRE(k.params.size() == 5);
  CHECK(k.params[1].offset == 8);
  CHECK(k.params[1].is_pointer);
  CHECK(k.params[1].pointer_space == Space::Global);
  CHECK(k.params[2].offset == 16);
  CHECK(k.params[3].offset == 128);
  CHECK(k.params[3].size == 128);
  CHECK(k.params[4].offset == 256);
  CHECK(k.param_bytes == 268);
  CHECK(module.function("k").param_align == 128);
}

TEST_CASE("a device function's frame holds its arguments, then its results, then its calls' parameters") {
  const Module module = Module::parse(
      kHeader +
      ".func (.param .b64 r) f(.param .b32 x) {\n"
      "{ .param .b32 p0; .param .b64 p1; call g, (p0, p1); }\n{ .param .b32 p0; call (p0), h; } ret; }\n"
      ".func g(.param .b32 a, .param .b64 b) { ret; } .func (.param .b32 r) h() { ret; }");
  const Function& f = module.function("f");
  CHECK(f.params[0].offset == 0);
  CHECK(f.returns[0].offset == 8);
  CHECK(f.variables[0].offset == 16);
  CHECK(f.variables[1].offset == 24);
  CHECK(f.variables[2].offset == 16);  // the first call scope is over
  CHECK(f.call_param_bytes == 32);
  CHECK(f.call_param_align == 8);
}

TEST_CASE("launch bounds and cluster directives are kept") {
  const Module module =
      Module::parse(kHeader +
                    ".visible .entry k() .maxntid 128, 2 .minnctapersm 1 .maxnreg 64 .explicitcluster\n"
                    ".reqnctapercluster 2, 1, 1 .maxclusterrank 8 .reqntid 32 { ret; }");
  const Directives& d = module.find_function("k")->directives;
  CHECK(d.maxntid == std::array<uint32_t, 3>{128, 2, 1});
  CHECK(d.reqntid == std::array<uint32_t, 3>{32, 1, 1});
  CHECK(d.minnctapersm == 1);
  CHECK(d.maxnreg == 64);
  CHECK(d.explicitcluster);
  CHECK(d.reqnctapercluster == std::array<uint32_t, 3>{2, 1, 1});
  CHECK(d.maxclusterrank == 8);
  CHECK(!d.blocksareclusters);
  CHECK(module.function("k").directives.maxnreg == 64);
}

TEST_CASE("functions may be declared before they are defined, and entries need not be visible") {
  const Module module = Module::parse(
      kHeader +
      ".func f(.param .b32 x);\n.entry k() { ret; }\n.func f(.param .b32 x) { ret; }\n.extern .func g;");
  CHECK(module.find_function("f")->is_defined);
  CHECK(module.find_function("k")->linkage == Linkage::Internal);
  CHECK(module.find_function("k")->is_entry);
  CHECK(!module.find_function("g")->is_defined);
  CHECK_THROWS_AS(module.function("g"), ParseError);
  CHECK_THROWS_AS(module.function("nosuch"), ParseError);
  CHECK(module.find_function("nosuch") == nullptr);
  CHECK(module_error(kHeader + ".func f() { ret; } .func f() { ret; }").find("one definition") !=
        std::string::npos);
}

TEST_CASE("a bad body is found when it is asked for, not before") {
  const Module module = Module::parse(kHeader + ".entry bad() { what is this; }\n.entry good() { ret; }");
  CHECK(module.function("good").instructions.size() == 1);
  CHECK_THROWS_AS(module.function("bad"), ParseError);
  CHECK(&module.function("good") == &module.function("good"));
}

TEST_CASE("debug sections are stepped over and the file table is kept") {
  const Module module =
      Module::parse(kHeader +
                    ".file 1 \"a.cu\", 123, 456\n.file 2 \"b.cu\"\n"
                    ".section .debug_str\n{\n$L__info_string0:\n.b8 102, 111\n.b8 111, 0\n"
                    "$L__info_string1:\n.b8 98,97,114,0\n}\n.section .debug_loc { .b64 x }\n");
  CHECK(module.files().at(1) == "a.cu");
  CHECK(module.files().at(2) == "b.cu");
  CHECK(module.debug_string("$L__info_string0") == "foo");
  CHECK(module.debug_string("$L__info_string1") == "bar");
  CHECK(module.debug_string("$L__nosuch") == "");
}
