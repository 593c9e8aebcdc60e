// Small floating-point formats, decoded by their definition.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace emu::isa::test {

// Sign, exponent and fraction fields of an IEEE-like format. `finite_only` formats have no infinity, and NaN
// only if `nan_code` says so.
struct Format {
  std::string name;
  int exponent_bits, fraction_bits;
  bool finite_only = false;
  uint32_t nan_code = ~0u;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint32_t sign_bit() const { return 1u << (exponent_bits + fraction_bits); }
  uint32_t infinity_code() const { return ((1u << exponent_bits) - 1) << fraction_bits; }
  double value(uint32_t code) const {
    const uint32_t magnitude = code & (sign_bit() - 1);
    const int exponent = static_cast<int>(magnitude >> fraction_bits);
    const int fraction = static_cast<int>(magnitude & ((1u << fraction_bits) - 1));
    double x;
    if (magnitude == nan_code || (!finite_only && magnitude > infinity_code())) {
      x = std::numeric_limits<double>::quiet_NaN();
    } else if (!finite_only && magnitude == infinity_code()) {
      x = std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      x = std::ldexp(fraction, 1 - bias() - fraction_bits);
    } else {
      x = std::ldexp((1 << fraction_bits) + fraction, exponent - bias() - fraction_bits);
    }
    return (code & sign_bit()) ? -x : x;
  }
  // What would follow the largest finite value.
  double beyond() const { return std::ldexp(1.0, bias() + 1); }
};

inline const Format kF16{"f16", 5, 10};
inline const Format kBf16{"bf16", 8, 7};
inline const Format kE4m3{"e4m3", 4, 3, true, 0x7f};
inline const Format kE5m2{"e5m2", 5, 2};
inline const Format kE2m3{"e2m3", 2, 3, true};
inline const Format kE3m2{"e3m2", 3, 2, true};
inline const Format kE2m1{"e2m1", 2, 1, true};

}  // namespace emu::isa::test
