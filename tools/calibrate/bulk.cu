// TMA: rows a clock, the gap between issues, how long one box takes; bulk copies in both directions.
#include "barrier.cuh"
#include "benchmark.h"
#include "measure.cuh"
#include "tensor_map.h"
#include "tma.cuh"

namespace calibrate {
namespace {

constexpr int kGlobalRows = 2048;
constexpr int kRowBytes = 128;
constexpr int kSlots = 6;
constexpr int kSlotBytes = 256 * kRowBytes;
constexpr int kBytes = kSlots * kSlotBytes;

// `count` boxes are issued back to back to one barrier. Stamp 0 runs to the end of the wait, stamp 1 to the
// last issue. Two passes: the first brings the data into L2.
template <bool kUnrolled>
__global__ void load_boxes(Stamp* stamps, const __grid_constant__ CUtensorMap map, int box_rows,
                           int box_bytes, int count) {
  extern __shared__ __align__(1024) unsigned char boxes[];
  __shared__ uint64_t arrived;
  if (threadIdx.x) return;
  mbarrier::init(&arrived, 1);
  mbarrier::fence_init();
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
    mbarrier::arrive_expect_tx(&arrived, count * box_bytes);
    long long first = 0;
    if constexpr (kUnrolled) {
      first = clock64();
#pragma unroll
      for (int i = 0; i < 16; ++i) tma::load_2d(boxes + i % kSlots * kSlotBytes, &map, 0, i * 8, &arrived);
    } else {
#pragma unroll 1
      for (int i = 0, slot = 0, row = 0; i < count; ++i) {
        if (i == 1) first = clock64();
        tma::load_2d(boxes + slot * kSlotBytes, &map, 0, row, &arrived);
        slot = slot == kSlots - 1 ? 0 : slot + 1;
        row = (row + box_rows) % kGlobalRows;
      }
    }
    const long long issued = clock64();
    mbarrier::wait(&arrived, pass);
    stamps[0] = {begin, clock64()};
    stamps[1] = {first, issued};
  }
}

__global__ void bulk_load(Stamp* stamps, const unsigned char* source, int bytes, int count) {
  extern __shared__ __align__(1024) unsigned char boxes[];
  __shared__ uint64_t arrived;
  if (threadIdx.x) return;
  mbarrier::init(&arrived, 1);
  mbarrier::fence_init();
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
    mbarrier::arrive_expect_tx(&arrived, count * bytes);
#pragma unroll 1
    for (int i = 0, slot = 0; i < count; ++i) {
      asm volatile(
          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              shared_address(boxes + slot * kSlotBytes)),
          "l"(source + i * bytes), "r"(bytes), "r"(shared_address(&arrived))
          : "memory");
      slot = slot == kSlots - 1 ? 0 : slot + 1;
    }
    mbarrier::wait(&arrived, pass);
    stamps[0] = {begin, clock64()};
  }
}

// kRead: waits until the source has been read; else until the bytes are written.
template <bool kRead>
__global__ void bulk_store(Stamp* stamps, unsigned char* target, int bytes, int count) {
  extern __shared__ __align__(1024) unsigned char boxes[];
  for (int i = threadIdx.x; i < kSlotBytes / 4; i += 32) reinterpret_cast<uint32_t*>(boxes)[i] = i;
  fence_proxy_async_shared();
  __syncwarp();
  if (threadIdx.x) return;
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(target + i * bytes),
                   "r"(shared_address(boxes)), "r"(bytes)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    if (kRead) {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    } else {
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    stamps[0] = {begin, clock64()};
  }
}

struct Loads {
  double total, issuing;  // cycles
};

template <bool kUnrolled>
Loads load(int inner_bytes, int rows, int count) {
  const DeviceArray<unsigned char> data(size_t{kGlobalRows} * kRowBytes);
  const CUtensorMap map =
      encode_tensor_map(data.data(), kGlobalRows, kRowBytes / 2, rows, inner_bytes / 2,
                        inner_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE);
  const auto stamps = stamps_of(load_boxes<kUnrolled>, 64, kBytes, map, rows, rows * inner_bytes, count);
  const auto cycles = [](const Stamp& s) { return static_cast<double>(s.end - s.begin); };
  return {cycles(stamps[0]), cycles(stamps[1])};
}

template <class Kernel>
double bulk(Kernel kernel, int bytes, int count) {
  const DeviceArray<unsigned char> data(size_t{32} * kSlotBytes);
  return span(stamps_of(kernel, 32, kBytes, data.data(), bytes, count));
}

}  // namespace

std::vector<Benchmark> bulk_benchmarks(const Target&) {
  std::vector<Benchmark> list;
  for (const int inner : {16, 32, 64, 128}) {
    list.push_back({"tma.row_" + std::to_string(inner) + "B", "cyc/row", [=] {
                      return (load<false>(inner, 256, 20).total - load<false>(inner, 256, 4).total) /
                             (16 * 256);
                    }});
  }
  list.push_back({"tma.issue_gap_straight", "cyc", [] { return load<true>(64, 8, 16).issuing / 16; }});
  list.push_back({"tma.issue_gap_loop", "cyc", [] { return load<false>(64, 8, 17).issuing / 16; }});
  for (const int inner : {64, 128}) {
    for (const int rows : {8, 32, 64, 128, 256}) {
      list.push_back({"tma.alone_" + std::to_string(rows) + "x" + std::to_string(inner) + "B", "cyc",
                      [=] { return load<false>(inner, rows, 1).total; }});
    }
  }
  list.push_back({"bulk.load_16KB", "B/cyc/SM",
                  [] { return 16 * 16384 / (bulk(bulk_load, 16384, 20) - bulk(bulk_load, 16384, 4)); }});
  list.push_back({"bulk.load_alone_1KB", "cyc", [] { return bulk(bulk_load, 1024, 1); }});
  list.push_back({"bulk.load_alone_16KB", "cyc", [] { return bulk(bulk_load, 16384, 1); }});
  list.push_back({"bulk.store_16KB", "B/cyc/SM", [] {
                    return 16 * 16384 /
                           (bulk(bulk_store<true>, 16384, 20) - bulk(bulk_store<true>, 16384, 4));
                  }});
  for (const int bytes : {1024, 16384}) {
    const std::string size = std::to_string(bytes / 1024) + "KB";
    list.push_back({"bulk.store_read_" + size, "cyc", [=] { return bulk(bulk_store<true>, bytes, 1); }});
    list.push_back({"bulk.store_written_" + size, "cyc", [=] { return bulk(bulk_store<false>, bytes, 1); }});
  }
  return list;
}

}  // namespace calibrate
