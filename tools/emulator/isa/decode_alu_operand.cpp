// Operands of register-to-register instructions, and of the registers in all the others.
#include <bit>

#include <fmt/format.h>

#include "isa/decode_alu.h"
#include "memory/address_space.h"

namespace emu::isa {

int register_bits(ptx::RegClass reg_class) {
  switch (reg_class) {
    case ptx::RegClass::Pred:
      return 1;
    case ptx::RegClass::B16:
      return 16;
    case ptx::RegClass::B32:
      return 32;
    case ptx::RegClass::B64:
      return 64;
    case ptx::RegClass::B128:
      return 128;
  }
  return 0;
}

Ref register_ref(const ptx::Function& function, int32_t reg, ptx::RegClass reg_class) {
  const uint32_t slot = function.slot_of_register[static_cast<size_t>(reg)];
  return reg_class == ptx::RegClass::Pred ? Ref::predicate(kFirstPredicate + slot)
                                          : Ref::make(Base::Registers, kFirstSlot + slot);
}

namespace {

int type_bits(OperandType type) {
  switch (type) {
    case OperandType::B16:
      return 16;
    case OperandType::B32:
    case OperandType::F32:
      return 32;
    case OperandType::B64:
    case OperandType::F64:
      return 64;
    case OperandType::B128:
      return 128;
    case OperandType::Predicate:
      return 1;
  }
  return 0;
}

std::string width_error(const ptx::Function& function, const ptx::Operand& operand, int expected) {
  const std::string& name = function.registers[static_cast<size_t>(operand.reg)].name;
  const int actual = register_bits(operand.reg_class);
  if (actual == 1) return fmt::format("{} is a predicate where {} bits are expected", name, expected);
  if (expected == 1) return fmt::format("{} has {} bits where a predicate is expected", name, actual);
  return fmt::format("{} has {} bits where {} are expected", name, actual, expected);
}

bool decode_immediate(const ptx::Operand& operand, OperandType type, ConstantPool& constants, Ref& out,
                      std::string& error) {
  const auto value = static_cast<uint64_t>(operand.immediate);
  const bool is_integer = operand.kind == ptx::OperandKind::ImmediateInt;
  const bool is_f32 = operand.kind == ptx::OperandKind::ImmediateF32;
  const double as_double = is_f32 ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value)))
                                  : std::bit_cast<double>(value);
  switch (type) {
    case OperandType::Predicate:
      out = Ref::predicate(value != 0 ? kTruePredicate : kFalsePredicate);
      return true;
    case OperandType::B16:
      if (!is_integer) break;
      out = constants.b32(static_cast<uint16_t>(value));
      return true;
    case OperandType::B32:
    case OperandType::F32:
      // A decimal constant is a double that the instruction's type rounds.
      out = constants.b32(is_integer || is_f32 ? static_cast<uint32_t>(value)
                                               : std::bit_cast<uint32_t>(static_cast<float>(as_double)));
      return true;
    case OperandType::B64:
    case OperandType::F64:
      out = constants.b64(is_f32 ? std::bit_cast<uint64_t>(as_double) : value);
      return true;
    case OperandType::B128:
      break;
  }
  error = fmt::format("constant {} cannot stand for a {}-bit operand",
                      is_integer ? fmt::format("{}", operand.immediate) : fmt::format("{}", as_double),
                      type_bits(type));
  return false;
}

}  // namespace

bool reserved_shared_offset(const ptx::Operand& operand, uint32_t& offset) {
  using ptx::SpecialRegister;
  switch (operand.special) {
    case SpecialRegister::ReservedSmemOffsetBegin:
      return offset = 0, true;
    case SpecialRegister::ReservedSmemOffsetEnd:
    case SpecialRegister::ReservedSmemOffsetCap:
      return offset = memory::kSharedReservedBytes, true;
    case SpecialRegister::ReservedSmemOffset:
      return offset = operand.special_number == 1 ? memory::kSharedScratchBegin : 0, true;
    default:
      return false;
  }
}

