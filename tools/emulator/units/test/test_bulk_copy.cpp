#include <cstring>
#include <vector>

#include "testing/catch.h"
#include "units/bulk_copy.h"
#include "units/bulk_group.h"

using namespace emu::units;

namespace {

template <class T>
std::vector<T> reduced(BulkOp op, BulkType type, std::vector<T> at, const std::vector<T>& with) {
  bulk_reduce(op, type, at.data(), with.data(), static_cast<std::uint32_t>(at.size() * sizeof(T)));
  return at;
}

}  // namespace

TEST_CASE("a bulk copy needs sizes and addresses that are multiples of 16") {
  for (BulkDirection way :
       {BulkDirection::GlobalToShared, BulkDirection::SharedToCluster, BulkDirection::SharedToGlobal}) {
    CHECK_FALSE(check_bulk_copy(way, 0x1000, 0x2000, 64));
    CHECK_FALSE(check_bulk_copy(way, 0x1010, 0x2010, 0));
    CHECK(check_bulk_copy(way, 0x1000, 0x2000, 24).kind == BulkFaultKind::IllegalInstruction);
    // An H200 answers cudaErrorMisalignedAddress to both.
    CHECK(check_bulk_copy(way, 0x1008, 0x2000, 64).kind == BulkFaultKind::MisalignedAddress);
    CHECK(check_bulk_copy(way, 0x1000, 0x2008, 64).kind == BulkFaultKind::MisalignedAddress);
  }
  CHECK_FALSE(check_bulk_copy(BulkDirection::PrefetchL2, 3, 0x2000, 64));
  CHECK(check_bulk_copy(BulkDirection::SharedToGlobal, 0x1000, 0x2000, 24).text.find("24") !=
        std::string::npos);
}

TEST_CASE("a byte mask lets the same bytes of every 16-byte chunk through") {
  std::vector<std::uint8_t> to(32, 1), from(32, 2);
  copy_masked(to.data(), from.data(), 32, 0x8001);
  for (int i = 0; i < 32; ++i) CHECK(to[i] == (i % 16 == 0 || i % 16 == 15 ? 2 : 1));
  copy_masked(to.data(), from.data(), 32, 0xFFFF);
  CHECK(to == from);
}

TEST_CASE("bulk reductions exist for the pairs that ptxas 13.0 accepts, and no other") {
  struct Row {
    const char* ops;
    const char* to_global;
    const char* to_shared;
  };
  const Row table[] = {{"add", "u32 s32 u64 f32 f64 f16 bf16", "u32 s32 u64"},
                       {"min max", "u32 s32 u64 s64 f16 bf16", "u32 s32"},
                       {"inc dec", "u32", "u32"},
                       {"and or xor", "b32 b64", "b32"}};
  auto lists = [](const std::string& list, const std::string& word) {
    return (" " + list + " ").find(" " + word + " ") != std::string::npos;
  };
  for (const char* op : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    for (const char* type :
         {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "b32", "b64"}) {
      for (const Row& row : table) {
        if (!lists(row.ops, op)) continue;
        INFO(op << " " << type);
        auto fault = [&](BulkDirection way) {
          return static_cast<bool>(
              check_bulk_reduce(way, *bulk_op(op), *bulk_type(type), 0x1000, 0x2000, 64));
        };
        CHECK(fault(BulkDirection::SharedToGlobal) == !lists(row.to_global, type));
        CHECK(fault(BulkDirection::SharedToCluster) == !lists(row.to_shared, type));
      }
    }
  }
  CHECK_FALSE(bulk_op("mul"));
  CHECK_FALSE(bulk_type("tf32"));
}

