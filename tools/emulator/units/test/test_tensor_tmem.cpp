#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "testing/catch.h"
#include "units/tmem.h"
#include "units/tmem_access.h"

using namespace emu::units;

namespace {

constexpr TensorMemory::Owner kFirst = 7, kSecond = 8;

/// The word `lane` * 1000 + `column` everywhere: a value names its place.
TensorMemory numbered() {
  TensorMemory memory;
  for (int column = 0; column < kTmemColumns; ++column) {
    for (int lane = 0; lane < kTmemLanes; ++lane) {
      memory.at(lane, column) = lane * 1000 + column;
    }
  }
  return memory;
}

struct Registers {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t*> pointers;

  explicit Registers(int count) : words(count * 32), pointers(count) {
    for (int r = 0; r < count; ++r) {
      pointers[r] = &words[r * 32];
    }
  }
  std::uint32_t at(int r, int thread) const { return words[r * 32 + thread]; }
};

Registers load(const TensorMemory& memory, const TmemAccess& access) {
  Registers registers(tmem_register_count(access.shape, access.count));
  tmem_load(memory, access, registers.pointers.data());
  return registers;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const TensorError& error) {
    return error.what();
  }
  return {};
}

constexpr std::uint32_t at(int lane, int column) { return static_cast<std::uint32_t>(lane) << 16 | column; }

}  // namespace

TEST_CASE("tensor memory starts as poison, and an allocation returns poison") {
  TensorMemory memory;
  CHECK(memory.at(127, 511) == kTmemPoison);
  memory.at(3, 40) = 1;
  CHECK(memory.try_allocate(kFirst, 512) == 0u);
  CHECK(memory.at(3, 40) == kTmemPoison);
}

TEST_CASE("columns are allocated first fit and shared by the CTAs of an SM") {
  TensorMemory memory;
  CHECK(memory.try_allocate(kFirst, 128) == 0u);
  CHECK(memory.try_allocate(kSecond, 256) == 128u);
  CHECK(memory.try_allocate(kFirst, 64) == 384u);
  CHECK(memory.free_columns() == 64);
  CHECK_FALSE(memory.try_allocate(kSecond, 128).has_value());
  memory.deallocate(kFirst, 0, 128);
  CHECK(memory.try_allocate(kSecond, 128) == 0u);
}

TEST_CASE("a second CTA asking for all 512 columns waits until the first frees them") {
  TensorMemory memory;
  CHECK(memory.try_allocate(kFirst, 512) == 0u);
  CHECK_FALSE(memory.try_allocate(kSecond, 512).has_value());
  memory.deallocate(kFirst, 0, 512);
  CHECK(memory.try_allocate(kSecond, 512) == 0u);
}

TEST_CASE("allocation counts are powers of two from 32 to 512") {
  TensorMemory memory;
  for (std::uint32_t columns : {0u, 16u, 31u, 33u, 48u, 96u, 1024u}) {
    CHECK_FALSE(error_of([&] { memory.try_allocate(kFirst, columns); }).empty());
  }
}

TEST_CASE("allocations of one CTA must not grow, nor follow relinquish") {
  TensorMemory memory;
  memory.try_allocate(kFirst, 64);
  CHECK(error_of([&] { memory.try_allocate(kFirst, 128); }).find("must not grow") != std::string::npos);
  CHECK(memory.try_allocate(kSecond, 128).has_value());
  memory.relinquish(kFirst);
  CHECK(error_of([&] { memory.try_allocate(kFirst, 32); }).find("relinquish") != std::string::npos);
  CHECK(memory.try_allocate(kSecond, 32).has_value());
}

TEST_CASE("only a live allocation of the same CTA and size can be freed") {
  TensorMemory memory;
  memory.try_allocate(kFirst, 64);
  CHECK_FALSE(error_of([&] { memory.deallocate(kSecond, 0, 64); }).empty());
  CHECK_FALSE(error_of([&] { memory.deallocate(kFirst, 0, 32); }).empty());
  CHECK_FALSE(error_of([&] { memory.deallocate(kFirst, 32, 32); }).empty());
  CHECK(memory.leftover(kFirst) == "64 columns at 0x00000000");
  memory.deallocate(kFirst, 0, 64);
  CHECK(memory.leftover(kFirst).empty());
  CHECK_FALSE(error_of([&] { memory.deallocate(kFirst, 0, 64); }).empty());
}

TEST_CASE("a CTA that ends gives up what it held") {
  TensorMemory memory;
  memory.try_allocate(kFirst, 256);
  memory.retire(kFirst);
  CHECK(memory.free_columns() == 512);
  CHECK(memory.try_allocate(kFirst, 512) == 0u);
}

