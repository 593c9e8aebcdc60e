// Random boxes against a second, element-by-element statement of the same rules.
#include <cstring>
#include <random>
#include <vector>

#include "testing/catch.h"
#include "units/tma_tile.h"

using namespace emu::units;

namespace {

constexpr std::uint32_t kImageBytes = 256 * 1024;
using Image = std::vector<std::uint8_t>;

// Swizzle<bits, base, shift> on a byte address, as the layout algebra of the field writes it.
std::uint32_t swizzled(TensorSwizzle mode, std::uint32_t address) {
  struct Parameters {
    unsigned bits, base, shift;
  };
  static constexpr Parameters kModes[] = {{0, 4, 3}, {1, 4, 3}, {2, 4, 3}, {3, 4, 3},
                                          {2, 5, 2}, {0, 0, 0}, {1, 6, 1}};
  auto [bits, base, shift] = kModes[static_cast<int>(mode)];
  std::uint32_t source = (address >> (base + shift)) % (1u << bits);
  return address ^ (source << base);
}

struct Box {
  TensorMap map;
  std::vector<std::int32_t> start;
  std::uint32_t shared = 0;
};

struct Element {
  std::uint32_t shared;   // byte address
  std::uint64_t global;   // byte address
  bool inside;            // of the tensor
  bool written_by_store;  // inside, or behind an inside element in its 16-byte chunk
};

// Every element of the box.
std::vector<Element> elements_of(const Box& box) {
  const TensorMap& map = box.map;
  std::uint32_t es = element_bytes(map.type), n[5] = {map.box[0], 1, 1, 1, 1};
  for (std::uint32_t d = 1; d < map.rank; ++d)
    n[d] = (map.box[d] + map.element_strides[d] - 1) / map.element_strides[d];
  std::uint32_t span = map.swizzle == TensorSwizzle::None  ? 0
                       : map.swizzle == TensorSwizzle::B32 ? 32
                       : map.swizzle == TensorSwizzle::B64 ? 64
                                                           : 128;
  std::uint32_t pitch = n[0] * es > span ? n[0] * es : span;
  std::vector<Element> all;
  std::uint32_t row = 0;
  for (std::uint32_t i4 = 0; i4 < n[4]; ++i4)
    for (std::uint32_t i3 = 0; i3 < n[3]; ++i3)
      for (std::uint32_t i2 = 0; i2 < n[2]; ++i2)
        for (std::uint32_t i1 = 0; i1 < n[1]; ++i1, ++row)
          for (std::uint32_t i0 = 0; i0 < n[0]; ++i0) {
            std::uint32_t i[5] = {i0, i1, i2, i3, i4};
            std::int64_t address = static_cast<std::int64_t>(map.address);
            bool outer_inside = true;
            std::int64_t g0 = std::int64_t{box.start[0]} + i0;
            for (std::uint32_t d = 1; d < map.rank; ++d) {
              std::int64_t g = std::int64_t{box.start[d]} + std::int64_t{i[d]} * map.element_strides[d];
              outer_inside = outer_inside && g >= 0 && g < static_cast<std::int64_t>(map.dims[d]);
              address += g * static_cast<std::int64_t>(map.strides[d - 1]);
            }
            std::int64_t chunk_start = std::int64_t{box.start[0]} + i0 * es / 16 * 16 / es;
            auto dim0 = static_cast<std::int64_t>(map.dims[0]);
            all.push_back({swizzled(map.swizzle, box.shared + row * pitch + i0 * es),
                           static_cast<std::uint64_t>(address + g0 * es),
                           outer_inside && g0 >= 0 && g0 < dim0,
                           outer_inside && chunk_start >= 0 && chunk_start < dim0});
          }
  return all;
}

// A tensor with padded rows in `memory`, and a box that may overhang it on every side.
Box random_box(std::mt19937& random, std::vector<std::uint8_t>& memory, bool may_be_negative) {
  static constexpr TensorType kTypes[] = {TensorType::U8, TensorType::BF16, TensorType::F32, TensorType::F64};
  static constexpr TensorSwizzle kSwizzles[] = {TensorSwizzle::None,       TensorSwizzle::B32,
                                                TensorSwizzle::B64,        TensorSwizzle::B128,
                                                TensorSwizzle::B128Atom32, TensorSwizzle::B128Atom64};
  auto up_to = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % (limit + 1)); };
  Box box;
  TensorMap& map = box.map;
  map.type = kTypes[random() % 4];
  map.swizzle = kSwizzles[random() % 6];
  map.rank = 1 + random() % 5;
  std::uint32_t es = element_bytes(map.type), span = swizzle_span(map.swizzle);
  std::uint32_t chunks = 1 + up_to((span ? span : 256) / 16 - 1);
  map.box[0] = std::min<std::uint32_t>(chunks * 16 / es, 256);
  map.dims[0] = 1 + up_to(map.box[0] * 2);
  std::uint64_t stride = (map.dims[0] * es + 15) / 16 * 16 + 16 * up_to(2);
  std::int32_t step = static_cast<std::int32_t>(16 / es);
  auto low = may_be_negative ? -2 : 0;
  box.start.push_back((low + static_cast<std::int32_t>(up_to(6))) * step);
  map.element_strides.fill(1);
  std::uint64_t bytes = stride;
  for (std::uint32_t d = 1; d < map.rank; ++d) {
    map.dims[d] = 1 + up_to(d == 1 ? 24 : 3);
    map.box[d] = 1 + up_to(d == 1 ? 24 : 3);
    map.element_strides[d] = 1 + (random() % 3 == 0 ? up_to(3) : 0);
    map.strides[d - 1] = stride;
    stride *= map.dims[d];
    bytes = stride;
    box.start.push_back((may_be_negative ? -3 : 0) +
                        static_cast<std::int32_t>(up_to(static_cast<std::uint32_t>(map.dims[d]) + 3)));
  }
  memory.assign(bytes + 64, 0);
  for (auto& byte : memory) byte = static_cast<std::uint8_t>(random());
  map.address = (reinterpret_cast<std::uint64_t>(memory.data()) + 15) / 16 * 16;
  box.shared = 0x400 + 128 * up_to(40);
  return box;
}

