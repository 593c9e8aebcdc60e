#include "units/tensor_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "units/mma_arithmetic.h"
#include "units/mma_kernels.h"
#include "units/mma_operand.h"

namespace emu::units {
namespace {

constexpr int kGroups = kTmemLanes / kRowGroup;

/// A rectangle of D: which rows of a CTA's A and which columns of B meet, and the lanes of each 16 rows.
struct Tile {
  int first_row;
  int rows;
  int first_column;
  int columns;
  int group_lane[kGroups];
};

void lanes_from(Tile& tile, int base, int step) {
  for (int g = 0; g < tile.rows / kRowGroup; ++g) {
    tile.group_lane[g] = base + step * g;
  }
}

bool is_split_columns(const InstructionDescriptor& d, int cta_group) { return cta_group == 2 && d.m == 128; }

/// The layouts of PTX ISA 9.7.16.10.5: D and A put row m in lane m; F spreads groups of 16 over the warps'
/// quarters; B puts the left half of the columns in lanes 0-63 and the right half in 64-127.
std::vector<Tile> tiles_of(const InstructionDescriptor& d, const MmaOperation& op) {
  if (is_split_columns(d, op.cta_group)) {
    Tile left{0, 64, 0, d.n / 2, {}};
    // An A in tensor memory is there twice, once for each half of the lanes.
    Tile right{op.a_in_tmem ? 64 : 0, 64, d.n / 2, d.n / 2, {}};
    lanes_from(left, 0, kRowGroup);
    lanes_from(right, 64, kRowGroup);
    return {left, right};
  }
  const int rows = d.m / op.cta_group;
  Tile tile{0, rows, 0, d.n, {}};
  if (rows == 64) {
    lanes_from(tile, decode_tmem_address(op.d_address).lane, 32);
  } else {
    lanes_from(tile, 0, kRowGroup);
  }
  return {tile};
}

/// Columns of D in one CTA.
int accumulator_columns(const InstructionDescriptor& d, int cta_group) {
  return is_split_columns(d, cta_group) ? d.n / 2 : d.n;
}

/// 32 bytes of each row.
constexpr int kOperandColumns = 8;

/// Rows of A that one CTA brings, a doubled A in tensor memory counted twice.
int operand_rows(const InstructionDescriptor& d, const MmaOperation& op) {
  return op.a_in_tmem && is_split_columns(d, op.cta_group) ? 128 : d.m / op.cta_group;
}

void check_tmem(std::vector<std::string>& problems, const MmaOperation& op, const InstructionDescriptor& d,
                std::uint32_t address, int columns, const char* what) {
  try {
    const TmemAddress at = decode_tmem_address(address);
    if (at.column + columns > kTmemColumns) {
      problems.push_back(fmt::format("{} at column {} needs {} columns and runs past the last, 511", what,
                                     at.column, columns));
    }
    const bool may_be_16 = op.cta_group == 1 && d.m == 64;
    if (at.lane != 0 && !(may_be_16 && at.lane == 16)) {
      problems.push_back(fmt::format("{} at lane {}: M = {} with cta_group::{} wants lane 0{}", what, at.lane,
                                     d.m, op.cta_group, may_be_16 ? " or 16" : ""));
    }
  } catch (const TensorError& error) {
    problems.push_back(fmt::format("{}: {}", what, error.what()));
  }
}

void check_layout(std::vector<std::string>& problems, const DecodedDescriptor& decoded, Major major,
                  ElementType type, const char* what) {
  for (const std::string& problem : decoded.illegal) {
    problems.push_back(fmt::format("operand {}: {}", what, problem));
  }
  if (type == ElementType::Invalid) {
    return;
  }
  if (std::string p = layout_problem(major, decoded.descriptor.swizzle, element_bits(type)); !p.empty()) {
    problems.push_back(fmt::format("operand {}: {}", what, p));
  }
}

void check_unsupported(std::vector<std::string>& problems, const MmaOperation& op) {
  if (op.weight_stationary) {
    problems.push_back("tcgen05.mma.ws (layouts E and G) is not implemented");
  }
  if (op.a_shift) {
    problems.push_back(".ashift is not implemented");
  }
  if (op.cta_group != 1 && op.cta_group != 2) {
    problems.push_back(fmt::format("cta_group::{} does not exist; use 1 or 2", op.cta_group));
  }
  if (op.scale_d_shift < 0 || op.scale_d_shift > 15) {
    problems.push_back(fmt::format("scale-input-d {} is not in 0..15", op.scale_d_shift));
  }
  if (op.scale_d_shift != 0 && op.kind != MmaKind::F16 && op.kind != MmaKind::TF32) {
    problems.push_back(fmt::format("scale-input-d exists for kinds f16 and tf32, not {}", name(op.kind)));
  }
}

void check_tmem_operand(std::vector<std::string>& problems, const MmaOperation& op,
                        const InstructionDescriptor& d) {
  check_tmem(problems, op, d, op.a_address, kOperandColumns, "operand A in tensor memory");
  if (d.a_type != ElementType::Invalid && element_bits(d.a_type) < 8) {
    problems.push_back(fmt::format("operand A of {} in tensor memory: how it lies there is not implemented",
                                   name(d.a_type)));
  }
  const auto lane_of = [](std::uint32_t address) { return (address >> 16) % kTmemLanes; };
  if (d.m / op.cta_group == 64 && op.cta_group == 1 && lane_of(op.a_address) != lane_of(op.d_address)) {
    problems.push_back(
        fmt::format("M = 64: operand A at lane {} and D at lane {} must start at the same lane, 0 or 16",
                    lane_of(op.a_address), lane_of(op.d_address)));
  }
}

}  // namespace

std::vector<std::string> mma_problems(const MmaOperation& op) {
  std::vector<std::string> problems;
  check_unsupported(problems, op);
  if (!problems.empty()) {
    return problems;
  }
  const auto [d, illegal] =
      decode_instruction_descriptor(op.instruction_descriptor, op.kind, op.cta_group, op.a_in_tmem);
  problems = illegal;
  if (!illegal.empty()) {
    return problems;  // what follows would only repeat them
  }
  if (d.d_type == AccumulatorType::F16 && op.scale_d_shift != 0) {
    problems.push_back("scale-input-d with an f16 accumulator is not implemented");
  }
  check_tmem(problems, op, d, op.d_address, accumulator_columns(d, op.cta_group), "accumulator D");
  if (op.a_in_tmem) {
    check_tmem_operand(problems, op, d);
  } else {
    check_layout(problems, decode_smem_descriptor(op.a_descriptor), d.a_major, d.a_type, "A");
  }
  check_layout(problems, decode_smem_descriptor(op.b_descriptor), d.b_major, d.b_type, "B");
  return problems;
}

struct MmaInFlight::State {
  MmaOperation op;
  InstructionDescriptor d;
  SmemDescriptor a_descriptor;
  SmemDescriptor b_descriptor;
  std::vector<Tile> tiles;
  std::array<TensorMemory*, 2> tmem{};
  std::array<PackedOperand, 2> a;  // one for each CTA
  PackedOperand b;                 // all N columns; both CTAs multiply by them

