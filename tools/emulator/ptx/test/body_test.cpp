// Bodies: scopes, labels, operands, variables, calls, source locations.
#include "ptx/test/helpers.h"
#include "testing/catch.h"

using namespace emu::ptx;
using namespace emu::ptx::test;

TEST_CASE("a register declared in braces hides the outer one until they close") {
  const Sample s(
      ".reg .b32 r; mov.b32 r, 1; { .reg .b64 r; mov.b64 r, 2; { .reg .pred r; setp.eq.s32 r, 0, 0; } "
      "mov.b64 r, 3; } mov.b32 r, 4;");
  CHECK(s.operand(0, 0).reg_class == RegClass::B32);
  CHECK(s.operand(1, 0).reg_class == RegClass::B64);
  CHECK(s.operand(2, 0).reg_class == RegClass::Pred);
  CHECK(s.operand(3, 0).reg == s.operand(1, 0).reg);
  CHECK(s.operand(4, 0).reg == s.operand(0, 0).reg);
  CHECK(body_error("{ .reg .b32 x; } mov.b32 x, 1;").find("'x'") != std::string::npos);
}

TEST_CASE("a range declares exactly its numbers, and an inner range hides an outer one") {
  const Sample s(
      ".reg .b32 %r<3>; .reg .b32 %r1<2>; mov.b32 %r2, %r11; { .reg .b64 %r<3>; mov.b64 %r2, 0; }");
  CHECK(s.function.registers.size() == 8);
  CHECK(s.operand(1, 0).reg_class == RegClass::B64);
  CHECK(body_error(".reg .b32 %r<3>; mov.b32 %r3, 0;") != "");
  CHECK(body_error(".reg .b32 %r<3>; mov.b32 %r01, 0;") != "");
  CHECK(body_error(".reg .b32 %r<99999999>;") != "");
  CHECK(body_error(".reg .b32 x; .reg .b64 x;").find("no second register") != std::string::npos);
}

TEST_CASE("names with and without percent sign are different registers") {
  const Sample s(
      ".reg .pred p, %p; .reg .b32 %temp, remAddr32; setp.eq.s32 p, %temp, 0; @%p bra L; @p mov.b32 "
      "remAddr32, 1; L: ret;");
  CHECK(s.at(1).guard != s.operand(0, 0).reg);
  CHECK(s.at(2).guard == s.operand(0, 0).reg);
}

TEST_CASE("a label belongs to its brace block") {
  const Sample s(
      ".reg .pred p; .reg .b32 b;"
      "{ W: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0; @p bra D; bra.uni W; D: }"
      "{ W: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 1; @p bra D; bra.uni W; D: }"
      "bra OUT; { bra OUT; } OUT: ret;");
  CHECK(s.at(1).target == 3);
  CHECK(s.at(2).target == 0);
  CHECK(s.at(4).target == 6);
  CHECK(s.at(5).target == 3);
  CHECK(s.at(6).target == 8);
  CHECK(s.at(7).target == 8);
  CHECK(body_error("{ IN: } bra IN;").find("'IN'") != std::string::npos);
  CHECK(body_error("L: L: ret;").find("no second label") != std::string::npos);
}

TEST_CASE("a label at the end of a body is a return") {
  const Sample s(".reg .pred p; @p bra END; trap; END:");
  REQUIRE(s.function.instructions.size() == 3);
  CHECK(s.at(0).target == 2);
  CHECK(s.at(2).opcode == "ret");
  CHECK(s.text(2) == "ret");
  CHECK(Sample("").function.instructions.size() == 1);
  CHECK(Sample("ret;").function.instructions.size() == 1);
}

