// Properties of every supported form.
#include <map>
#include <set>

#include "isa/alu_form_index.h"
#include "isa/test/random_lanes.h"
#include "testing/catch.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {

// An instruction of the form, each operand a register of its own.
std::string text_of(const std::string& opcode, std::string_view operands) {
  std::map<char, int> next;
  auto width_letter = [&](bool destination) {
    const size_t last = opcode.rfind('.');
    const size_t before = opcode.rfind('.', last - 1);
    const std::string type =
        destination ? opcode.substr(before + 1, last - before - 1) : opcode.substr(last + 1);
    return type == "u64" || type == "s64" ? 'l' : type == "u32" || type == "s32" ? 'w' : 'h';
  };
  auto reg = [&](char letter, bool destination) {
    if (letter == 'D' || letter == 'S') letter = width_letter(destination);
    if (letter == 'H') letter = 'h';
    static const std::map<char, const char*> kNames = {{'h', "%h"},  {'w', "%r"}, {'f', "%f"}, {'l', "%rd"},
                                                       {'d', "%fd"}, {'q', "%q"}, {'p', "%p"}};
    return fmt::format("{}{}", kNames.at(letter), next[letter]++);
  };
  std::string text;
  bool destination = true;
  for (char c : operands) {
    if (c == '=') {
      destination = false;
      text += operands.back() == '=' ? "" : ",";
    } else if (c == ',' || c == '{' || c == '}' || c == '|') {
      text += c;
    } else {
      if (!text.empty() && text.back() != ',' && text.back() != '{' && text.back() != '|') text += ',';
      text += reg(c, destination);
    }
  }
  return fmt::format("{} {};", opcode, text);
}

void randomize(Warp& warp) {
  for (uint32_t& word : warp.registers()) word = random_word();
  for (size_t i = kFirstPredicate; i < warp.predicates().size(); ++i) warp.predicates()[i] = random_word();
  warp.carry() = random_word();
  // The member mask and lop3's table are the same in every lane.
  const Instr& instr = warp.code().front();
  if (instr.member_source >= 0)
    for (int lane = 0; lane < kLanes; ++lane)
      warp.file().at<uint32_t>(instr.src[instr.member_source])[lane] = ~0u;
}

struct State {
  std::vector<uint32_t> registers, predicates;
  explicit State(Warp& warp) : registers(warp.registers()), predicates(warp.predicates()) {
    // Scratch for sinks may hold anything.
    std::fill(registers.begin(), registers.begin() + kFirstSlot * kLanes, 0);
    predicates[kSinkPredicate] = 0;
  }
  void restore(Warp& warp) const { warp.registers() = registers, warp.predicates() = predicates; }
};

}  // namespace

TEST_CASE("every form decodes from its own text and leaves inactive lanes alone") {
  const auto forms = supported_alu_forms();
  REQUIRE(forms.size() > 4000);
  for (const FormInfo& form : forms) {
    INFO(form.opcode << " " << form.operands);
    Warp warp(text_of(form.opcode, form.operands));
    REQUIRE(warp.code().size() == 1);
    REQUIRE(warp.code()[0].kind == form.kind);
    randomize(warp);
    const State before(warp);
    before.restore(warp);

    warp.run(0);
    const State untouched(warp);
    REQUIRE(untouched.registers == before.registers);
    REQUIRE(untouched.predicates == before.predicates);

    // Lanes write their own words only: with half the lanes active, the rest of every word and predicate
    // stays; a lane-by-lane form gives the active lanes what all lanes together get.
    const LaneMask mask = 0x5a0ff0c3;
    warp.run(~0u);
    const State full(warp);
    before.restore(warp);
    warp.run(mask);
    const State partial(warp);
    for (size_t i = 0; i < full.predicates.size(); ++i) {
      REQUIRE((partial.predicates[i] & ~mask) == (before.predicates[i] & ~mask));
      if (form.kind == Kind::Alu && form.opcode.find("vote") == std::string::npos)
        REQUIRE((partial.predicates[i] & mask) == (full.predicates[i] & mask));
    }
    // The width of a destination decides which words belong to a lane, so the words that changed must belong
    // to active lanes under one of the widths.
    for (size_t slot = kFirstSlot; slot < full.registers.size() / kLanes; slot += 4) {
      const uint32_t* was = before.registers.data() + slot * kLanes;
      const uint32_t* now = partial.registers.data() + slot * kLanes;
      bool fits32 = true, fits64 = true, fits128 = true;
      for (int word = 0; word < 4 * kLanes; ++word) {
        if (was[word] == now[word]) continue;
        fits32 &= word < kLanes && (mask >> word & 1);
        fits64 &= word < 2 * kLanes && (mask >> (word / 2) & 1);
        fits128 &= (mask >> (word / 4) & 1);
      }
      REQUIRE((fits32 || fits64 || fits128));
    }
  }
}

TEST_CASE("the AVX2 routines compute what the AVX-512 routines compute") {
  if (!__builtin_cpu_supports("avx512bw")) return;
  const FormIndex wide(true), narrow(false);
  std::map<AluFn, AluFn> other;
  REQUIRE(wide.listing().size() == narrow.listing().size());
  for (size_t i = 0; i < wide.listing().size(); ++i) {
    const AluForm& a = *wide.listing()[i].row->form;
    const AluForm& b = *narrow.listing()[i].row->form;
    REQUIRE(a.function_count == b.function_count);
    for (uint32_t n = 0; n < a.function_count; ++n)
      other[a.functions[n]] = b.functions[n], other[b.functions[n]] = a.functions[n];
  }
  for (const FormInfo& form : supported_alu_forms()) {
    INFO(form.opcode << " " << form.operands);
    Warp warp(text_of(form.opcode, form.operands));
    randomize(warp);
    const State before(warp);
    before.restore(warp);
    warp.run(0xfff0ffff);
    const State one(warp);
    before.restore(warp);
    warp.code()[0].alu = other.at(warp.code()[0].alu);
    warp.run(0xfff0ffff);
    const State two(warp);
    REQUIRE(one.registers == two.registers);
    REQUIRE(one.predicates == two.predicates);
  }
}

TEST_CASE("no form is listed twice with the same operands") {
  std::set<std::pair<std::string, std::string>> seen;
  int repeated = 0;
  for (const FormInfo& form : supported_alu_forms())
    repeated += seen.insert({form.opcode, form.operands}).second ? 0 : 1;
  CHECK(repeated == 0);
}
