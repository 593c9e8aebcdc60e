#include <cstring>
#include <numeric>
#include <sstream>
#include <vector>

#include "memory/shared_memory.h"
#include "test_bulk_h200_placement.h"
#include "testing/catch.h"
#include "units/tma_tile.h"

using namespace emu::units;
using emu::memory::ProxyView;
using emu::memory::SharedMemory;

namespace {

constexpr std::uint32_t kSharedBytes = 128 * 1024;
using Coordinates = std::vector<std::int32_t>;

struct Tile {
  TensorMap map;
  Tile(TensorType type, TensorSwizzle swizzle, const void* base, std::vector<std::uint64_t> dims,
       std::vector<std::uint64_t> strides, std::vector<std::uint32_t> box) {
    map.type = type;
    map.swizzle = swizzle;
    map.rank = static_cast<std::uint32_t>(dims.size());
    map.address = reinterpret_cast<std::uint64_t>(base);
    std::copy(dims.begin(), dims.end(), map.dims.begin());
    std::copy(strides.begin(), strides.end(), map.strides.begin());
    std::copy(box.begin(), box.end(), map.box.begin());
    map.element_strides.fill(1);
  }
};

TilePlan planned(const TensorMap& map, TileDirection direction, const Coordinates& at, std::uint32_t shared) {
  TilePlan plan;
  BulkFault fault = plan_tile(map, direction, at, shared, nullptr, plan);
  INFO(fault.text);
  REQUIRE_FALSE(fault);
  return plan;
}

void finish_load(const TilePlan& plan, SharedMemory& shared) {
  std::vector<std::byte> staging(plan.image_bytes);
  read_global(plan, staging.data());
  for_each_run(plan, staging.data(), [&](std::uint32_t offset, std::uint32_t bytes, const std::byte* from) {
    shared.async_write(offset, from, bytes);
  });
}

TilePlan load(const TensorMap& map, const Coordinates& at, std::uint32_t to, SharedMemory& shared) {
  TilePlan plan = planned(map, TileDirection::Load, at, to);
  finish_load(plan, shared);
  return plan;
}

void store(const TensorMap& map, const Coordinates& at, std::uint32_t from, SharedMemory& shared) {
  TilePlan plan = planned(map, TileDirection::Store, at, from);
  std::vector<std::byte> staging(plan.image_bytes);
  read_shared(plan, shared.async(), staging.data());
  write_global(plan, staging.data());
}

BulkFault fault_of(const TensorMap& map, TileDirection direction, const Coordinates& at,
                   std::uint32_t shared = 0x400) {
  TilePlan plan;
  return plan_tile(map, direction, at, shared, nullptr, plan);
}

std::uint16_t half_at(const SharedMemory& shared, std::uint32_t offset) {
  std::uint16_t value;
  std::memcpy(&value, shared.async() + offset, 2);
  return value;
}

// A matrix of 16-bit elements whose values are their own numbers.
std::vector<std::uint16_t> numbered(std::size_t count) {
  std::vector<std::uint16_t> all(count);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  return all;
}

}  // namespace

TEST_CASE("swizzled loads put every chunk where an H200 put it, at destinations of any phase") {
  std::vector<std::uint8_t> tensor(16 * 128);
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<std::uint8_t>(i / 16);
  for (const RecordedPlacement& recorded : kRecordedPlacements) {
    SharedMemory shared(kSharedBytes, ProxyView::Strict);
    Tile tile(TensorType::U8, static_cast<TensorSwizzle>(recorded.swizzle), tensor.data(), {128, 16}, {128},
              {recorded.inner_bytes, 16});
    std::uint32_t to = 0x800 + recorded.offset;
    TilePlan plan = load(tile.map, {0, 0}, to, shared);
    INFO("swizzle " << recorded.swizzle << " offset " << recorded.offset << " inner "
                    << recorded.inner_bytes);
    CHECK(plan.full_bytes == recorded.inner_bytes * 16);
    std::istringstream entries(recorded.chunks);
    std::uint32_t position, chunk, count = 0;
    for (char colon; entries >> position >> colon >> chunk; ++count) {
      CHECK(half_at(shared, to + position * 16) == chunk * 0x101);
    }
    CHECK(count >= 16);
  }
}

