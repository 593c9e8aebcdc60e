// The device's global memory: one reservation of host address space in which a device address is a host
// address.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

namespace emu::memory {

enum class AllocationKind : std::uint8_t {
  Device,      // cudaMalloc, cudaMallocAsync
  Managed,     // cudaMallocManaged
  PinnedHost,  // cudaMallocHost, cudaHostAlloc
  Module,      // __device__ variables of a loaded module
  Constant,    // __constant__ variables
  Parameter,   // a launch's parameter buffer
  Stack,       // backing of thread-local memory
  Heap,        // device-side malloc
  Adopted      // cudaHostRegister: memory of the program that lies outside the arena
};

// How the runtime calls it: "cudaMalloc allocation", "module variable", ...
const char* kind_name(AllocationKind kind);

struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  AllocationKind kind = AllocationKind::Device;
  std::string label;         // a variable's name, or empty
  std::uint64_t serial = 0;  // 1 for the first allocation of the process, counting up
  std::uint64_t end() const { return begin + bytes; }
};

enum class MemoryStatus : std::uint8_t {
  Ok,
  OutOfMemory,      // beyond the device's capacity, or the host gave no address space
  NotAnAllocation,  // the pointer was never handed out
  AlreadyFreed,     // it was, and has been freed
  InteriorPointer,  // it points into a live allocation but not at its start
  AlreadyAdopted    // adopt: part of the range is known already
};

// What a reader keeps between accesses: the allocation it hit last. Give each worker (or each warp) its own.
struct AllocationCache {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t epoch = ~std::uint64_t{0};
};

// Thread-safe: workers look up while the host thread allocates and frees.
//
// Between two allocations lie at least 256 bytes that belong to nobody, and freed addresses are handed out
// again only after the whole reservation has been walked through, so off-by-one and use-after-free both land
// outside every allocation.
//
// Fresh memory is poison. Up to kEagerPoisonBytes it is filled; larger blocks map a poison-filled file page
// by page, private and copy-on-write, so that a 100 GB cudaMalloc costs nothing until it is touched.
class GlobalMemory {
 public:
  static constexpr std::uint64_t kEagerPoisonBytes = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kGuardBytes = 256;
  static constexpr std::uint64_t kMinimumAlignment = 256;
  // What a B200 offers (183 GB); Device, Module, Constant and Heap count against it.
  static constexpr std::uint64_t kDefaultCapacity = 183'000'000'000;

  // Reserves address space: `reservation` bytes, by default twice the capacity and 1 TiB, so that freed
  // addresses stay out of use for long; less where the host refuses. Throws std::runtime_error below 8 GiB.
  explicit GlobalMemory(std::uint64_t capacity = kDefaultCapacity, std::uint64_t reservation = 0);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  // Poison-filled memory; `address` is 0 for zero bytes (as cudaMalloc(0)) and on failure.
  // alignment: a power of two; at least 256 is used.
  MemoryStatus allocate(std::uint64_t bytes, AllocationKind kind, std::uint64_t& address,
                        std::string label = {}, std::uint64_t alignment = kMinimumAlignment);
  // Frees what allocate or adopt handed out; the null pointer is Ok.
  MemoryStatus free(std::uint64_t address);
  // Makes [begin, begin + bytes) of the program's own memory accessible to the device (cudaHostRegister).
  MemoryStatus adopt(const void* begin, std::uint64_t bytes, std::string label = {});

  // The live allocation that holds `address`, or null. Valid until it is freed.
  const Allocation* find(std::uint64_t address) const;
  // True if [address, address + bytes) lies in one live allocation.
  bool contains(std::uint64_t address, std::uint64_t bytes) const;
  // The same, remembering the last hit.
  bool contains(AllocationCache& cache, std::uint64_t address, std::uint64_t bytes) const {
    if (cache.epoch == epoch_.load(std::memory_order_acquire) && bytes <= cache.bytes &&
        address - cache.begin <= cache.bytes - bytes) {
      return true;
    }
    return refill(cache, address, bytes);
  }

  // "4 bytes at 0x..: 0 bytes past the end of the 65536-byte cudaMalloc allocation at 0x..": for fault
  // reports.
  std::string describe(std::uint64_t address, std::uint64_t bytes) const;

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t used() const;
  std::vector<Allocation> live() const;

 private:
  using Live = std::map<std::uint64_t, std::unique_ptr<Allocation>>;
  bool refill(AllocationCache& cache, std::uint64_t address, std::uint64_t bytes) const;
  const Allocation* find_locked(std::uint64_t address) const;
  std::uint64_t take_range(std::uint64_t bytes, std::uint64_t alignment);
  void return_range(std::uint64_t begin, std::uint64_t end);
  bool open_pages(std::uint64_t begin, std::uint64_t end);
  bool map_poison(std::uint64_t begin, std::uint64_t end);
  void close_pages(std::uint64_t begin, std::uint64_t end);

  mutable std::shared_mutex mutex_;
  std::atomic<std::uint64_t> epoch_{0};  // moves on every free: cached hits from before are looked up again
  std::uint64_t capacity_;
  std::uint64_t base_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t cursor_ = 0;  // next-fit position
  std::uint64_t used_ = 0;
  std::uint64_t serial_ = 0;
  int poison_file_ = -1;
  Live live_;
  std::map<std::uint64_t, std::uint64_t> free_;    // begin -> end, coalesced
  std::deque<std::unique_ptr<Allocation>> freed_;  // the latest ones, for reports
};

}  // namespace emu::memory
