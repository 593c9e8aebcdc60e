// Runs PTX text on one warp without an engine: declares registers, decodes, executes.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "isa/decode_alu.h"
#include "ptx/module.h"

namespace emu::isa::test {

template <typename T>
using Lanes = std::array<T, kLanes>;

// Registers %h0-%h9 (16 bits), %r0-%r39 (32), %f0-%f19 (32), %rd0-%rd9 (64), %fd0-%fd23 (64), %q0-%q3 (128),
// %p0-%p9 are declared; each keeps a place of its own in the lane file. Throws std::runtime_error with the
// decoder's message when an instruction is refused.
class Warp {
 public:
  explicit Warp(std::string_view body)
      : module_(ptx::Module::parse(
            fmt::format(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {{\n"
                        ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n.reg "
                        ".b64 %rd<10>;\n"
                        ".reg .f64 %fd<24>;\n.reg .b128 %q<4>;\n{}\nret;\n}}\n",
                        body))),
        function_(module_.function("k")) {
    // Liveness would let a result share the slot of a dead source.
    uint32_t slots = 0, predicates = 0;
    for (size_t i = 0; i < function_.registers.size(); ++i) {
      const bool predicate = function_.registers[i].reg_class == ptx::RegClass::Pred;
      function_.slot_of_register[i] = predicate ? predicates++ : slots;
      if (!predicate) slots += 4;
    }
    registers_.resize((kFirstSlot + slots + 8) * kLanes);
    predicates_.assign(kFirstPredicate + predicates, 0);
    predicates_[kTruePredicate] = ~0u;
    special_.resize(static_cast<size_t>(SpecialSlot::Count) * kLanes + kLanes);
    for (const ptx::Instruction& instruction : function_.instructions) {
      if (instruction.opcode == "ret") continue;
      Instr decoded;
      std::string error;
      if (!decode_alu(function_, instruction, constants_, wide_, decoded, error))
        throw std::runtime_error(error.empty() ? "not an ALU form: " + std::string(instruction.opcode)
                                               : error);
      code_.push_back(decoded);
    }
  }

  // The lanes of a register as values of T: uint32_t for 16- and 32-bit registers, 64-bit types for 64.
  template <typename T>
  T* lanes(std::string_view name) {
    return file().at<T>(find(name));
  }
  template <typename T>
  void set(std::string_view name, const Lanes<T>& values) {
    std::memcpy(lanes<T>(name), values.data(), sizeof(values));
  }
  template <typename T>
  void fill(std::string_view name, T value) {
    for (int lane = 0; lane < kLanes; ++lane) lanes<T>(name)[lane] = value;
  }
  LaneMask& predicate(std::string_view name) { return predicates_[find(name).raw]; }
  LaneMask& carry() { return predicates_[kCarryPredicate]; }

  void run(LaneMask active = ~0u) {
    const LaneFile view = file();
    for (const Instr& instr : code_) {
      const LaneMask guard = predicates_[instr.guard] ^ (instr.guard_negated ? ~0u : 0u);
      instr.alu(view, instr, active & guard);
    }
  }

  std::vector<Instr>& code() { return code_; }
  std::vector<uint32_t>& registers() { return registers_; }
  std::vector<uint32_t>& predicates() { return predicates_; }
  uint32_t* special(SpecialSlot slot) { return special_.data() + static_cast<size_t>(slot) * kLanes; }
  LaneFile file() {
    return {{reinterpret_cast<std::byte*>(registers_.data()), const_cast<std::byte*>(constants_.data()),
             reinterpret_cast<std::byte*>(special_.data())},
            predicates_.data()};
  }

 private:
  Ref find(std::string_view name) const {
    for (size_t i = 0; i < function_.registers.size(); ++i)
      if (function_.registers[i].name == name)
        return register_ref(function_, static_cast<int32_t>(i), function_.registers[i].reg_class);
    throw std::runtime_error("no register " + std::string(name));
  }

  ptx::Module module_;
  ptx::Function function_;
  ConstantPool constants_;
  WideOperands wide_;
  std::vector<Instr> code_;
  std::vector<uint32_t> registers_, predicates_, special_;
};

}  // namespace emu::isa::test
