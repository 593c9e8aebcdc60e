// Device printf: the text that a program sees on its standard output.
#include <cstdio>

#include "../launch.cuh"

namespace conformance {
namespace {

__global__ void integers(u32*) {
  printf("%d|%5d|%-5d|%05d|%+d|% d|%i\n", -42, 42, 42, 42, 42, 42, 0);
  printf("%u|%x|%X|%#x|%o|%08x|%c%c\n", 4000000000u, 48879u, 48879u, 255u, 511u, 0xbeefu, 'o', 'k');
  printf("%lld|%llu|%llx|%ld|%hd|%i\n", -1234567890123ll, 12345678901234567890ull, 0xfedcba9876543210ull, -5l,
         (short)70000, (unsigned char)300);
}
__global__ void floats(u32*) {
  printf("%f|%.3f|%10.2f|%-10.1f|%e|%g|%G\n", 3.14159265, 2.71828, 1234.567, 0.05, 12345.678, 0.0001, 1e20);
  printf("%f|%f|%f|%.0f|%a|%5.1f\n", 1.0f / 0.0f, -1.0f / 0.0f, 0.1f, 2.5, 1.0, -0.0);
}
__global__ void strings(u32*) {
  const char* name = threadIdx.x ? "other" : "first";
  printf("[%s] [%8s] [%-8s] [%.3s] 100%% %d\n", name, name, name, name, 7);
  printf("no arguments\n");
  printf("");
  printf("a%cb%s%dc\n", '-', "", 1);
}
__global__ void widths_from_arguments(u32*) { printf("%*d|%-*d|%.*f\n", 6, 42, 6, 42, 2, 3.14159); }
__global__ void several_blocks(u32* out) {  // in an order that the program fixes itself
  volatile u32* turn = out;
  for (u32 k = 0; k < gridDim.x; ++k) {
    if (k == blockIdx.x) {
      while (*turn != k + 0xcdcdcdcd) {
      }
      printf("block %u of %u, thread %u\n", blockIdx.x, gridDim.x, threadIdx.x);
      __threadfence();
      *turn = k + 1 + 0xcdcdcdcd;
    }
  }
}
__global__ void lanes_of_a_warp(u32*) {
  printf("lane %u: %d\n", threadIdx.x, (int)(threadIdx.x * threadIdx.x) - 5);
}
__global__ void return_value(u32*) {
  const int none = printf("%d\n", 1), two = printf("%d %s\n", 1, "x"), text = printf("plain\n");
  printf("returned %d %d %d\n", none, two, text);
}
}  // namespace

void print_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), Shape shape = {1, 1}) {
    add_kernel(table, std::string("print.") + name, kernel, 1, shape);
    table.back().prints = true;
  };
  add("integers", integers), add("floats", floats), add("strings", strings),
      add("widths_from_arguments", widths_from_arguments);
  add("several_blocks", several_blocks, {5, 1}), add("lanes_of_a_warp", lanes_of_a_warp, {1, 8}),
      add("return_value", return_value);
}

}  // namespace conformance
