#include "units/instruction_descriptor.h"

#include <fmt/format.h>

namespace emu::units {
namespace {

std::uint32_t field(std::uint32_t bits, int first, int width) {
  return (bits >> first) & ((1u << width) - 1);
}

ElementType element_type(MmaKind kind, std::uint32_t code) {
  using enum ElementType;
  switch (kind) {
    case MmaKind::F16:
      return code == 0 ? F16 : code == 1 ? BF16 : Invalid;
    case MmaKind::TF32:
      return code == 2 ? TF32 : Invalid;
    case MmaKind::I8:
      return code == 0 ? U8 : code == 1 ? S8 : Invalid;
    case MmaKind::MXF4:
    case MmaKind::MXF4NVF4:
      return code == 1 ? E2M1 : Invalid;
    case MmaKind::F8F6F4:
    case MmaKind::MXF8F6F4: {
      constexpr ElementType kCodes[] = {E4M3, E5M2, Invalid, E2M3, E3M2, E2M1, Invalid, Invalid};
      return kCodes[code];
    }
  }
  return Invalid;
}

AccumulatorType accumulator_type(MmaKind kind, std::uint32_t code) {
  switch (kind) {
    case MmaKind::F16:
    case MmaKind::F8F6F4:
      return code == 0 ? AccumulatorType::F16 : code == 1 ? AccumulatorType::F32 : AccumulatorType::Invalid;
    case MmaKind::TF32:
      return code == 1 ? AccumulatorType::F32 : AccumulatorType::Invalid;
    case MmaKind::I8:
      return code == 2 ? AccumulatorType::S32 : AccumulatorType::Invalid;
    case MmaKind::MXF8F6F4:
    case MmaKind::MXF4:
    case MmaKind::MXF4NVF4:
      break;  // always f32; the bits hold something else
  }
  return AccumulatorType::Invalid;
}

int contraction_length(MmaKind kind) {
  switch (kind) {
    case MmaKind::F16:
      return 16;
    case MmaKind::TF32:
      return 8;
    case MmaKind::F8F6F4:
    case MmaKind::I8:
    case MmaKind::MXF8F6F4:
      return 32;
    case MmaKind::MXF4:
    case MmaKind::MXF4NVF4:
      return 64;
  }
  return 0;
}

bool is_legal_m(const InstructionDescriptor& d, int cta_group, bool weight_stationary) {
  if (weight_stationary) {
    return d.m == 32 || d.m == 64 || d.m == 128;
  }
  return d.m == 128 || (cta_group == 2 ? d.m == 256 : d.m == 64 && !is_block_scaled(d.kind));
}

bool is_legal_n(const InstructionDescriptor& d, int cta_group, bool weight_stationary) {
  if (weight_stationary) {
    return d.n == 64 || d.n == 128 || (d.n == 256 && !d.sparse);
  }
  if (d.n < 8 || d.n > 256) {
    return false;
  }
  if (d.kind == MmaKind::I8) {
    return cta_group == 2 ? d.n % 32 == 0 : (d.n <= 32 || d.n % 16 == 0);
  }
  const int step = cta_group == 2 ? 16 : 8;
  // Rows of an N-major operand of bytes come in units of 16.
  const bool bytes_n_major = element_bytes(d.b_type) == 1 && d.b_major == Major::MN;
  return d.n % (bytes_n_major ? 2 * step : step) == 0;
}

void check_shape(std::vector<std::string>& illegal, const InstructionDescriptor& d, int cta_group, bool ws) {
  if (!is_legal_m(d, cta_group, ws)) {
    const char* legal = ws                        ? "32, 64 and 128 are"
                        : cta_group == 2          ? "128 and 256 are"
                        : is_block_scaled(d.kind) ? "128 is"
                                                  : "64 and 128 are";
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: M = {} is not legal for kind::{} with cta_group::{}{}; {}", d.bits,
        d.m, name(d.kind), cta_group, ws ? ".ws" : "", legal));
  }
  if (!is_legal_n(d, cta_group, ws)) {
    illegal.push_back(
        fmt::format("instruction descriptor {:#010x}: N = {} (bits 17-22) is not legal for kind::{} with "
                    "cta_group::{}{} and a {} B of {} (PTX ISA 9.7.16.2.1, table of shapes)",
                    d.bits, d.n, name(d.kind), cta_group, ws ? ".ws" : "",
                    d.b_major == Major::K ? "K-major" : "N-major", name(d.b_type)));
  }
}

