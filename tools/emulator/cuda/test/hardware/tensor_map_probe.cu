// Prints which parameters cuTensorMapEncodeTiled accepts on this machine, one "name CUresult" line each.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <functional>

namespace {

struct Arguments {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  cuuint32_t rank = 2;
  void* address = nullptr;
  cuuint64_t dims[6] = {512, 512, 16, 4, 4, 4};
  cuuint64_t strides[5] = {1024, 1 << 19, 1 << 23, 1 << 25, 1 << 27};
  cuuint32_t box[6] = {64, 64, 1, 1, 1, 1};
  cuuint32_t steps[6] = {1, 1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

decltype(&cuTensorMapEncodeTiled) encode = nullptr;
void* buffer = nullptr;

void probe(const char* name, const std::function<void(Arguments&)>& change) {
  alignas(128) CUtensorMap map;
  Arguments a;
  a.address = buffer;
  change(a);
  const int result = encode(&map, a.type, a.rank, a.address, a.dims, a.strides, a.box, a.steps, a.interleave,
                            a.swizzle, a.promotion, a.fill);
  std::printf("%s %d\n", name, result);
}

}  // namespace

int main() {
  cudaMalloc(&buffer, 1 << 20);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &status);
  encode = reinterpret_cast<decltype(encode)>(function);
  if (!encode) return 1;
  alignas(128) char raw[256];
  Arguments d;
  const auto direct = [&](const char* name, void* out, void* address, const cuuint64_t* dims,
                          const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* steps) {
    std::printf("%s %d\n", name,
                encode(static_cast<CUtensorMap*>(out), d.type, 2, address, dims, strides, box, steps,
                       d.interleave, d.swizzle, d.promotion, d.fill));
  };
  direct("null_map", nullptr, buffer, d.dims, d.strides, d.box, d.steps);
  direct("map_at_64", raw + 64, buffer, d.dims, d.strides, d.box, d.steps);
  direct("map_at_16", raw + 16, buffer, d.dims, d.strides, d.box, d.steps);
  direct("null_dims", raw, buffer, nullptr, d.strides, d.box, d.steps);
  direct("null_strides", raw, buffer, d.dims, nullptr, d.box, d.steps);
  direct("null_box", raw, buffer, d.dims, d.strides, nullptr, d.steps);
  direct("null_steps", raw, buffer, d.dims, d.strides, d.box, nullptr);
  direct("null_address", raw, nullptr, d.dims, d.strides, d.box, d.steps);
  probe("plain", [](Arguments&) {});
  probe("rank_0", [](Arguments& a) { a.rank = 0; });
  probe("rank_1", [](Arguments& a) { a.rank = 1; });
  probe("rank_5", [](Arguments& a) { a.rank = 5; });
  probe("rank_6", [](Arguments& a) { a.rank = 6; });
  probe("address_plus_8", [](Arguments& a) { a.address = static_cast<char*>(a.address) + 8; });
  probe("address_plus_16", [](Arguments& a) { a.address = static_cast<char*>(a.address) + 16; });
  probe("address_host", [](Arguments& a) { a.address = reinterpret_cast<void*>(0x1000); });
  probe("dim_0", [](Arguments& a) { a.dims[1] = 0; });
  probe("dim_2e32", [](Arguments& a) { a.dims[1] = 1ull << 32; });
  probe("dim_2e32_plus_1", [](Arguments& a) { a.dims[1] = (1ull << 32) + 1; });
  probe("dim0_odd", [](Arguments& a) { a.dims[0] = 511; });
  probe("stride_8", [](Arguments& a) { a.strides[0] = 1032; });
  probe("stride_0", [](Arguments& a) { a.strides[0] = 0; });
  probe("stride_below_row", [](Arguments& a) { a.strides[0] = 512; });
  probe("stride_2e40", [](Arguments& a) { a.strides[0] = 1ull << 40; });
  probe("stride_2e40_minus_16", [](Arguments& a) { a.strides[0] = (1ull << 40) - 16; });
  probe("stride_decreasing", [](Arguments& a) {
    a.rank = 3;
    a.strides[1] = 512;
  });
  probe("box_0", [](Arguments& a) { a.box[1] = 0; });
  probe("box_256", [](Arguments& a) { a.box[1] = 256; });
  probe("box_257", [](Arguments& a) { a.box[1] = 257; });
  probe("box_inner_7", [](Arguments& a) { a.box[0] = 7; });
  probe("box_inner_8", [](Arguments& a) { a.box[0] = 8; });
  probe("box_inner_72_swizzle_128", [](Arguments& a) { a.box[0] = 72; });
  probe("box_inner_64_swizzle_64", [](Arguments& a) { a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; });
  probe("box_inner_32_swizzle_64", [](Arguments& a) {
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
    a.box[0] = 32;
  });
  probe("box_inner_16_swizzle_32", [](Arguments& a) {
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    a.box[0] = 16;
  });
  probe("box_inner_24_swizzle_32", [](Arguments& a) {
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    a.box[0] = 24;
  });
  probe("box_inner_256_unswizzled", [](Arguments& a) {
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    a.box[0] = 256;
  });
  probe("box_256_256_unswizzled", [](Arguments& a) {
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    a.box[0] = a.box[1] = 256;
  });
  probe("box_beyond_tensor", [](Arguments& a) { a.dims[1] = 8; });
  probe("step_0_inner", [](Arguments& a) { a.steps[0] = 0; });
  probe("step_9_inner", [](Arguments& a) { a.steps[0] = 9; });
  probe("step_2_inner", [](Arguments& a) { a.steps[0] = 2; });
  probe("step_0", [](Arguments& a) { a.steps[1] = 0; });
  probe("step_8", [](Arguments& a) { a.steps[1] = 8; });
  probe("step_9", [](Arguments& a) { a.steps[1] = 9; });
  for (int i = 0; i <= 16; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "type_%d", i);
    probe(name, [i](Arguments& a) {
      a.type = static_cast<CUtensorMapDataType>(i);
      a.box[0] = i >= 4 && (i == 4 || i == 5 || i == 8) ? 16 : 32;
    });
    std::snprintf(name, sizeof name, "type_%d_nan", i);
    probe(name, [i](Arguments& a) {
      a.type = static_cast<CUtensorMapDataType>(i);
      a.box[0] = i >= 4 && (i == 4 || i == 5 || i == 8) ? 16 : 32;
      a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    });
  }
  for (int i = 3; i <= 7; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "swizzle_%d", i);
    probe(name, [i](Arguments& a) { a.swizzle = static_cast<CUtensorMapSwizzle>(i); });
  }
  probe("interleave_16_rank_2", [](Arguments& a) { a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
  probe("interleave_16", [](Arguments& a) {
    a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
    a.rank = 3;
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  });
  probe("interleave_32_swizzle_32", [](Arguments& a) {
    a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    a.rank = 3;
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  });
  probe("interleave_32_swizzle_none", [](Arguments& a) {
    a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    a.rank = 3;
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  });
  probe("interleave_3", [](Arguments& a) {
    a.interleave = static_cast<CUtensorMapInterleave>(3);
    a.rank = 3;
  });
  probe("promotion_4", [](Arguments& a) { a.promotion = static_cast<CUtensorMapL2promotion>(4); });
  probe("fill_2", [](Arguments& a) { a.fill = static_cast<CUtensorMapFloatOOBfill>(2); });
  probe("tensor_beyond_allocation", [](Arguments& a) { a.dims[1] = 1 << 20; });
}