TEST_CASE("an access outside the CTA's columns names the column at fault") {
  TensorMemory memory;
  memory.try_allocate(kFirst, 64);
  memory.try_allocate(kSecond, 32);
  CHECK(memory.owns(kFirst, 0, 64));
  CHECK_FALSE(memory.owns(kFirst, 32, 33));
  CHECK(error_of([&] { memory.require_owned(kFirst, 0, 64, "tcgen05.ld"); }).empty());
  const std::string other = error_of([&] { memory.require_owned(kFirst, 32, 64, "tcgen05.ld"); });
  CHECK(other.find("column 64") != std::string::npos);
  CHECK(other.find("another CTA") != std::string::npos);
  const std::string nobody = error_of([&] { memory.require_owned(kSecond, 64, 64, "tcgen05.st"); });
  CHECK(nobody.find("column 96") != std::string::npos);
  CHECK(nobody.find("not allocated") != std::string::npos);
  CHECK(error_of([&] { memory.require_owned(kFirst, 500, 32, "x"); }).find("511") != std::string::npos);
}

TEST_CASE("an address is a lane and a column; columns past 511 are refused and high lane bits dropped") {
  CHECK(decode_tmem_address(at(32, 17)).lane == 32);
  CHECK(decode_tmem_address(at(32, 17)).column == 17);
  CHECK(decode_tmem_address(at(160, 0)).lane == 32);
  CHECK_THROWS_AS(decode_tmem_address(512), TensorError);
}

TEST_CASE("32x32b gives thread t lane t and register r column r") {
  const TensorMemory memory = numbered();
  const Registers registers = load(memory, {TmemShape::Lanes32x32b, 8, false, at(64, 100), 0});
  for (int r = 0; r < 8; ++r) {
    for (int t = 0; t < 32; ++t) {
      CHECK(registers.at(r, t) == static_cast<std::uint32_t>((64 + t) * 1000 + 100 + r));
    }
  }
}

TEST_CASE("16x64b interleaves two lanes eight apart over pairs of columns") {
  const Registers registers = load(numbered(), {TmemShape::Lanes16x64b, 2, false, at(0, 0), 0});
  CHECK(registers.at(0, 0) == 0);
  CHECK(registers.at(0, 1) == 8000);
  CHECK(registers.at(0, 2) == 1);
  CHECK(registers.at(0, 3) == 8001);
  CHECK(registers.at(0, 4) == 1000);
  CHECK(registers.at(0, 31) == 15001);
  CHECK(registers.at(1, 31) == 15003);
}

TEST_CASE(
    "16x256b is the accumulator fragment of mma.sync: rows t/4 and t/4 + 8, columns 2(t%4) and the next") {
  const Registers registers = load(numbered(), {TmemShape::Lanes16x256b, 2, false, at(16, 8), 0});
  for (int t = 0; t < 32; ++t) {
    for (int r = 0; r < 8; ++r) {
      const int row = t / 4 + (r % 4 >= 2 ? 8 : 0);
      const int column = 2 * (t % 4) + r % 2 + (r >= 4 ? 8 : 0);
      CHECK(registers.at(r, t) == static_cast<std::uint32_t>((16 + row) * 1000 + 8 + column));
    }
  }
}

TEST_CASE("16x128b alternates the two row halves between registers") {
  const Registers registers = load(numbered(), {TmemShape::Lanes16x128b, 2, false, at(32, 4), 0});
  CHECK(registers.at(0, 5) == 33005);
  CHECK(registers.at(1, 5) == 41005);
  CHECK(registers.at(2, 5) == 33009);
  CHECK(registers.at(3, 31) == 47011);
}

TEST_CASE("16x32bx2 adds its immediate for the upper sixteen threads") {
  const Registers registers = load(numbered(), {TmemShape::Lanes16x32bx2, 4, false, at(0, 10), 4});
  CHECK(registers.at(3, 15) == 15013);
  CHECK(registers.at(3, 31) == 15017);
  CHECK(registers.at(0, 16) == 14);
  const Registers lanes = load(numbered(), {TmemShape::Lanes16x32bx2, 1, false, at(0, 10), at(16, 0)});
  CHECK(lanes.at(0, 31) == 31010);
}

