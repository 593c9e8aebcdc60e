// Approximate transcendental functions (PTX ISA 9.7.3).
#include <iterator>

#include "isa/approx_value.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

template <bool kFlush>
constexpr auto kEx2 = [](float x) { return ex2_value<kFlush>(x); };
template <bool kFlush>
constexpr auto kLg2 = [](float x) { return lg2_value<kFlush>(x); };
template <bool kFlush>
constexpr auto kSin = [](float x) { return sin_value<kFlush>(x); };
template <bool kFlush>
constexpr auto kCos = [](float x) { return cos_value<kFlush>(x); };
template <bool kFlush>
constexpr auto kRsqrt = [](float x) { return rsqrt_value<kFlush>(x); };
constexpr auto kTanh = [](float x) { return tanh_value(x); };

// The f64 approximations see and give the upper 32 bits of a double only.
EMU_INLINE double upper_word(double x) { return as_double(bits(x) & 0xffffffff00000000); }
template <bool kFlush>
EMU_INLINE double flush_double(double x) {
  return kFlush && std::fabs(x) < 0x1p-1022 ? as_double(bits(x) & u64{1} << 63) : x;
}
constexpr auto kRcpDouble = [](double input) {
  const double x = upper_word(input);  // a NaN whose payload lies below is an infinity to it
  const double y = flush_double<true>(1 / flush_double<true>(x));
  return upper_word(x != x ? as_double(0x7fffffff00000000) : y);
};
template <bool kFlush>
constexpr auto kRsqrtDouble = [](double input) {
  const double x = flush_double<kFlush>(upper_word(input));
  const double infinity = as_double(0x7ff0000000000000 | (bits(x) & u64{1} << 63));
  const double y = x == 0 ? infinity : 1 / __builtin_sqrt(x);
  return upper_word(y == y ? y : as_double(0x7fffffff00000000));
};

#define FLUSHED(op) kEach<lanes<op<false>, float, float>, lanes<op<true>, float, float>>

// Range handling around the MUFU operation: ptxas scales subnormal inputs when .ftz is absent.
constexpr Cost kCircular{CostClass::Mufu, 1, 1, 0};
constexpr Cost kMufu64{CostClass::Mufu, 1, 0, 2};

constexpr AluForm kForms[] = {
    {"ex2.approx.f32", "f=f", {CostClass::Mufu, 1, 2, 1}, kOne<lanes<kEx2<false>, float, float>>},
    {"ex2.approx.ftz.f32", "f=f", kMufu, kOne<lanes<kEx2<true>, float, float>>},
    {"lg2.approx.f32", "f=f", {CostClass::Mufu, 1, 2, 1}, kOne<lanes<kLg2<false>, float, float>>},
    {"lg2.approx.ftz.f32", "f=f", kMufu, kOne<lanes<kLg2<true>, float, float>>},
    {"sin.approx{.ftz}.f32", "f=f", kCircular, FLUSHED(kSin)},
    {"cos.approx{.ftz}.f32", "f=f", kCircular, FLUSHED(kCos)},
    {"rsqrt.approx{.ftz}.f32", "f=f", kMufu, FLUSHED(kRsqrt)},
    {"tanh.approx.f32", "f=f", kMufu, kOne<lanes<kTanh, float, float>>},
    {"rcp.approx.ftz.f64", "d=d", kMufu64, kOne<lanes<kRcpDouble, double, double>>},
    {"rsqrt.approx{.ftz}.f64", "d=d", kMufu64,
     kEach<lanes<kRsqrtDouble<false>, double, double>, lanes<kRsqrtDouble<true>, double, double>>},
};
}  // namespace

extern const FormTable kApproxForms;
const FormTable kApproxForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
