// Control flow, addresses, calls, clocks: PTX ISA 9.7.12, 9.7.9.20 (cvta), 10.
#include <fmt/format.h>

#include "gpu/decode.h"

namespace emu::gpu {

namespace {

using timing::CostClass;

bool decode_branch(DecodeContext& c) {
  if (c.head() == "bra") {
    c.take("uni");
    c.finish();
    c.set(Op::Branch, CostClass::Branch);
    c.out.aux = static_cast<uint32_t>(c.instruction.target);
    return true;
  }
  c.take("idx");
  c.take("uni");
  c.finish();
  c.set(Op::BranchTable, CostClass::Branch);
  Detail& d = c.detail();
  c.out.src[0] = c.source(0, isa::OperandType::B32);
  d.targets = c.function.branch_tables.at(static_cast<size_t>(c.operand(1).symbol));
  return true;
}

// Where a call's .param operand lies in the caller's frame.
void frame_slots(DecodeContext& c, const ptx::Operand& list, std::vector<int64_t>& offsets,
                 std::vector<uint32_t>& sizes) {
  for (const ptx::Operand& element : c.function.elements_of(list)) {
    if (element.kind != ptx::OperandKind::Symbol) {
      throw DecodeError{
          "call arguments that are registers or immediates are not supported, only .param variables"};
    }
    ptx::Space space = ptx::Space::Local;
    const AddressOperand address = c.symbol_address(element, &space);
    if (address.symbol != SymbolBase::Frame) throw DecodeError{"a call argument does not lie in the frame"};
    const ptx::SymbolRef& symbol = c.function.symbols.at(static_cast<size_t>(element.symbol));
    uint64_t size = 0;
    if (symbol.kind == ptx::SymbolKind::LocalVariable) size = c.function.variables.at(symbol.index).size;
    if (symbol.kind == ptx::SymbolKind::Parameter) size = c.function.params.at(symbol.index).size;
    if (symbol.kind == ptx::SymbolKind::ReturnParameter) size = c.function.returns.at(symbol.index).size;
    offsets.push_back(address.offset);
    sizes.push_back(static_cast<uint32_t>(size));
  }
}

bool decode_call(DecodeContext& c) {
  c.take("uni");
  c.finish();
  c.set(Op::Call, CostClass::Call);
  Detail& d = c.detail();
  frame_slots(c, c.operand(0), d.result_offsets, d.result_sizes);
  frame_slots(c, c.operand(2), d.argument_offsets, d.argument_sizes);
  const ptx::Operand& callee = c.operand(1);
  if (callee.kind == ptx::OperandKind::Register) {
    c.out.src[0] = c.source(1, isa::OperandType::B64);
    d.flag = true;  // indirect
    return true;
  }
  d.name = c.function.symbols.at(static_cast<size_t>(callee.symbol)).name;
  const auto site = c.kernel.module->linked->function(c.program.module_index, d.name);
  if (site.function && site.function->is_defined) {
    d.callee = program_of(c.kernel, site.module, site.function);
    return true;
  }
  static constexpr std::string_view kBuiltins[] = {"vprintf", "__assertfail", "malloc", "free"};
  for (std::string_view builtin : kBuiltins) {
    if (d.name == builtin) return true;
  }
  throw DecodeError{
      fmt::format("function {} is declared but not defined, and is no built-in of the emulator", d.name)};
}

bool decode_move(DecodeContext& c) {
  if (c.operand_count() != 2) return false;
  const ptx::Operand& value = c.operand(1);
  const bool wide =
      c.operand(0).kind == ptx::OperandKind::Register && c.operand(0).reg_class == ptx::RegClass::B64;
  if (value.kind == ptx::OperandKind::Symbol) {
    c.set(Op::MoveAddress, CostClass::Free);
    Detail& d = c.detail();
    d.address = c.symbol_address(value, &d.space);
    d.bytes = wide ? 8 : 4;
    c.out.dst[0] = c.destination(0, wide ? isa::OperandType::B64 : isa::OperandType::B32);
    return true;
  }
  if (value.kind != ptx::OperandKind::Special) return false;
  using S = ptx::SpecialRegister;
  switch (value.special) {
    case S::Clock:
    case S::ClockHi:
    case S::Clock64:
    case S::Globaltimer:
    case S::GlobaltimerLo:
    case S::GlobaltimerHi:
      break;
    case S::IsExplicitCluster:
      c.set(Op::ExplicitCluster, CostClass::Special);
      c.out.dst[0] = c.destination(0, isa::OperandType::Predicate);
      return true;
    default:
      return false;
  }
  c.set(Op::Clock, CostClass::Special);
  Detail& d = c.detail();
  d.variant = static_cast<uint8_t>(value.special);
  d.bytes = wide ? 8 : 4;
  c.out.dst[0] = c.destination(0, wide ? isa::OperandType::B64 : isa::OperandType::B32);
  return true;
}

ptx::Space space_token(std::string_view token) {
  if (token == "global") return ptx::Space::Global;
  if (token == "shared" || token == "shared::cta" || token == "shared::cluster") return ptx::Space::Shared;
  if (token == "local") return ptx::Space::Local;
  if (token == "const") return ptx::Space::Const;
  if (token == "param" || token == "param::entry" || token == "param::func") return ptx::Space::Param;
  throw DecodeError{fmt::format("state space .{} is not supported", token)};
}

bool decode_cvta(DecodeContext& c) {
  c.set(Op::ConvertAddress, CostClass::Free);
  Detail& d = c.detail();
  d.flag = c.take("to");
  const bool wide = !c.take("u32") && c.take("u64");
  d.space = space_token(c.next());
  c.finish();
  d.bytes = wide ? 8 : 4;
  const isa::OperandType type = wide ? isa::OperandType::B64 : isa::OperandType::B32;
  c.out.dst[0] = c.destination(0, type);
  if (c.operand(1).kind == ptx::OperandKind::Symbol) {
    d.address = c.symbol_address(c.operand(1), &d.space2);
    d.flag2 = true;  // the source is a symbol
  } else {
    c.out.src[0] = c.source(1, type);
  }
  return true;
}

bool decode_isspacep(DecodeContext& c) {
  c.set(Op::IsSpace, CostClass::Alu);
  Detail& d = c.detail();
  const std::string_view token = c.next();
  d.space = space_token(token);
  d.cluster_scope = token == "shared::cluster";
  c.finish();
  c.out.dst[0] = c.destination(0, isa::OperandType::Predicate);
  uint8_t width = 8;
  c.out.src[0] = c.source_any(1, &width, isa::OperandType::B64);
  d.bytes = width;
  return true;
}

bool decode_mapa(DecodeContext& c) {
  const bool rank_query = c.head() == "getctarank";
  c.set(rank_query ? Op::CtaRank : Op::MapShared, CostClass::Alu);
  Detail& d = c.detail();
  d.flag = c.take("shared::cluster");
  const bool wide = !c.take("u32") && c.take("u64");
  c.finish();
  d.bytes = wide ? 8 : 4;
  const isa::OperandType type = wide ? isa::OperandType::B64 : isa::OperandType::B32;
  c.out.dst[0] = c.destination(0, rank_query ? isa::OperandType::B32 : type);
  if (c.operand(1).kind == ptx::OperandKind::Symbol) {
    d.address = c.symbol_address(c.operand(1), &d.space2);
    d.flag2 = true;
  } else {
    c.out.src[0] = c.source(1, type);
  }
  if (!rank_query) c.out.src[1] = c.source(2, isa::OperandType::B32);
  return true;
}

bool simple(DecodeContext& c, Op op, CostClass cost) {
  c.finish();
  c.set(op, cost);
  return true;
}

}  // namespace

bool decode_control(DecodeContext& c) {
  const std::string& head = c.head();
  if (head == "bra" || head == "brx") return decode_branch(c);
  if (head == "call") return decode_call(c);
  if (head == "ret") {
    c.take("uni");
    return simple(c, Op::Return, CostClass::Branch);
  }
  if (head == "exit") return simple(c, Op::Exit, CostClass::Branch);
  if (head == "trap") return simple(c, Op::Trap, CostClass::Branch);
  if (head == "brkpt") return simple(c, Op::Breakpoint, CostClass::Branch);
  if (head == "mov") return decode_move(c);
  if (head == "cvta") return decode_cvta(c);
  if (head == "isspacep") return decode_isspacep(c);
  if (head == "mapa" || head == "getctarank") return decode_mapa(c);
  if (head == "nanosleep") {
    c.take("u32");
    c.out.src[0] = c.source(0, isa::OperandType::B32);
    return simple(c, Op::Nanosleep, CostClass::Sleep);
  }
  if (head == "setmaxnreg") {
    c.set(Op::SetMaxRegisters, CostClass::Alu);
    Detail& d = c.detail();
    d.flag = c.take("inc");
    c.take("dec");
    c.take("sync");
    c.take("aligned");
    c.take("u32");
    d.immediate = c.immediate(0);
    c.finish();
    return true;
  }
  if (head == "alloca") {
    c.set(Op::Alloca, CostClass::Local);
    Detail& d = c.detail();
    d.bytes = c.take("u64") ? 8 : (c.take("u32"), 4);
    const auto type = d.bytes == 8 ? isa::OperandType::B64 : isa::OperandType::B32;
    c.out.dst[0] = c.destination(0, type);
    c.out.src[0] = c.source(1, type);
    d.immediate = c.operand_count() > 2 ? c.immediate(2) : 8;
    c.finish();
    return true;
  }
  if (head == "griddepcontrol") {
    c.set(Op::GridDependency, CostClass::Fence);
    c.detail().flag = c.take("wait");
    c.take("launch_dependents");
    c.finish();
    return true;
  }
  if (head == "pmevent") return simple(c, Op::Nop, CostClass::Free);
  return false;
}

}  // namespace emu::gpu
