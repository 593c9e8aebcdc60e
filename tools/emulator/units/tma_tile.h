// Tile-mode tensor copies: which bytes of global memory meet which bytes of shared memory (PTX
// ISA 5.5, 9.7.9.27).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "units/bulk_fault.h"
#include "units/bulk_number.h"
#include "units/tensor_map.h"

namespace emu::units {

// The swizzle as an exclusive-or on absolute shared-memory byte addresses; its own inverse. Flip8 is not
// supported and returns the address unchanged: plan_tile refuses such maps.
std::uint32_t swizzle_address(TensorSwizzle swizzle, std::uint32_t address);
// Bytes after which the pattern repeats: the alignment at which a tile starts at phase 0. 16 for no swizzle.
std::uint32_t swizzle_repeat(TensorSwizzle swizzle);
// Bytes of one swizzled row (32, 64, 128), or 0 for no swizzle.
std::uint32_t swizzle_span(TensorSwizzle swizzle);

enum class TileDirection : std::uint8_t { Load, Store, Reduce, Prefetch };

// One row of a box: the run along the innermost dimension.
struct TileRow {
  std::uint64_t global = 0;  // address of the row's box element 0; meaningful only if inside
  bool inside = false;       // every outer coordinate lies in the tensor
};

// A box walked once, at issue. Staging buffers hold the box as it lies in shared memory, byte i for shared
// address shared + i, holes between narrow rows included: `image_bytes` of them.
struct TilePlan {
  TileDirection direction = TileDirection::Load;
  TensorType type = TensorType::U8;
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorFill fill = TensorFill::Zero;
  std::uint32_t shared = 0;       // CTA-relative shared address of the box
  std::uint32_t inner_bytes = 0;  // of one row
  std::uint32_t pitch = 0;  // distance of rows in shared memory: the span where the box is narrower than it
  std::uint32_t image_bytes = 0;
  std::uint32_t shared_bytes = 0;  // from `shared` to behind the last byte that is read or written there
  std::uint32_t inside_begin = 0,
                inside_end = 0;    // bytes of a row inside the tensor (stores: whole 16-byte chunks)
  std::uint32_t packed_bytes = 0;  // of a row in global memory where padding spreads it in shared, else 0
  std::uint32_t full_bytes = 0;    // credited to the mbarrier, out-of-bounds elements included
  std::uint32_t timing_rows = 0;   // runs of at most 128 bytes: what the unit serves one a cycle
  std::uint64_t touched_begin = 0, touched_end = 0;  // global bytes read or written; empty if begin == end
  std::vector<TileRow> rows;
};

// Whether global bytes [address, address + bytes) may be touched; false makes the plan an IllegalAddress
// fault.
using GlobalCheck = std::function<bool(std::uint64_t address, std::uint64_t bytes)>;

// coordinates: map.rank of them, innermost first, in elements. shared: CTA-relative shared address (bits
// 23:0). Faults: shared not 128-byte aligned (MisalignedAddress); inner coordinate x element size not a
// multiple of 16 (IllegalInstruction, measured on an H200), or of 128 elements for padded types (PTX ISA
// 5.5.8); negative start coordinates of stores and reductions (IllegalInstruction, likewise); interleaved and
// flipped layouts, and stores of padded types (Unsupported); global range refused by `check`.
BulkFault plan_tile(const TensorMap& map, TileDirection direction, std::span<const std::int32_t> coordinates,
                    std::uint32_t shared, const GlobalCheck& check, TilePlan& plan);
// The im2col mode (PTX ISA 5.5.4): `pixels` of the map, from the coordinates on, which move through the
// bounding box and on to the next images; each is read `offsets` away. Loads and prefetches only. Coordinates
// outside the bounding box fault (IllegalInstruction, measured on an H200).
BulkFault plan_pixels(const TensorMap& map, TileDirection direction,
                      std::span<const std::int32_t> coordinates, std::span<const std::uint16_t> offsets,
                      std::uint32_t shared, const GlobalCheck& check, TilePlan& plan);
// tile::gather4 (Load) and tile::scatter4 (Store): coordinates {column, row0, row1, row2, row3} of a 2-D map.
BulkFault plan_four_rows(const TensorMap& map, TileDirection direction,
                         std::span<const std::int32_t> coordinates, std::uint32_t shared,
                         const GlobalCheck& check, TilePlan& plan);

// A load's first half: reads global memory, fills what lies outside. staging: image_bytes.
void read_global(const TilePlan& plan, std::byte* staging);
// Calls write(offset, bytes, from) for each contiguous run that the box covers; offset is CTA-relative, from
// points into staging. A load's second half, with SharedMemory::async_write; also says which ranges a store
// reads.
void for_each_run(const TilePlan& plan, const std::byte* staging,
                  const std::function<void(std::uint32_t, std::uint32_t, const std::byte*)>& write);

// A store's first half: copies the box out of the async image (indexed by CTA-relative address). staging:
// image_bytes.
void read_shared(const TilePlan& plan, const std::byte* async_image, std::byte* staging);
// A store's second half.
void write_global(const TilePlan& plan, const std::byte* staging);

// cp.reduce.async.bulk.tensor: the fault for an operation that the map's element type does not take, else
// none.
BulkFault check_tile_reduce(BulkOp op, TensorType type);
// A reduction's second half; the first is read_shared.
void reduce_global(const TilePlan& plan, BulkOp op, const std::byte* staging);

}  // namespace emu::units
