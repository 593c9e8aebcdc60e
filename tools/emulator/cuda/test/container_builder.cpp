#include "container_builder.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

namespace emu::cuda::test {
namespace {

template <class T>
void put(std::vector<std::byte>& out, size_t offset, T value) {
  std::memcpy(out.data() + offset, &value, sizeof value);
}

std::string compress(const std::string& text, Packing packing) {
  std::string out;
  if (packing == Packing::kLz4) {
    out.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
    out.resize(static_cast<size_t>(LZ4_compress_default(
        text.data(), out.data(), static_cast<int>(text.size()), static_cast<int>(out.size()))));
  } else {
    out.resize(ZSTD_compressBound(text.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(),
                             packing == Packing::kZstdBest ? 19 : 3));
  }
  return out;
}

uint64_t flags_of(const EntrySpec& spec) {
  uint64_t flags = 0x11;
  if (spec.letter == 'a') flags |= 0x100000;
  if (spec.letter == 'f') flags |= 0x200000;
  if (spec.packing == Packing::kLz4) flags |= 0x2000;
  if (spec.packing == Packing::kZstd || spec.packing == Packing::kZstdBest) flags |= 0x8000;
  return flags;
}

std::vector<std::byte> build_entry(const EntrySpec& spec) {
  const std::string text = spec.text + '\0';
  const bool packed = spec.packing != Packing::kRaw;
  const std::string data = packed ? compress(text, spec.packing) : text;
  const size_t stored = (data.size() + 7) / 8 * 8;
  const uint32_t header = 64 + spec.extension;
  std::vector<std::byte> out(header + stored);
  put<uint16_t>(out, 0, spec.kind);
  put<uint16_t>(out, 2, 0x0101);
  put<uint32_t>(out, 4, header);
  put<uint64_t>(out, 8, stored);
  put<uint32_t>(out, 16, packed ? static_cast<uint32_t>(data.size()) : 0);
  put<uint16_t>(out, 26, 9);
  put<uint32_t>(out, 28, spec.architecture);
  put<uint64_t>(out, 40, flags_of(spec));
  put<uint64_t>(out, 56, packed ? text.size() : 0);
  std::memcpy(out.data() + header, data.data(), data.size());
  return out;
}

}  // namespace

std::vector<std::byte> build_container(const std::vector<EntrySpec>& entries) {
  std::vector<std::byte> out(16);
  for (const EntrySpec& spec : entries) {
    const std::vector<std::byte> entry = build_entry(spec);
    out.insert(out.end(), entry.begin(), entry.end());
  }
  put<uint32_t>(out, 0, 0xBA55ED50);
  put<uint16_t>(out, 4, 1);
  put<uint16_t>(out, 6, 16);
  put<uint64_t>(out, 8, out.size() - 16);
  return out;
}

}  // namespace emu::cuda::test
