#include "units/tensor_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "units/block_scale.h"
#include "units/block_scale_arithmetic.h"
#include "units/mma_arithmetic.h"
#include "units/mma_kernels.h"
#include "units/mma_layout.h"
#include "units/mma_operand.h"
#include "units/sparse_operand.h"
#include "units/zero_columns.h"

namespace emu::units {
struct MmaInFlight::State {
  MmaOperation op;
  InstructionDescriptor d;
  SmemDescriptor a_descriptor;
  SmemDescriptor b_descriptor;
  std::vector<MmaTile> tiles;
  std::array<TensorMemory*, 2> tmem{};
  std::array<PackedOperand, 2> a;        // one for each CTA
  PackedOperand b;                       // all N columns; both CTAs multiply by them
  std::array<ScaleFactors, 2> a_scales;  // block-scaled kinds: each CTA reads its own tensor memory
  std::array<ScaleFactors, 2> b_scales;

  OperandShape a_shape() const {
    const int rows = op.a_in_tmem ? operand_rows(d, op) : d.m / op.cta_group;
    return {d.a_type, d.a_major, d.negate_a, rows, d.sparse ? d.k / 2 : d.k, 0, is_packed_fp4(d.kind)};
  }
  OperandShape b_shape(int cta) const {
    const int columns = d.n / op.cta_group;
    return {d.b_type, d.b_major, d.negate_b, columns, d.k, cta * columns, is_packed_fp4(d.kind)};
  }
  OperandShape shifted_b_shape() const;