// Operands and results below were recorded on an H200 (hardware/bulk_probe.cu; CUDA 13.0, driver 580.159.04).
TEST_CASE("16-bit reductions give the words an H200 gave") {
  const std::vector<std::uint16_t> a = {0x3c00, 0x8001, 0x7e00, 0x7c01, 0x0000, 0x8000, 0x7bff, 0x3f80,
                                        0x7f80, 0x0001, 0xff81, 0x7fc0, 0x4049, 0x0400, 0x7bff, 0xfc00};
  const std::vector<std::uint16_t> b = {0x3c01, 0x8001, 0x3c00, 0x3c00, 0x8000, 0x0000, 0x7bff, 0x3f81,
                                        0xff80, 0x0001, 0x3f80, 0x7fff, 0xc049, 0x83ff, 0x0fff, 0x7c00};
  using Words = std::vector<std::uint16_t>;
  CHECK(reduced(BulkOp::Add, BulkType::F16, a, b) == Words{0x4000, 0x8002, 0x7fff, 0x7fff, 0x0000, 0x0000,
                                                           0x7c00, 0x4380, 0x7fff, 0x0002, 0x7fff, 0x7fff,
                                                           0x0000, 0x0001, 0x7bff, 0x7fff});
  CHECK(reduced(BulkOp::Add, BulkType::BF16, a, b) == Words{0x3c80, 0x8002, 0x7e00, 0x7c01, 0x0000, 0x0000,
                                                            0x7c7f, 0x4000, 0x7fff, 0x0002, 0x7fff, 0x7fff,
                                                            0x0000, 0x0040, 0x7bff, 0x0000});
  CHECK(reduced(BulkOp::Min, BulkType::F16, a, b) == Words{0x3c00, 0x8001, 0x3c00, 0x3c00, 0x8000, 0x8000,
                                                           0x7bff, 0x3f80, 0x7fff, 0x0001, 0x3f80, 0x7fff,
                                                           0xc049, 0x83ff, 0x0fff, 0xfc00});
  CHECK(reduced(BulkOp::Max, BulkType::BF16, a, b) == Words{0x3c01, 0x8001, 0x7e00, 0x7c01, 0x0000, 0x0000,
                                                            0x7bff, 0x3f81, 0x7f80, 0x0001, 0x3f80, 0x7fff,
                                                            0x4049, 0x0400, 0x7bff, 0x7c00});
}

TEST_CASE("32-bit reductions give the words an H200 gave") {
  const std::vector<std::uint32_t> a = {0x3f800000, 0x00000001, 0x7fc00000, 0x80000000, 0x00800000, 5,
                                        10,         0xffffffff, 0x7f800001, 0x807fffff, 7,          0,
                                        3,          0x7fffffff, 0x80000000, 1};
  const std::vector<std::uint32_t> b = {0x33800000, 0x00000002, 0x3f800000, 0,          0x80400000, 4,
                                        10,         1,          0x3f800000, 0x80000001, 0,          7,
                                        2,          1,          0xffffffff, 0x0fffffff};
  using Words = std::vector<std::uint32_t>;
  CHECK(reduced(BulkOp::Add, BulkType::F32, a, b) == Words{0x3f800000, 0x00000003, 0x7fffffff, 0x00000000,
                                                           0x00400000, 0x00000009, 0x00000014, 0x7fffffff,
                                                           0x7fffffff, 0x80800000, 0x00000007, 0x00000007,
                                                           0x00000005, 0x7fffffff, 0x7fffffff, 0x0fffffff});
  CHECK(reduced(BulkOp::Add, BulkType::F32Ftz, a, b) ==
        Words{0x3f800000, 0x00000000, 0x7fffffff, 0x00000000, 0x00800000, 0x00000000, 0x00000000, 0x7fffffff,
              0x7fffffff, 0x80000000, 0x00000000, 0x00000000, 0x00000000, 0x7fffffff, 0x7fffffff,
              0x0fffffff});
  CHECK(reduced(BulkOp::Inc, BulkType::U32, a, b) ==
        Words{0, 2, 0, 0, 0x00800001, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x80000001, 2});
  CHECK(reduced(BulkOp::Dec, BulkType::U32, a, b) == Words{0x33800000, 0, 0x3f800000, 0, 0x007fffff, 4, 9, 1,
                                                           0x3f800000, 0x80000001, 0, 7, 2, 1, 0x7fffffff,
                                                           0});
  CHECK(reduced(BulkOp::Min, BulkType::S32, a, b) == Words{0x33800000, 1, 0x3f800000, 0x80000000, 0x80400000,
                                                           4, 10, 0xffffffff, 0x3f800000, 0x80000001, 0, 0, 2,
                                                           1, 0x80000000, 1});
  CHECK(reduced(BulkOp::Max, BulkType::U32, a, b) == Words{0x3f800000, 2, 0x7fc00000, 0x80000000, 0x80400000,
                                                           5, 10, 0xffffffff, 0x7f800001, 0x807fffff, 7, 7, 3,
                                                           0x7fffffff, 0xffffffff, 0x0fffffff});
  CHECK(reduced(BulkOp::Xor, BulkType::B32, a, b) == Words{0x0c000000, 3, 0x40400000, 0x80000000, 0x80c00000,
                                                           1, 0, 0xfffffffe, 0x40000001, 0x007ffffe, 7, 7, 1,
                                                           0x7ffffffe, 0x7fffffff, 0x0ffffffe});
}

