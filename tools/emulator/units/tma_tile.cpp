#include "units/tma_tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "memory/poison.h"

namespace emu::units {
namespace {

constexpr std::uint32_t kChunk = 16;
constexpr std::uint32_t kMaxRowBytes = 256 * 8;
// The NaN of out-of-bounds elements, whatever their size: 0x7FF7 repeated (measured on an H200).
constexpr std::uint64_t kNanFill = 0x7FF77FF77FF77FF7;

// Calls f(byte of the row, byte of the image, bytes) for the pieces in which a row lies in shared memory.
template <class F>
void for_each_piece(const TilePlan& plan, std::size_t row, F&& f) {
  auto start = static_cast<std::uint32_t>(row) * plan.pitch;
  if (plan.swizzle == TensorSwizzle::None) return f(0u, start, plan.inner_bytes);
  for (std::uint32_t chunk = 0; chunk < plan.inner_bytes; chunk += kChunk) {
    f(chunk, swizzle_address(plan.swizzle, plan.shared + start + chunk) - plan.shared, kChunk);
  }
}

void fill_elements(const TilePlan& plan, std::byte* at, std::uint32_t bytes) {
  std::uint64_t pattern = 0;
  std::uint32_t es = element_bytes(plan.type);  // only floating-point types have a NaN to fill with
  if (plan.fill == TensorFill::NaN) pattern = kNanFill;
  if (pattern == 0) {
    std::memset(at, 0, bytes);
    return;
  }
  for (std::uint32_t i = 0; i < bytes; i += es) std::memcpy(at + i, &pattern, es);
}

// Loads through the two tf32 types round to nearest even at 10 fraction bits and keep subnormals; stores do
// not convert, and neither does FLOAT32_FTZ (all measured on an H200).
std::uint32_t to_tf32(std::uint32_t bits) {
  constexpr std::uint32_t kExponent = 0x7F800000, kNan = 0x7FFFE000, kDropped = 13;
  if ((bits & ~0x80000000u) > kExponent) return kNan;
  std::uint32_t half = (1u << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
  return (bits + half) & ~((1u << kDropped) - 1);
}

bool converts_on_load(TensorType type) { return type == TensorType::TF32 || type == TensorType::TF32Ftz; }

void convert_row(std::byte* at, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; i += 4) {
    std::uint32_t bits;
    std::memcpy(&bits, at + i, 4);
    bits = to_tf32(bits);
    std::memcpy(at + i, &bits, 4);
  }
}

// Sixteen 4- or 6-bit elements go to the start of each 16 bytes; what the padding behind them then holds is
// not promised (PTX ISA 5.5.8).
void spread_row(const TilePlan& plan, const std::byte* packed, std::byte* row) {
  std::uint32_t chunks = plan.inner_bytes / kChunk, bytes = plan.packed_bytes / chunks;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    std::memcpy(row + chunk * kChunk, packed + chunk * bytes, bytes);
    memory::fill_poison(row + chunk * kChunk + bytes, kChunk - bytes);
  }
}

// The row of a box in shared-memory staging, back in logical order.
void gather_row(const TilePlan& plan, std::size_t row, const std::byte* staging, std::byte* to) {
  for_each_piece(plan, row, [&](std::uint32_t in_row, std::uint32_t in_image, std::uint32_t bytes) {
    std::memcpy(to + in_row, staging + in_image, bytes);
  });
}

const std::byte* global_pointer(std::uint64_t address) { return reinterpret_cast<const std::byte*>(address); }

std::optional<BulkType> reduced_type(BulkOp op, TensorType type) {
  bool bitwise = op == BulkOp::And || op == BulkOp::Or || op == BulkOp::Xor;
  switch (type) {
    case TensorType::U32:
      return bitwise ? BulkType::B32 : BulkType::U32;
    case TensorType::S32:
      return bitwise ? BulkType::B32 : BulkType::S32;
    case TensorType::U64:
      return bitwise ? BulkType::B64 : BulkType::U64;
    case TensorType::S64:
      return bitwise ? std::nullopt : std::optional(BulkType::S64);
    case TensorType::F16:
      return BulkType::F16;
    case TensorType::BF16:
      return BulkType::BF16;
    case TensorType::F32:
    case TensorType::TF32:
      return BulkType::F32;
    case TensorType::F32Ftz:
    case TensorType::TF32Ftz:
      return BulkType::F32Ftz;
    case TensorType::F64:
      return BulkType::F64;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::uint32_t swizzle_address(TensorSwizzle swizzle, std::uint32_t address) {
  switch (swizzle) {
    case TensorSwizzle::B32:
      return address ^ (address >> 3 & 0x10);
    case TensorSwizzle::B64:
      return address ^ (address >> 3 & 0x30);
    case TensorSwizzle::B128:
      return address ^ (address >> 3 & 0x70);
    case TensorSwizzle::B128Atom32:
      return address ^ (address >> 2 & 0x60);
    case TensorSwizzle::B128Atom64:
      return address ^ (address >> 1 & 0x40);
    case TensorSwizzle::None:
    case TensorSwizzle::B128Atom32Flip8:
      break;
  }
  return address;
}

std::uint32_t swizzle_repeat(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::None:
      return 16;
    case TensorSwizzle::B32:
    case TensorSwizzle::B128Atom64:
      return 256;
    case TensorSwizzle::B64:
    case TensorSwizzle::B128Atom32:
    case TensorSwizzle::B128Atom32Flip8:
      return 512;
    case TensorSwizzle::B128:
      break;
  }
  return 1024;
}

std::uint32_t swizzle_span(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::None:
      return 0;
    case TensorSwizzle::B32:
      return 32;
    case TensorSwizzle::B64:
      return 64;
    default:
      return 128;
  }
}

void read_global(const TilePlan& plan, std::byte* staging) {
  alignas(16) std::byte buffer[kMaxRowBytes];
  bool converts = converts_on_load(plan.type);
  bool padded = plan.packed_bytes != 0;
  bool whole = plan.inside_begin == 0 && plan.inside_end == plan.inner_bytes && !converts && !padded;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    const TileRow& from = plan.rows[row];
    const std::byte* source = buffer;
    if (from.inside && whole) {
      source = global_pointer(from.global);
    } else {
      fill_elements(plan, buffer, plan.inner_bytes);
      std::uint32_t bytes = from.inside ? plan.inside_end - plan.inside_begin : 0;
      if (bytes != 0 && padded) {
        spread_row(plan, global_pointer(from.global), buffer);
      } else if (bytes != 0) {
        std::memcpy(buffer + plan.inside_begin, global_pointer(from.global + plan.inside_begin), bytes);
        if (converts) convert_row(buffer + plan.inside_begin, bytes);
      }
    }
    for_each_piece(plan, row, [&](std::uint32_t in_row, std::uint32_t in_image, std::uint32_t bytes) {
      std::memcpy(staging + in_image, source + in_row, bytes);
    });
  }
}