void require_zero(std::vector<std::string>& illegal, std::uint32_t bits, int first, int width) {
  if (field(bits, first, width)) {
    illegal.push_back(fmt::format("instruction descriptor {:#010x}: reserved bit{} {}{} must be 0", bits,
                                  width == 1 ? "" : "s", first,
                                  width == 1 ? " is set," : fmt::format("-{}", first + width - 1)));
  }
}

void check_sparsity(std::vector<std::string>& illegal, const InstructionDescriptor& d, bool sparse) {
  const auto complain = [&](const std::string& text) {
    illegal.push_back(fmt::format("instruction descriptor {:#010x}: {}", d.bits, text));
  };
  const std::uint32_t selector = field(d.bits, 0, 2);
  if (d.sparse != sparse) {
    complain(sparse ? "bit 2 must be set for the sparse A of .sp" : "bit 2, sparse A, is for .sp only");
  } else if (!sparse && selector) {
    complain(fmt::format("sparsity selector {} (bits 0-1) without sparse A (bit 2)", selector));
  } else if (sparse && selector > 1) {
    complain(fmt::format("sparsity selector {} (bits 0-1) is not implemented; 0 and 1 are", selector));
  } else if (sparse && selector && d.kind != MmaKind::F16 && d.kind != MmaKind::TF32) {
    complain(fmt::format("sparsity selector {} (bits 0-1) must be 0 for kind::{}", selector, name(d.kind)));
  }
}

void check_reserved(std::vector<std::string>& illegal, std::uint32_t bits, bool weight_stationary) {
  for (int bit : {6, 23, 29}) {
    require_zero(illegal, bits, bit, 1);
  }
  if (field(bits, 30, 2) && !weight_stationary) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: bits 30-31, the shift of B's reuse, are for tcgen05.mma.ws only",
        bits));
  }
}

void check_types(std::vector<std::string>& illegal, const InstructionDescriptor& d) {
  const auto complain = [&](const char* what, int first, int width) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: {} type code {} (bits {}-{}) does not exist for kind::{}", d.bits,
        what, field(d.bits, first, width), first, first + width - 1, name(d.kind)));
  };
  if (d.a_type == ElementType::Invalid) complain("A", 7, 3);
  if (d.b_type == ElementType::Invalid) complain("B", 10, 3);
  if (d.d_type == AccumulatorType::Invalid) complain("D", 4, 2);
  const bool bf16_in = d.a_type == ElementType::BF16 || d.b_type == ElementType::BF16;
  if (d.d_type == AccumulatorType::F16 && bf16_in) {
    illegal.push_back(
        fmt::format("instruction descriptor {:#010x}: bf16 operands need an f32 D, not f16", d.bits));
  }
  if (d.kind == MmaKind::I8 && (d.negate_a || d.negate_b)) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: bits 13-14, negation, do not exist for kind::i8", d.bits));
  }
  if (d.kind != MmaKind::I8 && d.saturate) {
    illegal.push_back(
        fmt::format("instruction descriptor {:#010x}: bit 3, saturation, is for kind::i8 only", d.bits));
  }
}

