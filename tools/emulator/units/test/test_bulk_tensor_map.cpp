#include <cstring>
#include <vector>

#include "testing/catch.h"
#include "units/tensor_map.h"

using namespace emu::units;

namespace {

// A bf16 matrix of 64 x 64 and a way to spoil one parameter at a time.
struct Arguments {
  int type = 9;
  std::uint32_t rank = 2;
  std::uint64_t address = 0x7f0000000000;
  std::vector<std::uint64_t> dims = {64, 64}, strides = {128};
  std::vector<std::uint32_t> box = {64, 64}, steps = {1, 1};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;

  EncodeResult encode(void* out) const {
    return encode_tiled(out, type, rank, reinterpret_cast<void*>(address), dims.data(), strides.data(),
                        box.data(), steps.data(), interleave, swizzle, promotion, fill);
  }
  // The text of the violated rule, or "" where the map is taken.
  std::string error() const {
    alignas(64) std::byte out[128];
    EncodeResult result = encode(out);
    CHECK((result.code == kCudaErrorInvalidValue) == !result.text.empty());
    return result.text;
  }
};

template <class Spoil>
std::string error_of(Spoil&& spoil) {
  Arguments arguments;
  spoil(arguments);
  return arguments.error();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Arguments interleaved(int layout, int swizzle) {
  Arguments a;
  a.rank = 3;
  a.dims = {8, 8, 8};
  a.strides = {128, 1024};
  a.box = {8, 8, 8};
  a.steps = {1, 1, 1};
  a.interleave = layout;
  a.swizzle = swizzle;
  return a;
}

Arguments packed(int type) {
  Arguments a;
  a.type = type;
  a.dims = {256, 64};
  a.strides = {256};
  a.box = {128, 8};
  return a;
}

}  // namespace

TEST_CASE("a map survives its encoding") {
  Arguments a;
  a.rank = 5;
  a.dims = {64, std::uint64_t{1} << 32, 3, 4, 5};
  a.strides = {128, 16, (std::uint64_t{1} << 40) - 16, 256};
  a.box = {64, 8, 1, 2, 3};
  a.steps = {1, 8, 2, 1, 3};
  a.swizzle = 3;
  a.promotion = 2;
  a.fill = 1;
  alignas(64) std::byte out[128];
  REQUIRE(a.encode(out).code == kCudaSuccess);
  auto map = decode(out);
  REQUIRE(map);
  CHECK(map->type == TensorType::BF16);
  CHECK(map->rank == 5);
  CHECK(map->address == a.address);
  CHECK(map->swizzle == TensorSwizzle::B128);
  CHECK(map->fill == TensorFill::NaN);
  CHECK(map->l2_promotion == 2);
  for (int i = 0; i < 5; ++i) {
    CHECK(map->dims[i] == a.dims[i]);
    CHECK(map->box[i] == a.box[i]);
    CHECK(map->element_strides[i] == a.steps[i]);
    if (i < 4) CHECK(map->strides[i] == a.strides[i]);
  }
}

TEST_CASE("a library may clear a hint in the second word of a map") {
  for (std::uint64_t address : {0x7e00'0000'0000ull, 0x7e00'0020'0000ull, 0x7eff'ffff'ff00ull}) {
    Arguments a;
    a.address = address;
    alignas(64) std::uint64_t out[16];
    REQUIRE(a.encode(reinterpret_cast<std::byte*>(out)).code == kCudaSuccess);
    out[1] &= ~(std::uint64_t{1} << 21);
    auto map = decode(out);
    REQUIRE(map);
    CHECK(map->address == address);
  }
}

TEST_CASE("bytes that no encoder wrote are not a map") {
  alignas(64) std::byte out[128] = {};
  CHECK_FALSE(decode(out));
  REQUIRE(Arguments{}.encode(out).code == kCudaSuccess);
  CHECK(decode(out));
  for (int i : {0, 5, 20, 60, 127}) {
    out[i] ^= std::byte{1};
    CHECK_FALSE(decode(out));
    out[i] ^= std::byte{1};
  }
}

TEST_CASE("the address can be replaced, under the same rules") {
  alignas(64) std::byte out[128] = {};
  CHECK(replace_address(out, reinterpret_cast<void*>(0x1000)).code == kCudaErrorInvalidValue);
  Arguments{}.encode(out);
  CHECK(replace_address(out, reinterpret_cast<void*>(0x1010)).code == kCudaSuccess);
  CHECK(decode(out)->address == 0x1010);
  CHECK(replace_address(out, reinterpret_cast<void*>(0x1008)).code == kCudaErrorInvalidValue);
}

// Taken or refused as the driver of CUDA 13.0 answered on an H200, except where a line says otherwise.
TEST_CASE("maps that the driver takes") {
  CHECK(Arguments{}.error() == "");
  CHECK(error_of([](auto& a) { a.address = 0; }) == "");
  CHECK(error_of([](auto& a) { a.address += 16, a.swizzle = 3; }) == "");
  CHECK(error_of([](auto& a) { a.strides = {0}; }) == "");
  CHECK(error_of([](auto& a) { a.strides = {16}; }) == "");
  CHECK(error_of([](auto& a) { a.strides = {(1ull << 40) - 16}; }) == "");
  CHECK(error_of([](auto& a) { a.dims[1] = 1ull << 32; }) == "");
  CHECK(error_of([](auto& a) { a.dims[0] = 1; }) == "");
  CHECK(error_of([](auto& a) { a.steps = {2, 8}; }) == "");
  CHECK(error_of([](auto& a) { a.dims = {8, 8}; }) == "");
  CHECK(error_of([](auto& a) { a.dims = {256, 64}, a.strides = {512}, a.box = {256, 16}; }) == "");
  CHECK(error_of([](auto& a) { a.fill = 1; }) == "");
  CHECK(error_of([](auto& a) { a.type = 11, a.fill = 1, a.box = {16, 16}; }) == "");
  CHECK(interleaved(1, 0).error() == "");
  CHECK(interleaved(2, 1).error() == "");
  // Blackwell's swizzles, which an H200 has not (cuda.h).
  for (int swizzle : {4, 5, 6}) CHECK(error_of([&](auto& a) { a.swizzle = swizzle; }) == "");
  alignas(64) std::byte out[160];
  CHECK(Arguments{}.encode(out + 16).code == kCudaSuccess);
}

TEST_CASE("every parameter out of its limits is refused by name") {
  CHECK(says(error_of([](auto& a) { a.type = 16; }), "data type 16"));
  CHECK(says(error_of([](auto& a) { a.type = -1; }), "-1"));
  CHECK(says(error_of([](auto& a) { a.rank = 0; }), "rank 0"));
  CHECK(says(error_of([](auto& a) { a.rank = 6; }), "rank 6"));
  CHECK(says(error_of([](auto& a) { a.interleave = 3; }), "interleave 3"));
  CHECK(says(error_of([](auto& a) { a.swizzle = 7; }), "swizzle 7"));
  CHECK(says(error_of([](auto& a) { a.promotion = 4; }), "L2 promotion 4"));
  CHECK(says(error_of([](auto& a) { a.fill = 2; }), "fill 2"));
  CHECK(says(error_of([](auto& a) { a.type = 1, a.fill = 1; }), "NaN fill"));
  CHECK(says(error_of([](auto& a) { a.address += 8; }), "multiple of 16"));
  CHECK(says(error_of([](auto& a) { a.dims[1] = 0; }), "globalDim[1] = 0"));
  CHECK(says(error_of([](auto& a) { a.dims[1] = (1ull << 32) + 1; }), "globalDim[1]"));
  CHECK(says(error_of([](auto& a) { a.strides = {136}; }), "globalStrides[0] = 136"));
  CHECK(says(error_of([](auto& a) { a.strides = {1ull << 40}; }), "2^40"));
  CHECK(says(error_of([](auto& a) { a.box[1] = 257; }), "boxDim[1] = 257"));
  CHECK(says(error_of([](auto& a) { a.box[1] = 0; }), "boxDim[1] = 0"));
  CHECK(says(error_of([](auto& a) { a.box[0] = 4; }), "multiple of 16"));
  for (std::uint32_t step : {0u, 9u}) {
    CHECK(says(error_of([&](auto& a) { a.steps[0] = step; }), "elementStrides[0]"));
    CHECK(says(error_of([&](auto& a) { a.steps[1] = step; }), "elementStrides[1]"));
  }
  CHECK(says(error_of([](auto& a) { a.interleave = 1; }), "rank 2 is below 3"));
  CHECK(says(interleaved(2, 0).error(), "SWIZZLE_32B"));  // cuda.h; the driver does not look
  Arguments wide = interleaved(2, 1);
  wide.address += 16;
  CHECK(says(wide.error(), "multiple of 32"));
  wide = interleaved(2, 1);
  wide.strides[0] = 144;
  CHECK(says(wide.error(), "globalStrides[0]"));
}

TEST_CASE("the inner box must fit its swizzle") {
  for (int swizzle : {1, 2, 3, 4, 5, 6}) {
    std::uint32_t span = swizzle == 1 ? 32 : swizzle == 2 ? 64 : 128;
    CHECK(error_of([&](auto& a) { a.swizzle = swizzle, a.box[0] = span / 2; }) == "");
    CHECK(says(error_of([&](auto& a) { a.swizzle = swizzle, a.box[0] = span / 2 + 8; }), "exceeds the"));
  }
}

TEST_CASE("a box must fit in shared memory: the driver takes 233472 bytes and refuses 234496") {
  auto bytes = [](std::uint32_t rows, std::uint32_t step) {
    return error_of([=](auto& a) {
      a.type = 0, a.rank = 3, a.dims = {256, 256, 256}, a.strides = {256, 65536}, a.box = {256, rows, 4};
      a.steps = {1, step, 1};
    });
  };
  CHECK(bytes(228, 1) == "");
  CHECK(says(bytes(229, 1), "234496 bytes"));
  CHECK(bytes(256, 2) == "");  // what a stride skips does not count
}

TEST_CASE("packed 4- and 6-bit types have rules of their own") {
  CHECK(packed(13).error() == "");
  CHECK(packed(14).error() == "");
  CHECK(packed(15).error() == "");
  auto spoil = [](int type, auto&& change) {
    Arguments a = packed(type);
    change(a);
    return a.error();
  };
  CHECK(says(spoil(13, [](auto& a) { a.dims[0] = 3; }), "multiple of 2"));
  CHECK(says(spoil(13, [](auto& a) { a.box[0] = 16; }), "multiple of 16 bytes"));
  CHECK(says(spoil(14, [](auto& a) { a.dims[0] = 192; }), "multiple of 128"));
  CHECK(says(spoil(14, [](auto& a) { a.box[0] = 64; }), "boxDim[0] = 64"));
  CHECK(says(spoil(14, [](auto& a) { a.address += 16; }), "multiple of 32"));
  CHECK(says(spoil(15, [](auto& a) { a.strides = {272}; }), "multiple of 32"));
  CHECK(says(spoil(14, [](auto& a) { a.swizzle = 1; }), "SWIZZLE_32B"));
  CHECK(says(spoil(14, [](auto& a) { a.swizzle = 6; }), "ATOM_64B"));
  CHECK(spoil(15, [](auto& a) { a.swizzle = 6; }) == "");
  CHECK(says(spoil(15, [](auto& a) { a.fill = 1; }), "NaN fill"));
}

TEST_CASE("null pointers are refused, im2col maps are not implemented") {
  alignas(64) std::byte out[128];
  Arguments a;
  auto call = [&](void* to, const std::uint64_t* dims, const std::uint64_t* strides, const std::uint32_t* box,
                  const std::uint32_t* steps) {
    return encode_tiled(to, 9, 2, reinterpret_cast<void*>(a.address), dims, strides, box, steps, 0, 0, 0, 0)
        .code;
  };
  CHECK(call(nullptr, a.dims.data(), a.strides.data(), a.box.data(), a.steps.data()) ==
        kCudaErrorInvalidValue);
  CHECK(call(out, nullptr, a.strides.data(), a.box.data(), a.steps.data()) == kCudaErrorInvalidValue);
  CHECK(call(out, a.dims.data(), nullptr, a.box.data(), a.steps.data()) == kCudaErrorInvalidValue);
  CHECK(call(out, a.dims.data(), a.strides.data(), nullptr, a.steps.data()) == kCudaErrorInvalidValue);
  CHECK(call(out, a.dims.data(), a.strides.data(), a.box.data(), nullptr) == kCudaErrorInvalidValue);
}
