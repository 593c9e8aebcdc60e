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
    case MmaKind::F8F6F4: {
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
      return 32;
  }
  return 0;
}

bool is_legal_n(const InstructionDescriptor& d, int cta_group) {
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

void check_shape(std::vector<std::string>& illegal, const InstructionDescriptor& d, int cta_group) {
  const bool m_ok = cta_group == 2 ? d.m == 128 || d.m == 256 : d.m == 64 || d.m == 128;
  if (!m_ok) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: M = {} (bits 24-28) is not legal for cta_group::{}; {} are", d.bits,
        d.m, cta_group, cta_group == 2 ? "128 and 256" : "64 and 128"));
  }
  if (!is_legal_n(d, cta_group)) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: N = {} (bits 17-22) is not legal for kind::{} with "
        "cta_group::{} and a {} B of {} (PTX ISA 9.7.16.2.1, table of shapes)",
        d.bits, d.n, name(d.kind), cta_group, d.b_major == Major::K ? "K-major" : "N-major", name(d.b_type)));
  }
}

void check_reserved(std::vector<std::string>& illegal, std::uint32_t bits) {
  for (int bit : {6, 23, 29}) {
    if (field(bits, bit, 1)) {
      illegal.push_back(
          fmt::format("instruction descriptor {:#010x}: reserved bit {} is set, must be 0", bits, bit));
    }
  }
  if (field(bits, 30, 2)) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: bits 30-31, the shift of B's reuse, are for tcgen05.mma.ws only",
        bits));
  }
  if (field(bits, 2, 1)) {
    illegal.push_back(
        fmt::format("instruction descriptor {:#010x}: bit 2, sparse A, is not implemented", bits));
  } else if (field(bits, 0, 2)) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: sparsity selector {} (bits 0-1) without sparse A (bit 2)", bits,
        field(bits, 0, 2)));
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

}  // namespace

const char* name(MmaKind kind) {
  constexpr const char* kNames[] = {"f16", "tf32", "f8f6f4", "i8"};
  return kNames[static_cast<int>(kind)];
}

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
                                                           bool a_in_tmem) {
  DecodedInstructionDescriptor result;
  auto& [d, illegal] = result;
  d.bits = bits;
  d.kind = kind;
  d.sparse = field(bits, 2, 1);
  d.saturate = field(bits, 3, 1);
  d.d_type = accumulator_type(kind, field(bits, 4, 2));
  d.a_type = element_type(kind, field(bits, 7, 3));
  d.b_type = element_type(kind, field(bits, 10, 3));
  d.negate_a = field(bits, 13, 1);
  d.negate_b = field(bits, 14, 1);
  d.a_major = field(bits, 15, 1) ? Major::MN : Major::K;
  d.b_major = field(bits, 16, 1) ? Major::MN : Major::K;
  d.n = static_cast<int>(field(bits, 17, 6)) * 8;
  d.m = static_cast<int>(field(bits, 24, 5)) * 16;
  d.k = contraction_length(kind);
  check_reserved(illegal, bits);
  check_types(illegal, d);
  check_shape(illegal, d, cta_group);
  if (a_in_tmem && d.a_major == Major::MN) {
    illegal.push_back(fmt::format(
        "instruction descriptor {:#010x}: bit 15 says A is M-major, but an A in tensor memory is K-major",
        bits));
  }
  return result;
}

}  // namespace emu::units
