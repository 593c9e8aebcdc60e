// The rules a tcgen05.mma must keep before anything is read. PTX ISA 9.7.16.10.
#include <fmt/format.h>

#include "units/block_scale.h"
#include "units/mma_layout.h"
#include "units/sparse_operand.h"
#include "units/tensor_core.h"
#include "units/zero_columns.h"

namespace emu::units {
namespace {

void check_tmem(std::vector<std::string>& problems, const MmaOperation& op, const InstructionDescriptor& d,
                std::uint32_t address, int columns, const char* what) {
  try {
    const TmemAddress at = decode_tmem_address(address);
    if (at.column + columns > kTmemColumns) {
      problems.push_back(fmt::format("{} at column {} needs {} columns and runs past the last, 511", what,
                                     at.column, columns));
    }
    const bool may_be_16 = half_lanes(d, op);
    if (at.lane != 0 && !(may_be_16 && at.lane == 16)) {
      problems.push_back(fmt::format("{} at lane {}: M = {} with cta_group::{}{} wants lane 0{}", what,
                                     at.lane, d.m, op.cta_group, op.weight_stationary ? ".ws" : "",
                                     may_be_16 ? " or 16" : ""));
    }
  } catch (const TensorError& error) {
    problems.push_back(fmt::format("{}: {}", what, error.what()));
  }
}

void check_layout(std::vector<std::string>& problems, const DecodedDescriptor& decoded, Major major,
                  ElementType type, const char* what) {
  for (const std::string& problem : decoded.illegal) {
    problems.push_back(fmt::format("operand {}: {}", what, problem));
  }
  if (type == ElementType::Invalid) {
    return;
  }
  if (std::string p = layout_problem(major, decoded.descriptor.swizzle, element_bits(type)); !p.empty()) {
    problems.push_back(fmt::format("operand {}: {}", what, p));
  }
}

void check_unsupported(std::vector<std::string>& problems, const MmaOperation& op) {
  if (op.a_shift) {
    problems.push_back(".ashift is not implemented");
  }
  if (op.weight_stationary && (op.cta_group != 1 || is_block_scaled(op.kind))) {
    problems.push_back(fmt::format("tcgen05.mma.ws does not exist for cta_group::{} and kind::{}",
                                   op.cta_group, name(op.kind)));
  }
  if (op.sparse && is_block_scaled(op.kind)) {
    problems.push_back(fmt::format(".sp is not implemented for kind::{}", name(op.kind)));
  }
  if (op.zero_columns && !op.weight_stationary) {
    problems.push_back("a zero-column mask exists for tcgen05.mma.ws only");
  }
  if (op.cta_group != 1 && op.cta_group != 2) {
    problems.push_back(fmt::format("cta_group::{} does not exist; use 1 or 2", op.cta_group));
  }
  if (op.scale_d_shift < 0 || op.scale_d_shift > 15) {
    problems.push_back(fmt::format("scale-input-d {} is not in 0..15", op.scale_d_shift));
  }
  if (op.scale_d_shift != 0 && op.kind != MmaKind::F16 && op.kind != MmaKind::TF32) {
    problems.push_back(fmt::format("scale-input-d exists for kinds f16 and tf32, not {}", name(op.kind)));
  }
}

void check_tmem_operand(std::vector<std::string>& problems, const MmaOperation& op,
                        const InstructionDescriptor& d) {
  check_tmem(problems, op, d, op.a_address, kOperandColumns, "operand A in tensor memory");
  const auto lane_of = [](std::uint32_t address) { return (address >> 16) % kTmemLanes; };
  if (half_lanes(d, op) && lane_of(op.a_address) != lane_of(op.d_address)) {
    problems.push_back(
        fmt::format("M = {}: operand A at lane {} and D at lane {} must start at the same lane, 0 or 16", d.m,
                    lane_of(op.a_address), lane_of(op.d_address)));
  }
}

}  // namespace

std::vector<std::string> mma_problems(const MmaOperation& op) {
  std::vector<std::string> problems;
  check_unsupported(problems, op);
  if (!problems.empty()) {
    return problems;
  }
  const auto [d, illegal] = decode_instruction_descriptor(op.instruction_descriptor, op.kind, op.cta_group,
                                                          op.a_in_tmem, op.weight_stationary, op.sparse);
  problems = illegal;
  if (!illegal.empty()) {
    return problems;  // what follows would only repeat them
  }
  if (d.d_type == AccumulatorType::F16 && op.scale_d_shift != 0) {
    problems.push_back("scale-input-d with an f16 accumulator is not implemented");
  }
  check_tmem(problems, op, d, op.d_address, accumulator_columns(d, op), "accumulator D");
  if (op.a_in_tmem) {
    check_tmem_operand(problems, op, d);
  } else {
    check_layout(problems, decode_smem_descriptor(op.a_descriptor), d.a_major, d.a_type, "A");
  }
  check_layout(problems, decode_smem_descriptor(op.b_descriptor), d.b_major, d.b_type, "B");
  if (op.sparse) {
    if (std::string p = metadata_problem(op); !p.empty()) problems.push_back(std::move(p));
  }
  if (is_block_scaled(op.kind)) {
    const auto broken = scale_problems(op, d);
    problems.insert(problems.end(), broken.begin(), broken.end());
  }
  if (std::string p = zero_columns_problem(op.zero_columns, d.m, d.max_b_shift); !p.empty()) {
    problems.push_back(std::move(p));
  }
  return problems;
}

}  // namespace emu::units