  void gather(std::span<const SharedView> shared);
  void gather_a(int cta, const SharedView& shared, PackedOperand& to) const;
  void gather_sparse_a(int cta, const SharedView& shared);
  void gather_b(int cta, const SharedView& shared);
  void gather_scale_factors(int cta);
  MmaRectangle rectangle(int cta, const MmaTile& tile) const;
  template <typename Element>
  void by_element(const MmaRectangle& r, Element element) const;
  void multiply_f32(const MmaRectangle& r, int cta, MmaPrecision precision, const AlignedOperand& a,
                    const AlignedOperand& b);
  void redo_specials(const MmaRectangle& r, int cta) const;
  void complete_scaled(MmaPrecision precision);
  void complete_scaled_fast(int cta);
  void complete_fp4(int cta);
  void multiply_f16(const MmaRectangle& r) const;
  void multiply_s32(const MmaRectangle& r) const;
};

void MmaInFlight::State::gather(std::span<const SharedView> shared) {
  b.resize(d.n, d.k);
  b.least_exponent = minimum_exponent(d.b_type);
  for (int cta = 0; cta < op.cta_group; ++cta) {
    a[cta].resize(operand_rows(d, op), d.k);
    a[cta].least_exponent = minimum_exponent(d.a_type);
    gather_b(cta, shared[cta]);
    if (is_block_scaled(d.kind)) {
      gather_scale_factors(cta);
    }
    if (op.sparse) {
      gather_sparse_a(cta, shared[cta]);
    } else {
      gather_a(cta, shared[cta], a[cta]);
    }
  }
}

/// The columns of B up to the last that a shifted product uses; whole 16-byte chunks of an N-major B.
OperandShape MmaInFlight::State::shifted_b_shape() const {
  OperandShape shape = b_shape(0);
  shape.count += zero_columns_shift(op.zero_columns);
  if (shape.major == Major::MN) {
    const int step = 16 / element_bytes(shape.type);
    shape.count = (shape.count + step - 1) / step * step;
  }
  return shape;
}

void MmaInFlight::State::gather_b(int cta, const SharedView& shared) {
  const int shift = zero_columns_shift(op.zero_columns);
  if (shift == 0) {
    gather_shared(b_descriptor, b_shape(cta), shared, "B", b);
  } else {
    const OperandShape shape = shifted_b_shape();
    PackedOperand wide;
    wide.resize(shape.count, d.k);
    gather_shared(b_descriptor, shape, shared, "B", wide);
    for (int k = 0; k < d.k; ++k) {
      std::copy_n(&wide.values[static_cast<std::size_t>(k) * wide.stride + shift], d.n,
                  &b.values[static_cast<std::size_t>(k) * b.stride]);
    }
  }
  if (op.zero_columns) {
    const std::vector<bool> zero = zero_columns(op.zero_columns, d.m, d.n);
    for (int column = 0; column < d.n; ++column) {
      for (int k = 0; zero[column] && k < d.k; ++k) {
        b.values[static_cast<std::size_t>(k) * b.stride + column] = 0;
      }
    }
  }
}

void MmaInFlight::State::gather_scale_factors(int cta) {
  a_scales[cta] = gather_scales(*tmem[cta], op.scale_a_address, scale_shape_a(op, d), a[cta].stride,
                                op.first_scale_copy_only, "row");
  b_scales[cta] = gather_scales(*tmem[cta], op.scale_b_address, scale_shape_b(op, d), b.stride,
                                op.first_scale_copy_only, "column");
}

void MmaInFlight::State::gather_a(int cta, const SharedView& shared, PackedOperand& to) const {
  if (!op.a_in_tmem) {
    gather_shared(a_descriptor, a_shape(), shared, "A", to);
    return;
  }
  // A's rows lie in the lanes of D's rows; the second tile's lanes hold the second copy, and so on.
  std::vector<int> group_lanes;
  for (const MmaTile& tile : tiles) {
    group_lanes.insert(group_lanes.end(), tile.group_lane, tile.group_lane + tile.rows / kRowGroup);
  }
  gather_tmem(*tmem[cta], group_lanes, decode_tmem_address(op.a_address).column, a_shape(), to);
}

void MmaInFlight::State::gather_sparse_a(int cta, const SharedView& shared) {
  PackedOperand stored;
  stored.resize(operand_rows(d, op), d.k / 2);
  gather_a(cta, shared, stored);
  // An A in shared memory is there once for all parts of the columns.
  const int rows = d.m / op.cta_group;
  for (int k = 0; k < stored.depth && !op.a_in_tmem; ++k) {
    float* row = &stored.values[static_cast<std::size_t>(k) * stored.stride];
    for (int copy = rows; copy < stored.count; copy += rows) {
      std::copy_n(row, rows, row + copy);
    }
  }
  expand_sparse(*tmem[cta], op, d, tiles, stored, a[cta]);
}

MmaRectangle MmaInFlight::State::rectangle(int cta, const MmaTile& tile) const {
  MmaRectangle r;
  r.a = &a[cta];
  r.b = &b;
  r.first_row = tile.first_row;
  r.rows = tile.rows;
  r.first_column = tile.first_column;
  r.columns = tile.columns;
  r.accumulate = op.accumulate;
  r.d = tmem[cta]->column(decode_tmem_address(op.d_address).column);
  for (int g = 0; g < tile.rows / kRowGroup; ++g) {
    const int lane = tile.group_lane[g];
    r.group_lane[g] = lane;
    r.group_mask[g] = static_cast<std::uint16_t>(~(op.disabled_lanes[4 * cta + lane / 32] >> (lane % 32)));
  }
  return r;
}

/// element(row of A, column of B, the accumulator's word) for every element that is written.
template <typename Element>
void MmaInFlight::State::by_element(const MmaRectangle& r, Element element) const {
  for (int column = 0; column < r.columns; ++column) {
    for (int row = 0; row < r.rows; ++row) {
      const int g = row / kRowGroup;
      if (r.group_mask[g] >> (row % kRowGroup) & 1) {
        element(r.first_row + row, r.first_column + column,
                r.d[static_cast<std::size_t>(column) * kTmemLanes + r.group_lane[g] + row % kRowGroup]);
      }
    }
  }
}

namespace {

template <typename Scalar>
std::array<Scalar, kMaxDepth> terms(const PackedOperand& operand, int index) {
  std::array<Scalar, kMaxDepth> values;  // as many as are read get written
  for (int k = 0; k < operand.depth; ++k) {
    values[k] = std::bit_cast<Scalar>(operand.values[static_cast<std::size_t>(k) * operand.stride + index]);
  }
  return values;
}

}  // namespace

void MmaInFlight::State::redo_specials(const MmaRectangle& r, int cta) const {
  const auto depth = static_cast<std::size_t>(d.k);
  by_element(r, [&](int row, int column, std::uint32_t& word) {
    if (!r.aligned_a->special[row] && !r.aligned_b->special[column]) {
      return;
    }
    const auto x = terms<float>(*r.a, row);
    const auto y = terms<float>(*r.b, column);
    const std::uint32_t c = op.accumulate ? word : 0;
    if (is_block_scaled(d.kind)) {
      const ScaleFactors& sa = a_scales[cta];
      const ScaleFactors& sb = b_scales[cta];
      word = mma_element_scaled({x.data(), depth}, r.a->least_exponent,
                                {sa.significands[row], sa.exponents[row]}, {y.data(), depth},
                                r.b->least_exponent, {sb.significands[column], sb.exponents[column]}, c);
    } else {
      word =
          mma_element_f32({x.data(), depth}, r.a->least_exponent, {y.data(), depth}, r.b->least_exponent, c);
    }
  });
}

void MmaInFlight::State::multiply_f32(const MmaRectangle& whole, int cta, MmaPrecision precision,
                                      const AlignedOperand& a_exact, const AlignedOperand& b_exact) {
  MmaRectangle r = whole;
  if (op.accumulate && op.scale_d_shift) {
    by_element(r, [&](int, int, std::uint32_t& word) { word = scaled_accumulator(word, op.scale_d_shift); });
  }
  const MmaKernels& kernels = best_mma_kernels();
  if (precision == MmaPrecision::Fast) {
    kernels.fast(r);
    return;
  }
  r.aligned_a = &a_exact;
  r.aligned_b = &b_exact;
  if (a_exact.any_special || b_exact.any_special) {
    redo_specials(r, cta);
    for (int row = 0; row < r.rows; ++row) {
      if (a_exact.special[r.first_row + row]) {
        r.group_mask[row / kRowGroup] &= static_cast<std::uint16_t>(~(1u << (row % kRowGroup)));
      }
    }
  }
  kernels.exact(r);
}

void MmaInFlight::State::multiply_f16(const MmaRectangle& r) const {
  const auto depth = static_cast<std::size_t>(d.k);
  // The 16 bits above an f16 element are not described: poison, as after tcgen05.st.unpack::16b.
  constexpr std::uint32_t kUpper = kTmemPoison & 0xFFFF0000u;
  by_element(r, [&](int row, int column, std::uint32_t& word) {
    const auto x = terms<float>(*r.a, row);
    const auto y = terms<float>(*r.b, column);
    const auto c = static_cast<std::uint16_t>(op.accumulate ? word & 0xFFFF : 0);
    word = kUpper |
           mma_element_f16({x.data(), depth}, r.a->least_exponent, {y.data(), depth}, r.b->least_exponent, c);
  });
}

void MmaInFlight::State::multiply_s32(const MmaRectangle& r) const {
  const auto depth = static_cast<std::size_t>(d.k);
  by_element(r, [&](int row, int column, std::uint32_t& word) {
    const auto x = terms<std::int32_t>(*r.a, row);
    const auto y = terms<std::int32_t>(*r.b, column);
    const auto c = static_cast<std::int32_t>(op.accumulate ? word : 0);
    word = static_cast<std::uint32_t>(mma_element_s32({x.data(), depth}, {y.data(), depth}, c, d.saturate));
  });
}

void MmaInFlight::State::complete_scaled_fast(int cta) {
  PackedOperand scaled_a = a[cta];
  PackedOperand scaled_b = b;
  multiply_by_scales(scaled_a, a_scales[cta]);
  multiply_by_scales(scaled_b, b_scales[cta]);
  for (const MmaTile& tile : tiles) {
    MmaRectangle r = rectangle(cta, tile);
    r.a = &scaled_a;
    r.b = &scaled_b;
    best_mma_kernels().fast(r);
  }
}

void MmaInFlight::State::complete_fp4(int cta) {
  const Fp4Operand fp4_a = make_fp4_operand(a[cta], a_scales[cta]);
  const Fp4Operand fp4_b = make_fp4_operand(b, b_scales[cta]);
  for (const MmaTile& tile : tiles) {
    MmaRectangle r = rectangle(cta, tile);
    r.fp4_a = &fp4_a;
    r.fp4_b = &fp4_b;
    best_mma_kernels().exact_fp4(r);
  }
}

void MmaInFlight::State::complete_scaled(MmaPrecision precision) {
  AlignedOperand a_exact;
  AlignedOperand b_exact;
  for (int cta = 0; cta < op.cta_group; ++cta) {
    if (precision == MmaPrecision::Fast) {
      complete_scaled_fast(cta);
    } else if (is_packed_fp4(d.kind)) {
      complete_fp4(cta);
    } else {
      best_mma_kernels().prepare(a[cta], a_exact);
      best_mma_kernels().prepare(b, b_exact);
      shift_by_scales(a_exact, a[cta], a_scales[cta]);
      shift_by_scales(b_exact, b, b_scales[cta]);
      for (const MmaTile& tile : tiles) {
        multiply_f32(rectangle(cta, tile), cta, precision, a_exact, b_exact);
      }
    }
  }
}

MmaInFlight::MmaInFlight(std::unique_ptr<State> state) : state_(std::move(state)) {}
MmaInFlight::MmaInFlight(MmaInFlight&&) noexcept = default;
MmaInFlight& MmaInFlight::operator=(MmaInFlight&&) noexcept = default;
MmaInFlight::~MmaInFlight() = default;

const MmaOperation& MmaInFlight::operation() const { return state_->op; }
const InstructionDescriptor& MmaInFlight::shape() const { return state_->d; }

void MmaInFlight::complete(MmaPrecision precision) {
  State& s = *state_;
  if (is_block_scaled(s.d.kind)) {
    s.complete_scaled(precision);
    return;
  }
  thread_local AlignedOperand a_exact;
  thread_local AlignedOperand b_exact;
  const bool f32 = s.d.d_type == AccumulatorType::F32;
  const bool exact = f32 && precision == MmaPrecision::Exact;
  if (exact) {
    best_mma_kernels().prepare(s.b, b_exact);
  }
  for (int cta = 0; cta < s.op.cta_group; ++cta) {
    if (exact) {
      best_mma_kernels().prepare(s.a[cta], a_exact);
    }
    for (const MmaTile& tile : s.tiles) {
      const MmaRectangle r = s.rectangle(cta, tile);
      switch (s.d.d_type) {
        case AccumulatorType::F32:
          s.multiply_f32(r, cta, precision, a_exact, b_exact);
          break;
        case AccumulatorType::F16:
          s.multiply_f16(r);
          break;
        case AccumulatorType::S32:
          s.multiply_s32(r);
          break;
        case AccumulatorType::Invalid:
          throw TensorError("tcgen05.mma: invalid accumulator type");
      }
    }
  }
}

void MmaInFlight::for_each_shared_range(const std::function<void(const SharedRange&)>& visit) const {
  for (int cta = 0; cta < state_->op.cta_group; ++cta) {
    if (!state_->op.a_in_tmem) {
      units::for_each_shared_range(state_->a_descriptor, state_->a_shape(), cta, visit);
    }
    const bool shifted = zero_columns_shift(state_->op.zero_columns) != 0;
    units::for_each_shared_range(state_->b_descriptor,
                                 shifted ? state_->shifted_b_shape() : state_->b_shape(cta), cta, visit);
  }
}

std::vector<TmemRange> MmaInFlight::tmem_ranges() const {
  std::vector<TmemRange> ranges;
  const MmaOperation& op = state_->op;
  for (int cta = 0; cta < op.cta_group; ++cta) {
    ranges.push_back(
        {cta, decode_tmem_address(op.d_address).column, accumulator_columns(state_->d, op), true});
    if (op.a_in_tmem) {
      ranges.push_back({cta, decode_tmem_address(op.a_address).column, kOperandColumns, false});
    }
    if (op.sparse) {
      ranges.push_back({cta, decode_tmem_address(op.metadata_address).column, kMetadataColumns, false});
    }
    if (is_block_scaled(op.kind)) {
      ranges.push_back({cta, decode_tmem_address(op.scale_a_address).column,
                        scale_columns(scale_shape_a(op, state_->d)), false});
      ranges.push_back({cta, decode_tmem_address(op.scale_b_address).column,
                        scale_columns(scale_shape_b(op, state_->d)), false});
    }
  }
  return ranges;
}

MmaInFlight start_mma(const MmaOperation& operation, std::span<const SharedView> shared,
                      std::span<TensorMemory* const> tmem) {
  if (const auto problems = mma_problems(operation); !problems.empty()) {
    throw TensorError(fmt::format("tcgen05.mma: {}", fmt::join(problems, "; ")));
  }
  const auto ctas = static_cast<std::size_t>(operation.cta_group);
  if (shared.size() != ctas || tmem.size() != ctas) {
    throw TensorError(
        fmt::format("tcgen05.mma.cta_group::{} was given {} shared memories and {} tensor memories", ctas,
                    shared.size(), tmem.size()));
  }
  auto state = std::make_unique<MmaInFlight::State>();
  state->op = operation;
  state->d =
      decode_instruction_descriptor(operation.instruction_descriptor, operation.kind, operation.cta_group,
                                    operation.a_in_tmem, operation.weight_stationary, operation.sparse)
          .descriptor;
  state->a_descriptor = decode_smem_descriptor(operation.a_descriptor).descriptor;
  state->b_descriptor = decode_smem_descriptor(operation.b_descriptor).descriptor;
  state->tiles = tiles_of(state->d, operation);
  std::copy(tmem.begin(), tmem.end(), state->tmem.begin());
  state->gather(shared);
  return MmaInFlight(std::move(state));
}

}  // namespace emu::units