  OperandShape a_shape() const { return {d.a_type, d.a_major, d.negate_a, operand_rows(d, op), d.k, 0}; }
  OperandShape b_shape(int cta) const {
    const int columns = d.n / op.cta_group;
    return {d.b_type, d.b_major, d.negate_b, columns, d.k, cta * columns};
  }

  void gather(std::span<const SharedView> shared);
  void gather_a_from_tmem(int cta);
  MmaRectangle rectangle(int cta, const Tile& tile) const;
  template <typename Element>
  void by_element(const MmaRectangle& r, Element element) const;
  void multiply_f32(const MmaRectangle& r, MmaPrecision precision, const AlignedOperand& a,
                    const AlignedOperand& b);
  void redo_specials(const MmaRectangle& r) const;
  void multiply_f16(const MmaRectangle& r) const;
  void multiply_s32(const MmaRectangle& r) const;
};

void MmaInFlight::State::gather(std::span<const SharedView> shared) {
  b.resize(d.n, d.k);
  b.least_exponent = minimum_exponent(d.b_type);
  for (int cta = 0; cta < op.cta_group; ++cta) {
    a[cta].resize(operand_rows(d, op), d.k);
    a[cta].least_exponent = minimum_exponent(d.a_type);
    gather_shared(b_descriptor, b_shape(cta), shared[cta], "B", b);
    if (op.a_in_tmem) {
      gather_a_from_tmem(cta);
    } else {
      gather_shared(a_descriptor, a_shape(), shared[cta], "A", a[cta]);
    }
  }
}

void MmaInFlight::State::gather_a_from_tmem(int cta) {
  // A's rows lie in the lanes of D's rows; with a doubled A the second tile's lanes hold rows 64 on.
  std::vector<int> group_lanes;
  for (const Tile& tile : tiles) {
    group_lanes.insert(group_lanes.end(), tile.group_lane, tile.group_lane + tile.rows / kRowGroup);
  }
  gather_tmem(*tmem[cta], group_lanes, decode_tmem_address(op.a_address).column, a_shape(), a[cta]);
}

MmaRectangle MmaInFlight::State::rectangle(int cta, const Tile& tile) const {
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
  std::array<Scalar, kMaxDepth> values{};
  for (int k = 0; k < operand.depth; ++k) {
    values[k] = std::bit_cast<Scalar>(operand.values[static_cast<std::size_t>(k) * operand.stride + index]);
  }
  return values;
}

}  // namespace

