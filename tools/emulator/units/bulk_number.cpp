#include "units/bulk_number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "memory/atomic.h"

namespace emu::units {
namespace {

using memory::atomic_update;

constexpr std::array<std::pair<BulkType, const char*>, 13> kTypeNames{{{BulkType::U8, "u8"},
                                                                       {BulkType::U16, "u16"},
                                                                       {BulkType::U32, "u32"},
                                                                       {BulkType::S32, "s32"},
                                                                       {BulkType::U64, "u64"},
                                                                       {BulkType::S64, "s64"},
                                                                       {BulkType::F16, "f16"},
                                                                       {BulkType::BF16, "bf16"},
                                                                       {BulkType::F32, "f32"},
                                                                       {BulkType::F64, "f64"},
                                                                       {BulkType::B32, "b32"},
                                                                       {BulkType::B64, "b64"},
                                                                       {BulkType::F32Ftz, "ftz.f32"}}};
constexpr std::array<std::pair<BulkOp, const char*>, 8> kOpNames{{{BulkOp::Add, "add"},
                                                                  {BulkOp::Min, "min"},
                                                                  {BulkOp::Max, "max"},
                                                                  {BulkOp::Inc, "inc"},
                                                                  {BulkOp::Dec, "dec"},
                                                                  {BulkOp::And, "and"},
                                                                  {BulkOp::Or, "or"},
                                                                  {BulkOp::Xor, "xor"}}};

template <class T>
T integer_op(BulkOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case BulkOp::Add:
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case BulkOp::Min:
      return std::min(a, b);
    case BulkOp::Max:
      return std::max(a, b);
    case BulkOp::Inc:
      return static_cast<T>(
          memory::wrapping_inc(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
    case BulkOp::Dec:
      return static_cast<T>(
          memory::wrapping_dec(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
    case BulkOp::And:
      return a & b;
    case BulkOp::Or:
      return a | b;
    case BulkOp::Xor:
      return a ^ b;
  }
  return a;
}

// T: the element's arithmetic type; Bits: the word that is updated.
template <class T>
void reduce_integers(BulkOp op, void* at, const void* value, std::size_t count) {
  using Bits = std::make_unsigned_t<T>;
  for (std::size_t i = 0; i < count; ++i) {
    T b;
    std::memcpy(&b, static_cast<const T*>(value) + i, sizeof(T));
    atomic_update<Bits>(static_cast<Bits*>(at) + i,
                        [&](Bits a) { return static_cast<Bits>(integer_op<T>(op, static_cast<T>(a), b)); });
  }
}

float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

constexpr std::uint32_t kCanonicalNanF32 = 0x7FFFFFFF;

std::uint32_t f32_bits(float value) {
  return std::isnan(value) ? kCanonicalNanF32 : std::bit_cast<std::uint32_t>(value);
}

std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  return f32_bits(std::bit_cast<float>(a) + std::bit_cast<float>(b));
}

std::uint32_t add_f32_ftz(std::uint32_t a, std::uint32_t b) {
  return f32_bits(flush(flush(std::bit_cast<float>(a)) + flush(std::bit_cast<float>(b))));
}

std::uint64_t add_f64(std::uint64_t a, std::uint64_t b) {
  // A NaN is handed on as it is, not quiet: the source's before the memory's (measured on an H200).
  if (std::isnan(std::bit_cast<double>(b))) return b;
  if (std::isnan(std::bit_cast<double>(a))) return a;
  return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
}

// A sum of two such numbers is exact in a double (f16) or rounds there without harm (bf16: 53 >= 2 * 8 + 2
// digits).
struct Half {
  static double wide(std::uint16_t bits) { return f16_to_f32(bits); }
  static std::uint16_t narrow(double value) { return f64_to_f16(value); }
};
struct Bfloat {
  static double wide(std::uint16_t bits) { return bf16_to_f32(bits); }
  static std::uint16_t narrow(double value) { return f64_to_bf16(value); }
};

// min and max of PTX give the other operand where one is a NaN, and order -0 below +0.
template <class Format>
std::uint16_t narrow_op(BulkOp op, std::uint16_t a, std::uint16_t b) {
  double x = Format::wide(a), y = Format::wide(b);
  if (op == BulkOp::Add) return Format::narrow(x + y);
  if (std::isnan(x) && std::isnan(y)) return Format::narrow(x);
  if (std::isnan(x)) return b;
  if (std::isnan(y)) return a;
  bool a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return (op == BulkOp::Min) == a_less ? a : b;
}

template <class Format>
void reduce_narrow(BulkOp op, void* at, const void* value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t b;
    std::memcpy(&b, static_cast<const std::uint16_t*>(value) + i, sizeof(b));
    atomic_update<std::uint16_t>(static_cast<std::uint16_t*>(at) + i,
                                 [&](std::uint16_t a) { return narrow_op<Format>(op, a, b); });
  }
}

template <class Bits, class Add>
void reduce_floats(void* at, const void* value, std::size_t count, Add add) {
  for (std::size_t i = 0; i < count; ++i) {
    Bits b;
    std::memcpy(&b, static_cast<const Bits*>(value) + i, sizeof(b));
    atomic_update<Bits>(static_cast<Bits*>(at) + i, [&](Bits a) { return add(a, b); });
  }
}

// Rounds to `digits` significant bits, or to the grid of subnormals at 2^least_exponent.
double round_to(double value, int digits, int least_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = std::max(std::ilogb(value) - (digits - 1), least_exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

}  // namespace

const char* name_of(BulkType type) { return kTypeNames[static_cast<std::size_t>(type)].second; }
const char* name_of(BulkOp op) { return kOpNames[static_cast<std::size_t>(op)].second; }

std::uint32_t size_of(BulkType type) {
  switch (type) {
    case BulkType::U8:
      return 1;
    case BulkType::U16:
    case BulkType::F16:
    case BulkType::BF16:
      return 2;
    case BulkType::U32:
    case BulkType::S32:
    case BulkType::F32:
    case BulkType::F32Ftz:
    case BulkType::B32:
      return 4;
    default:
      return 8;
  }
}

std::optional<BulkOp> bulk_op(const std::string& name) {
  for (auto [op, text] : kOpNames) {
    if (name == text) return op;
  }
  return std::nullopt;
}

std::optional<BulkType> bulk_type(const std::string& name) {
  for (auto [type, text] : kTypeNames) {
    if (name == text) return type;
  }
  return std::nullopt;
}

bool bulk_reduce_allows(BulkOp op, BulkType type, bool to_global) {
  auto one_of = [type](std::initializer_list<BulkType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  using enum BulkType;
  switch (op) {
    case BulkOp::Add:
      return one_of({U32, S32, U64}) || (to_global && one_of({F32, F32Ftz, F64, F16, BF16}));
    case BulkOp::Min:
    case BulkOp::Max:
      return one_of({U32, S32}) || (to_global && one_of({U64, S64, F16, BF16}));
    case BulkOp::Inc:
    case BulkOp::Dec:
      return type == U32;
    case BulkOp::And:
    case BulkOp::Or:
    case BulkOp::Xor:
      return type == B32 || (to_global && type == B64);
  }
  return false;
}

void reduce_elements(BulkOp op, BulkType type, void* at, const void* value, std::size_t count) {
  switch (type) {
    case BulkType::U8:
      return reduce_integers<std::uint8_t>(op, at, value, count);
    case BulkType::U16:
      return reduce_integers<std::uint16_t>(op, at, value, count);
    case BulkType::U32:
    case BulkType::B32:
      return reduce_integers<std::uint32_t>(op, at, value, count);
    case BulkType::S32:
      return reduce_integers<std::int32_t>(op, at, value, count);
    case BulkType::U64:
    case BulkType::B64:
      return reduce_integers<std::uint64_t>(op, at, value, count);
    case BulkType::S64:
      return reduce_integers<std::int64_t>(op, at, value, count);
    case BulkType::F16:
      return reduce_narrow<Half>(op, at, value, count);
    case BulkType::BF16:
      return reduce_narrow<Bfloat>(op, at, value, count);
    case BulkType::F32:
      return reduce_floats<std::uint32_t>(at, value, count, add_f32);
    case BulkType::F32Ftz:
      return reduce_floats<std::uint32_t>(at, value, count, add_f32_ftz);
    case BulkType::F64:
      return reduce_floats<std::uint64_t>(at, value, count, add_f64);
  }
}

float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

float f16_to_f32(std::uint16_t bits) {
  int exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
  float magnitude;
  if (exponent == 0x1F) {
    magnitude = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

std::uint16_t f64_to_f16(double value) {
  if (std::isnan(value)) return 0x7FFF;
  std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(round_to(value, 11, -24));
  if (magnitude > 65504.0) return sign | 0x7C00;
  if (magnitude < 0x1p-14) return sign | static_cast<std::uint16_t>(std::ldexp(magnitude, 24));
  int exponent = std::ilogb(magnitude);
  auto fraction = static_cast<std::uint16_t>(std::ldexp(magnitude, 10 - exponent));
  return sign | static_cast<std::uint16_t>(((exponent + 15) << 10) + (fraction - 0x400));
}

std::uint16_t f64_to_bf16(double value) {
  if (std::isnan(value)) return 0x7FFF;
  double rounded = round_to(value, 8, -133);  // every such number is an f32, or beyond its range
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(rounded)) >> 16);
}

}  // namespace emu::units
