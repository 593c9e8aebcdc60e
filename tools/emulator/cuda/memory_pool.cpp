#include "cuda/memory_pool.h"

#include <algorithm>

namespace emu::cuda {

MemoryPool* PoolTable::create() {
  auto pool = std::make_unique<MemoryPool>();
  MemoryPool* raw = pool.get();
  pools_.emplace(raw, std::move(pool));
  return raw;
}

bool PoolTable::destroy(MemoryPool* pool) {
  if (current_ == pool) current_ = &default_;
  std::erase_if(owners_, [pool](const auto& owner) { return owner.second.pool == pool; });
  return pools_.erase(pool) != 0;
}

bool PoolTable::contains(const MemoryPool* pool) const {
  return pool == &default_ || pools_.count(const_cast<MemoryPool*>(pool)) != 0;
}

void PoolTable::note_allocation(uint64_t address, uint64_t bytes, MemoryPool& pool) {
  owners_[address] = {&pool, bytes};
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
}

void PoolTable::note_free(uint64_t address) {
  const auto found = owners_.find(address);
  if (found == owners_.end()) return;
  found->second.pool->used -= found->second.bytes;
  owners_.erase(found);
}

}  // namespace emu::cuda
