// One-dimensional bulk copies and reductions: checks and effects (PTX ISA 9.7.9.25).
#pragma once
#include <cstddef>
#include <cstdint>

#include "units/bulk_fault.h"
#include "units/bulk_number.h"

namespace emu::units {

enum class BulkDirection : std::uint8_t {
  GlobalToShared,   // own or cluster shared memory, multicast or not
  SharedToCluster,  // own shared memory -> shared memory of a CTA of the cluster
  SharedToGlobal,
  PrefetchL2
};

// destination, source: full addresses (global: host address; shared: the 32-bit address); prefetch has no
// destination. Both must be 16-byte aligned, bytes a multiple of 16. Zero bytes are legal and move nothing.
BulkFault check_bulk_copy(BulkDirection direction, std::uint64_t destination, std::uint64_t source,
                          std::uint32_t bytes);
// The same, and that the pair of operation and type exists in that direction (SharedToGlobal or
// SharedToCluster).
BulkFault check_bulk_reduce(BulkDirection direction, BulkOp op, BulkType type, std::uint64_t destination,
                            std::uint64_t source, std::uint32_t bytes);

// .cp_mask: bit i of byte_mask lets byte i of every 16-byte chunk through.
void copy_masked(void* destination, const void* source, std::uint32_t bytes, std::uint16_t byte_mask);

// Elementwise destination = destination op source, for a pair that check_bulk_reduce accepted.
void bulk_reduce(BulkOp op, BulkType type, void* destination, const void* source, std::uint32_t bytes);

}  // namespace emu::units
