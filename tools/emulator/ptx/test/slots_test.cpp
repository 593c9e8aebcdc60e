// Slot packing, checked against a liveness that is recomputed here by plain search over instructions.
#include <random>
#include <set>

#include "ptx/dataflow.h"
#include "ptx/test/helpers.h"
#include "testing/catch.h"

using namespace emu::ptx;
using namespace emu::ptx::test;

namespace {

uint32_t width(RegClass reg_class) {
  if (reg_class == RegClass::B64) return 2;
  return reg_class == RegClass::B128 ? 4 : 1;
}

// Instructions that may run after each one.
std::vector<std::vector<uint32_t>> successors(const Function& f) {
  std::vector<std::vector<uint32_t>> next(f.instructions.size());
  for (uint32_t i = 0; i < f.instructions.size(); ++i) {
    const Instruction& instruction = f.instructions[i];
    if (instruction.target >= 0) next[i].push_back(instruction.target);
    for (const Operand& operand : f.operands_of(instruction))
      if (operand.kind == OperandKind::BranchTable)
        for (const uint32_t t : f.branch_tables[operand.symbol]) next[i].push_back(t);
    if (!ends_path(instruction)) next[i].push_back(i + 1);
  }
  return next;
}

// occupied[i]: registers whose value instruction i must find, leave or keep untouched.
std::vector<std::set<int32_t>> occupied_registers(const Function& f) {
  const auto next = successors(f);
  std::vector<std::vector<uint32_t>> previous(next.size());
  for (uint32_t i = 0; i < next.size(); ++i)
    for (const uint32_t s : next[i]) previous[s].push_back(i);
  std::vector<std::set<int32_t>> occupied(next.size()), kills(next.size());
  for (uint32_t i = 0; i < next.size(); ++i)
    for_each_register(f, f.instructions[i], [&](int32_t reg, Access access) {
      occupied[i].insert(reg);
      if (access == Access::Write) kills[i].insert(reg);
    });
  for (uint32_t i = 0; i < next.size(); ++i) {
    // Backwards from each read to the writes that may have made the value.
    for_each_register(f, f.instructions[i], [&](int32_t reg, Access access) {
      if (access == Access::Write) return;
      std::vector<uint32_t> work(previous[i]);
      std::set<uint32_t> seen;
      while (!work.empty()) {
        const uint32_t at = work.back();
        work.pop_back();
        if (!seen.insert(at).second) continue;
        occupied[at].insert(reg);
        if (!kills[at].count(reg)) work.insert(work.end(), previous[at].begin(), previous[at].end());
      }
    });
    // Forwards from each tcgen05.ld to the waits that end it.
    if (!f.instructions[i].opcode.starts_with("tcgen05.ld")) continue;
    std::vector<uint32_t> work(next[i]);
    std::set<uint32_t> seen;
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) continue;
      for_each_register(f, f.instructions[i], [&](int32_t reg, Access access) {
        if (access != Access::Read) occupied[at].insert(reg);
      });
      const bool waits =
          f.instructions[at].opcode.starts_with("tcgen05.wait::ld") && f.instructions[at].guard < 0;
      if (!waits) work.insert(work.end(), next[at].begin(), next[at].end());
    }
  }
  return occupied;
}

// Empty, or the first two registers that share a slot while both are needed.
std::string find_conflict(const Function& f) {
  const auto occupied = occupied_registers(f);
  for (uint32_t i = 0; i < occupied.size(); ++i) {
    std::map<std::pair<bool, uint32_t>, int32_t> owner;
    for (const int32_t reg : occupied[i]) {
      const RegClass reg_class = f.registers[reg].reg_class;
      const uint32_t slot = f.slot_of_register[reg];
      const bool predicate = reg_class == RegClass::Pred;
      if (slot == kNoSlot) return f.registers[reg].name + " has no slot";
      if (slot % width(reg_class) != 0) return f.registers[reg].name + " is misaligned";
      if (slot + width(reg_class) > (predicate ? f.num_predicates : f.num_slots))
        return f.registers[reg].name + " is outside";
      for (uint32_t k = 0; k < width(reg_class); ++k) {
        const auto [it, added] = owner.emplace(std::pair(predicate, slot + k), reg);
        if (!added)
          return fmt::format("{} and {} share slot {} at instruction {}", f.registers[it->second].name,
                             f.registers[reg].name, slot + k, i);
      }
    }
  }
  return "";
}