TEST_CASE("64-bit reductions give the words an H200 gave") {
  const std::vector<double> a = {1, 2, -3, 0, 1e308, 5e-324}, b = {1e-16, 2, 3, -0.0, 1e308, 5e-324};
  std::vector<std::uint64_t> x(6), y(6);
  std::memcpy(x.data(), a.data(), 48);
  std::memcpy(y.data(), b.data(), 48);
  using Words = std::vector<std::uint64_t>;
  CHECK(reduced(BulkOp::Add, BulkType::F64, x, y) ==
        Words{0x3ff0000000000000, 0x4010000000000000, 0, 0, 0x7ff0000000000000, 2});
  CHECK(reduced(BulkOp::Min, BulkType::S64, x, y) == Words{0x3c9cd2b297d889bc, 0x4000000000000000,
                                                           0xc008000000000000, 0x8000000000000000,
                                                           0x7fe1ccf385ebc8a0, 1});
  CHECK(reduced(BulkOp::Max, BulkType::U64, x, y) == Words{0x3ff0000000000000, 0x4000000000000000,
                                                           0xc008000000000000, 0x8000000000000000,
                                                           0x7fe1ccf385ebc8a0, 1});
}

TEST_CASE("16-bit floats convert to and from double without loss, and round to even") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto word = static_cast<std::uint16_t>(bits);
    bool nan_f16 = (word & 0x7FFF) > 0x7C00, nan_bf16 = (word & 0x7FFF) > 0x7F80;
    if (!nan_f16) REQUIRE(f64_to_f16(f16_to_f32(word)) == word);
    if (!nan_bf16) REQUIRE(f64_to_bf16(bf16_to_f32(word)) == word);
  }
  CHECK(f64_to_bf16(1.00390625) == 0x3F80);  // half way between 1 and 1 + 2^-7
  CHECK(f64_to_bf16(1.01171875) == 0x3F82);  // half way, the even neighbour above
  CHECK(f64_to_f16(65520) == 0x7C00);        // half way to 2^16
  CHECK(f64_to_f16(65519.99) == 0x7BFF);
  CHECK(f64_to_f16(0x1p-25) == 0);
  CHECK(f64_to_f16(0x1.8p-25) == 1);
}

TEST_CASE("wait_group N lets all but the newest N groups be the ones that are complete") {
  BulkGroups groups;
  CHECK(groups.wait_satisfied(0, false));
  std::uint64_t first = groups.issue(), again = groups.issue();
  CHECK(first == again);
  CHECK(groups.wait_satisfied(0, false));  // not committed: no group
  CHECK_FALSE(groups.idle());
  groups.commit();
  std::uint64_t second = groups.issue();
  groups.commit();
  CHECK(groups.pending(false) == 2);
  CHECK_FALSE(groups.wait_satisfied(1, false));
  CHECK(groups.wait_satisfied(2, false));
  groups.read_done(first);
  CHECK_FALSE(groups.wait_satisfied(1, true));
  groups.read_done(first);
  CHECK(groups.wait_satisfied(1, true));
  CHECK_FALSE(groups.wait_satisfied(0, true));
  CHECK_FALSE(groups.wait_satisfied(1, false));
  groups.done(second);  // completion may come in any order; groups are counted in theirs
  CHECK_FALSE(groups.wait_satisfied(1, false));
  groups.done(first);
  groups.done(first);
  CHECK(groups.wait_satisfied(0, false));
  CHECK(groups.wait_satisfied(0, true));
  CHECK(groups.pending(false) == 0);
  CHECK(groups.idle());
}

TEST_CASE("empty groups are complete, and an operation that ends before its commit does not count") {
  BulkGroups groups;
  groups.commit();
  std::uint64_t group = groups.issue();
  groups.done(group);
  CHECK(groups.idle());
  groups.commit();
  groups.commit();
  CHECK(groups.pending(false) == 0);
  group = groups.issue();
  groups.commit();
  groups.commit();
  groups.commit();
  CHECK(groups.wait_satisfied(3, false));
  CHECK_FALSE(groups.wait_satisfied(2, false));
  groups.done(group);
  CHECK(groups.wait_satisfied(0, false));
}
