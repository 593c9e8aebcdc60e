// Short ways to a parsed body and to what a test asks of it.
#pragma once
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ptx/module.h"

namespace emu::ptx::test {

inline const std::string kHeader = ".version 9.0\n.target sm_100a\n.address_size 64\n";

// A module with one entry, `k`, and its parsed body.
struct Sample {
  explicit Sample(const std::string& body, const std::string& before = "")
      : module(Module::parse(kHeader + before + "\n.visible .entry k(.param .u64 a, .param .u32 n)\n{\n" +
                             body + "\n}\n")),
        function(module.function("k")) {}

  const Instruction& at(size_t index) const { return function.instructions.at(index); }
  const Operand& operand(size_t instruction, size_t index) const {
    return function.operands_of(at(instruction))[index];
  }
  std::string text(const Operand& operand) const { return to_string(function, operand); }
  std::string text(size_t instruction) const { return to_string(module, function, at(instruction)); }
  uint32_t slot(const std::string& name) const { return function.slot_of_register[reg(name)]; }
  int32_t reg(const std::string& name) const {
    for (size_t i = 0; i < function.registers.size(); ++i)
      if (function.registers[i].name == name) return static_cast<int32_t>(i);
    throw std::out_of_range(name);
  }
  // Index of the first instruction whose opcode starts with `opcode`.
  int32_t find(const std::string& opcode) const {
    for (size_t i = 0; i < function.instructions.size(); ++i)
      if (function.instructions[i].opcode.starts_with(opcode)) return static_cast<int32_t>(i);
    throw std::out_of_range(opcode);
  }

  Module module;
  const Function& function;
};

inline std::string read_data(const std::string& name) {
  std::ifstream file(std::string(PTX_TEST_DATA) + "/" + name);
  if (!file) throw std::runtime_error("cannot read test data " + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The error a body or a whole module gives, or an empty one when it parses.
inline std::string body_error(const std::string& body) {
  try {
    Sample sample(body);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

inline std::string module_error(const std::string& text) {
  try {
    const Module module = Module::parse(text);
    for (const FunctionInfo& info : module.functions())
      if (info.is_defined) module.function(info.name);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace emu::ptx::test