Image random_image(std::mt19937& random) {
  Image image(kImageBytes);
  for (std::size_t i = 0; i < image.size(); i += 4) {
    std::uint32_t word = random();
    std::memcpy(&image[i], &word, 4);
  }
  return image;
}

GlobalCheck inside(const std::vector<std::uint8_t>& memory) {
  auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  return [begin, size = memory.size()](std::uint64_t address, std::uint64_t bytes) {
    return address >= begin && address + bytes <= begin + size;
  };
}

}  // namespace

TEST_CASE("random loads move the bytes that the element-by-element walk moves") {
  std::mt19937 random(11);
  std::vector<std::uint8_t> memory;
  Image expected = random_image(random), actual = expected;
  for (int round = 0; round < 1500; ++round) {
    Box box = random_box(random, memory, true);
    TilePlan plan;
    BulkFault fault = plan_tile(box.map, TileDirection::Load, box.start, box.shared, inside(memory), plan);
    INFO(fault.text);
    REQUIRE_FALSE(fault);
    std::uint32_t es = element_bytes(box.map.type), credited = 0, last = 0;
    for (const Element& element : elements_of(box)) {
      credited += es;
      last = std::max(last, element.shared + es);
      if (element.inside) {
        std::memcpy(&expected[element.shared], reinterpret_cast<const void*>(element.global), es);
      } else {
        std::memset(&expected[element.shared], 0, es);
      }
    }
    std::vector<std::byte> staging(plan.image_bytes);
    read_global(plan, staging.data());
    for_each_run(plan, staging.data(), [&](std::uint32_t offset, std::uint32_t bytes, const std::byte* from) {
      std::memcpy(&actual[offset], from, bytes);
    });
    REQUIRE(plan.full_bytes == credited);
    REQUIRE(plan.shared + plan.shared_bytes == last);
    REQUIRE(actual == expected);
  }
}

TEST_CASE("random stores write the bytes that the element-by-element walk writes") {
  std::mt19937 random(12);
  std::vector<std::uint8_t> memory;
  Image image = random_image(random);
  for (int round = 0; round < 1500; ++round) {
    Box box = random_box(random, memory, false);
    TilePlan plan;
    BulkFault fault = plan_tile(box.map, TileDirection::Store, box.start, box.shared, inside(memory), plan);
    INFO(fault.text);
    REQUIRE_FALSE(fault);
    std::vector<std::uint8_t> before = memory;
    std::uint32_t es = element_bytes(box.map.type);
    for (const Element& element : elements_of(box)) {
      if (!element.written_by_store) continue;
      std::memcpy(reinterpret_cast<void*>(element.global), &image[element.shared], es);
    }
    std::vector<std::uint8_t> expected = memory;
    std::copy(before.begin(), before.end(), memory.begin());
    std::vector<std::byte> staging(plan.image_bytes);
    read_shared(plan, reinterpret_cast<const std::byte*>(image.data()), staging.data());
    write_global(plan, staging.data());
    REQUIRE(memory == expected);
  }
}