TEST_CASE("K-major operands lie at the offsets the canonical layouts name") {
  auto matrix = numbered(128 * 64);  // element (mn, k) is 64 * mn + k
  struct Example {
    TensorSwizzle swizzle;
    std::uint32_t inner;  // elements of k a box is wide
    std::uint32_t mn, k, physical;
  };
  const Example examples[] = {
      {TensorSwizzle::None, 8, 3, 5, 58},
      {TensorSwizzle::None, 8, 10, 9, 2210},
      {TensorSwizzle::None, 8, 77, 15, 3294},
      {TensorSwizzle::B32, 16, 3, 5, 106},
      {TensorSwizzle::B32, 16, 5, 9, 162},
      {TensorSwizzle::B32, 16, 77, 15, 2478},
      {TensorSwizzle::B64, 32, 3, 5, 218},
      {TensorSwizzle::B64, 32, 6, 9, 418},
      {TensorSwizzle::B64, 32, 77, 15, 4990},
      {TensorSwizzle::B128, 64, 3, 5, 442},
      {TensorSwizzle::B128, 64, 13, 9, 1730},
      {TensorSwizzle::B128, 64, 77, 15, 9934},
      // The second K step of a 128-byte-swizzled tile: addresses 0x119A, 0x16E2, 0x36EE.
      {TensorSwizzle::B128, 64, 3, 16 + 5, 0x19A},
      {TensorSwizzle::B128, 64, 13, 16 + 9, 0x6E2},
      {TensorSwizzle::B128, 64, 77, 16 + 15, 0x26EE}};
  for (const Example& example : examples) {
    SharedMemory shared(kSharedBytes, ProxyView::Strict);
    Tile tile(TensorType::BF16, example.swizzle, matrix.data(), {64, 128}, {128}, {example.inner, 128});
    std::uint32_t slices = example.inner == 8 ? 2 : 1;
    for (std::uint32_t slice = 0; slice < slices;
         ++slice) {  // unswizzled: slices 16 bytes wide, LBO 2048 apart
      load(tile.map, {static_cast<std::int32_t>(slice * 8), 0}, 0x1000 + slice * 2048, shared);
    }
    CHECK(half_at(shared, 0x1000 + example.physical) == example.mn * 64 + example.k);
  }
}

TEST_CASE("MN-major operands lie at the offsets the canonical layouts name") {
  auto matrix = numbered(64 * 128);  // element (mn, k) is 128 * k + mn
  struct Example {
    TensorSwizzle swizzle;
    std::uint32_t mn, k, physical;
  };
  const Example examples[] = {{TensorSwizzle::B32, 3, 5, 182},     {TensorSwizzle::B32, 20, 9, 2344},
                              {TensorSwizzle::B32, 77, 15, 8682},  {TensorSwizzle::B64, 3, 5, 358},
                              {TensorSwizzle::B64, 20, 9, 616},    {TensorSwizzle::B64, 77, 15, 9194},
                              {TensorSwizzle::B128, 3, 5, 726},    {TensorSwizzle::B128, 20, 9, 1208},
                              {TensorSwizzle::B128, 77, 15, 10218}};
  for (const Example& example : examples) {
    SharedMemory shared(kSharedBytes, ProxyView::Strict);
    std::uint32_t atom = swizzle_span(example.swizzle) / 2;
    Tile tile(TensorType::BF16, example.swizzle, matrix.data(), {128, 64}, {256}, {atom, 64});
    for (std::uint32_t slab = 0; slab < 128 / atom; ++slab) {
      load(tile.map, {static_cast<std::int32_t>(slab * atom), 0}, 0x1000 + slab * 64 * atom * 2, shared);
    }
    CHECK(half_at(shared, 0x1000 + example.physical) == example.k * 128 + example.mn);
  }
  // No swizzle: cores of 8 x 8, SBO 128 along mn and LBO 1024 along k, by one rank-4 box.
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  Tile cores(TensorType::BF16, TensorSwizzle::None, matrix.data(), {8, 8, 16, 8}, {256, 16, 2048},
             {8, 8, 8, 2});
  load(cores.map, {0, 0, 0, 0}, 0x1000, shared);
  CHECK(half_at(shared, 0x1000 + 86) == 5 * 128 + 3);
  CHECK(half_at(shared, 0x1000 + 1172) == 9 * 128 + 10);
}