void for_each_run(const TilePlan& plan, const std::byte* staging,
                  const std::function<void(std::uint32_t, std::uint32_t, const std::byte*)>& write) {
  if (plan.pitch == plan.inner_bytes) {
    // Swizzling moves chunks only within rows of the span, so the box without holes is one run.
    write(plan.shared, plan.image_bytes, staging);
    return;
  }
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    for_each_piece(plan, row, [&](std::uint32_t, std::uint32_t in_image, std::uint32_t bytes) {
      write(plan.shared + in_image, bytes, staging + in_image);
    });
  }
}

void read_shared(const TilePlan& plan, const std::byte* async_image, std::byte* staging) {
  for_each_run(plan, staging, [&](std::uint32_t offset, std::uint32_t bytes, const std::byte*) {
    std::memcpy(staging + (offset - plan.shared), async_image + offset, bytes);
  });
}

void write_global(const TilePlan& plan, const std::byte* staging) {
  alignas(16) std::byte buffer[kMaxRowBytes];
  std::uint32_t bytes = plan.inside_end - plan.inside_begin;
  for (std::size_t row = 0; row < plan.rows.size() && bytes != 0; ++row) {
    if (!plan.rows[row].inside) continue;
    gather_row(plan, row, staging, buffer);
    std::memcpy(reinterpret_cast<std::byte*>(plan.rows[row].global) + plan.inside_begin,
                buffer + plan.inside_begin, bytes);
  }
}

BulkFault check_tile_reduce(BulkOp op, TensorType type) {
  std::optional<BulkType> reduced = reduced_type(op, type);
  if (reduced && bulk_reduce_allows(op, *reduced, true)) return {};
  return {BulkFaultKind::IllegalInstruction,
          fmt::format("cp.reduce.async.bulk.tensor.{} does not take a tensor map of {}", name_of(op),
                      name_of(type))};
}

void reduce_global(const TilePlan& plan, BulkOp op, const std::byte* staging) {
  std::optional<BulkType> type = reduced_type(op, plan.type);
  if (!type) throw std::logic_error(fmt::format("reduction of a tensor map of {}", name_of(plan.type)));
  alignas(16) std::byte buffer[kMaxRowBytes];
  std::uint32_t bytes = plan.inside_end - plan.inside_begin;
  for (std::size_t row = 0; row < plan.rows.size() && bytes != 0; ++row) {
    if (!plan.rows[row].inside) continue;
    gather_row(plan, row, staging, buffer);
    reduce_elements(op, *type, reinterpret_cast<std::byte*>(plan.rows[row].global) + plan.inside_begin,
                    buffer + plan.inside_begin, bytes / size_of(*type));
  }
}

}  // namespace emu::units