bool special_slot(const ptx::Operand& operand, SpecialSlot& out) {
  using ptx::SpecialRegister;
  auto component = [&](SpecialSlot first) {
    if (operand.component > 2) return false;
    out = static_cast<SpecialSlot>(static_cast<uint32_t>(first) + operand.component);
    return true;
  };
  auto single = [&](SpecialSlot slot) {
    out = slot;
    return true;
  };
  switch (operand.special) {
    case SpecialRegister::Tid:
      return component(SpecialSlot::TidX);
    case SpecialRegister::Ntid:
      return component(SpecialSlot::NtidX);
    case SpecialRegister::Ctaid:
      return component(SpecialSlot::CtaidX);
    case SpecialRegister::Nctaid:
      return component(SpecialSlot::NctaidX);
    case SpecialRegister::Clusterid:
      return component(SpecialSlot::ClusterIdX);
    case SpecialRegister::Nclusterid:
      return component(SpecialSlot::NclusterIdX);
    case SpecialRegister::ClusterCtaid:
      return component(SpecialSlot::ClusterCtaidX);
    case SpecialRegister::ClusterNctaid:
      return component(SpecialSlot::ClusterNctaidX);
    case SpecialRegister::Laneid:
      return single(SpecialSlot::LaneId);
    case SpecialRegister::Warpid:
      return single(SpecialSlot::WarpId);
    case SpecialRegister::Nwarpid:
      return single(SpecialSlot::NwarpId);
    case SpecialRegister::Smid:
      return single(SpecialSlot::SmId);
    case SpecialRegister::Nsmid:
      return single(SpecialSlot::NsmId);
    case SpecialRegister::Gridid:
      return single(SpecialSlot::GridId);
    case SpecialRegister::LanemaskEq:
      return single(SpecialSlot::LanemaskEq);
    case SpecialRegister::LanemaskLt:
      return single(SpecialSlot::LanemaskLt);
    case SpecialRegister::LanemaskLe:
      return single(SpecialSlot::LanemaskLe);
    case SpecialRegister::LanemaskGt:
      return single(SpecialSlot::LanemaskGt);
    case SpecialRegister::LanemaskGe:
      return single(SpecialSlot::LanemaskGe);
    case SpecialRegister::ClusterCtarank:
      return single(SpecialSlot::ClusterCtarank);
    case SpecialRegister::ClusterNctarank:
      return single(SpecialSlot::ClusterNctarank);
    case SpecialRegister::DynamicSmemSize:
      return single(SpecialSlot::DynamicSmemSize);
    case SpecialRegister::TotalSmemSize:
      return single(SpecialSlot::TotalSmemSize);
    case SpecialRegister::Envreg:
      if (operand.special_number > 2) return false;
      out = static_cast<SpecialSlot>(static_cast<uint32_t>(SpecialSlot::Envreg0) + operand.special_number);
      return true;
    default:
      return false;
  }
}

bool decode_source(const ptx::Function& function, const ptx::Operand& operand, OperandType type,
                   ConstantPool& constants, Ref& out, bool* negated, std::string& error) {
  switch (operand.kind) {
    case ptx::OperandKind::Register:
      if (register_bits(operand.reg_class) != type_bits(type)) {
        error = width_error(function, operand, type_bits(type));
        return false;
      }
      if (operand.negated && negated == nullptr) {
        error = "a negated predicate cannot be read here";
        return false;
      }
      if (negated != nullptr) *negated = operand.negated;
      out = register_ref(function, operand.reg, operand.reg_class);
      return true;
    case ptx::OperandKind::ImmediateInt:
    case ptx::OperandKind::ImmediateF32:
    case ptx::OperandKind::ImmediateF64:
      return decode_immediate(operand, type, constants, out, error);
    case ptx::OperandKind::Special: {
      if (uint32_t offset; reserved_shared_offset(operand, offset)) {
        if (type_bits(type) != 32) {
          error = "an offset of reserved shared memory has 32 bits";
          return false;
        }
        out = constants.b32(offset);
        return true;
      }
      SpecialSlot slot;
      if (!special_slot(operand, slot)) {
        error = fmt::format("special register {} is not constant during a warp's life",
                            ptx::special_register_name(operand.special));
        return false;
      }
      if ((slot == SpecialSlot::GridId ? 64 : 32) < type_bits(type) || type == OperandType::Predicate ||
          (slot == SpecialSlot::GridId && type_bits(type) != 64)) {
        error = fmt::format("special register {} cannot be read with {} bits",
                            ptx::special_register_name(operand.special), type_bits(type));
        return false;
      }
      out = Ref::make(Base::Special, static_cast<uint32_t>(slot));
      return true;
    }
    default:
      error = "expected a register or a constant";
      return false;
  }
}

bool decode_destination(const ptx::Function& function, const ptx::Operand& operand, OperandType type,
                        Ref& out, std::string& error) {
  if (operand.kind == ptx::OperandKind::Sink) {
    out = type == OperandType::Predicate ? Ref::predicate(kSinkPredicate)
                                         : Ref::make(Base::Registers, kSinkSlot);
    return true;
  }
  if (operand.kind != ptx::OperandKind::Register) {
    error = "expected a register as destination";
    return false;
  }
  if (register_bits(operand.reg_class) != type_bits(type)) {
    error = width_error(function, operand, type_bits(type));
    return false;
  }
  out = register_ref(function, operand.reg, operand.reg_class);
  return true;
}

void decode_guard(const ptx::Function& function, const ptx::Instruction& instruction, Instr& out) {
  out.guard = instruction.guard < 0
                  ? static_cast<uint16_t>(kTruePredicate)
                  : static_cast<uint16_t>(register_ref(function, instruction.guard, ptx::RegClass::Pred).raw);
  out.guard_negated = instruction.guard >= 0 && instruction.guard_negated;
  out.join = instruction.is_join;
}

}  // namespace emu::isa
