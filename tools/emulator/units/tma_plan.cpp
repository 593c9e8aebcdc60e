// The box walk of tile-mode tensor copies (PTX ISA 5.5; out-of-bounds and narrow-box rules as measured on an
// H200).
#include <fmt/format.h>

#include <algorithm>

#include "units/tma_tile.h"

namespace emu::units {
namespace {

constexpr std::uint32_t kChunk = 16;
constexpr std::uint32_t kSharedAlignment = 128;
constexpr std::uint32_t kTimingRow = 128;

const char* name_of(TileDirection direction) {
  switch (direction) {
    case TileDirection::Load:
      return "tensor load";
    case TileDirection::Store:
      return "tensor store";
    case TileDirection::Reduce:
      return "tensor reduction";
    case TileDirection::Prefetch:
      return "tensor prefetch";
  }
  return "tensor copy";
}

bool writes_global(TileDirection direction) {
  return direction == TileDirection::Store || direction == TileDirection::Reduce;
}

BulkFault check_form(const TensorMap& map, TileDirection direction, std::uint32_t shared) {
  if (map.interleave != TensorInterleave::None) {
    return {BulkFaultKind::Unsupported,
            fmt::format("{}: interleaved tensor maps are not implemented", name_of(direction))};
  }
  if (is_padded(map.type) && writes_global(direction)) {
    return {BulkFaultKind::Unsupported,
            fmt::format("{}: element type {} is not implemented", name_of(direction), name_of(map.type))};
  }
  if (map.swizzle == TensorSwizzle::B128Atom32Flip8) {
    return {BulkFaultKind::Unsupported,
            fmt::format("{}: {} is not implemented", name_of(direction), name_of(map.swizzle))};
  }
  if (direction != TileDirection::Prefetch && shared % kSharedAlignment != 0) {
    return {BulkFaultKind::MisalignedAddress,
            fmt::format("{}: shared address 0x{:x} is not a multiple of 128", name_of(direction), shared)};
  }
  return {};
}

BulkFault check_coordinates(TileDirection direction, std::span<const std::int32_t> coordinates) {
  if (!writes_global(direction)) return {};
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    if (coordinates[d] >= 0) continue;
    return {BulkFaultKind::IllegalInstruction,
            fmt::format("{}: start coordinate {} is {}; only loads may start before the tensor",
                        name_of(direction), d, coordinates[d])};
  }
  return {};
}

// Everything that depends on the innermost dimension alone.
BulkFault plan_inner(const TensorMap& map, std::int64_t start, TilePlan& plan) {
  std::int64_t bits = element_bits(map.type);
  if (start * bits % (8 * kChunk) != 0) {
    return {BulkFaultKind::IllegalInstruction,
            fmt::format(
                "{}: inner coordinate {} of {}-bit elements starts at byte {}, which is not a multiple of 16",
                name_of(plan.direction), start, bits, start * bits / 8)};
  }
  std::int64_t elements = map.box[0], dim = static_cast<std::int64_t>(map.dims[0]);
  if (is_padded(map.type)) {
    if (start % elements != 0) {
      return {BulkFaultKind::IllegalInstruction,
              fmt::format("{}: inner coordinate {} is not a multiple of {}, which {} needs",
                          name_of(plan.direction), start, elements, name_of(map.type))};
    }
    plan.packed_bytes = static_cast<std::uint32_t>(elements * bits / 8);
    bits = 8;
  }
  plan.inner_bytes = static_cast<std::uint32_t>(elements * bits / 8);
  plan.pitch = std::max(plan.inner_bytes, swizzle_span(map.swizzle));
  plan.inside_begin = static_cast<std::uint32_t>(std::clamp<std::int64_t>(-start, 0, elements) * bits / 8);
  plan.inside_end = static_cast<std::uint32_t>(std::clamp<std::int64_t>(dim - start, 0, elements) * bits / 8);
  if (writes_global(plan.direction)) {
    // A 16-byte chunk that begins inside is written whole, into the padding behind the row.
    plan.inside_end = std::min((plan.inside_end + kChunk - 1) / kChunk * kChunk, plan.inner_bytes);
  }
  plan.inside_begin = std::min(plan.inside_begin, plan.inside_end);
  return {};
}

// The end of a row's bytes in global memory, from its box element 0. A padded row lies inside or outside
// whole.
std::uint32_t global_end(const TilePlan& plan) {
  return plan.packed_bytes != 0 && plan.inside_end != 0 ? plan.packed_bytes : plan.inside_end;
}

void add_row(TilePlan& plan, bool inside, std::uint64_t address) {
  plan.rows.push_back({address, inside});
  if (!inside || plan.inside_begin == plan.inside_end) return;
  std::uint64_t begin = address + plan.inside_begin, end = address + global_end(plan);
  bool first = plan.touched_begin == plan.touched_end;
  plan.touched_begin = first ? begin : std::min(plan.touched_begin, begin);
  plan.touched_end = first ? end : std::max(plan.touched_end, end);
}

std::uint32_t touched_shared_bytes(const TilePlan& plan) {
  if (plan.pitch == plan.inner_bytes) return plan.image_bytes;
  // The pattern has a period of at most eight rows, and no row leaves its own span.
  auto rows = static_cast<std::uint32_t>(plan.rows.size());
  std::uint32_t end = 0;
  for (std::uint32_t row = rows - std::min(rows, 8u); row < rows; ++row) {
    for (std::uint32_t chunk = 0; chunk < plan.inner_bytes; chunk += kChunk) {
      std::uint32_t at = swizzle_address(plan.swizzle, plan.shared + row * plan.pitch + chunk) - plan.shared;
      end = std::max(end, at + kChunk);
    }
  }
  return end;
}

BulkFault finish(const GlobalCheck& check, TilePlan& plan) {
  auto rows = static_cast<std::uint32_t>(plan.rows.size());
  plan.image_bytes = rows * plan.pitch;
  // Padding is not counted: the public libraries for sm_100a expect as many bytes as global memory holds.
  plan.full_bytes = rows * (plan.packed_bytes != 0 ? plan.packed_bytes : plan.inner_bytes);
  plan.timing_rows = rows * ((plan.inner_bytes + kTimingRow - 1) / kTimingRow);
  plan.shared_bytes = touched_shared_bytes(plan);
  // A prefetch of an address that is not there does nothing.
  bool checked = check && plan.direction != TileDirection::Prefetch && plan.touched_begin != plan.touched_end;
  if (!checked || check(plan.touched_begin, plan.touched_end - plan.touched_begin)) return {};
  std::uint64_t bytes = global_end(plan) - plan.inside_begin;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    std::uint64_t at = plan.rows[row].global + plan.inside_begin;
    if (!plan.rows[row].inside || check(at, bytes)) continue;
    return {BulkFaultKind::IllegalAddress,
            fmt::format("{}: row {} of the box touches {} bytes at 0x{:x}, outside device memory",
                        name_of(plan.direction), row, bytes, at)};
  }
  return {BulkFaultKind::IllegalAddress,
          fmt::format("{}: the box spans 0x{:x}..0x{:x}, more than one allocation", name_of(plan.direction),
                      plan.touched_begin, plan.touched_end)};
}