void MmaInFlight::State::redo_specials(const MmaRectangle& r) const {
  const auto depth = static_cast<std::size_t>(d.k);
  by_element(r, [&](int row, int column, std::uint32_t& word) {
    if (!r.aligned_a->special[row] && !r.aligned_b->special[column]) {
      return;
    }
    const auto x = terms<float>(*r.a, row);
    const auto y = terms<float>(*r.b, column);
    word = mma_element_f32({x.data(), depth}, r.a->least_exponent, {y.data(), depth}, r.b->least_exponent,
                           op.accumulate ? word : 0);
  });
}

void MmaInFlight::State::multiply_f32(const MmaRectangle& whole, MmaPrecision precision,
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
    redo_specials(r);
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

MmaInFlight::MmaInFlight(std::unique_ptr<State> state) : state_(std::move(state)) {}
MmaInFlight::MmaInFlight(MmaInFlight&&) noexcept = default;
MmaInFlight& MmaInFlight::operator=(MmaInFlight&&) noexcept = default;
MmaInFlight::~MmaInFlight() = default;

const MmaOperation& MmaInFlight::operation() const { return state_->op; }
const InstructionDescriptor& MmaInFlight::shape() const { return state_->d; }

void MmaInFlight::complete(MmaPrecision precision) {
  State& s = *state_;
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
    for (const Tile& tile : s.tiles) {
      const MmaRectangle r = s.rectangle(cta, tile);
      switch (s.d.d_type) {
        case AccumulatorType::F32:
          s.multiply_f32(r, precision, a_exact, b_exact);
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
    units::for_each_shared_range(state_->b_descriptor, state_->b_shape(cta), cta, visit);
  }
}

std::vector<TmemRange> MmaInFlight::tmem_ranges() const {
  std::vector<TmemRange> ranges;
  const MmaOperation& op = state_->op;
  for (int cta = 0; cta < op.cta_group; ++cta) {
    ranges.push_back(
        {cta, decode_tmem_address(op.d_address).column, accumulator_columns(state_->d, op.cta_group), true});
    if (op.a_in_tmem) {
      ranges.push_back({cta, decode_tmem_address(op.a_address).column, kOperandColumns, false});
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
  state->d = decode_instruction_descriptor(operation.instruction_descriptor, operation.kind,
                                           operation.cta_group, operation.a_in_tmem)
                 .descriptor;
  state->a_descriptor = decode_smem_descriptor(operation.a_descriptor).descriptor;
  state->b_descriptor = decode_smem_descriptor(operation.b_descriptor).descriptor;
  state->tiles = tiles_of(state->d, operation);
  std::copy(tmem.begin(), tmem.end(), state->tmem.begin());
  state->gather(shared);
  return MmaInFlight(std::move(state));
}

}  // namespace emu::units