std::string random_body(std::mt19937& random) {
  std::string body = ".reg .b32 r<8>; .reg .b64 d<4>; .reg .b128 w<2>; .reg .pred p<4>;";
  const auto r = [&] { return fmt::format("r{}", random() % 8); };
  const auto d = [&] { return fmt::format("d{}", random() % 4); };
  const auto p = [&] { return fmt::format("p{}", random() % 4); };
  const uint32_t labels = 1 + random() % 5;
  const uint32_t length = 5 + random() % 40;
  std::vector<std::vector<uint32_t>> at(length);
  for (uint32_t l = 0; l < labels; ++l) at[random() % length].push_back(l);
  for (uint32_t i = 0; i < length; ++i) {
    for (const uint32_t l : at[i]) body += fmt::format("L{}: ", l);
    if (random() % 4 == 0) body += fmt::format("@{}{} ", random() % 2 ? "!" : "", p());
    switch (random() % 12) {
      case 0:
        body += fmt::format("bra L{};", random() % labels);
        break;
      case 1:
        body += fmt::format("setp.lt.s32 {}|{}, {}, {};", p(), p(), r(), r());
        break;
      case 2:
        body += fmt::format("mul.wide.u32 {}, {}, {};", d(), r(), r());
        break;
      case 3:
        body += fmt::format("mov.b64 {{{}, {}}}, {};", r(), r(), d());
        break;
      case 4:
        body += fmt::format("tcgen05.ld.sync.aligned.32x32b.x2.b32 {{r{}, r{}}}, [{}];", random() % 4,
                            4 + random() % 4, r());
        break;
      case 5:
        body += "tcgen05.wait::ld.sync.aligned;";
        break;
      case 6:
        body += fmt::format("st.global.b32 [{}+4], {};", d(), r());
        break;
      case 7:
        body += fmt::format("mov.b128 w{}, {{{}, {}}};", random() % 2, d(), d());
        break;
      case 8:
        body += fmt::format("mov.b128 {{{}, {}}}, w{};", d(), d(), random() % 2);
        break;
      case 9:
        body += fmt::format("unheard.of {}, {};", r(), d());
        break;
      default:
        body += fmt::format("add.s32 {}, {}, {};", r(), r(), r());
        break;
    }
  }
  return body;
}

}  // namespace

TEST_CASE("registers whose lives do not meet share a slot") {
  const Sample s(
      ".reg .b32 a, b, c, x; ld.param.u32 a, [n]; add.s32 b, a, 1; add.s32 c, b, 1; add.s32 x, c, 1; "
      "st.shared.b32 [0], x;");
  CHECK(s.function.num_slots == 2);
  CHECK(s.slot("a") == s.slot("c"));
  CHECK(find_conflict(s.function) == "");
}

TEST_CASE("a destination never takes the slot of a source of its instruction") {
  const Sample s(
      ".reg .b32 a; .reg .b64 d; ld.param.u32 a, [n]; mul.wide.u32 d, a, 2; st.shared.b64 [0], d;");
  CHECK(s.slot("d") / 2 != s.slot("a") / 2);
}

TEST_CASE("wide registers are aligned and predicates have their own file") {
  const Sample s(
      ".reg .b32 a, b; .reg .b64 d; .reg .b128 w; .reg .pred p; mov.b32 a, 0; mov.b64 d, 0; ld.shared.b128 "
      "w, [0]; mov.b32 b, 1;"
      "setp.eq.s32 p, a, b; st.shared.b128 [0], w; st.shared.b64 [0], d; @p st.shared.b32 [0], a;");
  CHECK(s.slot("d") % 2 == 0);
  CHECK(s.slot("w") % 4 == 0);
  CHECK(s.function.num_slots == 8);  // a, b, d and w fill two groups of four
  CHECK(s.function.num_predicates == 1);
  CHECK(s.slot("p") == 0);
}

TEST_CASE("registers of different sizes never share a slot, for lanes elsewhere in the program need theirs") {
  const Sample s(
      ".reg .b32 a, b; .reg .b64 d, e; mov.b64 d, 1; st.shared.b64 [0], d; mov.b32 a, 2; st.shared.b32 [0], a;"
      "mov.b64 e, 3; st.shared.b64 [0], e; mov.b32 b, 4; st.shared.b32 [0], b;");
  CHECK(s.slot("d") == s.slot("e"));
  CHECK(s.slot("a") == s.slot("b"));
  CHECK(s.slot("a") / 2 != s.slot("d") / 2);
}

