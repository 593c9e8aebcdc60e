// A parsed function body and everything declared with it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/instruction.h"

namespace emu::ptx {

enum class Linkage : uint8_t { Internal, Visible, Extern, Weak, Common };

// One formal parameter or return parameter.
struct Parameter {
  std::string name;
  uint32_t element_bytes = 0;  // width of the declared type: 8 for .u64, 1 for .b8
  uint32_t align = 1;          // bytes
  uint32_t size = 0;           // bytes
  uint32_t offset = 0;      // bytes; entry: in the launch parameter block; .func: in the call-parameter frame
  bool is_pointer = false;  // .ptr
  Space pointer_space = Space::Generic;
  int32_t reg = -1;  // .reg parameter of a .func: its virtual register
};

// Part of an initialiser that names a symbol: (address & mask) >> shift is stored in `bytes` bytes.
struct Relocation {
  uint64_t offset = 0;  // in the variable
  uint32_t bytes = 8;
  std::string symbol;
  int64_t addend = 0;
  bool generic = false;  // generic(symbol): address converted to generic
  uint64_t mask = ~0ull;
  uint32_t shift = 0;
};

// A variable at module scope or inside a body.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Linkage linkage = Linkage::Internal;
  uint32_t element_bytes = 1;
  uint32_t align = 1;                  // bytes
  uint64_t size = 0;                   // bytes; 0 for an unsized extern array
  bool unsized = false;                // name[]: dynamic shared memory
  bool managed = false;                // .attribute(.managed)
  std::vector<uint8_t> initial_bytes;  // leading bytes; the rest of `size` is zero. Empty without initialiser
  bool has_initializer = false;
  std::vector<Relocation> relocations;
  uint64_t offset = 0;  // in-body: bytes from the start of the function's block of that space
};

enum class SymbolKind : uint8_t { ModuleVariable, Function, Parameter, ReturnParameter, LocalVariable };

// What the symbol operands of a function refer to; resolve each once per launch, then index by
// Operand::symbol.
struct SymbolRef {
  SymbolKind kind;
  uint32_t index;  // Module::variables(), Module::functions(), Function::params, ::returns or ::variables
  std::string name;
};

struct SourceLocation {
  uint32_t file = 0;  // number in Module::files()
  uint32_t line = 0;
  uint32_t column = 0;
  std::string function;     // function_name, a label of .debug_str; see Module::debug_string()
  int32_t inlined_at = -1;  // index into Function::locations of the call site
};

// Launch bounds and cluster shape given in the text; 0 = absent.
struct Directives {
  std::array<uint32_t, 3> maxntid{};
  std::array<uint32_t, 3> reqntid{};
  uint32_t minnctapersm = 0;
  uint32_t maxnreg = 0;
  std::array<uint32_t, 3> reqnctapercluster{};
  uint32_t maxclusterrank = 0;
  bool explicitcluster = false;
  bool blocksareclusters = false;
  bool noreturn = false;
};

struct Prototype {
  std::string name;
  std::vector<Parameter> returns;
  std::vector<Parameter> params;
};

struct RegisterInfo {
  std::string name;
  RegClass reg_class;
};

inline constexpr uint32_t kNoSlot = 0xFFFFFFFFu;  // a register no instruction names

struct Function {
  std::string name;
  bool is_entry = false;
  Linkage linkage = Linkage::Internal;
  Directives directives;
  std::vector<Parameter> params;
  std::vector<Parameter> returns;
  uint32_t param_bytes = 0;  // entry: size of the launch parameter block
  uint32_t param_align = 1;

  std::vector<Variable>
      variables;              // declared in the body: .shared, .local, call-scope .param, .global, .const
  uint64_t shared_bytes = 0;  // block sizes per space, for `Variable::offset`
  uint64_t local_bytes = 0;
  uint64_t call_param_bytes = 0;  // per-thread frame of in-body .param, and of a .func's own parameters
  uint32_t shared_align = 1;
  uint32_t local_align = 1;
  uint32_t call_param_align = 1;

  std::vector<Instruction> instructions;  // never empty; the last one never falls through
  std::vector<Operand> operands;          // pool
  std::vector<SymbolRef> symbols;
  std::vector<SourceLocation> locations;
  std::vector<Prototype> prototypes;
  std::vector<std::vector<uint32_t>> branch_tables;  // instruction indices
  std::vector<std::vector<uint32_t>> call_targets;   // indices into `symbols`

  std::vector<RegisterInfo> registers;     // virtual registers, all scopes
  std::vector<uint32_t> slot_of_register;  // 32-bit slot in the thread's register file (B64 even, B128 a
                                           // multiple of 4); for predicates an index into the predicate file
  uint32_t num_slots = 0;
  uint32_t num_predicates = 0;

  std::span<const Operand> operands_of(const Instruction& instruction) const {
    return {operands.data() + instruction.first_operand, instruction.num_operands};
  }
  // Elements of a Vector, coordinates of a TensorAddress. `call` always has four operands:
  // Vector of returns, Symbol or Register, Vector of arguments, None | Prototype | CallTargets.
  std::span<const Operand> elements_of(const Operand& operand) const {
    return {operands.data() + operand.first, operand.count};
  }
};

}  // namespace emu::ptx