TEST_CASE("operands keep their kind") {
  const Sample s(
      ".reg .b32 r, q; .reg .b64 d; .reg .pred p, t; .reg .b16 h; .shared .align 4 .b8 tile[64];"
      "mov.b64 d, {r, q}; mov.b64 {r, _}, d; mov.u32 r, tile+4; ld.shared.u32 r, [tile+8]; ld.global.u32 r, "
      "[d+-4];"
      "ld.global.u32 r, [d-8]; ld.shared.u32 r, [0x40]; elect.sync _|p, -1; shfl.sync.bfly.b32 r|p, q, 1, "
      "31, -1;"
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [d, {r, q, r}], [r];"
      "tcgen05.mma.cta_group::1.kind::f16 [r], [q+16], d, r, {r, r, r, r}, !p; "
      "mbarrier.arrive.shared::cta.b64 _, [r];"
      "add.f32 r, q, 0f3F800000; fma.rn.f64 d, d, 0d3FF0000000000000, 1.5; mov.u32 r, %envreg2; ld.param.u32 "
      "r, [n];"
      "mov.b64 d, a; setp.eq.and.s32 p|_, r, 1, !t;");
  CHECK(s.text(s.operand(0, 1)) == "{r, q}");
  CHECK(s.text(s.operand(1, 0)) == "{r, _}");
  CHECK(s.operand(2, 1).kind == OperandKind::Symbol);
  CHECK(s.operand(2, 1).immediate == 4);
  CHECK(s.function.symbols[s.operand(2, 1).symbol].kind == SymbolKind::LocalVariable);
  CHECK(s.operand(3, 1).base == AddressBase::Symbol);
  CHECK(s.operand(3, 1).immediate == 8);
  CHECK(s.operand(4, 1).base == AddressBase::Register);
  CHECK(s.operand(4, 1).immediate == -4);
  CHECK(s.operand(5, 1).immediate == -8);
  CHECK(s.operand(6, 1).base == AddressBase::Immediate);
  CHECK(s.operand(6, 1).immediate == 64);
  CHECK(s.operand(7, 0).kind == OperandKind::PredicatePair);
  CHECK(s.operand(7, 0).reg == -1);
  CHECK(s.operand(7, 0).reg2 == s.reg("p"));
  CHECK(s.operand(8, 0).reg == s.reg("r"));
  CHECK(s.operand(8, 4).immediate == -1);
  CHECK(s.operand(9, 0).kind == OperandKind::TensorAddress);
  CHECK(s.operand(9, 0).reg == s.reg("d"));
  CHECK(s.text(s.operand(9, 0)) == "[d, {r, q, r}]");
  CHECK(s.text(s.operand(10, 1)) == "[q+16]");
  CHECK(s.operand(10, 5).negated);
  CHECK(s.operand(11, 0).kind == OperandKind::Sink);
  CHECK(s.operand(12, 2).kind == OperandKind::ImmediateF32);
  CHECK(s.operand(13, 2).kind == OperandKind::ImmediateF64);
  CHECK(s.operand(13, 3).immediate == 0x3FF8000000000000);
  CHECK(s.operand(14, 1).special == SpecialRegister::Envreg);
  CHECK(s.operand(14, 1).special_number == 2);
  CHECK(s.function.symbols[s.operand(15, 1).symbol].kind == SymbolKind::Parameter);
  CHECK(s.function.symbols[s.operand(15, 1).symbol].index == 1);
  CHECK(s.text(s.operand(16, 1)) == "a");
  CHECK(s.operand(17, 0).reg2 == -1);
}

TEST_CASE("special registers come with their component, and a declared register hides them") {
  const Sample s(
      ".reg .b32 r; .reg .b64 d; mov.u32 r, %tid.y; mov.u32 r, %cluster_ctaid.z; mov.u64 d, %clock64; "
      "mov.u32 r, %laneid; { .reg .b32 %laneid; mov.b32 r, %laneid; }");
  CHECK(s.operand(0, 1).special == SpecialRegister::Tid);
  CHECK(s.operand(0, 1).component == 1);
  CHECK(s.operand(1, 1).component == 2);
  CHECK(s.text(s.operand(1, 1)) == "%cluster_ctaid.z");
  CHECK(s.operand(2, 1).special == SpecialRegister::Clock64);
  CHECK(s.operand(3, 1).kind == OperandKind::Special);
  CHECK(s.operand(4, 1).kind == OperandKind::Register);
  CHECK(body_error(".reg .b32 r; mov.u32 r, %tid.q;") != "");
  CHECK(body_error(".reg .b32 r; mov.u32 r, %envreg99;") != "");
}

TEST_CASE("in-body variables are laid out in their space") {
  const Sample s(
      ".shared .align 8 .b8 bar[12]; .local .align 16 .b8 depot[24]; .shared .align 128 .b8 tile[256], "
      "more[4]; .local .u32 x;");
  CHECK(s.function.variables[0].offset == 0);
  CHECK(s.function.variables[2].offset == 128);
  CHECK(s.function.variables[3].offset == 384);
  CHECK(s.function.shared_bytes == 388);
  CHECK(s.function.shared_align == 128);
  CHECK(s.function.variables[4].offset == 24);
  CHECK(s.function.local_bytes == 28);
  CHECK(s.function.local_align == 16);
}