TEST_CASE("every shape covers its lanes and columns exactly once") {
  for (TmemShape shape : {TmemShape::Lanes32x32b, TmemShape::Lanes16x64b, TmemShape::Lanes16x128b,
                          TmemShape::Lanes16x256b, TmemShape::Lanes16x32bx2}) {
    for (int count = 1; count <= 128; count *= 2) {
      TmemAccess access{shape, count, false, at(96, 128), 0};
      if (tmem_register_count(shape, count) == 0) {
        continue;
      }
      access.split_offset = shape == TmemShape::Lanes16x32bx2 ? count : 0;
      const int columns = tmem_column_count(access) * (shape == TmemShape::Lanes16x32bx2 ? 2 : 1);
      const Registers registers = load(numbered(), access);
      std::vector<std::uint32_t> got = registers.words, want;
      for (int lane = 96; lane < 96 + tmem_lane_count(shape); ++lane) {
        for (int column = 128; column < 128 + columns; ++column) {
          want.push_back(lane * 1000 + column);
        }
      }
      std::sort(got.begin(), got.end());
      INFO(name(shape) << " x" << count);
      CHECK(got == want);

      TensorMemory copy;
      tmem_store(copy, access, registers.pointers.data());
      CHECK(load(copy, access).words == registers.words);
    }
  }
}

TEST_CASE("the repeat counts stop at 128 registers") {
  CHECK(tmem_register_count(TmemShape::Lanes32x32b, 128) == 128);
  CHECK(tmem_register_count(TmemShape::Lanes16x128b, 64) == 128);
  CHECK(tmem_register_count(TmemShape::Lanes16x128b, 128) == 0);
  CHECK(tmem_register_count(TmemShape::Lanes16x256b, 32) == 128);
  CHECK(tmem_register_count(TmemShape::Lanes16x256b, 64) == 0);
  CHECK(tmem_register_count(TmemShape::Lanes32x32b, 3) == 0);
}

TEST_CASE("pack::16b joins the low halves of two columns, unpack::16b parts them again") {
  const TensorMemory memory = numbered();
  const TmemAccess access{TmemShape::Lanes32x32b, 2, true, at(32, 20), 0};
  CHECK(tmem_column_count(access) == 4);
  const Registers registers = load(memory, access);
  CHECK(registers.at(1, 3) == ((35022u & 0xFFFF) | (35023u & 0xFFFF) << 16));
  TensorMemory copy;
  tmem_store(copy, access, registers.pointers.data());
  CHECK(copy.at(35, 23) == (0xFFFA0000u | (35023u & 0xFFFF)));
  CHECK(copy.at(35, 24) == kTmemPoison);
  CHECK(load(copy, access).words == registers.words);
}

TEST_CASE("a warp reaches its own quarter of the lanes only") {
  TmemAccess access{TmemShape::Lanes32x32b, 1, false, at(32, 0), 0};
  CHECK(tmem_access_problem(access, 1).empty());
  CHECK(tmem_access_problem(access, 5).empty());
  CHECK_FALSE(tmem_access_problem(access, 0).empty());
  access.address = 0;
  CHECK(tmem_access_problem(access, 2).find("64 to 95") != std::string::npos);
  access.address = at(48, 0);
  CHECK_FALSE(tmem_access_problem(access, 1).empty());
  access.shape = TmemShape::Lanes16x256b;
  CHECK(tmem_access_problem(access, 1).empty());
}

TEST_CASE("an access past column 511 is refused") {
  const TmemAccess access{TmemShape::Lanes32x32b, 32, false, at(0, 496), 0};
  CHECK(tmem_access_problem(access, 0).find("511") != std::string::npos);
  CHECK_THROWS_AS(load(numbered(), access), TensorError);
}

TEST_CASE("columns deallocated too early are refused, or lent until somebody takes them") {
  TensorMemory memory;
  const std::uint32_t at = *memory.try_allocate(kFirst, 64);
  memory.deallocate(kFirst, at, 64);
  const std::string early = error_of([&] { memory.require_owned(kFirst, 0, 64, "tcgen05.mma"); });
  CHECK(early.find("has been deallocated") != std::string::npos);
  memory.forgive_early_deallocation(true);
  CHECK(error_of([&] { memory.require_owned(kFirst, 0, 64, "tcgen05.mma"); }).empty());
  CHECK_FALSE(error_of([&] { memory.require_owned(kSecond, 0, 64, "tcgen05.mma"); }).empty());
  CHECK(memory.try_allocate(kSecond, 32) == 0u);
  CHECK(error_of([&] { memory.require_owned(kFirst, 0, 64, "tcgen05.mma"); }).find("another CTA") !=
        std::string::npos);
}

TEST_CASE("the quarter of a warp replaces the lane bits that select one, and nothing else") {
  CHECK(in_own_quarter(0x0000'0040, 6) == 0x0040'0040);
  CHECK(in_own_quarter(0x0010'0007, 1) == 0x0030'0007);
  CHECK(in_own_quarter(0x0060'0000, 0) == 0);
}
