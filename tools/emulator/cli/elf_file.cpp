#include "cli/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace emu::cli {
namespace {

// Reads from the file on demand: programs can be hundreds of megabytes.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, std::ios::binary) {
    if (!file_) throw std::runtime_error("cannot open " + path);
  }

  template <class T>
  std::optional<T> read(uint64_t offset) {
    T value;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    if (!file_.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
    return value;
  }

  std::string text(uint64_t offset) {
    std::string result;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    for (char c = 0; result.size() < 4096 && file_.get(c) && c;) result += c;
    return result;
  }

 private:
  std::ifstream file_;
};

void read_sections(Reader& reader, const Elf64_Ehdr& header, ElfFile& out) {
  const auto section = [&](uint64_t index) {
    return reader.read<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = section(header.e_shstrndx);
  for (unsigned i = 0; names && i < header.e_shnum; ++i) {
    const auto entry = section(i);
    if (!entry) return;
    const std::string name = reader.text(names->sh_offset + entry->sh_name);
    if (name == ".nv_fatbin" || name == ".nvFatBinSegment") out.has_device_code = true;
    if (entry->sh_type != SHT_DYNAMIC) continue;
    const auto strings = section(entry->sh_link);
    for (uint64_t at = 0; strings && at + sizeof(Elf64_Dyn) <= entry->sh_size; at += sizeof(Elf64_Dyn)) {
      const auto dynamic = reader.read<Elf64_Dyn>(entry->sh_offset + at);
      if (!dynamic || dynamic->d_tag == DT_NULL) break;
      if (dynamic->d_tag == DT_NEEDED)
        out.needed.push_back(reader.text(strings->sh_offset + dynamic->d_un.d_val));
      if (dynamic->d_tag == DT_RPATH) out.has_rpath = true;
    }
  }
}

}  // namespace

bool ElfFile::needs(const std::string& library) const {
  return std::find(needed.begin(), needed.end(), library) != needed.end();
}

ElfFile read_elf(const std::string& path) {
  Reader reader(path);
  ElfFile out;
  const auto header = reader.read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return out;
  out.is_elf = true;
  out.is_x86_64 = header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
  if (out.is_x86_64 && header->e_shoff) read_sections(reader, *header, out);
  return out;
}

}  // namespace emu::cli
