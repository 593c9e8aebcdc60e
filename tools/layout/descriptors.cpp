#include "layout/descriptors.h"

#include <fmt/format.h>

#include <array>

namespace layout {
namespace {

uint64_t bits_of(uint64_t word, int lo, int width) { return word >> lo & ((uint64_t{1} << width) - 1); }

void add(Decoded& d, int lo, int width, std::string name, std::string meaning) {
  d.fields.push_back({lo, width, std::move(name), bits_of(d.word, lo, width), std::move(meaning)});
}

// Bits that must hold one value: says so when they do not.
void add_fixed(Decoded& d, int lo, int width, uint64_t wanted) {
  const uint64_t value = bits_of(d.word, lo, width);
  add(d, lo, width, wanted == 0 ? "unused" : "constant",
      value == wanted ? "as it must be" : fmt::format("must be {}", wanted));
  if (value != wanted) {
    d.problems.push_back(
        fmt::format("bits {}-{} hold {} and must hold {}", lo, lo + width - 1, value, wanted));
  }
}

std::string type_name(const std::string& kind, uint64_t code) {
  static constexpr std::array<const char*, 6> kF8 = {"e4m3", "e5m2", nullptr, "e2m3", "e3m2", "e2m1"};
  if (kind == "f16") return code == 0 ? "f16" : code == 1 ? "bf16" : "";
  if (kind == "tf32") return code == 2 ? "tf32" : "";
  if (kind == "i8") return code == 0 ? "u8" : code == 1 ? "s8" : "";
  return code < kF8.size() && kF8[code] ? kF8[code] : "";
}

std::string output_name(const std::string& kind, uint64_t code) {
  if (kind == "i8") return code == 2 ? "s32" : "";
  if (code == 1) return "f32";
  return code == 0 && kind != "tf32" ? "f16" : "";
}

void check_shape(InstructionDescriptor& d, const std::string& kind, int cta_group) {
  const bool m_ok = cta_group == 1 ? d.m == 64 || d.m == 128 : d.m == 128 || d.m == 256;
  if (!m_ok) {
    d.problems.push_back(fmt::format("M = {} is not legal for cta_group::{}: {}", d.m, cta_group,
                                     cta_group == 1 ? "64 or 128 (32 only with .ws)" : "128 or 256"));
  }
  // PTX ISA, table of tcgen05 kind shapes. (CUTLASS takes only multiples of 16 for M = 128.)
  const bool one_byte = kind == "f8f6f4" || kind == "i8";
  int step = cta_group == 2 ? (kind == "i8" ? 32 : 16) : 8;
  if (one_byte && d.b_major == Major::mn) step = cta_group == 2 ? 32 : 16;
  if (d.n < step || d.n > 256 || d.n % step != 0) {
    d.problems.push_back(fmt::format("N = {} is not a multiple of {} from {} to 256", d.n, step, step));
  } else if (kind == "i8" && d.n > 32 && d.n % 16 != 0) {
    d.problems.push_back(fmt::format("N = {}: kind i8 takes 8, 16, 24, 32, then multiples of 16", d.n));
  }
}

}  // namespace

MatrixDescriptor decode_matrix_descriptor(uint64_t word) {
  MatrixDescriptor d;
  d.word = word;
  d.bits = 64;
  d.start = static_cast<uint32_t>(bits_of(word, 0, 14) << 4);
  d.lbo = static_cast<uint32_t>(bits_of(word, 16, 14) << 4);
  d.sbo = static_cast<uint32_t>(bits_of(word, 32, 14) << 4);
  d.base_offset = static_cast<int>(bits_of(word, 49, 3));
  const uint64_t code = bits_of(word, 61, 3);
  static constexpr std::array<int, 8> kModes = {0, 4, 3, -1, 2, -1, 1, -1};
  const bool legal_mode = kModes[code] >= 0;
  if (legal_mode) d.mode = static_cast<Swizzle>(kModes[code]);

  add(d, 0, 14, "start address", fmt::format("{} x 16 = 0x{:X}", d.start >> 4, d.start));
  add_fixed(d, 14, 2, 0);
  add(d, 16, 14, "LBO", fmt::format("{} x 16 = {} bytes", d.lbo >> 4, d.lbo));
  add_fixed(d, 30, 2, 0);
  add(d, 32, 14, "SBO", fmt::format("{} x 16 = {} bytes", d.sbo >> 4, d.sbo));
  add_fixed(d, 46, 3, 1);
  add(d, 49, 3, "base offset", d.base_offset == 0 ? "pattern on its natural boundary" : "pattern shifted");
  const bool absolute = bits_of(word, 52, 1) != 0;
  add(d, 52, 1, "LBO mode", absolute ? "absolute address" : "relative");
  add_fixed(d, 53, 8, 0);
  add(d, 61, 3, "swizzle", legal_mode ? std::string(name_of(d.mode)) : "no such mode");
  if (absolute) d.problems.push_back("bit 52, LBO as an absolute address, exists on sm_103a only");
  if (!legal_mode) d.problems.push_back(fmt::format("swizzle code {}: the modes are 0, 1, 2, 4 and 6", code));
  // A wgmma descriptor carries no constant and its 2-bit swizzle code one bit higher, which happens to read
  // the same.
  if (bits_of(word, 46, 3) == 0) d.problems.push_back("bit 46 is 0: this is a Hopper (wgmma) descriptor");
  if (d.mode == Swizzle::none && d.base_offset != 0) {
    d.problems.push_back("a base offset without a swizzle has no meaning");
  }
  return d;
}

InstructionDescriptor decode_instruction_descriptor(uint32_t word, const std::string& kind, int cta_group) {
  if (kind != "f16" && kind != "tf32" && kind != "f8f6f4" && kind != "i8") {
    throw BadInput(fmt::format("kind '{}' is not one of f16, tf32, f8f6f4, i8", kind));
  }
  if (cta_group != 1 && cta_group != 2) throw BadInput(fmt::format("cta_group {} is not 1 or 2", cta_group));
  InstructionDescriptor d;
  d.word = word;
  d.bits = 32;
  const std::string out = output_name(kind, bits_of(word, 4, 2));
  const std::string a = type_name(kind, bits_of(word, 7, 3)), b = type_name(kind, bits_of(word, 10, 3));
  d.a_major = bits_of(word, 15, 1) ? Major::mn : Major::k;
  d.b_major = bits_of(word, 16, 1) ? Major::mn : Major::k;
  d.n = static_cast<int>(bits_of(word, 17, 6)) * 8;
  d.m = static_cast<int>(bits_of(word, 24, 5)) * 16;
  d.k = kind == "tf32" ? 8 : kind == "f16" ? 16 : 32;
  const bool sparse = bits_of(word, 2, 1) != 0;
  if (sparse) d.k *= 2;

  auto or_none = [](const std::string& s) {
    return s.empty() ? std::string("no such type in this kind") : s;
  };
  add(d, 0, 2, "sparsity selector", sparse ? "which metadata columns" : "unused when dense");
  add(d, 2, 1, "sparse A", sparse ? "yes" : "no, dense");
  add(d, 3, 1, "saturate", bits_of(word, 3, 1) ? "yes" : "no");
  add(d, 4, 2, "D type", or_none(out));
  add_fixed(d, 6, 1, 0);
  add(d, 7, 3, "A type", or_none(a));
  add(d, 10, 3, "B type", or_none(b));
  add(d, 13, 1, "negate A", bits_of(word, 13, 1) ? "yes" : "no");
  add(d, 14, 1, "negate B", bits_of(word, 14, 1) ? "yes" : "no");
  add(d, 15, 1, "A major", d.a_major == Major::k ? "K-major" : "M-major");
  add(d, 16, 1, "B major", d.b_major == Major::k ? "K-major" : "N-major");
  add(d, 17, 6, "N / 8", fmt::format("N = {}", d.n));
  add_fixed(d, 23, 1, 0);
  add(d, 24, 5, "M / 16", fmt::format("M = {}", d.m));
  add_fixed(d, 29, 1, 0);
  add(d, 30, 2, "max B shift", "only read by .ws");

  if (out.empty())
    d.problems.push_back(fmt::format("D type code {} is not legal in kind {}", bits_of(word, 4, 2), kind));
  if (a.empty())
    d.problems.push_back(fmt::format("A type code {} is not legal in kind {}", bits_of(word, 7, 3), kind));
  if (b.empty())
    d.problems.push_back(fmt::format("B type code {} is not legal in kind {}", bits_of(word, 10, 3), kind));
  if (kind == "f16" && out == "f16" && (a == "bf16" || b == "bf16"))
    d.problems.push_back("bf16 inputs need an f32 D");
  if (bits_of(word, 3, 1) && kind != "i8") d.problems.push_back("saturation exists in kind i8 only");
  if (kind == "i8" && bits_of(word, 13, 2)) d.problems.push_back("kind i8 cannot negate its inputs");
  check_shape(d, kind, cta_group);
  return d;
}

std::string to_text(const Decoded& d, const std::string& heading) {
  std::string s = fmt::format("{} 0x{:0{}x}\n", heading, d.word, d.bits / 4);
  for (const Field& f : d.fields) {
    const std::string where =
        f.width == 1 ? fmt::format("{}", f.lo) : fmt::format("{}-{}", f.lo, f.lo + f.width - 1);
    s += fmt::format("  bits {:>5}  {:<18} 0x{:<6x} {}\n", where, f.name, f.value, f.meaning);
  }
  for (const std::string& p : d.problems) s += "  ILLEGAL: " + p + "\n";
  if (d.problems.empty()) s += "  legal\n";
  return s;
}

}  // namespace layout
