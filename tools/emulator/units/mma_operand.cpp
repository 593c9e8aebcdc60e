#include "units/mma_operand.h"

#include <emmintrin.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "units/mma_arithmetic.h"

namespace emu::units {
namespace {

constexpr std::uint32_t kChunkBytes = 16;

/// Elements that a 16-byte chunk of shared memory holds. 4- and 6-bit types lie packed at its start, 16 of
/// them, except in the kinds that pack 32.
int elements_in_chunk(const OperandShape& shape) {
  return shape.packed ? 2 * static_cast<int>(kChunkBytes)
                      : static_cast<int>(kChunkBytes) / element_bytes(shape.type);
}

/// Every swizzle moves whole 16-byte chunks, and in every layout a chunk runs along the contiguous index.
/// visit(first row or column, first k, shared address).
template <typename Visit>
void for_each_chunk(const SmemDescriptor& descriptor, const OperandShape& shape, Visit visit) {
  const int es = element_bytes(shape.type);
  const int step = elements_in_chunk(shape);
  const int in_byte = shape.packed ? 2 : 1;
  // Every layout's offset is a part of the row and a part of k: the inner loop's parts are worked out once.
  const bool k_major = shape.major == Major::K;
  const int inner = ((k_major ? shape.depth : shape.count) + step - 1) / step;
  std::array<std::uint32_t, 256> along;
  for (int i = 0; i < inner; ++i) {
    along[i] = k_major ? operand_offset(descriptor, Major::K, es, 0, i * step / in_byte)
                       : operand_offset(descriptor, Major::MN, es, i * step, 0);
  }
  for (int outer = 0; outer < (k_major ? shape.count : shape.depth); ++outer) {
    const std::uint32_t row =
        descriptor.start + (k_major ? operand_offset(descriptor, Major::K, es, outer, 0)
                                    : operand_offset(descriptor, Major::MN, es, 0, outer));
    for (int i = 0; i < inner; ++i) {
      const std::uint32_t address = swizzled(row + along[i], descriptor.swizzle);
      k_major ? visit(outer, i * step, address) : visit(i * step, outer, address);
    }
  }
}

const std::byte* chunk(const SharedView& view, std::uint32_t address, const char* what) {
  if (address < view.base || address - view.base + kChunkBytes > view.size) {
    throw TensorError(fmt::format(
        "tcgen05.mma: operand {} reads shared address {:#x}, outside this CTA's {:#x} to {:#x}; check "
        "the descriptor's start, LBO and SBO",
        what, address, view.base, view.base + view.size));
  }
  return view.bytes + (address - view.base);
}

using ByteTable = std::array<std::uint32_t, 256>;

/// Values (or, of integers, their s32) of all codes of an 8-bit or narrower type.
ByteTable make_table(ElementType type) {
  ByteTable table{};
  for (int code = 0; code < 256; ++code) {
    switch (type) {
      case ElementType::U8:
        table[code] = code;
        break;
      case ElementType::S8:
        table[code] = static_cast<std::uint32_t>(static_cast<std::int8_t>(code));
        break;
      default:
        table[code] = std::bit_cast<std::uint32_t>(element_value(type, code));
    }
  }
  return table;
}

const ByteTable& byte_table(ElementType type) {
  using enum ElementType;
  static const std::array<ByteTable, 7> tables = {make_table(E4M3), make_table(E5M2), make_table(E2M3),
                                                  make_table(E3M2), make_table(E2M1), make_table(U8),
                                                  make_table(S8)};
  return tables[static_cast<int>(type) - static_cast<int>(E4M3)];
}

const std::uint32_t* half_table() {
  static const std::vector<std::uint32_t> table = [] {
    std::vector<std::uint32_t> values(0x10000);
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      values[code] = std::bit_cast<std::uint32_t>(element_value(ElementType::F16, code));
    }
    return values;
  }();
  return table.data();
}

/// Raw element `index` of a chunk.
std::uint32_t raw_element(const std::byte* bytes, ElementType type, int index) {
  switch (element_bits(type)) {
    case 32: {
      std::uint32_t word;
      std::memcpy(&word, bytes + 4 * index, 4);
      return word;
    }
    case 16: {
      std::uint16_t half;
      std::memcpy(&half, bytes + 2 * index, 2);
      return half;
    }
    case 8:
      return std::to_integer<std::uint32_t>(bytes[index]);
    default: {
      const int bit = element_bits(type) * index;
      auto pair = std::to_integer<std::uint32_t>(bytes[bit / 8]);
      if (bit % 8 + element_bits(type) > 8) {  // the last element must not look behind the chunk
        pair |= std::to_integer<std::uint32_t>(bytes[bit / 8 + 1]) << 8;
      }
      return (pair >> (bit % 8)) & ((1u << element_bits(type)) - 1);
    }
  }
}

/// Fills a chunk's elements, `stride` floats apart. One loop for each width keeps the common types quick.
void unpack(const std::byte* bytes, const OperandShape& shape, std::uint32_t flip, float* to, int stride) {
  const ElementType type = shape.type;
  const auto put = [&](int i, std::uint32_t word) { to[i * stride] = std::bit_cast<float>(word ^ flip); };
  if (type == ElementType::BF16) {
    std::uint16_t halves[8];
    std::memcpy(halves, bytes, sizeof halves);
    for (int i = 0; i < 8; ++i) {
      put(i, static_cast<std::uint32_t>(halves[i]) << 16);
    }
  } else if (type == ElementType::F16) {
    const std::uint32_t* table = half_table();
    std::uint16_t halves[8];
    std::memcpy(halves, bytes, sizeof halves);
    for (int i = 0; i < 8; ++i) {
      put(i, table[halves[i]]);
    }
  } else if (type == ElementType::TF32) {
    for (int i = 0; i < 4; ++i) {
      put(i, raw_element(bytes, type, i) & 0xFFFFE000u);
    }
  } else {
    const ByteTable& table = byte_table(type);
    for (int i = 0; i < elements_in_chunk(shape); ++i) {
      put(i, table[raw_element(bytes, type, i)]);
    }
  }
}

std::uint32_t sign_flip(const OperandShape& shape) { return shape.negate ? 0x80000000u : 0; }

}  // namespace

