// tcgen05.ld and tcgen05.st: which register of which thread meets which lane and column. PTX
// ISA 9.7.16.2, 9.7.16.8.
#pragma once

#include <cstdint>
#include <string>

#include "units/tmem.h"

namespace emu::units {

enum class TmemShape : std::uint8_t { Lanes32x32b, Lanes16x64b, Lanes16x128b, Lanes16x256b, Lanes16x32bx2 };

struct TmemAccess {
  TmemShape shape = TmemShape::Lanes32x32b;
  int count = 1;          ///< the N of .xN: 1, 2, 4 ... 128
  bool packed16 = false;  ///< .pack::16b on a load, .unpack::16b on a store
  std::uint32_t address = 0;
  std::uint32_t split_offset = 0;  ///< 16x32bx2 only: added to the address for threads 16..31
};

const char* name(TmemShape shape);
/// Registers of each thread; 0 when this shape has no such .xN.
int tmem_register_count(TmemShape shape, int count);
/// Lanes touched, 16 or 32.
int tmem_lane_count(TmemShape shape);
/// Columns touched, from the address's column on (for 16x32bx2: at each of the two addresses).
int tmem_column_count(const TmemAccess& access);

/// The address with the lane quarter replaced by that of the warp, the only one it reaches: hardware was seen
/// not to look at those bits (DeepGEMM and TileLang leave them 0).
std::uint32_t in_own_quarter(std::uint32_t address, int warp_in_cta);

/// Why warp `warp_in_cta` may not perform this access (lane quarter, column past 511, no such shape), or "".
std::string tmem_access_problem(const TmemAccess& access, int warp_in_cta);

/// registers[r] points at the 32 threads' values of register r. Both throw TensorError for columns past 511
/// or a shape that does not exist. A store with unpack::16b leaves poison in the upper halves, whose content
/// PTX does not state.
void tmem_load(const TensorMemory& memory, const TmemAccess& access, std::uint32_t* const* registers);
void tmem_store(TensorMemory& memory, const TmemAccess& access, const std::uint32_t* const* registers);

}  // namespace emu::units