TEST_CASE("the 32-byte-atom swizzle of tf32 operands lies where its layout says") {
  std::vector<std::uint32_t> matrix(32 * 64);  // element (mn, k) is 64 * k + mn
  std::iota(matrix.begin(), matrix.end(), 0u);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  Tile tile(TensorType::F32, TensorSwizzle::B128Atom32, matrix.data(), {64, 32}, {256}, {32, 32});
  for (int slab = 0; slab < 2; ++slab)
    load(tile.map, {slab * 32, 0}, 0x1000 + static_cast<std::uint32_t>(slab) * 4096, shared);
  auto word = [&](std::uint32_t offset) {
    std::uint32_t value;
    std::memcpy(&value, shared.async() + 0x1000 + offset, 4);
    return value;
  };
  CHECK(word(684) == 5 * 64 + 3);
  CHECK(word(272) == 2 * 64 + 20);
  CHECK(word(5076) == 7 * 64 + 45);
}

TEST_CASE("a box partly out of bounds is credited in full and filled with zeros") {
  auto matrix = numbered(36 * 64);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  Tile tile(TensorType::BF16, TensorSwizzle::B128, matrix.data(), {64, 36}, {128}, {64, 64});
  TilePlan plan = load(tile.map, {0, 0}, 0x400, shared);
  CHECK(plan.full_bytes == 8192);
  CHECK(plan.timing_rows == 64);
  CHECK(plan.touched_end - plan.touched_begin == 36 * 128);
  CHECK(half_at(shared, 0x400 + 35 * 128 + 3 * 16) != 0);
  for (std::uint32_t row = 36; row < 64; ++row) CHECK(half_at(shared, 0x400 + row * 128) == 0);
}

TEST_CASE("loads may start before the tensor; stores and reductions may not") {
  auto matrix = numbered(16 * 64);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  Tile tile(TensorType::BF16, TensorSwizzle::None, matrix.data(), {64, 16}, {128}, {16, 4});
  TilePlan plan = load(tile.map, {-8, -1}, 0x400, shared);
  CHECK(plan.full_bytes == 128);
  CHECK(half_at(shared, 0x400) == 0);                 // row -1
  CHECK(half_at(shared, 0x400 + 32 + 14) == 0);       // row 0, column -1
  CHECK(half_at(shared, 0x400 + 64 + 16 + 2) == 65);  // row 1, column 1
  for (TileDirection way : {TileDirection::Store, TileDirection::Reduce}) {
    for (const Coordinates& at : {Coordinates{0, -2}, {-8, 0}, {-8, -2}, {-16, 0}}) {
      CHECK(fault_of(tile.map, way, at).kind == BulkFaultKind::IllegalInstruction);
    }
    CHECK_FALSE(fault_of(tile.map, way, {0, 14}));
    CHECK_FALSE(fault_of(tile.map, way, {0, 20}));  // wholly outside: nothing happens
  }
}

TEST_CASE("the inner start must lie on 16 bytes, in every direction and type") {
  std::vector<std::byte> memory(65536);
  for (int type = 0; type <= 12; ++type) {
    auto tensor_type = static_cast<TensorType>(type);
    auto es = static_cast<std::int32_t>(element_bytes(tensor_type));
    Tile tile(tensor_type, TensorSwizzle::None, memory.data(), {64, 16}, {1024}, {16, 4});
    for (TileDirection way :
         {TileDirection::Load, TileDirection::Store, TileDirection::Reduce, TileDirection::Prefetch}) {
      for (std::int32_t c = 0; c < 32; ++c) {
        BulkFault fault = fault_of(tile.map, way, {c, 0});
        CHECK((fault.kind == BulkFaultKind::IllegalInstruction) == (c * es % 16 != 0));
      }
    }
    CHECK(fault_of(tile.map, TileDirection::Load, {-1, 0}).kind ==
          (es == 16 ? BulkFaultKind::None : BulkFaultKind::IllegalInstruction));
  }
}