TEST_CASE("a call always has returns, callee, arguments and a table") {
  const Sample s(
      ".reg .b64 f; { .param .b32 p0; .param .b32 r0; call.uni (r0), g, (p0); }"
      "{ .param .b32 p0; .param .b32 r0; proto : .callprototype (.param .b32 _) _ (.param .b32 _); call "
      "(r0), f, (p0), proto; }"
      "call h; call h, ();"
      "T: .calltargets h, h2; call f, (), T;",
      ".func (.param .b32 r) g(.param .b32 x); .func h(); .func h2();");
  const auto call = [&](size_t i) { return s.function.operands_of(s.at(i)); };
  REQUIRE(call(0).size() == 4);
  CHECK(call(0)[0].count == 1);
  CHECK(s.function.symbols[call(0)[1].symbol].kind == SymbolKind::Function);
  CHECK(s.text(call(0)[2]) == "{p0}");
  CHECK(call(0)[3].kind == OperandKind::None);
  CHECK(call(1)[1].kind == OperandKind::Register);
  CHECK(call(1)[3].kind == OperandKind::Prototype);
  CHECK(s.function.prototypes[call(1)[3].symbol].params[0].size == 4);
  // The two scopes' p0 are different variables.
  CHECK(s.function.elements_of(call(0)[2])[0].symbol != s.function.elements_of(call(1)[2])[0].symbol);
  CHECK(call(2)[0].count == 0);
  CHECK(call(3)[2].count == 0);
  CHECK(call(4)[3].kind == OperandKind::CallTargets);
  CHECK(s.function.call_targets[0].size() == 2);
  CHECK(body_error(".reg .b64 f; call f, (), nosuch;").find("nosuch") != std::string::npos);
}

TEST_CASE("brx.idx goes through its table") {
  const Sample s(".reg .b32 i; T: .branchtargets A, B, A; brx.idx i, T; A: ret; B: trap;");
  CHECK(s.operand(0, 1).kind == OperandKind::BranchTable);
  CHECK(s.function.branch_tables[s.operand(0, 1).symbol] == std::vector<uint32_t>{1, 2, 1});
  CHECK(body_error(".reg .b32 i; brx.idx i, T;") != "");
  CHECK(body_error(".reg .b32 i; T: .branchtargets A; brx.idx i, T;").find("'A'") != std::string::npos);
}

TEST_CASE("register parameters of a function are registers of its body") {
  const Module module =
      Module::parse(kHeader + ".func (.reg .b32 out) f(.reg .b64 in) { cvt.u32.u64 out, in; ret; }");
  const Function& f = module.function("f");
  CHECK(f.registers[f.params[0].reg].name == "in");
  CHECK(f.registers[f.returns[0].reg].reg_class == RegClass::B32);
  CHECK(f.slot_of_register[f.params[0].reg] != f.slot_of_register[f.returns[0].reg]);
}

TEST_CASE("source locations follow .loc, with the inlined call chain") {
  const Sample s(
      ".reg .b32 r;\n.loc 1 10 3\n .pragma \"nounroll\"; mov.u32 r, 0;\n"
      ".loc 2 5 7, function_name $L__info_string0, inlined_at 1 10 3\n mov.u32 r, 1;\n ret;",
      ".file 1 \"a.cu\"\n.file 2 \"b.h\"\n.section .debug_str { $L__info_string0: .b8 102,0 }");
  const auto location = [&](size_t i) { return s.function.locations[s.at(i).location]; };
  CHECK(location(0).line == 10);
  CHECK(location(0).column == 3);
  CHECK(location(0).inlined_at == -1);
  CHECK(s.module.files().at(location(1).file) == "b.h");
  CHECK(s.module.debug_string(location(1).function) == "f");
  CHECK(location(1).inlined_at == s.at(0).location);
  CHECK(s.at(2).location == s.at(1).location);
  CHECK(Sample("ret;").at(0).location == -1);
}

TEST_CASE("the text of an instruction is its source, on one line") {
  const Sample s(".reg .pred p; .reg .b32 r; @!p mov.b32\n\tr, // why\n 4 ;");
  CHECK(s.text(0) == "@!p mov.b32 r, 4");
  CHECK(s.module.text().substr(s.at(0).text_begin, 3) == "@!p");
}