namespace {

/// Eight rows of eight bf16 each, K-major, to eight columns of floats, `stride` apart: a transposition in
/// registers, where a loop would store every element by itself.
void transpose_bf16(const std::byte* const* rows, std::uint32_t flip, float* to, int stride) {
  __m128i v[8], pairs[8], quads[8];
  for (int i = 0; i < 8; ++i) v[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i]));
  for (int i = 0; i < 4; ++i) {
    pairs[i] = _mm_unpacklo_epi16(v[2 * i], v[2 * i + 1]);      // k 0..3 of rows 2i and 2i + 1
    pairs[4 + i] = _mm_unpackhi_epi16(v[2 * i], v[2 * i + 1]);  // k 4..7
  }
  for (int half = 0; half < 2; ++half) {
    const __m128i* p = pairs + 4 * half;
    __m128i* q = quads + 4 * half;
    const __m128i low = _mm_unpacklo_epi32(p[0], p[1]), high = _mm_unpackhi_epi32(p[0], p[1]);
    const __m128i low2 = _mm_unpacklo_epi32(p[2], p[3]), high2 = _mm_unpackhi_epi32(p[2], p[3]);
    q[0] = _mm_unpacklo_epi64(low, low2);
    q[1] = _mm_unpackhi_epi64(low, low2);
    q[2] = _mm_unpacklo_epi64(high, high2);
    q[3] = _mm_unpackhi_epi64(high, high2);
  }
  const __m128i zero = _mm_setzero_si128(), sign = _mm_set1_epi32(static_cast<int>(flip));
  for (int k = 0; k < 8; ++k) {
    auto* out = reinterpret_cast<__m128i*>(to + static_cast<std::ptrdiff_t>(k) * stride);
    _mm_storeu_si128(out, _mm_xor_si128(_mm_unpacklo_epi16(zero, quads[k]), sign));
    _mm_storeu_si128(out + 1, _mm_xor_si128(_mm_unpackhi_epi16(zero, quads[k]), sign));
  }
}

}  // namespace

