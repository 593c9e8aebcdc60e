#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>

namespace emu::cuda {

// Stream-ordered allocation. Memory returns to the device at once, so a pool only keeps what programs set and
// ask.
struct MemoryPool {
  std::map<int, uint64_t> attributes;  // cudaMemPoolAttr -> value
  uint64_t used = 0, used_high = 0;
};

class PoolTable {
 public:
  MemoryPool* default_pool() { return &default_; }
  MemoryPool* current() { return current_; }
  void set_current(MemoryPool* pool) { current_ = pool; }

  MemoryPool* create();
  bool destroy(MemoryPool* pool);  // false for the default pool and unknown handles
  bool contains(const MemoryPool* pool) const;

  void note_allocation(uint64_t address, uint64_t bytes, MemoryPool& pool);
  void note_free(uint64_t address);

 private:
  struct Owner {
    MemoryPool* pool;
    uint64_t bytes;
  };
  MemoryPool default_;
  MemoryPool* current_ = &default_;
  std::map<MemoryPool*, std::unique_ptr<MemoryPool>> pools_;
  std::map<uint64_t, Owner> owners_;
};

}  // namespace emu::cuda