TEST_CASE("a declared register that no instruction names has no slot") {
  const Sample s(".reg .b32 %r<10>; mov.b32 %r3, 1;");
  CHECK(s.slot("%r0") == kNoSlot);
  CHECK(s.slot("%r3") == 0);
  CHECK(s.function.num_slots == 1);
}

TEST_CASE("a guarded write keeps the old value alive") {
  const Sample s(
      ".reg .b32 a, t; .reg .pred p; mov.b32 a, 1; mov.b32 t, 2; st.shared.b32 [0], t; @p mov.b32 a, 3; "
      "st.shared.b32 [0], a;");
  CHECK(s.slot("a") != s.slot("t"));
}

TEST_CASE("a value carried round a loop keeps its slot throughout") {
  const Sample s(
      ".reg .b32 a, t; .reg .pred p; mov.b32 a, 1; L: st.shared.b32 [0], a; mov.b32 t, 2; st.shared.b32 [0], "
      "t; @p bra L;");
  CHECK(s.slot("a") != s.slot("t"));
}

TEST_CASE("the destination of tcgen05.ld is kept until the load has landed") {
  const std::string load = ".reg .b32 a, b, t, u; tcgen05.ld.sync.aligned.32x32b.x2.b32 {a, b}, [0];";
  SECTION("up to the next wait, even when nobody reads it") {
    const Sample s(load +
                   "mov.b32 t, 1; st.shared.b32 [0], t; tcgen05.wait::ld.sync.aligned; mov.b32 u, 1; "
                   "st.shared.b32 [0], u;");
    CHECK(s.slot("t") != s.slot("a"));
    CHECK(s.slot("t") != s.slot("b"));
    CHECK(s.slot("u") <= 1);  // afterwards the slots are free
  }
  SECTION("on every path to a wait") {
    const Sample s(load +
                   ".reg .pred p;"
                   "@p bra L; tcgen05.wait::ld.sync.aligned; L: mov.b32 t, 1; st.shared.b32 [0], t; "
                   "tcgen05.wait::ld.sync.aligned;");
    CHECK(s.slot("t") != s.slot("a"));
    CHECK(s.slot("t") != s.slot("b"));
  }
  SECTION("round a loop") {
    const Sample s(
        ".reg .pred p; .reg .b32 a, b, t; L: mov.b32 t, 1; st.shared.b32 [0], t; "
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {a, b}, [0]; @p bra L;");
    CHECK(s.slot("t") != s.slot("a"));
    CHECK(s.slot("t") != s.slot("b"));
  }
  SECTION("to the end of the function when there is no wait") {
    const Sample s(load + "mov.b32 t, 1; st.shared.b32 [0], t;");
    CHECK(s.slot("t") >= 2);
  }
  SECTION("a guarded wait may not happen") {
    const Sample s(load +
                   ".reg .pred p;"
                   "@p tcgen05.wait::ld.sync.aligned; mov.b32 t, 1; st.shared.b32 [0], t;");
    CHECK(s.slot("t") >= 2);
  }
}

TEST_CASE("an unknown instruction kills nothing") {
  const Sample s(
      ".reg .b32 a, t; mov.b32 a, 1; mov.b32 t, 2; st.shared.b32 [0], t; strange.op a, 3; st.shared.b32 [0], "
      "a;");
  CHECK(s.slot("a") != s.slot("t"));
}

TEST_CASE("no two registers share a slot while both are needed, in programs nvcc made") {
  for (const char* name : {"features.ptx", "features_lineinfo.ptx", "debug.ptx", "link_main.ptx"}) {
    const Module module = Module::parse(read_data(name), name);
    for (const FunctionInfo& info : module.functions()) {
      if (!info.is_defined) continue;
      INFO(name << " " << info.name);
      CHECK(find_conflict(module.function(info.name)) == "");
    }
  }
}

TEST_CASE("no two registers share a slot while both are needed, in random programs") {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    const std::string body = random_body(random);
    INFO(body);
    REQUIRE(find_conflict(Sample(body).function) == "");
  }
}
