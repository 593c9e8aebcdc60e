// Approximate functions (PTX ISA 9.7.3 and 9.7.4), compared within the error that the manual promises.
#include <cmath>

#include "../instruction.cuh"

namespace conformance {
namespace {

// clang-format off
OP1(ex2_f32, f32, convert_f32, "ex2.approx.f32 %0, %1;")
OP1(ex2_ftz_f32, f32, convert_f32, "ex2.approx.ftz.f32 %0, %1;")
OP1(lg2_f32, f32, convert_f32, "lg2.approx.f32 %0, %1;")
OP1(lg2_ftz_f32, f32, convert_f32, "lg2.approx.ftz.f32 %0, %1;")
OP1(lg2_near_one_f32, f32, unit_range, "lg2.approx.f32 %0, %1;")
OP1(rcp_f32, f32, convert_f32, "rcp.approx.f32 %0, %1;")
OP1(rcp_ftz_f32, f32, convert_f32, "rcp.approx.ftz.f32 %0, %1;")
OP1(rsqrt_f32, f32, convert_f32, "rsqrt.approx.f32 %0, %1;")
OP1(rsqrt_ftz_f32, f32, convert_f32, "rsqrt.approx.ftz.f32 %0, %1;")
OP1(sqrt_f32, f32, convert_f32, "sqrt.approx.f32 %0, %1;")
OP1(sqrt_ftz_f32, f32, convert_f32, "sqrt.approx.ftz.f32 %0, %1;")
OP1(tanh_f32, f32, convert_f32, "tanh.approx.f32 %0, %1;")
OP1(sin_f32, f32, angle, "sin.approx.f32 %0, %1;")
OP1(sin_ftz_f32, f32, angle, "sin.approx.ftz.f32 %0, %1;")
OP1(sin_wide_f32, f32, wide_angle, "sin.approx.f32 %0, %1;")
OP1(cos_f32, f32, angle, "cos.approx.f32 %0, %1;")
OP1(cos_wide_f32, f32, wide_angle, "cos.approx.f32 %0, %1;")
OP1(ex2_f16x2, f16x2, f16x2, "ex2.approx.f16x2 %0, %1;")
OP1(ex2_bf16x2, bf16x2, bf16x2, "ex2.approx.ftz.bf16x2 %0, %1;")
OP1(tanh_f16x2, f16x2, f16x2, "tanh.approx.f16x2 %0, %1;")
OP1(tanh_bf16x2, bf16x2, bf16x2, "tanh.approx.bf16x2 %0, %1;")
OP1(rcp_ftz_f64, f64, convert_f64, "rcp.approx.ftz.f64 %0, %1;")
OP1(rsqrt_ftz_f64, f64, convert_f64, "rsqrt.approx.ftz.f64 %0, %1;")
// clang-format on

double ulp(double exact) {
  return std::ldexp(1.0, std::max(exact == 0 ? -126 : std::ilogb(exact), -126) - 23);
}
double two_ulp(double, double exact) { return 2 * ulp(exact); }
double one_ulp(double, double exact) { return ulp(exact); }
// Relative bounds reach half a unit of the smallest subnormal where the result is subnormal.
template <int kNegatedTenths>
double relative(double, double exact) {
  return std::fmax(std::exp2(-kNegatedTenths / 10.0) * std::fabs(exact), 0x1p-149);
}
template <int kNegatedTenths>
double absolute(double, double) {
  return std::exp2(-kNegatedTenths / 10.0);
}
double log2_bound(double x, double exact) { return x > 0.5 && x < 2 ? 0x1p-22 : 0x1p-22 * std::fabs(exact); }
// Results below the smallest normal half are rounded to a multiple of 2^-24.
double half_exp_bound(double, double exact) { return std::fmax(std::exp2(-9.9) * exact, 0x1p-24); }
double f64_relative(double, double exact) { return std::exp2(-18.0) * std::fabs(exact); }

double exact_exp2(double x) { return std::exp2(x); }
double exact_log2(double x) { return std::log2(x); }
double exact_rcp(double x) { return 1 / x; }
double exact_rsqrt(double x) { return 1 / std::sqrt(x); }
double exact_sqrt(double x) { return std::sqrt(x); }
double exact_tanh(double x) { return std::tanh(x); }
double exact_sin(double x) { return std::sin(x); }
double exact_cos(double x) { return std::cos(x); }

using Format = ErrorBound::Format;
template <typename Op>
void add(Table& table, const std::string& name, const std::string& text, double (*exact)(double),
         double (*allowed)(double, double), Format format = Format::kF32) {
  Case added = make_operation<Op>("approximate." + name);
  added.bound = {format, text, exact, allowed,
                 operands(std::tuple_element_t<0, typename Op::In>::kValues, 0, 1, operation_count<Op>())};
  table.push_back(added);
}
}  // namespace

void approximation_cases(Table& table) {
  add<ex2_f32>(table, "ex2_f32", "2 ulp", exact_exp2, two_ulp);
  add<ex2_ftz_f32>(table, "ex2_ftz_f32", "2 ulp", exact_exp2, two_ulp);
  add<lg2_f32>(table, "lg2_f32", "absolute 2^-22 in (0.5, 2), else relative 2^-22", exact_log2, log2_bound);
  add<lg2_ftz_f32>(table, "lg2_ftz_f32", "absolute 2^-22 in (0.5, 2), else relative 2^-22", exact_log2,
                   log2_bound);
  add<lg2_near_one_f32>(table, "lg2_near_one_f32", "absolute 2^-22", exact_log2, absolute<220>);
  add<rcp_f32>(table, "rcp_f32", "1 ulp", exact_rcp, one_ulp);
  add<rcp_ftz_f32>(table, "rcp_ftz_f32", "1 ulp", exact_rcp, one_ulp);
  add<rsqrt_f32>(table, "rsqrt_f32", "relative 2^-22.9", exact_rsqrt, relative<229>);
  add<rsqrt_ftz_f32>(table, "rsqrt_ftz_f32", "relative 2^-22.9", exact_rsqrt, relative<229>);
  add<sqrt_f32>(table, "sqrt_f32", "relative 2^-23", exact_sqrt, relative<230>);
  add<sqrt_ftz_f32>(table, "sqrt_ftz_f32", "relative 2^-23", exact_sqrt, relative<230>);
  add<tanh_f32>(table, "tanh_f32", "relative 2^-11", exact_tanh, relative<110>);
  add<sin_f32>(table, "sin_f32", "absolute 2^-20.5 in [-2 pi, 2 pi]", exact_sin, absolute<205>);
  add<sin_ftz_f32>(table, "sin_ftz_f32", "absolute 2^-20.5 in [-2 pi, 2 pi]", exact_sin, absolute<205>);
  add<sin_wide_f32>(table, "sin_wide_f32", "absolute 2^-14.7 in [-100 pi, 100 pi]", exact_sin, absolute<147>);
  add<cos_f32>(table, "cos_f32", "absolute 2^-20.5 in [-2 pi, 2 pi]", exact_cos, absolute<205>);
  add<cos_wide_f32>(table, "cos_wide_f32", "absolute 2^-14.7 in [-100 pi, 100 pi]", exact_cos, absolute<147>);
  add<ex2_f16x2>(table, "ex2_f16x2", "relative 2^-9.9", exact_exp2, half_exp_bound, Format::kF16x2);
  add<ex2_bf16x2>(table, "ex2_bf16x2", "relative 2^-7", exact_exp2, relative<70>, Format::kBf16x2);
  add<tanh_f16x2>(table, "tanh_f16x2", "absolute 2^-10.987", exact_tanh, absolute<109>, Format::kF16x2);
  add<tanh_bf16x2>(table, "tanh_bf16x2", "absolute 2^-8", exact_tanh, absolute<80>, Format::kBf16x2);
  add<rcp_ftz_f64>(table, "rcp_ftz_f64", "20 mantissa bits of the input", exact_rcp, f64_relative,
                   Format::kF64);
  add<rsqrt_ftz_f64>(table, "rsqrt_ftz_f64", "20 mantissa bits of the input", exact_rsqrt, f64_relative,
                     Format::kF64);
}

}  // namespace conformance
