#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "memory/address_space.h"
#include "memory/global_memory.h"
#include "memory/poison.h"
#include "testing/catch.h"

using namespace emu::memory;

namespace {

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

std::uint64_t allocate(GlobalMemory& memory, std::uint64_t bytes,
                       AllocationKind kind = AllocationKind::Device, std::string label = {}) {
  std::uint64_t address = 0;
  REQUIRE(memory.allocate(bytes, kind, address, std::move(label)) == MemoryStatus::Ok);
  return address;
}

bool contains_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("fresh device memory is poison, aligned to 256, and its address is a host address") {
  GlobalMemory memory;
  std::uint64_t address = allocate(memory, 1000);
  CHECK(address % 256 == 0);
  CHECK(classify(address).space == Space::Global);
  CHECK(looks_poisoned(pointer(address), 1000));
  std::memset(pointer(address), 7, 1000);
  memory.free(address);
}

TEST_CASE("a block too large to fill is poison too, wherever it is touched") {
  GlobalMemory memory;
  std::uint64_t bytes = std::uint64_t{40} << 30;
  std::uint64_t address = allocate(memory, bytes);
  for (std::uint64_t at : {std::uint64_t{0}, bytes / 2 + 12346, bytes - 64}) {
    CHECK(looks_poisoned(pointer(address + at), 64));
  }
  std::memset(pointer(address + bytes / 2), 0, 64);
  CHECK_FALSE(looks_poisoned(pointer(address + bytes / 2), 64));
  CHECK(looks_poisoned(pointer(address + bytes / 2 + 64), 64));
  CHECK(looks_poisoned(pointer(address + bytes / 2 + (32 << 20)), 64));
  CHECK(memory.free(address) == MemoryStatus::Ok);
}

TEST_CASE("device memory ends at the capacity, and freeing gives it back") {
  GlobalMemory memory;
  CHECK(memory.capacity() == 183'000'000'000);
  std::uint64_t address = allocate(memory, 182'000'000'000), more = 1;
  CHECK(memory.allocate(1'000'000'001, AllocationKind::Device, more) == MemoryStatus::OutOfMemory);
  CHECK(more == 0);
  CHECK(memory.used() == 182'000'000'000);
  CHECK(memory.allocate(1'000'000'001, AllocationKind::PinnedHost, more) == MemoryStatus::Ok);
  CHECK(memory.free(address) == MemoryStatus::Ok);
  CHECK(memory.used() == 0);
  CHECK(allocate(memory, 182'000'000'000) != 0);
  CHECK(memory.allocate(~0ull, AllocationKind::PinnedHost, more) == MemoryStatus::OutOfMemory);
}

TEST_CASE("zero bytes give the null pointer, which may be freed") {
  GlobalMemory memory;
  std::uint64_t address = 5;
  CHECK(memory.allocate(0, AllocationKind::Device, address) == MemoryStatus::Ok);
  CHECK(address == 0);
  CHECK(memory.free(0) == MemoryStatus::Ok);
}

TEST_CASE("freeing what was never handed out, twice, or from the middle is told apart") {
  GlobalMemory memory;
  std::uint64_t address = allocate(memory, 4096);
  int local = 0;
  CHECK(memory.free(reinterpret_cast<std::uint64_t>(&local)) == MemoryStatus::NotAnAllocation);
  CHECK(memory.free(address + 256) == MemoryStatus::InteriorPointer);
  CHECK(memory.free(address) == MemoryStatus::Ok);
  CHECK(memory.free(address) == MemoryStatus::AlreadyFreed);
}

TEST_CASE("at least 256 bytes between two allocations belong to nobody") {
  GlobalMemory memory;
  for (std::uint64_t bytes : {1ull, 255ull, 256ull, 4096ull, 65536ull, 1ull << 20}) {
    std::uint64_t first = allocate(memory, bytes), second = allocate(memory, 64);
    CHECK(second - (first + bytes) >= 256);
    CHECK(memory.contains(first, bytes));
    CHECK_FALSE(memory.contains(first, bytes + 1));
    CHECK_FALSE(memory.contains(first + bytes, 1));
    CHECK_FALSE(memory.contains(second - 1, 1));
  }
}

TEST_CASE("a report names the allocation that was missed") {
  GlobalMemory memory;
  std::uint64_t address = allocate(memory, 65536);
  std::uint64_t variable = allocate(memory, 16, AllocationKind::Constant, "scale");
  CHECK(contains_text(memory.describe(address + 65540, 4),
                      "4 bytes past the end of the 65536-byte cudaMalloc allocation"));
  CHECK(contains_text(memory.describe(address + 65536, 4), "just past the end of the 65536-byte"));
  // Not off the parameters of a launch, though these may lie nearer.
  uint64_t parameters = 0;
  REQUIRE(memory.allocate(64, AllocationKind::Parameter, parameters, "k") == MemoryStatus::Ok);
  CHECK_FALSE(contains_text(memory.describe(parameters + 64, 4), "parameter"));
  CHECK(contains_text(memory.describe(address + 65534, 4), "the last 2 bytes lie past the end"));
  CHECK(contains_text(memory.describe(variable - 1, 1),
                      "1 byte before the 16-byte __constant__ variable 'scale'"));
  CHECK(contains_text(memory.describe(8, 4), "null pointer"));
  CHECK(contains_text(memory.describe(shared_to_generic(0x400), 4), "shared 0x400 of CTA rank 0"));
  memory.free(address);
  CHECK(contains_text(memory.describe(address + 8, 4), "65536-byte cudaMalloc allocation at"));
  CHECK(contains_text(memory.describe(address + 8, 4), "which has been freed"));
}

TEST_CASE("a cached hit ends with the allocation") {
  GlobalMemory memory;
  std::uint64_t address = allocate(memory, 512);
  AllocationCache cache;
  CHECK(memory.contains(cache, address, 512));
  CHECK(memory.contains(cache, address + 508, 4));
  CHECK_FALSE(memory.contains(cache, address + 509, 4));
  CHECK_FALSE(memory.contains(cache, address - 4, 4));
  CHECK_FALSE(memory.contains(cache, address - 4, 8));
  memory.free(address);
  CHECK_FALSE(memory.contains(cache, address, 4));
}

TEST_CASE("registered host memory is accessible until it is released") {
  GlobalMemory memory;
  std::vector<std::byte> own(1000);
  auto address = reinterpret_cast<std::uint64_t>(own.data());
  CHECK_FALSE(memory.contains(address, 1000));
  CHECK(memory.adopt(own.data(), 1000) == MemoryStatus::Ok);
  CHECK(memory.contains(address, 1000));
  CHECK(memory.adopt(own.data() + 999, 1) == MemoryStatus::AlreadyAdopted);
  CHECK(memory.free(address) == MemoryStatus::Ok);
  CHECK_FALSE(memory.contains(address, 1));
  own[999] = std::byte{1};  // still the program's
}

TEST_CASE("a small arena keeps live blocks apart and intact while freed addresses come round again") {
  struct Block {
    std::uint64_t address, bytes;
    std::uint8_t value;
  };
  GlobalMemory memory(64 << 20, 32 << 20);  // walked through about ten times
  std::mt19937 random(1);
  std::vector<Block> blocks;
  for (int step = 0; step < 3000; ++step) {
    if (blocks.size() > 40 || (!blocks.empty() && random() % 3 == 0)) {
      std::size_t pick = random() % blocks.size();
      Block block = blocks[pick];
      auto* at = static_cast<std::uint8_t*>(pointer(block.address));
      REQUIRE(std::all_of(at, at + block.bytes, [&](std::uint8_t byte) { return byte == block.value; }));
      REQUIRE(memory.free(block.address) == MemoryStatus::Ok);
      blocks.erase(blocks.begin() + static_cast<long>(pick));
      continue;
    }
    Block block{0, 1 + random() % (random() % 2 ? 2000 : 300000), static_cast<std::uint8_t>(step)};
    REQUIRE(memory.allocate(block.bytes, AllocationKind::Device, block.address) == MemoryStatus::Ok);
    REQUIRE(looks_poisoned(pointer(block.address), block.bytes));
    std::memset(pointer(block.address), block.value, block.bytes);
    for (const Block& other : blocks) {
      bool apart = block.address >= other.address + other.bytes + 256 ||
                   other.address >= block.address + block.bytes + 256;
      REQUIRE(apart);
    }
    blocks.push_back(block);
  }
}

TEST_CASE("a full arena refuses, and holes of freed blocks are found again") {
  GlobalMemory memory(64 << 20, 1 << 20);
  std::vector<std::uint64_t> blocks;
  std::uint64_t address = 0;
  while (memory.allocate(64 << 10, AllocationKind::Device, address) == MemoryStatus::Ok)
    blocks.push_back(address);
  CHECK(blocks.size() >= 12);
  for (std::size_t i = 0; i < blocks.size(); i += 2) memory.free(blocks[i]);
  CHECK(memory.allocate(128 << 10, AllocationKind::Device, address) == MemoryStatus::OutOfMemory);
  for (std::size_t i = 1; i < blocks.size(); i += 2) memory.free(blocks[i]);
  CHECK(memory.allocate(512 << 10, AllocationKind::Device, address) == MemoryStatus::Ok);
  CHECK(looks_poisoned(pointer(address), 512 << 10));
}

TEST_CASE("workers look up while the host allocates and frees") {
  GlobalMemory memory;
  std::uint64_t fixed = allocate(memory, 1 << 20);
  std::atomic<bool> stop{false};
  std::atomic<int> misses{0};
  std::thread reader([&] {
    AllocationCache cache;
    while (!stop) {
      if (!memory.contains(cache, fixed + 4096, 16)) ++misses;
    }
  });
  for (int i = 0; i < 2000; ++i) memory.free(allocate(memory, 1000));
  stop = true;
  reader.join();
  CHECK(misses == 0);
}
