#include "units/tmem_access.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace emu::units {
namespace {

struct Place {
  int lane;
  int column;
};

/// Where thread t meets register r, relative to the address; the lane and column maps of PTX ISA 9.7.16.2.3.
/// For 16x32bx2 the offset of threads 16..31 is added by the caller.
Place place(TmemShape shape, int t, int r) {
  switch (shape) {
    case TmemShape::Lanes32x32b:
      return {t, r};
    case TmemShape::Lanes16x64b:
      return {(t >> 2) + 8 * (t & 1), ((t >> 1) & 1) + 2 * r};
    case TmemShape::Lanes16x128b:
      return {(t >> 2) + 8 * (r & 1), (t & 3) + 4 * (r >> 1)};
    case TmemShape::Lanes16x256b:
      return {(t >> 2) + 8 * ((r >> 1) & 1), 2 * (t & 3) + (r & 1) + 8 * (r >> 2)};
    case TmemShape::Lanes16x32bx2:
      return {t % 16, r};
  }
  return {0, 0};
}

/// The lane of the second half's address may differ from the first's: the offset is added to the whole
/// address.
struct Origins {
  TmemAddress low;   // threads 0..15, and all threads of the other shapes
  TmemAddress high;  // threads 16..31
};

std::string bounds_problem(const TmemAccess& access, Origins& origins) {
  if (tmem_register_count(access.shape, access.count) == 0) {
    return fmt::format("tcgen05.ld/st.{}.x{} does not exist", name(access.shape), access.count);
  }
  try {
    origins.low = origins.high = decode_tmem_address(access.address);
    if (access.shape == TmemShape::Lanes16x32bx2) {
      origins.high = decode_tmem_address(access.address + access.split_offset);
    }
  } catch (const TensorError& error) {
    return error.what();
  }
  const int columns = tmem_column_count(access);
  for (const TmemAddress& origin : {origins.low, origins.high}) {
    if (origin.column + columns > kTmemColumns) {
      return fmt::format("tcgen05.ld/st.{}.x{} at column {}: its {} columns run past the last, 511",
                         name(access.shape), access.count, origin.column, columns);
    }
    if (origin.lane + tmem_lane_count(access.shape) > kTmemLanes) {
      return fmt::format("tcgen05.ld/st.{} at lane {}: its {} lanes run past the last, 127",
                         name(access.shape), origin.lane, tmem_lane_count(access.shape));
    }
  }
  return {};
}

template <typename Visit>
void for_each_word(const TmemAccess& access, Visit visit) {
  Origins origins;
  if (std::string problem = bounds_problem(access, origins); !problem.empty()) {
    throw TensorError(problem);
  }
  const int registers = tmem_register_count(access.shape, access.count);
  for (int r = 0; r < registers; ++r) {
    for (int t = 0; t < 32; ++t) {
      const TmemAddress& origin = t < 16 ? origins.low : origins.high;
      const Place p = place(access.shape, t, r);
      const int column = origin.column + (access.packed16 ? 2 : 1) * p.column;
      visit(r, t, origin.lane + p.lane, column);
    }
  }
}

bool is_plain_rows(const TmemAccess& access) {
  return access.shape == TmemShape::Lanes32x32b && !access.packed16;
}

}  // namespace

const char* name(TmemShape shape) {
  constexpr const char* kNames[] = {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"};
  return kNames[static_cast<int>(shape)];
}

int tmem_register_count(TmemShape shape, int count) {
  constexpr int kPerRepeat[] = {1, 1, 2, 4, 1};
  if (count < 1 || !std::has_single_bit(static_cast<unsigned>(count))) {
    return 0;
  }
  const int registers = kPerRepeat[static_cast<int>(shape)] * count;
  return registers <= 128 ? registers : 0;
}

int tmem_lane_count(TmemShape shape) { return shape == TmemShape::Lanes32x32b ? 32 : 16; }

int tmem_column_count(const TmemAccess& access) {
  constexpr int kPerRepeat[] = {1, 2, 4, 8, 1};
  return kPerRepeat[static_cast<int>(access.shape)] * access.count * (access.packed16 ? 2 : 1);
}

std::uint32_t in_own_quarter(std::uint32_t address, int warp_in_cta) {
  constexpr std::uint32_t kQuarterBits = 0x60u << 16;
  return (address & ~kQuarterBits) | static_cast<std::uint32_t>(32 * (warp_in_cta % 4)) << 16;
}

std::string tmem_access_problem(const TmemAccess& access, int warp_in_cta) {
  Origins origins;
  if (std::string problem = bounds_problem(access, origins); !problem.empty()) {
    return problem;
  }
  const int quarter = 32 * (warp_in_cta % 4);
  for (const TmemAddress& origin : {origins.low, origins.high}) {
    const int offset = origin.lane - quarter;
    const bool legal = offset == 0 || (offset == 16 && tmem_lane_count(access.shape) == 16);
    if (!legal) {
      return fmt::format(
          "tcgen05.ld/st.{} by warp {} at lane {}: a warp reaches the 32 lanes from 32 * (warp % 4) on, here "
          "{} to "
          "{}; add (({} % 4) * 32) << 16 to the address. --lenient does it, as hardware was seen to",
          name(access.shape), warp_in_cta, origin.lane, quarter, quarter + 31, warp_in_cta);
    }
  }
  return {};
}

void tmem_load(const TensorMemory& memory, const TmemAccess& access, std::uint32_t* const* registers) {
  Origins origins;
  if (is_plain_rows(access) && bounds_problem(access, origins).empty()) {
    for (int r = 0; r < access.count; ++r) {
      std::memcpy(registers[r], memory.column(origins.low.column + r) + origins.low.lane,
                  32 * sizeof(std::uint32_t));
    }
    return;
  }
  for_each_word(access, [&](int r, int t, int lane, int column) {
    registers[r][t] = access.packed16
                          ? (memory.at(lane, column) & 0xFFFF) | (memory.at(lane, column + 1) << 16)
                          : memory.at(lane, column);
  });
}

void tmem_store(TensorMemory& memory, const TmemAccess& access, const std::uint32_t* const* registers) {
  Origins origins;
  if (is_plain_rows(access) && bounds_problem(access, origins).empty()) {
    for (int r = 0; r < access.count; ++r) {
      std::memcpy(memory.column(origins.low.column + r) + origins.low.lane, registers[r],
                  32 * sizeof(std::uint32_t));
    }
    return;
  }
  constexpr std::uint32_t kUpperPoison = kTmemPoison & 0xFFFF0000u;
  for_each_word(access, [&](int r, int t, int lane, int column) {
    const std::uint32_t word = registers[r][t];
    if (access.packed16) {
      memory.at(lane, column) = kUpperPoison | (word & 0xFFFF);
      memory.at(lane, column + 1) = kUpperPoison | (word >> 16);
    } else {
      memory.at(lane, column) = word;
    }
  });
}

}  // namespace emu::units
