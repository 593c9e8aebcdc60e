#pragma once

#include <string>
#include <vector>

namespace emu::cli {

// What the loader would see in a program file.
struct ElfFile {
  bool is_elf = false;  // false: a script or something else; nothing below is set
  bool is_x86_64 = false;
  bool has_device_code = false;  // carries a CUDA fat binary
  bool has_rpath = false;        // DT_RPATH, which takes precedence over LD_LIBRARY_PATH
  std::vector<std::string> needed;

  bool needs(const std::string& library) const;
};

// Reads the headers of a file. Damaged files give as much as could be read; throws std::runtime_error if it
// cannot be opened.
ElfFile read_elf(const std::string& path);

}  // namespace emu::cli