// The address of the box's first element if every outer coordinate were 0.
std::uint64_t row_origin(const TensorMap& map, std::int64_t start) {
  return map.address + static_cast<std::uint64_t>(start * element_bits(map.type) / 8);
}

/// An empty plan; the memory of an earlier one's rows is used again.
void restart_plan(const TensorMap& map, TileDirection direction, std::uint32_t shared, TilePlan& plan) {
  std::vector<TileRow> rows = std::move(plan.rows);
  rows.clear();
  plan = {};
  plan.rows = std::move(rows);
  plan.direction = direction;
  plan.type = map.type;
  plan.swizzle = map.swizzle;
  plan.fill = map.fill;
  plan.shared = shared;
}

}  // namespace

BulkFault plan_tile(const TensorMap& map, TileDirection direction, std::span<const std::int32_t> coordinates,
                    std::uint32_t shared, const GlobalCheck& check, TilePlan& plan) {
  restart_plan(map, direction, shared, plan);
  if (coordinates.size() != map.rank) {
    return {BulkFaultKind::IllegalInstruction, fmt::format("{}: {} coordinates for a tensor map of rank {}",
                                                           name_of(direction), coordinates.size(), map.rank)};
  }
  if (BulkFault fault = check_form(map, direction, shared)) return fault;
  if (BulkFault fault = check_coordinates(direction, coordinates)) return fault;
  if (BulkFault fault = plan_inner(map, coordinates[0], plan)) return fault;

  std::array<std::uint32_t, kMaxTensorRank> count{}, at{};
  std::size_t rows = 1;
  for (std::uint32_t d = 1; d < map.rank; ++d) {
    count[d] = (map.box[d] + map.element_strides[d] - 1) / map.element_strides[d];
    rows *= count[d];
  }
  plan.rows.reserve(rows);
  std::uint64_t origin = row_origin(map, coordinates[0]);
  for (std::size_t row = 0; row < rows; ++row) {
    bool inside = true;
    std::uint64_t address = origin;
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      std::int64_t g = std::int64_t{coordinates[d]} + std::int64_t{at[d]} * map.element_strides[d];
      inside = inside && g >= 0 && static_cast<std::uint64_t>(g) < map.dims[d];
      address += static_cast<std::uint64_t>(g) * map.strides[d - 1];
    }
    add_row(plan, inside, address);
    for (std::uint32_t d = 1; d < map.rank && ++at[d] == count[d]; ++d) at[d] = 0;
  }
  return finish(check, plan);
}