TEST_CASE("shared addresses must be multiples of 128, as an H200 insists") {
  std::vector<std::byte> memory(4096);
  Tile tile(TensorType::BF16, TensorSwizzle::None, memory.data(), {64, 16}, {128}, {16, 4});
  for (std::uint32_t offset : {8u, 16u, 32u, 64u}) {
    CHECK(fault_of(tile.map, TileDirection::Load, {0, 0}, 0x400 + offset).kind ==
          BulkFaultKind::MisalignedAddress);
    CHECK(fault_of(tile.map, TileDirection::Store, {0, 0}, 0x400 + offset).kind ==
          BulkFaultKind::MisalignedAddress);
  }
  CHECK_FALSE(fault_of(tile.map, TileDirection::Load, {0, 0}, 0x480));
  CHECK_FALSE(fault_of(tile.map, TileDirection::Load, {0, 0}, 0x580));
}

TEST_CASE("a box narrower than its swizzle lies at the pitch of the span, and only its bytes move") {
  auto matrix = numbered(16 * 64);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  Tile tile(TensorType::BF16, TensorSwizzle::B128, matrix.data(), {64, 16}, {128}, {16, 8});
  TilePlan plan = load(tile.map, {0, 0}, 0x400, shared);
  CHECK(plan.pitch == 128);
  CHECK(plan.full_bytes == 8 * 32);
  CHECK(plan.shared_bytes == 7 * 128 + 128);  // row 7 puts its chunk 0 at 7
  CHECK(half_at(shared, 0x400 + 3 * 128 + 3 * 16) == 3 * 64);
  CHECK(half_at(shared, 0x400 + 3 * 128) == 0xFFFA);  // between the rows nothing was written
}

TEST_CASE("element strides load every n-th row densely; the inner one is ignored") {
  auto matrix = numbered(16 * 64);
  for (std::uint32_t inner : {1u, 2u}) {
    SharedMemory shared(kSharedBytes, ProxyView::Strict);
    Tile tile(TensorType::BF16, TensorSwizzle::None, matrix.data(), {64, 16}, {128}, {16, 8});
    tile.map.element_strides = {inner, 2, 1, 1, 1};
    TilePlan plan = load(tile.map, {8, 1}, 0x400, shared);
    CHECK(plan.full_bytes == 128);
    // As recorded on an H200: 48.., c8.., 148.., 1c8.. and then what was there before.
    CHECK(half_at(shared, 0x400) == 0x48);
    CHECK(half_at(shared, 0x400 + 30) == 0x57);
    CHECK(half_at(shared, 0x400 + 32) == 0xC8);
    CHECK(half_at(shared, 0x400 + 96 + 30) == 0x1D7);
    CHECK(half_at(shared, 0x400 + 128) == 0xFFFA);
  }
}

TEST_CASE("NaN fill writes 0x7FF7 repeated, whatever the type") {
  std::vector<std::byte> memory(65536);
  for (TensorType type :
       {TensorType::F16, TensorType::BF16, TensorType::F32, TensorType::F64, TensorType::TF32}) {
    SharedMemory shared(kSharedBytes, ProxyView::Strict);
    Tile tile(type, TensorSwizzle::None, memory.data(), {2, 1}, {1024}, {16, 2});
    tile.map.fill = TensorFill::NaN;
    load(tile.map, {0, 0}, 0x400, shared);
    std::uint32_t es = element_bytes(type);
    CHECK(half_at(shared, 0x400) == 0);                // inside
    CHECK(half_at(shared, 0x400 + 2 * es) == 0x7FF7);  // filled by the element
    CHECK(half_at(shared, 0x400 + 16 * es) == 0x7FF7);
  }
}

