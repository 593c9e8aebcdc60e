// Milliseconds of one core for a 128x128x128 multiply, operand gather included: bf16, eight tcgen05.mma of
// K = 16, and two block-scaled kinds.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "units/mma_kernels.h"
#include "units/tensor_core.h"

using namespace emu::units;

namespace {

constexpr std::uint32_t kBase = 0x400;
constexpr std::uint32_t kIdescBf16 = 0x08200490;
constexpr std::uint32_t kBMajorN = 1u << 16;

struct Layout {
  const char* name;
  bool a_in_tmem;
  bool b_n_major;
  bool swizzle;
};

std::uint64_t descriptor(std::uint32_t start, std::uint32_t leading, std::uint32_t stride, unsigned swizzle) {
  return (std::uint64_t{swizzle} << 61) | (std::uint64_t{1} << 46) | (std::uint64_t{stride >> 4} << 32) |
         (std::uint64_t{leading >> 4} << 16) | (start >> 4);
}

/// One K = 16 step of a tile of 128 rows, 32 KB long, at `start`.
std::uint64_t step_descriptor(std::uint32_t start, int step, bool mn_major, bool swizzle) {
  if (mn_major) {
    return swizzle ? descriptor(start + step * 2048, 16384, 1024, 2)
                   : descriptor(start + step * 256, 128, 2048, 0);
  }
  return swizzle ? descriptor(start + (step / 4) * 16384 + (step % 4) * 32, 16, 1024, 2)
                 : descriptor(start + step * 4096, 2048, 128, 0);
}

template <typename Work>
double best_milliseconds(Work work) {
  work();
  double best = 1e9;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto before = std::chrono::steady_clock::now();
    constexpr int kRuns = 20;
    for (int i = 0; i < kRuns; ++i) {
      work();
    }
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - before;
    best = std::min(best, elapsed.count() / kRuns);
  }
  return best;
}

/// The arithmetic alone, on operands already packed.
void print_kernels() {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  PackedOperand operand;
  operand.resize(128, 16);
  operand.least_exponent = -126;
  for (float& value : operand.values) {
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(normal(random)) & 0xFFFF0000u);
  }
  std::vector<std::uint32_t> d(128 * kTmemLanes);
  AlignedOperand aligned;
  MmaRectangle r;
  r.a = r.b = &operand;
  r.aligned_a = r.aligned_b = &aligned;
  r.rows = r.columns = 128;
  r.d = d.data();
  for (int g = 0; g < 8; ++g) {
    r.group_lane[g] = 16 * g;
    r.group_mask[g] = 0xFFFF;
  }
  fmt::print("\n{:<36} {:>9} {:>9}\n", "arithmetic alone", "exact ms", "fast ms");
  for (const char* name : {"portable", "avx2", "avx512"}) {
    const MmaKernels* kernels = find_mma_kernels(name);
    if (!kernels) {
      continue;
    }
    const auto steps = [&](auto multiply) {
      return best_milliseconds([&] {
        for (int step = 0; step < 8; ++step) {
          r.accumulate = step != 0;
          multiply();
        }
      });
    };
    const double exact = steps([&] {
      kernels->prepare(operand, aligned);
      kernels->prepare(operand, aligned);
      kernels->exact(r);
    });
    fmt::print("{:<36} {:>9.3f} {:>9.3f}\n", name, exact, steps([&] { kernels->fast(r); }));
  }
}

double milliseconds(const Layout& layout, MmaPrecision precision, std::vector<std::byte>& shared) {
  TensorMemory tmem;
  std::memcpy(tmem.column(256), shared.data(), 64 * kTmemLanes * sizeof(std::uint32_t));
  TensorMemory* const memories[] = {&tmem};
  const SharedView views[] = {{shared.data(), kBase, static_cast<std::uint32_t>(shared.size())}};
  const auto multiply = [&] {
    for (int step = 0; step < 8; ++step) {
      MmaOperation op;
      op.a_in_tmem = layout.a_in_tmem;
      op.a_address = 256 + 8 * step;
      op.a_descriptor = step_descriptor(kBase, step, false, layout.swizzle);
      op.b_descriptor = step_descriptor(kBase + 32768, step, layout.b_n_major, layout.swizzle);
      op.instruction_descriptor = kIdescBf16 | (layout.b_n_major ? kBMajorN : 0);
      op.accumulate = step != 0;
      start_mma(op, views, memories).complete(precision);
    }
  };
  return best_milliseconds(multiply);
}

/// One instruction for each K step of 32 bytes a row, scale factors of 1 included.
double scaled_milliseconds(MmaKind kind, MmaPrecision precision, const std::vector<std::byte>& shared) {
  TensorMemory tmem;
  std::fill_n(tmem.column(256), 16 * kTmemLanes, 0x7F7F7F7Fu);
  TensorMemory* const memories[] = {&tmem};
  const SharedView views[] = {{shared.data(), kBase, static_cast<std::uint32_t>(shared.size())}};
  const bool fp4 = is_packed_fp4(kind);
  return best_milliseconds([&] {
    for (int step = 0; step < (fp4 ? 2 : 4); ++step) {
      MmaOperation op;
      op.kind = kind;
      op.scale_blocks = fp4 ? 4 : 1;
      op.scale_a_address = 256;
      op.scale_b_address = 260;
      op.a_descriptor = step_descriptor(kBase, step, false, true);
      op.b_descriptor = step_descriptor(kBase + 32768, step, false, true);
      op.instruction_descriptor = 0x08A00000u | (fp4 ? 0x480u : 0u);
      op.accumulate = step != 0;
      start_mma(op, views, memories).complete(precision);
    }
  });
}

}  // namespace

int main() {
  std::vector<std::byte> shared(96 * 1024);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < shared.size(); i += 2) {
    const float value = normal(random);
    std::memcpy(&shared[i], reinterpret_cast<const char*>(&value) + 2, 2);
  }
  constexpr Layout kLayouts[] = {
      {"SS, A and B K-major, 128B swizzle", false, false, true},
      {"SS, A and B K-major, no swizzle", false, false, false},
      {"SS, B N-major, 128B swizzle", false, true, true},
      {"TS, B N-major, 128B swizzle", true, true, true},
      {"TS, B K-major, 128B swizzle", true, false, true},
  };
  fmt::print("128x128x128 bf16, kernels: {}\n{:<36} {:>9} {:>9}\n", best_mma_kernels().name, "", "exact ms",
             "fast ms");
  for (const Layout& layout : kLayouts) {
    fmt::print("{:<36} {:>9.3f} {:>9.3f}\n", layout.name, milliseconds(layout, MmaPrecision::Exact, shared),
               milliseconds(layout, MmaPrecision::Fast, shared));
  }
  for (std::byte& byte : shared) byte &= std::byte{0xF7};  // no NaN of e4m3
  for (const MmaKind kind : {MmaKind::MXF8F6F4, MmaKind::MXF4NVF4}) {
    fmt::print("{:<36} {:>9.3f} {:>9.3f}\n", fmt::format("{}, SS, 128B swizzle", name(kind)),
               scaled_milliseconds(kind, MmaPrecision::Exact, shared),
               scaled_milliseconds(kind, MmaPrecision::Fast, shared));
  }
  print_kernels();
}
