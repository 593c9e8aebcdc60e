// atom and red in every state space: PTX ISA 9.7.13.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/processor.h"
#include "memory/atomic.h"
#include "units/bulk_number.h"

namespace emu::gpu {

namespace {

template <typename U, typename S>
U apply_integer(AtomicOp op, ValueType type, U old, U value) {
  switch (op) {
    case AtomicOp::Add:
      return static_cast<U>(old + value);
    case AtomicOp::And:
      return old & value;
    case AtomicOp::Or:
      return old | value;
    case AtomicOp::Xor:
      return old ^ value;
    case AtomicOp::Exch:
      return value;
    case AtomicOp::Min:
      if (type == ValueType::Signed) return static_cast<S>(old) < static_cast<S>(value) ? old : value;
      return old < value ? old : value;
    case AtomicOp::Max:
      if (type == ValueType::Signed) return static_cast<S>(old) > static_cast<S>(value) ? old : value;
      return old > value ? old : value;
    case AtomicOp::Inc:
      return old >= value ? 0 : static_cast<U>(old + 1);
    case AtomicOp::Dec:
      return old == 0 || old > value ? value : static_cast<U>(old - 1);
    case AtomicOp::Cas:
      return old;  // handled by the caller
  }
  return old;
}

float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

uint16_t half_op(AtomicOp op, bool bfloat, uint16_t old, uint16_t value) {
  if (op == AtomicOp::Exch) return value;
  const double a = bfloat ? units::bf16_to_f32(old) : units::f16_to_f32(old);
  const double b = bfloat ? units::bf16_to_f32(value) : units::f16_to_f32(value);
  double result = a + b;
  // -0 lies below +0 (measured on an H200).
  const bool a_first = a == b ? std::signbit(a) && !std::signbit(b) : a < b;
  if (op == AtomicOp::Min) result = a == b ? (a_first ? a : b) : std::fmin(a, b);
  if (op == AtomicOp::Max) result = a == b ? (a_first ? b : a) : std::fmax(a, b);
  return bfloat ? units::f64_to_bf16(result) : units::f64_to_f16(result);
}

uint32_t apply32(const Detail& d, bool global, uint32_t old, uint32_t value) {
  if (d.type == ValueType::Float && d.atomic == AtomicOp::Add) {
    float a = std::bit_cast<float>(old), b = std::bit_cast<float>(value);
    // atom.global.add.f32 flushes subnormals, atom.shared does not (PTX ISA 9.7.13.6).
    if (global) a = flush(a), b = flush(b);
    const float sum = global ? flush(a + b) : a + b;
    return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<uint32_t>(sum);
  }
  if (d.type == ValueType::Half || d.type == ValueType::Bfloat) {
    const bool bfloat = d.type == ValueType::Bfloat;
    return half_op(d.atomic, bfloat, static_cast<uint16_t>(old), static_cast<uint16_t>(value)) |
           uint32_t{half_op(d.atomic, bfloat, static_cast<uint16_t>(old >> 16),
                            static_cast<uint16_t>(value >> 16))}
               << 16;
  }
  return apply_integer<uint32_t, int32_t>(d.atomic, d.type, old, value);
}

uint64_t apply64(const Detail& d, bool global, uint64_t old, uint64_t value) {
  if (d.type == ValueType::Float && d.atomic == AtomicOp::Add) {
    // In global memory a NaN is handed on as it is, the operand's before the memory's (measured on an H200).
    if (global && std::isnan(std::bit_cast<double>(value))) return value;
    if (global && std::isnan(std::bit_cast<double>(old))) return old;
    return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(value));
  }
  return apply_integer<uint64_t, int64_t>(d.atomic, d.type, old, value);
}

uint16_t apply16(const Detail& d, uint16_t old, uint16_t value) {
  if (d.type == ValueType::Half || d.type == ValueType::Bfloat) {
    return half_op(d.atomic, d.type == ValueType::Bfloat, old, value);
  }
  return apply_integer<uint16_t, int16_t>(d.atomic, d.type, old, value);
}

}  // namespace

void reduce_word(const Detail& d, std::byte* word, const std::byte* value) {
  if (d.bytes == 8) {
    uint64_t v;
    std::memcpy(&v, value, 8);
    memory::atomic_update<uint64_t>(word, [&](uint64_t before) { return apply64(d, false, before, v); });
  } else {
    uint32_t v;
    std::memcpy(&v, value, 4);
    memory::atomic_update<uint32_t>(word, [&](uint32_t before) { return apply32(d, false, before, v); });
  }
}

Outcome Processor::exec_atomic(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  const uint64_t symbol = symbol_value(f, d.address);
  const uint32_t bytes = uint32_t{d.bytes} * d.count;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = lane_address(f, d.address, symbol, lane);
    const Location at = locate(f, d.space, address, bytes, lane, true, bytes);
    const bool global = !at.cta && address < memory::kHostAddressEnd;
    for (uint8_t i = 0; i < d.count; ++i) {
      void* word = at.bytes + i * d.bytes;
      const bool cas = d.atomic == AtomicOp::Cas;
      if (d.bytes == 8) {
        const uint64_t value = f.file.at<uint64_t>(d.data[i])[lane];
        const uint64_t old =
            cas ? memory::atomic_compare_swap<uint64_t>(word, value, f.file.at<uint64_t>(d.extra)[lane])
                : memory::atomic_update<uint64_t>(
                      word, [&](uint64_t before) { return apply64(d, global, before, value); });
        if (d.has_destination) f.file.at<uint64_t>(d.coordinates[i])[lane] = old;
      } else if (d.bytes == 4) {
        const uint32_t value = f.file.at<uint32_t>(d.data[i])[lane];
        const uint32_t old =
            cas ? memory::atomic_compare_swap<uint32_t>(word, value, f.file.at<uint32_t>(d.extra)[lane])
                : memory::atomic_update<uint32_t>(
                      word, [&](uint32_t before) { return apply32(d, global, before, value); });
        if (d.has_destination) f.file.at<uint32_t>(d.coordinates[i])[lane] = old;
      } else if (d.bytes == 2) {
        const auto value = static_cast<uint16_t>(f.file.at<uint32_t>(d.data[i])[lane]);
        const uint16_t old = cas ? memory::atomic_compare_swap<uint16_t>(
                                       word, value, static_cast<uint16_t>(f.file.at<uint32_t>(d.extra)[lane]))
                                 : memory::atomic_update<uint16_t>(
                                       word, [&](uint16_t before) { return apply16(d, before, value); });
        if (d.has_destination) f.file.at<uint32_t>(d.coordinates[i])[lane] = old;
      } else {  // b128 exchange and compare-and-swap; one worker at a time runs the lanes of a CTA
        static std::mutex wide;
        std::lock_guard lock(wide);
        std::byte old[16];
        std::memcpy(old, word, 16);
        const std::byte* value = f.file.at<std::byte>(d.data[i]) + lane * 16;
        if (!cas) {
          std::memcpy(word, value, 16);
        } else if (std::memcmp(old, value, 16) == 0) {
          std::memcpy(word, f.file.at<std::byte>(d.extra) + lane * 16, 16);
        }
        if (d.has_destination) std::memcpy(f.file.at<std::byte>(d.coordinates[i]) + lane * 16, old, 16);
      }
    }
    if (at.cta) note_shared_write(f, at, bytes, lane, in);
  }
  note_progress();
  return Outcome::Next;
}

}  // namespace emu::gpu