/// The fields of kinds mxf8f6f4, mxf4 and mxf4nvf4 that stand elsewhere than in the other kinds, or nowhere.
void decode_block_scaled(DecodedInstructionDescriptor& result) {
  auto& [d, illegal] = result;
  const std::uint32_t bits = d.bits;
  d.d_type = AccumulatorType::F32;
  d.scale_b_id = static_cast<int>(field(bits, 4, 2));
  d.scale_a_id = static_cast<int>(field(bits, 29, 2));
  d.scale_type = field(bits, 23, 1) ? ScaleType::UE8M0 : ScaleType::UE4M3;
  d.m = static_cast<int>(field(bits, 27, 2)) * 128;
  for (const auto& [first, width] : {std::pair{3, 1}, {6, 1}, {24, 3}}) {
    require_zero(illegal, bits, first, width);
  }
  const auto complain = [&](const std::string& text) {
    illegal.push_back(fmt::format("instruction descriptor {:#010x}: {}", bits, text));
  };
  if (d.scale_type == ScaleType::UE4M3 && d.kind != MmaKind::MXF4NVF4) {
    complain(fmt::format("bit 23 selects ue4m3 scale factors, which kind::{} has not; set it for ue8m0",
                         name(d.kind)));
  }
  if (!is_packed_fp4(d.kind)) {
    require_zero(illegal, bits, 31, 1);
    return;
  }
  if (field(bits, 31, 1)) complain("bit 31, K = 96, exists on sm_103a only");
  if (field(bits, 15, 2)) {
    complain(fmt::format("bits 15-16: the operands of kind::{} must be K-major", name(d.kind)));
  }
}

}  // namespace

const char* name(MmaKind kind) {
  constexpr const char* kNames[] = {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  return kNames[static_cast<int>(kind)];
}

bool is_block_scaled(MmaKind kind) { return kind == MmaKind::MXF8F6F4 || is_packed_fp4(kind); }
bool is_packed_fp4(MmaKind kind) { return kind == MmaKind::MXF4 || kind == MmaKind::MXF4NVF4; }

const char* name(ScaleType type) { return type == ScaleType::UE8M0 ? "ue8m0" : "ue4m3"; }

const char* name(ElementType type) {
  constexpr const char* kNames[] = {"f16",  "bf16", "tf32", "e4m3", "e5m2",   "e2m3",
                                    "e3m2", "e2m1", "u8",   "s8",   "invalid"};
  return kNames[static_cast<int>(type)];
}

const char* name(AccumulatorType type) {
  constexpr const char* kNames[] = {"f16", "f32", "s32", "invalid"};
  return kNames[static_cast<int>(type)];
}

int element_bits(ElementType type) {
  constexpr int kBits[] = {16, 16, 32, 8, 8, 6, 6, 4, 8, 8, 8};
  return kBits[static_cast<int>(type)];
}

int element_bytes(ElementType type) { return element_bits(type) <= 8 ? 1 : element_bits(type) / 8; }

DecodedInstructionDescriptor decode_instruction_descriptor(std::uint32_t bits, MmaKind kind, int cta_group,
                                                           bool a_in_tmem, bool weight_stationary,
                                                           bool sparse) {
  DecodedInstructionDescriptor result;
  auto& [d, illegal] = result;
  d.bits = bits;
  d.kind = kind;
  d.a_type = element_type(kind, field(bits, 7, 3));
  d.b_type = element_type(kind, field(bits, 10, 3));
  d.negate_a = field(bits, 13, 1);
  d.negate_b = field(bits, 14, 1);
  d.a_major = field(bits, 15, 1) ? Major::MN : Major::K;
  d.b_major = field(bits, 16, 1) ? Major::MN : Major::K;
  d.n = static_cast<int>(field(bits, 17, 6)) * 8;
  d.sparse = field(bits, 2, 1);
  d.sparsity_selector = static_cast<int>(field(bits, 0, 2));
  d.k = contraction_length(kind) * (d.sparse ? 2 : 1);
  check_sparsity(illegal, d, sparse);
  if (is_block_scaled(kind)) {
    decode_block_scaled(result);
  } else {
    d.saturate = field(bits, 3, 1);
    d.d_type = accumulator_type(kind, field(bits, 4, 2));
    d.m = static_cast<int>(field(bits, 24, 5)) * 16;
    if (const std::uint32_t code = field(bits, 30, 2); weight_stationary && code) d.max_b_shift = 4 << code;
    check_reserved(illegal, bits, weight_stationary);
  }
  check_types(illegal, d);
  check_shape(illegal, d, cta_group, weight_stationary);
  if (a_in_tmem && d.a_major == Major::MN) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: bit 15 says A is M-major, but an A in tensor memory is K-major",
        bits));
  }
  return result;
}

}  // namespace emu::units
