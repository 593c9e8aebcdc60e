#include "units/block_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "units/mma_arithmetic.h"
#include "units/mma_layout.h"

namespace emu::units {
namespace {

constexpr int kQuarterLanes = 32;
constexpr int kQuarters = kTmemLanes / kQuarterLanes;

ScaleShape scale_shape(const MmaOperation& op, const InstructionDescriptor& d, int first_byte) {
  ScaleShape shape;
  shape.type = d.scale_type;
  shape.blocks = op.scale_blocks;
  shape.first_byte = first_byte;
  return shape;
}

void check_id(std::vector<std::string>& problems, const char* what, int id, int blocks) {
  if (id % blocks != 0) {
    problems.push_back(fmt::format("scale factor id {} of {}: with {} factors a row it must be {}", id, what,
                                   blocks, blocks == 4 ? "0" : "0 or 2"));
  }
}

void check_address(std::vector<std::string>& problems, const char* what, std::uint32_t address, int columns) {
  try {
    const TmemAddress at = decode_tmem_address(address);
    if (at.lane != 0) {
      problems.push_back(fmt::format("scale factors of {} at lane {}: they begin at lane 0", what, at.lane));
    }
    if (at.column + columns > kTmemColumns) {
      problems.push_back(
          fmt::format("scale factors of {} at column {} need {} columns and run past the last, 511", what,
                      at.column, columns));
    }
  } catch (const TensorError& error) {
    problems.push_back(fmt::format("scale factors of {}: {}", what, error.what()));
  }
}

}  // namespace

ScaleFactor scale_factor(ScaleType type, std::uint32_t code) {
  if (type == ScaleType::UE8M0) {
    const bool nan = code == 0xFF;
    return {nan ? std::numeric_limits<float>::quiet_NaN() : 1.0f, static_cast<int>(code) - 127};
  }
  const float value = element_value(ElementType::E4M3, code & 0x7F);
  const int exponent = std::max(static_cast<int>(code >> 3 & 0xF), 1) - 7;
  return {std::ldexp(value, -exponent), exponent};
}

ScaleShape scale_shape_a(const MmaOperation& op, const InstructionDescriptor& d) {
  ScaleShape shape = scale_shape(op, d, d.scale_a_id);
  shape.count = operand_rows(d, op);
  shape.in_part = d.m / op.cta_group;  // a doubled A has the same factors twice
  return shape;
}

ScaleShape scale_shape_b(const MmaOperation& op, const InstructionDescriptor& d) {
  ScaleShape shape = scale_shape(op, d, d.scale_b_id);
  shape.count = d.n;
  shape.parts = column_parts(d, op);
  shape.in_part = d.n / shape.parts;
  return shape;
}

int scale_columns(const ScaleShape& shape) { return (shape.in_part + kQuarterLanes - 1) / kQuarterLanes; }

std::vector<std::string> scale_problems(const MmaOperation& op, const InstructionDescriptor& d) {
  std::vector<std::string> problems;
  const bool fits = op.kind == MmaKind::MXF8F6F4 ? op.scale_blocks == 1
                    : op.kind == MmaKind::MXF4   ? op.scale_blocks == 2
                                                 : op.scale_blocks == 2 || op.scale_blocks == 4;
  if (!fits) {
    problems.push_back(fmt::format("kind::{} has no .scale_vec::{}X", name(op.kind), op.scale_blocks));
    return problems;
  }
  if (d.scale_type == ScaleType::UE4M3 && op.scale_blocks != 4) {
    problems.push_back("ue4m3 scale factors need .scale_vec::4X, one for each 16 elements");
  }
  check_id(problems, "A", d.scale_a_id, op.scale_blocks);
  check_id(problems, "B", d.scale_b_id, op.scale_blocks);
  check_address(problems, "A", op.scale_a_address, scale_columns(scale_shape_a(op, d)));
  check_address(problems, "B", op.scale_b_address, scale_columns(scale_shape_b(op, d)));
  return problems;
}

ScaleFactors gather_scales(const TensorMemory& memory, std::uint32_t address, const ScaleShape& shape,
                           int stride, bool first_copy_only, const char* what) {
  ScaleFactors scales;
  scales.blocks = shape.blocks;
  scales.stride = stride;
  scales.significands.assign(static_cast<std::size_t>(stride) * shape.blocks, 0);
  scales.exponents.assign(scales.significands.size(), 0);
  const int first_column = decode_tmem_address(address).column;
  const int copies = kQuarters / shape.parts;
  const std::uint32_t used = (shape.blocks == 4 ? 0xFFFFFFFFu : (1u << 8 * shape.blocks) - 1)
                             << 8 * shape.first_byte;
  for (int i = 0; i < shape.count; ++i) {
    const int row = i % shape.in_part;
    const int part = i / shape.in_part % shape.parts;
    const std::uint32_t* lanes = memory.column(first_column + row / kQuarterLanes);
    const int lane = part * copies * kQuarterLanes + row % kQuarterLanes;
    const std::uint32_t word = lanes[lane];
    for (int copy = 1; copy < copies && !first_copy_only; ++copy) {
      const int other = lane + copy * kQuarterLanes;
      if ((lanes[other] ^ word) & used) {
        throw TensorError(fmt::format(
            "the scale factors of {} {} are {:#010x} in lane {} and {:#010x} in lane {} (column {}); every "
            "lane "
            "quarter needs a copy, as tcgen05.cp .32x128b.warpx4 makes them (PTX ISA 9.7.16.10.7)",
            what, i, word & used, lane, lanes[other] & used, other, first_column + row / kQuarterLanes));
      }
    }
    for (int block = 0; block < shape.blocks; ++block) {
      const ScaleFactor factor = scale_factor(shape.type, word >> 8 * (shape.first_byte + block) & 0xFF);
      const std::size_t at = static_cast<std::size_t>(block) * stride + i;
      scales.significands[at] = factor.significand;
      scales.exponents[at] = factor.exponent;
    }
  }
  return scales;
}

void multiply_by_scales(PackedOperand& operand, const ScaleFactors& scales) {
  const int block_depth = operand.depth / scales.blocks;
  std::vector<float> factors(scales.significands.size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = std::ldexp(scales.significands[i], scales.exponents[i]);
  }
  for (int k = 0; k < operand.depth; ++k) {
    const float* factor = &factors[static_cast<std::size_t>(k / block_depth) * scales.stride];
    float* values = &operand.values[static_cast<std::size_t>(k) * operand.stride];
    for (int i = 0; i < operand.count; ++i) {
      values[i] *= factor[i];
    }
  }
}

void shift_by_scales(AlignedOperand& aligned, const PackedOperand& operand, const ScaleFactors& scales) {
  for (int i = 0; i < operand.count; ++i) {
    aligned.norm[i] += scales.exponents[i];
    if (std::isnan(scales.significands[i])) {
      aligned.special[i] = 1;
      aligned.any_special = true;
    }
  }
  for (int k = 0; k < operand.depth; ++k) {
    std::int16_t* exponents = &aligned.exponents[static_cast<std::size_t>(k) * operand.stride];
    for (int i = 0; i < operand.count; ++i) {
      exponents[i] = static_cast<std::int16_t>(exponents[i] + scales.exponents[i]);
    }
  }
}

Fp4Operand make_fp4_operand(const PackedOperand& operand, const ScaleFactors& scales) {
  constexpr int kBlocks = kFp4Depth / kFp4BlockDepth;
  Fp4Operand result;
  result.values = &operand;
  result.scales.blocks = kBlocks;
  result.scales.stride = operand.stride;
  const auto stride = static_cast<std::size_t>(operand.stride);
  result.nonzero.assign(kBlocks * stride, 0);
  for (int block = 0; block < kBlocks; ++block) {
    const std::size_t from = block * scales.blocks / kBlocks * stride;
    const auto append = [&](auto& to, const auto& all) {
      to.insert(to.end(), all.begin() + from, all.begin() + from + stride);
    };
    append(result.scales.significands, scales.significands);
    append(result.scales.exponents, scales.exponents);
    std::int32_t* nonzero = &result.nonzero[block * stride];
    for (int i = 0; i < kFp4BlockDepth; ++i) {
      const float* values = &operand.values[(block * kFp4BlockDepth + i) * stride];
      for (int index = 0; index < operand.count; ++index) {
        nonzero[index] |= (values[index] != 0 ? 1 : 0) << i;
      }
    }
  }
  return result;
}

}  // namespace emu::units