void gather_shared(const SmemDescriptor& descriptor, const OperandShape& shape, const SharedView& view,
                   const char* what, PackedOperand& packed) {
  const int stride = shape.major == Major::K ? packed.stride : 1;
  const std::uint32_t flip = sign_flip(shape);
  if (shape.type == ElementType::BF16 && shape.major == Major::K && shape.count % 8 == 0) {
    // The chunks of eight rows, for each eight of k; a step has at most 64.
    const std::byte* rows[8][8];
    for_each_chunk(descriptor, shape, [&](int mn, int k, std::uint32_t address) {
      rows[k / 8][mn % 8] = chunk(view, address, what);
      if (mn % 8 != 7) return;
      transpose_bf16(rows[k / 8], flip,
                     &packed.values[static_cast<std::size_t>(k) * packed.stride + shape.first + mn - 7],
                     packed.stride);
    });
    return;
  }
  for_each_chunk(descriptor, shape, [&](int mn, int k, std::uint32_t address) {
    float* to = &packed.values[static_cast<std::size_t>(k) * packed.stride + shape.first + mn];
    unpack(chunk(view, address, what), shape, flip, to, stride);
  });
}

void for_each_shared_range(const SmemDescriptor& descriptor, const OperandShape& shape, int cta,
                           const std::function<void(const SharedRange&)>& visit) {
  SharedRange range{cta, 0, 0};
  for_each_chunk(descriptor, shape, [&](int, int, std::uint32_t address) {
    if (range.bytes && address == range.address + range.bytes) {
      range.bytes += kChunkBytes;
    } else if (range.bytes && address + kChunkBytes == range.address) {
      range.address = address;
      range.bytes += kChunkBytes;
    } else {
      if (range.bytes) {
        visit(range);
      }
      range = {cta, address, kChunkBytes};
    }
  });
  if (range.bytes) {
    visit(range);
  }
}

namespace {

/// value(word) for the rows of one column of tensor memory, 16 lanes at a time so that the compiler uses
/// vectors.
template <typename Value>
void convert_column(const std::uint32_t* column, std::span<const int> group_lanes, std::uint32_t flip,
                    float* to, Value value) {
  for (const int lane : group_lanes) {
    for (int i = 0; i < kRowGroup; ++i) {
      to[i] = std::bit_cast<float>(value(column[lane + i]) ^ flip);
    }
    to += kRowGroup;
  }
}

/// Where a word of tensor memory keeps an element of a byte-sized container: e2m1 in bits 5 to 2 of its byte,
/// the 6-bit types in bits 5 to 0 (PTX ISA 9.7.16.10.4.3), and packed e2m1 in a nibble of its own.
struct Container {
  int in_word;
  int shift;
  std::uint32_t mask;
};

Container container(const OperandShape& shape) {
  if (shape.packed) return {8, 0, 0xF};
  switch (element_bits(shape.type)) {
    case 4:
      return {4, 2, 0xF};
    case 6:
      return {4, 0, 0x3F};
    default:
      return {4, 0, 0xFF};
  }
}

}  // namespace

void gather_tmem(const TensorMemory& memory, std::span<const int> group_lanes, int first_column,
                 const OperandShape& shape, PackedOperand& packed) {
  const Container bytes = container(shape);
  const int per_column = element_bytes(shape.type) == 1 ? bytes.in_word : 4 / element_bytes(shape.type);
  const std::uint32_t flip = sign_flip(shape);
  for (int k = 0; k < shape.depth; ++k) {
    const std::uint32_t* column = memory.column(first_column + k / per_column);
    float* to = &packed.values[static_cast<std::size_t>(k) * packed.stride + shape.first];
    const int shift = 32 / per_column * (k % per_column);
    const auto convert = [&](auto value) { convert_column(column, group_lanes, flip, to, value); };
    switch (shape.type) {
      case ElementType::BF16:
        convert([&](std::uint32_t w) { return w >> shift << 16; });
        break;
      case ElementType::F16:
        convert([&, table = half_table()](std::uint32_t w) { return table[(w >> shift) & 0xFFFF]; });
        break;
      case ElementType::TF32:
        convert([](std::uint32_t w) { return w & 0xFFFFE000u; });
        break;
      default:
        convert([&, &table = byte_table(shape.type)](std::uint32_t w) {
          return table[(w >> (shift + bytes.shift)) & bytes.mask];
        });
    }
  }
}

}  // namespace emu::units
