#include "layout/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace layout {
namespace {

// PTX ISA 9.7.16.3: 8 rows make a core matrix; 4 in the mode with 32-byte atoms.
int rows_per_group(Swizzle mode) { return mode == Swizzle::b128_32 ? 4 : 8; }

uint32_t xor_bits(uint32_t address, int count, int source, int target) {
  const uint32_t mask = (1u << count) - 1;
  return address ^ ((address >> source & mask) << target);
}

}  // namespace

ElementType element_type(std::string_view name) {
  static constexpr std::array<ElementType, 8> kTypes = {
      {{"bf16", 2}, {"f16", 2}, {"tf32", 4}, {"f32", 4}, {"e4m3", 1}, {"e5m2", 1}, {"u8", 1}, {"s8", 1}}};
  for (const ElementType& t : kTypes) {
    if (t.name == name) return t;
  }
  throw BadInput(fmt::format("type '{}' is not one of bf16, f16, tf32, f32, e4m3, e5m2, u8, s8", name));
}

Swizzle swizzle_mode(std::string_view name) {
  if (name == "none" || name == "0") return Swizzle::none;
  if (name == "32") return Swizzle::b32;
  if (name == "64") return Swizzle::b64;
  if (name == "128") return Swizzle::b128;
  if (name == "128a32") return Swizzle::b128_32;
  throw BadInput(fmt::format("swizzle '{}' is not one of none, 32, 64, 128, 128a32", name));
}

std::string_view name_of(Swizzle mode) {
  switch (mode) {
    case Swizzle::none:
      return "no swizzle";
    case Swizzle::b32:
      return "SW32";
    case Swizzle::b64:
      return "SW64";
    case Swizzle::b128:
      return "SW128";
    case Swizzle::b128_32:
      return "SW128 with 32-byte atoms";
  }
  return "?";
}

std::string_view name_of(Major major) { return major == Major::k ? "K-major" : "MN-major"; }

uint32_t span_bytes(Swizzle mode) {
  switch (mode) {
    case Swizzle::none:
      return 16;
    case Swizzle::b32:
      return 32;
    case Swizzle::b64:
      return 64;
    default:
      return 128;
  }
}

uint32_t repeat_bytes(Swizzle mode) {
  switch (mode) {
    case Swizzle::none:
      return 16;
    case Swizzle::b32:
      return 256;
    case Swizzle::b64:
      return 512;
    default:
      return 1024;
  }
}

uint32_t swizzled(uint32_t address, Swizzle mode) {
  switch (mode) {
    case Swizzle::none:
      return address;
    case Swizzle::b32:
      return xor_bits(address, 1, 7, 4);
    case Swizzle::b64:
      return xor_bits(address, 2, 7, 4);
    case Swizzle::b128:
      return xor_bits(address, 3, 7, 4);
    case Swizzle::b128_32:
      return xor_bits(address, 2, 7, 5);
  }
  return address;
}

void Canonical::validate() const {
  if (lbo % 16 != 0 || sbo % 16 != 0) {
    throw BadInput(fmt::format("LBO {} and SBO {} must be multiples of 16 bytes", lbo, sbo));
  }
  if (major == Major::mn && element_bytes == 4 && mode != Swizzle::b128_32) {
    throw BadInput("a 32-bit MN-major operand exists only with --swizzle 128a32");
  }
  if (mode == Swizzle::b128_32 && (major == Major::k || element_bytes != 4)) {
    throw BadInput("--swizzle 128a32 is for MN-major operands of 32-bit types; use 128");
  }
}

uint32_t Canonical::linear(int mn_index, int k_index) const {
  const uint32_t mn = mn_index, k = k_index, es = element_bytes, t = unit(), span = span_bytes(mode);
  if (major == Major::k) {
    const uint32_t rows = mn % 8 * span + mn / 8 * sbo;
    return mode == Swizzle::none ? rows + k / t * lbo + k % t * es : rows + k * es;
  }
  if (mode == Swizzle::none) return mn % t * es + mn / t * sbo + k % 8 * 16 + k / 8 * lbo;
  const uint32_t wide = span / es, group = rows_per_group(mode);
  return mn % wide * es + mn / wide * lbo + k % group * span + k / group * sbo;
}

std::string Canonical::lbo_meaning() const {
  if (!uses_lbo()) return "ignored (the row is contiguous across one span)";
  if (major == Major::k) return fmt::format("{} elements of K (16 bytes) to the next {}", unit(), unit());
  if (mode == Swizzle::none) return "8 of K to the next 8 of K";
  const uint32_t wide = span_bytes(mode) / element_bytes;
  return fmt::format("{} of MN ({} bytes) to the next {}", wide, span_bytes(mode), wide);
}

std::string Canonical::sbo_meaning() const {
  if (major == Major::k) return "8 rows of MN to the next 8 rows";
  if (mode == Swizzle::none) return fmt::format("{} of MN (16 bytes) to the next {}", unit(), unit());
  const int group = rows_per_group(mode);
  return fmt::format("{} of K to the next {} of K", group, group);
}

uint32_t Tile::step_offset(int step) const {
  const int k_index = step * form.mma_k();
  if (form.major == Major::k && form.mode != Swizzle::none) {
    const uint32_t byte = k_index * form.element_bytes, span = span_bytes(form.mode);
    return byte / span * slab_bytes + byte % span;
  }
  return form.linear(0, k_index);
}

uint32_t Tile::address(int mn_index, int k_index) const {
  const int step = k_index / form.mma_k();
  return form.address(start + step_offset(step), mn_index, k_index % form.mma_k());
}

Tile packed_tile(Major major, Swizzle mode, int element_bytes, int mn, int k, uint32_t start) {
  Tile t;
  t.form = {major, mode, element_bytes, 0, 0};
  t.mn = mn;
  t.k = k;
  t.start = start;
  const uint32_t span = span_bytes(mode);
  if (major == Major::k) {
    t.slab_bytes = mn * span;
    t.form.lbo = mode == Swizzle::none ? mn * 16 : 16;
    t.form.sbo = 8 * span;
  } else if (mode == Swizzle::none) {
    t.form.lbo = 8 * 16;
    t.form.sbo = k * 16;
  } else {
    t.form.lbo = k * span;
    t.form.sbo = rows_per_group(mode) * span;
  }
  t.form.validate();
  return t;
}

}  // namespace layout