TEST_CASE("loads through tf32 round to nearest even, all other types keep their bits") {
  const std::vector<std::uint32_t> in = {
      0x3f800001, 0x3f801000, 0x3f803000, 0x3f801001, 0x00000001, 0x807fffff, 0x7f800001, 0xffc12345,
      0x7f7fffff, 0x3f800fff, 0x3f802fff, 0x00802001, 0x00001000, 0x80003000, 0x7fbfffff, 0x7f800000};
  // Recorded on an H200.
  const std::vector<std::uint32_t> tf32 = {
      0x3f800000, 0x3f800000, 0x3f804000, 0x3f802000, 0x00000000, 0x80800000, 0x7fffe000, 0x7fffe000,
      0x7f800000, 0x3f800000, 0x3f802000, 0x00802000, 0x00000000, 0x80004000, 0x7fffe000, 0x7f800000};
  for (TensorType type : {TensorType::F32, TensorType::F32Ftz, TensorType::TF32, TensorType::TF32Ftz}) {
    SharedMemory shared(kSharedBytes, ProxyView::Strict);
    Tile tile(type, TensorSwizzle::None, in.data(), {16}, {}, {16});
    load(tile.map, {0}, 0x400, shared);
    bool rounds = type == TensorType::TF32 || type == TensorType::TF32Ftz;
    CHECK(std::memcmp(shared.async() + 0x400, rounds ? tf32.data() : in.data(), 64) == 0);
    std::vector<std::uint32_t> out(16);
    shared.async_write(0x400, in.data(), 64);
    Tile back(type, TensorSwizzle::None, out.data(), {16}, {}, {16});
    store(back.map, {0}, 0x400, shared);
    CHECK(out == in);
  }
}

TEST_CASE("a store that overhangs writes the chunk that begins inside whole, and nothing after it") {
  std::vector<std::uint16_t> matrix(4 * 64, 0xAAAA);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  std::vector<std::uint16_t> box(32 * 4, 0x1111);
  shared.async_write(0x400, box.data(), 256);
  Tile tile(TensorType::BF16, TensorSwizzle::None, matrix.data(), {20, 3}, {128}, {32, 4});
  store(tile.map, {0, 0}, 0x400, shared);
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 64; ++column) {
      bool written = row < 3 && column < 24;  // 20 elements end inside the third chunk of 8
      CHECK(matrix[row * 64 + column] == (written ? 0x1111 : 0xAAAA));
    }
  }
}

TEST_CASE("a store reads what the threads have published, and names what they have not") {
  std::vector<std::uint32_t> out(32, 0);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  std::vector<std::uint32_t> old(32, 1);
  shared.async_write(0x400, old.data(), 128);
  std::uint32_t value = 2;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::memcpy(shared.generic() + 0x400 + lane * 4, &value, 4);
    shared.note_generic_write(0x400 + lane * 4, 4, 0, lane, 77);
  }
  shared.publish(0, 0x0000FFFF);  // half of the warp forgot its fence
  Tile tile(TensorType::U32, TensorSwizzle::None, out.data(), {32}, {}, {32});
  store(tile.map, {0}, 0x400, shared);
  for (int i = 0; i < 32; ++i) CHECK(out[i] == (i < 16 ? 2 : 1));
  auto stale = shared.first_stale(0x400, 128);
  REQUIRE(stale);
  CHECK(stale->lane == 16);
  CHECK(stale->tag == 77);
}

