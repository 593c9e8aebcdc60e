// Benchmark of the emulator: a PTX module as large as a library attention kernel's (14 MB, sixty entries),
// from its text in memory to the first kernel's end; then a kernel of 14 000 virtual registers and 512
// threads, and the memory that one CTA of it takes. Through the driver API, as any program could. Run it
// under emu.
#include <cuda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  std::fprintf(stderr, "%s: %s\n", call, name);
  std::exit(1);
}
#define CHECK(call) check(call, #call)

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Peak resident memory of this process in MB, since it was last forgotten (proc(5): clear_refs).
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }
double peak_mb() {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line))
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

// `values` registers: each is computed from the one before, and all are added up afterwards, last to first,
// so that all live at once (`live`) or each dies at its only use.
std::string body(int values, bool live) {
  std::ostringstream s;
  s << ".reg .b64 %rd<4>; .reg .b32 %r<" << values + 2 << ">;\n"
    << "ld.param.u64 %rd1, [p]; mov.u32 %r0, %tid.x; mov.u32 %r" << values + 1 << ", 0;\n";
  for (int i = 1; i <= values; ++i) s << "add.s32\t%r" << i << ", %r" << i - 1 << ", " << i << ";\n";
  if (live)
    for (int i = values; i > 0; --i)
      s << "xor.b32\t%r" << values + 1 << ", %r" << values + 1 << ", %r" << i << ";\n";
  s << "mul.wide.u32 %rd2, %r0, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r"
    << (live ? values + 1 : values) << ";\nret;\n";
  return s.str();
}

std::string module_text(int entries, int values, bool live) {
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n";
  const std::string code = body(values, live);
  for (int e = 0; e < entries; ++e)
    text += ".visible .entry kernel" + std::to_string(e) + "(.param .u64 p)\n{\n" + code + "}\n";
  return text;
}

CUmodule load(const std::string& text) {
  CUmodule module;
  CHECK(cuModuleLoadData(&module, text.c_str()));
  return module;
}

void run(CUmodule module, const char* name, int threads, CUdeviceptr out) {
  CUfunction kernel;
  CHECK(cuModuleGetFunction(&kernel, module, name));
  void* arguments[] = {&out};
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
}

}  // namespace

int main() {
  CUdevice device;
  CUcontext context;
  CUdeviceptr out;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemAlloc(&out, 512 * 4));
  {
    const std::string text = module_text(60, 9200, false);
    const double begin = seconds();
    CUmodule module = load(text);
    const double loaded = seconds();
    run(module, "kernel0", 32, out);
    std::printf(
        "module of %.1f MB, 60 entries: loaded in %.3f s, first kernel of 9200 instructions ended after %.3f "
        "s\n",
        static_cast<double>(text.size()) * 1e-6, loaded - begin, seconds() - begin);
    CHECK(cuModuleUnload(module));
  }
  for (const bool live : {false, true}) {
    CUmodule module = load(module_text(1, 14000, live));
    run(module, "kernel0", 32, out);  // decodes it
    forget_peak();
    const double before = peak_mb(), begin = seconds();
    run(module, "kernel0", 512, out);
    std::printf("14 000 virtual registers, %s, 512 threads: %.3f s, %.1f MB more than with 32\n",
                live ? "all alive at once" : "each used once", seconds() - begin, peak_mb() - before);
    CHECK(cuModuleUnload(module));
  }
  return 0;
}
