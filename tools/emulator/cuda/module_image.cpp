#include "cuda/module_image.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cuda/fat_binary.h"

namespace emu::cuda {
namespace {

bool is_elf(const void* image) {
  return std::memcmp(image,
                     "\x7f"
                     "ELF",
                     4) == 0;
}

// A file's container points into its buffer, which must live until the module is open.
cudaError_t open_image(Runtime& runtime, const void* image, Module** out) {
  if (is_elf(image)) {
    report(
        "a module of machine code was loaded; the emulator executes PTX, so load the PTX text or a fat "
        "binary with PTX");
    return cudaErrorNoKernelImageForDevice;
  }
  Registry& registry = runtime.registry();
  Module* module = is_fat_binary(image)
                       ? registry.add_image(image)
                       : registry.add_texts({static_cast<const char*>(image)}, "PTX loaded at run time");
  try {
    runtime.open(*module);
  } catch (...) {
    registry.remove(module);
    throw;
  }
  *out = module;
  return cudaSuccess;
}

}  // namespace

cudaError_t load_image(Runtime& runtime, const void* image, Module** out) {
  return image && out ? open_image(runtime, image, out) : cudaErrorInvalidValue;
}

cudaError_t load_file(Runtime& runtime, const char* path, Module** out) {
  if (!path || !out) return cudaErrorInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return cudaErrorFileNotFound;
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.size() >= 16 && is_fat_binary(bytes.data())) read_container(std::as_bytes(std::span(bytes)));
  bytes.insert(bytes.end(), 16, '\0');  // text is read up to a NUL, magic numbers up to 4 bytes
  return open_image(runtime, bytes.data(), out);
}

Kernel* kernel_named(Runtime& runtime, Module& module, const char* name) {
  const std::vector<std::string> entries = runtime.engine().entries(module.handle);
  if (std::find(entries.begin(), entries.end(), name) == entries.end()) return nullptr;
  return runtime.registry().add_kernel(module, nullptr, name);
}

Variable* variable_named(Runtime& runtime, Module& module, const char* name) {
  Variable* variable = runtime.registry().add_variable(module, nullptr, name);
  try {
    runtime.info(*variable);
    return variable;
  } catch (const EngineError&) {
    module.variables.erase(name);
    return nullptr;
  }
}

}  // namespace emu::cuda