TEST_CASE("reductions combine by the map's element type, where hardware has the pair") {
  auto legal = [](BulkOp op) {
    std::string types;
    for (int t = 0; t <= 12; ++t) {
      if (!check_tile_reduce(op, static_cast<TensorType>(t))) types += std::to_string(t) + " ";
    }
    return types;
  };
  // Which types an H200 took and which it answered with cudaErrorIllegalInstruction.
  CHECK(legal(BulkOp::Add) == "2 3 4 6 7 8 9 10 11 12 ");
  CHECK(legal(BulkOp::Min) == "2 3 4 5 6 9 ");
  CHECK(legal(BulkOp::Max) == "2 3 4 5 6 9 ");
  CHECK(legal(BulkOp::Inc) == "2 ");
  CHECK(legal(BulkOp::Dec) == "2 ");
  CHECK(legal(BulkOp::And) == "2 3 4 ");
  CHECK(legal(BulkOp::Or) == "2 3 4 ");
  CHECK(legal(BulkOp::Xor) == "2 3 4 ");

  std::vector<float> sums(2 * 32, 1.0f);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  std::vector<float> box(4 * 8, 0.5f);
  shared.async_write(0x400, box.data(), 128);
  Tile tile(TensorType::F32, TensorSwizzle::B32, sums.data(), {32, 2}, {128}, {8, 4});
  TilePlan plan = planned(tile.map, TileDirection::Reduce, {8, 1}, 0x400);
  std::vector<std::byte> staging(plan.image_bytes);
  read_shared(plan, shared.async(), staging.data());
  reduce_global(plan, BulkOp::Add, staging.data());
  for (int i = 0; i < 64; ++i) CHECK(sums[i] == (i >= 40 && i < 48 ? 1.5f : 1.0f));
}

TEST_CASE("gather4 loads four rows by their numbers, scatter4 stores them") {
  auto matrix = numbered(16 * 64);
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  Tile tile(TensorType::BF16, TensorSwizzle::B128, matrix.data(), {64, 16}, {128}, {64, 1});
  TilePlan plan;
  REQUIRE_FALSE(
      plan_four_rows(tile.map, TileDirection::Load, Coordinates{0, 9, 2, 2, 99}, 0x400, nullptr, plan));
  finish_load(plan, shared);
  CHECK(plan.full_bytes == 4 * 128);
  CHECK(half_at(shared, 0x400) == 9 * 64);
  CHECK(half_at(shared, 0x400 + 128 + 16) == 2 * 64);
  CHECK(half_at(shared, 0x400 + 256 + 32) == 2 * 64);
  CHECK(half_at(shared, 0x400 + 384 + 48) == 0);  // row 99 is outside

  std::vector<std::uint16_t> out(16 * 64, 0);
  Tile to(TensorType::BF16, TensorSwizzle::B128, out.data(), {64, 16}, {128}, {64, 1});
  REQUIRE_FALSE(
      plan_four_rows(to.map, TileDirection::Store, Coordinates{0, 1, 3, 5, 7}, 0x400, nullptr, plan));
  std::vector<std::byte> staging(plan.image_bytes);
  read_shared(plan, shared.async(), staging.data());
  write_global(plan, staging.data());
  CHECK(out[1 * 64 + 7] == 9 * 64 + 7);
  CHECK(out[3 * 64 + 63] == 2 * 64 + 63);
  CHECK(out[0] == 0);

  Tile tall(TensorType::BF16, TensorSwizzle::None, out.data(), {64, 16}, {128}, {64, 4});
  CHECK(
      plan_four_rows(tall.map, TileDirection::Load, Coordinates{0, 1, 2, 3, 4}, 0x400, nullptr, plan).kind ==
      BulkFaultKind::Unsupported);
  CHECK(plan_four_rows(tile.map, TileDirection::Load, Coordinates{0, 1}, 0x400, nullptr, plan).kind ==
        BulkFaultKind::IllegalInstruction);
}

TEST_CASE("a copy outside device memory faults and names the row") {
  auto matrix = numbered(16 * 64);
  auto begin = reinterpret_cast<std::uint64_t>(matrix.data()), end = begin + 10 * 128;
  GlobalCheck check = [=](std::uint64_t address, std::uint64_t bytes) {
    return address >= begin && address + bytes <= end;
  };
  Tile tile(TensorType::BF16, TensorSwizzle::None, matrix.data(), {64, 16}, {128}, {64, 4});
  TilePlan plan;
  CHECK_FALSE(plan_tile(tile.map, TileDirection::Load, Coordinates{0, 6}, 0x400, check, plan));
  BulkFault fault = plan_tile(tile.map, TileDirection::Load, Coordinates{0, 8}, 0x400, check, plan);
  CHECK(fault.kind == BulkFaultKind::IllegalAddress);
  CHECK(fault.text.find("row 2 of the box touches 128 bytes") != std::string::npos);
  CHECK_FALSE(
      plan_tile(tile.map, TileDirection::Prefetch, Coordinates{0, 8}, 0, check, plan));  // an H200 ignores it
  CHECK_FALSE(plan_tile(tile.map, TileDirection::Load, Coordinates{0, 16}, 0x400, check,
                        plan));  // nothing is touched
}

