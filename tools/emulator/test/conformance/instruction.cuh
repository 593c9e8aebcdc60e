// Cases of one register-to-register instruction: OP1, OP2 and OP3 define an operation from its PTX text and
// the kinds of its operands; add_operation() puts it into the table.
#pragma once
#include <type_traits>

#include "launch.cuh"
#include "operands.h"

namespace conformance {

// Operand kinds: C type, asm constraint, values.
#define CONFORMANCE_KIND(kind, type, values)          \
  struct kind {                                       \
    using Type = type;                                \
    static constexpr Values kValues = Values::values; \
  };
CONFORMANCE_KIND(i16, unsigned short, kI16)
CONFORMANCE_KIND(i32, unsigned, kI32)
CONFORMANCE_KIND(i64, unsigned long long, kI64)
CONFORMANCE_KIND(shift, unsigned, kShift)
CONFORMANCE_KIND(selector, unsigned, kSelector)
CONFORMANCE_KIND(f16, unsigned short, kF16)
CONFORMANCE_KIND(bf16, unsigned short, kBf16)
CONFORMANCE_KIND(f32, unsigned, kF32)
CONFORMANCE_KIND(f64, unsigned long long, kF64)
CONFORMANCE_KIND(f16x2, unsigned, kF16x2)
CONFORMANCE_KIND(bf16x2, unsigned, kBf16x2)
CONFORMANCE_KIND(bytes2, unsigned short, kBytes2)
CONFORMANCE_KIND(convert_f32, unsigned, kConvertF32)
CONFORMANCE_KIND(convert_f64, unsigned long long, kConvertF64)
CONFORMANCE_KIND(angle, unsigned, kAngle)
CONFORMANCE_KIND(wide_angle, unsigned, kWideAngle)
CONFORMANCE_KIND(unit_range, unsigned, kUnit)
#undef CONFORMANCE_KIND

#define CON_i16 "h"
#define CON_i32 "r"
#define CON_i64 "l"
#define CON_shift "r"
#define CON_selector "r"
#define CON_f16 "h"
#define CON_bf16 "h"
#define CON_f32 "r"
#define CON_f64 "l"
#define CON_f16x2 "r"
#define CON_bf16x2 "r"
#define CON_bytes2 "h"
#define CON_convert_f32 "r"
#define CON_convert_f64 "l"
#define CON_angle "r"
#define CON_wide_angle "r"
#define CON_unit_range "r"

#define OP1(NAME, D, A, TEXT)                                         \
  struct NAME {                                                       \
    using Out = D;                                                    \
    using In = std::tuple<A>;                                         \
    static __device__ D::Type apply(uint64_t x, uint64_t, uint64_t) { \
      A::Type a = static_cast<A::Type>(x);                            \
      D::Type d;                                                      \
      asm volatile(TEXT : "=" CON_##D(d) : CON_##A(a));               \
      return d;                                                       \
    }                                                                 \
  };
#define OP2(NAME, D, A, B, TEXT)                                        \
  struct NAME {                                                         \
    using Out = D;                                                      \
    using In = std::tuple<A, B>;                                        \
    static __device__ D::Type apply(uint64_t x, uint64_t y, uint64_t) { \
      A::Type a = static_cast<A::Type>(x);                              \
      B::Type b = static_cast<B::Type>(y);                              \
      D::Type d;                                                        \
      asm volatile(TEXT : "=" CON_##D(d) : CON_##A(a), CON_##B(b));     \
      return d;                                                         \
    }                                                                   \
  };
#define OP3(NAME, D, A, B, C, TEXT)                                             \
  struct NAME {                                                                 \
    using Out = D;                                                              \
    using In = std::tuple<A, B, C>;                                             \
    static __device__ D::Type apply(uint64_t x, uint64_t y, uint64_t z) {       \
      A::Type a = static_cast<A::Type>(x);                                      \
      B::Type b = static_cast<B::Type>(y);                                      \
      C::Type c = static_cast<C::Type>(z);                                      \
      D::Type d;                                                                \
      asm volatile(TEXT : "=" CON_##D(d) : CON_##A(a), CON_##B(b), CON_##C(c)); \
      return d;                                                                 \
    }                                                                           \
  };
// Entries of a family's list have one of the three shapes; these expand a list to its registrations.
#define ADD_OP(NAME, ...) add_operation<NAME>(table, FAMILY "." #NAME);

template <typename Op>
__global__ void apply_operation(const uint64_t* operands, typename Op::Out::Type* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = Op::apply(operands[i], operands[i + count], operands[i + 2 * count]);
}

template <typename Op>
constexpr int operation_count() {
  constexpr int arity = std::tuple_size_v<typename Op::In>;
  using First = std::tuple_element_t<0, typename Op::In>;
  return arity > 1 || First::kValues == Values::kBytes2 ? 512 : 256;
}

template <typename Op>
Case make_operation(const std::string& name, int count = operation_count<Op>()) {
  using In = typename Op::In;
  constexpr int kArity = std::tuple_size_v<In>;
  Case result;
  result.name = name;
  result.words = count * sizeof(typename Op::Out::Type) / 4;
  result.run = [count](uint32_t* out) {
    std::vector<uint64_t> all = operands(std::tuple_element_t<0, In>::kValues, 0, kArity, count);
    if constexpr (kArity > 1) append(all, operands(std::tuple_element_t<1, In>::kValues, 1, kArity, count));
    if constexpr (kArity > 2) append(all, operands(std::tuple_element_t<2, In>::kValues, 2, kArity, count));
    all.resize(3 * count);
    apply_operation<Op>
        <<<count / 128, 128>>>(to_device(all), reinterpret_cast<typename Op::Out::Type*>(out), count);
  };
  return result;
}

template <typename Op>
void add_operation(Table& table, const std::string& name) {
  table.push_back(make_operation<Op>(name));
}

}  // namespace conformance
