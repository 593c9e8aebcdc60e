// Running a scalar operation on 32 lanes. The loops are written for the auto-vectoriser: one pass computes
// all lanes into a local array (an instruction may overwrite its own sources, even with another width), a
// second stores the active ones.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "isa/alu_form.h"

#ifndef EMU_ISA_SET
#error "compile with EMU_ISA_SET naming the instruction set's namespace"
#endif
#define EMU_INLINE __attribute__((always_inline)) inline

namespace emu::isa::EMU_ISA_SET {

using s16 = int16_t;
using u16 = uint16_t;
using s32 = int32_t;
using u32 = uint32_t;
using s64 = int64_t;
using u64 = uint64_t;

template <typename To, typename From>
EMU_INLINE To bits_as(From value) {
  return __builtin_bit_cast(To, value);
}

// How a value of type T lies in a slot. 16-bit values are zero-extended to 32 bits.
template <typename T>
struct Lane {
  using Value = T;
  using Word = std::conditional_t<sizeof(T) == 8, u64, u32>;
  static EMU_INLINE T read(Word word) {
    if constexpr (std::is_floating_point_v<T>) {
      return bits_as<T>(word);
    } else {
      return static_cast<T>(word);
    }
  }
  static EMU_INLINE Word write(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return bits_as<Word>(value);
    } else {
      return static_cast<Word>(static_cast<std::make_unsigned_t<T>>(value));
    }
  }
};
template <typename T>
using WordOf = typename Lane<T>::Word;
template <typename T>
using ValueOf = typename Lane<T>::Value;

template <typename W>
EMU_INLINE void store_lanes(W* to, const W* result, LaneMask active) {
  if (active == ~0u) {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = result[lane];
  } else {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = (active >> lane & 1) ? result[lane] : to[lane];
  }
}

template <typename T>
EMU_INLINE void store(const LaneFile& file, Ref to, const WordOf<T>* result, LaneMask active) {
  store_lanes(file.at<WordOf<T>>(to), result, active);
}

// Lane mask of the words' sign bits.
EMU_INLINE LaneMask sign_mask(const u32* words) {
#ifdef __AVX512DQ__
  const u32 low = _mm512_movepi32_mask(_mm512_loadu_si512(words));
  const u32 high = _mm512_movepi32_mask(_mm512_loadu_si512(words + 16));
  return low | high << 16;
#else
  LaneMask mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m256 part = _mm256_loadu_ps(reinterpret_cast<const float*>(words + 8 * i));
    mask |= static_cast<u32>(_mm256_movemask_ps(part)) << (8 * i);
  }
  return mask;
#endif
}

EMU_INLINE LaneMask read_predicate(const LaneFile& file, const Instr& instr, int source) {
  const LaneMask mask = file.predicates[instr.src[source].raw];
  return (instr.negated >> source & 1) ? ~mask : mask;
}
EMU_INLINE void write_predicate(const LaneFile& file, Ref to, LaneMask value, LaneMask active) {
  LaneMask& mask = file.predicates[to.raw];
  mask = (mask & ~active) | (value & active);
}

template <typename D, typename A, typename Op>
EMU_INLINE void map1(const LaneFile& file, const Instr& instr, LaneMask active, Op op) {
  const auto* a = file.at<WordOf<A>>(instr.src[0]);
  WordOf<D> result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    result[lane] = Lane<D>::write(static_cast<ValueOf<D>>(op(Lane<A>::read(a[lane]))));
  store<D>(file, instr.dst[0], result, active);
}

template <typename D, typename A, typename B, typename Op>
EMU_INLINE void map2(const LaneFile& file, const Instr& instr, LaneMask active, Op op) {
  const auto* a = file.at<WordOf<A>>(instr.src[0]);
  const auto* b = file.at<WordOf<B>>(instr.src[1]);
  WordOf<D> result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    result[lane] =
        Lane<D>::write(static_cast<ValueOf<D>>(op(Lane<A>::read(a[lane]), Lane<B>::read(b[lane]))));
  store<D>(file, instr.dst[0], result, active);
}

template <typename D, typename A, typename B, typename C, typename Op>
EMU_INLINE void map3(const LaneFile& file, const Instr& instr, LaneMask active, Op op) {
  const auto* a = file.at<WordOf<A>>(instr.src[0]);
  const auto* b = file.at<WordOf<B>>(instr.src[1]);
  const auto* c = file.at<WordOf<C>>(instr.src[2]);
  WordOf<D> result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    result[lane] = Lane<D>::write(
        static_cast<ValueOf<D>>(op(Lane<A>::read(a[lane]), Lane<B>::read(b[lane]), Lane<C>::read(c[lane]))));
  store<D>(file, instr.dst[0], result, active);
}

// Routine of an operation `op` with destination type D and source types S.
template <auto op, typename D, typename... S>
void lanes(const LaneFile& file, const Instr& instr, LaneMask active) {
  if constexpr (sizeof...(S) == 1) {
    map1<D, S...>(file, instr, active, op);
  } else if constexpr (sizeof...(S) == 2) {
    map2<D, S...>(file, instr, active, op);
  } else {
    map3<D, S...>(file, instr, active, op);
  }
}

// One routine per type, all operands of that type.
template <auto op, typename... T>
inline constexpr AluFn kUnary[] = {lanes<op, T, T>...};
template <auto op, typename... T>
inline constexpr AluFn kBinary[] = {lanes<op, T, T, T>...};
template <auto op, typename... T>
inline constexpr AluFn kTernary[] = {lanes<op, T, T, T, T>...};

}  // namespace emu::isa::EMU_ISA_SET
