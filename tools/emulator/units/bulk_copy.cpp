#include "units/bulk_copy.h"

#include <fmt/format.h>

#include <cstring>

namespace emu::units {
namespace {

constexpr std::uint32_t kChunk = 16;

const char* name_of(BulkDirection direction) {
  switch (direction) {
    case BulkDirection::GlobalToShared:
      return "cp.async.bulk from global to shared memory";
    case BulkDirection::SharedToCluster:
      return "cp.async.bulk from shared to cluster shared memory";
    case BulkDirection::SharedToGlobal:
      return "cp.async.bulk from shared to global memory";
    case BulkDirection::PrefetchL2:
      return "cp.async.bulk.prefetch.L2";
  }
  return "cp.async.bulk";
}

}  // namespace

BulkFault check_bulk_copy(BulkDirection direction, std::uint64_t destination, std::uint64_t source,
                          std::uint32_t bytes) {
  if (bytes % kChunk != 0) {
    return {BulkFaultKind::IllegalInstruction,
            fmt::format("{}: the size {} is not a multiple of 16", name_of(direction), bytes)};
  }
  if (source % kChunk != 0) {
    return {BulkFaultKind::MisalignedAddress,
            fmt::format("{}: the source address 0x{:x} is not a multiple of 16", name_of(direction), source)};
  }
  if (direction != BulkDirection::PrefetchL2 && destination % kChunk != 0) {
    return {BulkFaultKind::MisalignedAddress,
            fmt::format("{}: the destination address 0x{:x} is not a multiple of 16", name_of(direction),
                        destination)};
  }
  return {};
}

BulkFault check_bulk_reduce(BulkDirection direction, BulkOp op, BulkType type, std::uint64_t destination,
                            std::uint64_t source, std::uint32_t bytes) {
  bool to_global = direction == BulkDirection::SharedToGlobal;
  if (!to_global && direction != BulkDirection::SharedToCluster) {
    return {BulkFaultKind::IllegalInstruction,
            fmt::format("{}: reductions read shared memory", name_of(direction))};
  }
  if (!bulk_reduce_allows(op, type, to_global)) {
    return {BulkFaultKind::IllegalInstruction,
            fmt::format("cp.reduce.async.bulk to {} does not take .{}.{}",
                        to_global ? "global" : "shared::cluster", units::name_of(op), units::name_of(type))};
  }
  return check_bulk_copy(direction, destination, source, bytes);
}

void copy_masked(void* destination, const void* source, std::uint32_t bytes, std::uint16_t byte_mask) {
  if (byte_mask == 0xFFFF) {
    std::memcpy(destination, source, bytes);
    return;
  }
  auto* to = static_cast<std::byte*>(destination);
  const auto* from = static_cast<const std::byte*>(source);
  for (std::uint32_t i = 0; i < bytes; ++i) {
    if (byte_mask >> (i % kChunk) & 1) to[i] = from[i];
  }
}

void bulk_reduce(BulkOp op, BulkType type, void* destination, const void* source, std::uint32_t bytes) {
  reduce_elements(op, type, destination, source, bytes / size_of(type));
}

}  // namespace emu::units