TEST_CASE("sixteen 4-bit elements travel as the 8 bytes they are") {
  std::vector<std::byte> memory(4 * 128);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = std::byte(i * 7 + 1);
  Tile tile(TensorType::U4Align8, TensorSwizzle::None, memory.data(), {160, 4}, {128}, {128, 3});
  SharedMemory shared(kSharedBytes, ProxyView::Strict);
  TilePlan plan = load(tile.map, {32, 1}, 0x400, shared);
  CHECK(plan.full_bytes == 3 * 64);
  for (std::uint32_t row = 0; row < 3; ++row) {
    CHECK(std::memcmp(shared.async() + 0x400 + 64 * row, memory.data() + (row + 1) * 128 + 16, 64) == 0);
  }
  load(tile.map, {64, 0}, 0x800, shared);  // elements 64 to 159 are there
  CHECK(std::memcmp(shared.async() + 0x800, memory.data() + 32, 48) == 0);
  CHECK(shared.async()[0x800 + 48] == std::byte(0));
  CHECK(fault_of(tile.map, TileDirection::Load, {16, 0}).kind == BulkFaultKind::IllegalInstruction);
}

TEST_CASE("padded 4- and 6-bit elements start every 16 bytes of shared memory") {
  for (auto [type, bytes] : {std::pair(TensorType::U4Align16, 8u), std::pair(TensorType::U6Align16, 12u)}) {
    std::vector<std::byte> memory(4 * 256);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = std::byte(i * 5 + 3);
    Tile tile(type, TensorSwizzle::B128, memory.data(), {256, 4}, {256}, {128, 2});
    SharedMemory shared(kSharedBytes, ProxyView::Strict);
    TilePlan plan = load(tile.map, {128, 2}, 0x400, shared);
    CHECK(plan.image_bytes == 2 * 128);
    CHECK(plan.full_bytes == 2 * 8 * bytes);
    for (std::uint32_t row = 0; row < 2; ++row) {
      for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
        const std::byte* from = memory.data() + (row + 2) * 256 + (8 + chunk) * bytes;
        CHECK(std::memcmp(shared.async() + 0x400 + 128 * row + 16 * (chunk ^ row), from, bytes) == 0);
      }
    }
    load(tile.map, {128, 3}, 0x800, shared);  // row 4 is not there
    CHECK(shared.async()[0x800 + 128] == std::byte(0));
    CHECK(fault_of(tile.map, TileDirection::Load, {64, 0}).text.find("multiple of 128") != std::string::npos);
  }
}

TEST_CASE("layouts that are not implemented say so") {
  std::vector<std::byte> memory(65536);
  Tile tile(TensorType::BF16, TensorSwizzle::B128Atom32Flip8, memory.data(), {64, 16}, {128}, {64, 4});
  CHECK(fault_of(tile.map, TileDirection::Load, {0, 0}).kind == BulkFaultKind::Unsupported);
  tile.map.swizzle = TensorSwizzle::None;
  tile.map.interleave = TensorInterleave::B16;
  CHECK(fault_of(tile.map, TileDirection::Load, {0, 0}).text.find("interleaved") != std::string::npos);
  tile.map.interleave = TensorInterleave::None;
  tile.map.type = TensorType::U4Align16;
  CHECK(fault_of(tile.map, TileDirection::Store, {0, 0}).text.find("16U4_ALIGN16B") != std::string::npos);
  tile.map.type = TensorType::BF16;
  CHECK(fault_of(tile.map, TileDirection::Load, {0, 0, 0}).kind ==
        BulkFaultKind::IllegalInstruction);  // as an H200
}