BulkFault plan_pixels(const TensorMap& map, TileDirection direction,
                      std::span<const std::int32_t> coordinates, std::span<const std::uint16_t> offsets,
                      std::uint32_t shared, const GlobalCheck& check, TilePlan& plan) {
  restart_plan(map, direction, shared, plan);
  if (coordinates.size() != map.rank || offsets.size() + 2 != map.rank) {
    return {BulkFaultKind::IllegalInstruction,
            fmt::format("{}: {} coordinates and {} offsets for an im2col map of rank {}", name_of(direction),
                        coordinates.size(), offsets.size(), map.rank)};
  }
  if (BulkFault fault = check_form(map, direction, shared)) return fault;
  if (BulkFault fault = plan_inner(map, coordinates[0], plan)) return fault;
  const std::uint32_t spatial = map.rank - 2;
  std::array<std::int64_t, kMaxTensorRank> at{}, end{};
  for (std::uint32_t d = 1; d < map.rank; ++d) at[d] = coordinates[d];
  for (std::uint32_t d = 1; d <= spatial; ++d) {
    end[d] = static_cast<std::int64_t>(map.dims[d]) + map.upper[d - 1];
    if (at[d] >= map.lower[d - 1] && at[d] < end[d]) continue;
    return {BulkFaultKind::IllegalInstruction,
            fmt::format("{}: coordinate {} is {}, outside the bounding box's [{}, {})", name_of(direction), d,
                        at[d], map.lower[d - 1], end[d])};
  }
  const std::uint64_t origin = row_origin(map, coordinates[0]);
  plan.rows.reserve(map.pixels);
  for (std::uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    bool inside = true;
    std::uint64_t address = origin;
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      const std::int64_t place = at[d] + (d <= spatial ? offsets[d - 1] : 0);
      inside = inside && place >= 0 && static_cast<std::uint64_t>(place) < map.dims[d];
      address += static_cast<std::uint64_t>(place) * map.strides[d - 1];
    }
    add_row(plan, inside, address);
    // Steps beyond the box's end begin again at its lower corner, one step on in the next dimension.
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      at[d] += map.element_strides[d];
      if (d > spatial || at[d] < end[d]) break;
      at[d] = map.lower[d - 1];
    }
  }
  return finish(check, plan);
}

BulkFault plan_four_rows(const TensorMap& map, TileDirection direction,
                         std::span<const std::int32_t> coordinates, std::uint32_t shared,
                         const GlobalCheck& check, TilePlan& plan) {
  restart_plan(map, direction, shared, plan);
  if (map.rank != 2 || coordinates.size() != 5) {
    return {BulkFaultKind::IllegalInstruction,
            fmt::format("{} of four rows: needs a tensor map of rank 2 and 5 coordinates, not rank {} and {}",
                        name_of(direction), map.rank, coordinates.size())};
  }
  if (map.box[1] != 1) {
    return {BulkFaultKind::Unsupported,
            fmt::format("{} of four rows: boxDim[1] = {} is not implemented; encode the map with 1",
                        name_of(direction), map.box[1])};
  }
  if (BulkFault fault = check_form(map, direction, shared)) return fault;
  if (BulkFault fault = check_coordinates(direction, coordinates)) return fault;
  if (BulkFault fault = plan_inner(map, coordinates[0], plan)) return fault;
  std::uint64_t origin = row_origin(map, coordinates[0]);
  for (std::int64_t row : coordinates.subspan(1)) {
    bool inside = row >= 0 && static_cast<std::uint64_t>(row) < map.dims[1];
    add_row(plan, inside, origin + static_cast<std::uint64_t>(row) * map.strides[0]);
  }
  return finish(check, plan);
}

}  // namespace emu::units
