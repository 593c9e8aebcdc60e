// emu [options] -- program arguments...
//
// Starts a program with this build's libcudart.so.13 and libcuda.so.1 in front of any others. The options
// travel in the environment variable EMU_OPTIONS, one flat JSON object; keys that were not asked for are
// absent:
//   machine    "b200" or "h200"
//   jitter     seed
//   timing     "flat" or "full"
//   mma        "exact" or "fast"
//   lenient    true
//   stats      true
//   trace      absolute path of the file to write
//   snapshot   "smem@LINE" or "tmem@LINE"
//   sample     number of SMs, or "off"
//   workers    number of host threads
//   timeout_s  host seconds per launch
//   set        object: name of a timing constant -> number
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "cli/command_line.h"
#include "cli/elf_file.h"

namespace {

namespace fs = std::filesystem;
using namespace emu::cli;

constexpr const char* kRuntime = "libcudart.so.13";

fs::path library_directory() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& directory : {here / "lib", here / ".." / "lib", here}) {
    if (fs::exists(directory / kRuntime)) return fs::canonical(directory);
  }
  throw std::runtime_error(
      fmt::format("{} not found in {} (build it: cmake --build)", kRuntime, (here / "lib").string()));
}

// As execvp would find it. Throws if there is no such program.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!fs::exists(name)) throw std::runtime_error(fmt::format("program not found: {}", name));
    if (fs::is_directory(name) || access(name.c_str(), X_OK) != 0) {
      throw std::runtime_error(fmt::format("not executable: {}", name));
    }
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate.string();
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  throw std::runtime_error(
      fmt::format("program not found: {} (in the current directory? say ./{})", name, name));
}

// Device code that does not come through libcudart.so.13 would look for a real GPU.
void check_linkage(const std::string& path, const ElfFile& file) {
  if (!file.is_elf || !file.has_device_code || file.needs(kRuntime)) return;
  for (const std::string& library : file.needed) {
    if (library.rfind("libcudart.so", 0) == 0) {
      throw std::runtime_error(fmt::format("{} was built for {}; rebuild it with CUDA 13", path, library));
    }
  }
  throw std::runtime_error(
      fmt::format("{} contains the static CUDA runtime (nvcc's default), which cannot be replaced; rebuild "
                  "it with -cudart shared",
                  path));
}

void prepend(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  setenv(variable, old && *old ? fmt::format("{}:{}", value, old).c_str() : value.c_str(), 1);
}

int print_supported(const fs::path& libraries) {
  void* library = dlopen((libraries / kRuntime).c_str(), RTLD_NOW);
  if (!library) throw std::runtime_error(dlerror());
  const auto print = reinterpret_cast<int (*)()>(dlsym(library, "emuPrintSupported"));
  if (!print) throw std::runtime_error("this build has no table of supported forms");
  return print();
}

int run(const Command& command) {
  setenv("EMU_OPTIONS", command.options_json.c_str(), 1);
  if (command.supported) return print_supported(library_directory());
  const std::string path = find_program(command.program.front());
  const ElfFile file = read_elf(path);
  if (file.is_elf && !file.is_x86_64) throw std::runtime_error(fmt::format("{} is no x86-64 program", path));
  check_linkage(path, file);
  const fs::path libraries = library_directory();
  prepend("LD_LIBRARY_PATH", libraries.string());
  if (file.has_rpath)
    prepend("LD_PRELOAD", (libraries / kRuntime).string());  // an RPATH beats LD_LIBRARY_PATH
  std::vector<char*> arguments;
  for (const std::string& argument : command.program)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  throw std::runtime_error(fmt::format("cannot start {}: {}", path, std::strerror(errno)));
}

}  // namespace

int main(int argc, char** argv) {
  const Parsed parsed = parse_command_line({argv + 1, argv + argc});
  if (!parsed.command) {
    fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.text);
    return parsed.exit_code;
  }
  try {
    return run(*parsed.command);
  } catch (const std::exception& error) {
    fmt::print(stderr, "emu: {}\n", error.what());
    return 2;
  }
}
