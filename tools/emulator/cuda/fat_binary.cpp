#include "cuda/fat_binary.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace emu::cuda {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr uint32_t kContainerMagic = 0xBA55ED50;
constexpr uint64_t kContainerHeader = 16;
constexpr uint64_t kEntryHeader = 64;
constexpr uint64_t kMaxContainerBytes = uint64_t{8} << 30;
constexpr size_t kMaxPrelinked = 1 << 16;  // source files of one separately compiled program

constexpr uint64_t kFlagLz4 = 0x2000;
constexpr uint64_t kFlagZstd = 0x8000;
constexpr uint64_t kFlagArchitecture = 0x100000;  // 'a'
constexpr uint64_t kFlagFamily = 0x200000;        // 'f'

[[noreturn]] void corrupt(const std::string& what) {
  throw FatBinaryError(FatBinaryError::Kind::kCorrupt, "corrupt fat binary: " + what);
}

template <class T>
T read(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

FatEntry read_entry(std::span<const std::byte> rest, uint64_t offset, uint64_t* size) {
  if (rest.size() < kEntryHeader) {
    corrupt(fmt::format("entry header at offset {} needs {} bytes, {} are left", offset, kEntryHeader,
                        rest.size()));
  }
  const uint64_t header = read<uint32_t>(rest, 4);
  const uint64_t stored = read<uint64_t>(rest, 8);
  if (header < kEntryHeader || header > rest.size() || stored > rest.size() - header) {
    corrupt(fmt::format("entry at offset {} claims a header of {} and {} stored bytes, {} are left", offset,
                        header, stored, rest.size()));
  }
  FatEntry entry;
  entry.kind = read<uint16_t>(rest, 0);
  entry.minor = read<uint16_t>(rest, 24);
  entry.major = read<uint16_t>(rest, 26);
  entry.architecture = read<uint32_t>(rest, 28);
  const uint64_t flags = read<uint64_t>(rest, 40);
  entry.letter = flags & kFlagArchitecture ? 'a' : flags & kFlagFamily ? 'f' : '\0';
  entry.stored = rest.subspan(header, stored);
  if (flags & (kFlagLz4 | kFlagZstd)) {
    const uint64_t compressed = read<uint32_t>(rest, 16);
    entry.compression = flags & kFlagZstd ? Compression::kZstd : Compression::kLz4;
    entry.uncompressed_size = read<uint64_t>(rest, 56);
    if (compressed > stored) {
      corrupt(fmt::format("entry at offset {} has {} compressed bytes in {} stored ones", offset, compressed,
                          stored));
    }
    entry.stored = entry.stored.first(compressed);
  }
  *size = header + stored;
  return entry;
}

void check_text_size(uint64_t size) {
  if (size > kMaxPtxBytes) corrupt(fmt::format("a PTX text of {} bytes (limit {})", size, kMaxPtxBytes));
}

std::string decompress_lz4(const FatEntry& entry) {
  // An LZ4 block grows at most 255-fold, so a larger claim needs no buffer to be refused.
  if (entry.uncompressed_size > entry.stored.size() * 255 + 64) {
    corrupt(
        fmt::format("{} LZ4 bytes cannot hold a text of {}", entry.stored.size(), entry.uncompressed_size));
  }
  std::string text(entry.uncompressed_size, '\0');
  const int written =
      LZ4_decompress_safe(reinterpret_cast<const char*>(entry.stored.data()), text.data(),
                          static_cast<int>(entry.stored.size()), static_cast<int>(text.size()));
  if (written < 0) corrupt("LZ4 block does not decompress");
  text.resize(static_cast<size_t>(written));
  return text;
}

std::string decompress_zstd(const FatEntry& entry) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 29);
  ZSTD_inBuffer in{entry.stored.data(), entry.stored.size(), 0};
  std::string text;
  // The declared size is a limit, not an allocation: the buffer grows with what has really come out.
  constexpr size_t kStep = size_t{1} << 20;
  for (;;) {
    const size_t begin = text.size();
    text.resize(std::min<uint64_t>(begin + std::max(kStep, begin), entry.uncompressed_size));
    ZSTD_outBuffer out{text.data(), text.size(), begin};
    const size_t hint = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(hint))
      corrupt(fmt::format("zstd frame does not decompress ({})", ZSTD_getErrorName(hint)));
    text.resize(out.pos);
    if (hint == 0) return text;
    if (out.pos == begin && in.pos == in.size) corrupt("zstd frame is cut short");
    if (out.pos == entry.uncompressed_size && out.pos == begin)
      corrupt("zstd frame is longer than its entry says");
  }
}

std::string found_list(std::span<const FatEntry> entries) {
  std::string found;
  for (const FatEntry& entry : entries) found += (found.empty() ? "" : ", ") + entry.describe();
  return found.empty() ? "nothing" : found;
}

[[noreturn]] void no_ptx(std::span<const FatEntry> entries, Architecture machine) {
  const std::string target =
      machine >= 90 ? fmt::format("compute_{}a", machine) : fmt::format("compute_{}", machine);
  throw FatBinaryError(
      FatBinaryError::Kind::kNoPtx,
      fmt::format("the program holds no PTX that compute capability {}.{} can run (found: {}); the emulator "
                  "executes PTX, so rebuild with -gencode arch={},code={}",
                  machine / 10, machine % 10, found_list(entries), target, target));
}

// The container's own header bounds it: inside a process there is no other size to hold it against.
std::span<const std::byte> container_at(const void* data) {
  return {static_cast<const std::byte*>(data), container_size(data)};
}

void append_ptx(const void* container, Architecture machine, std::vector<std::string>& texts,
                std::vector<FatEntry>& seen) {
  if (!container) corrupt("a wrapper without a container");
  const std::vector<FatEntry> entries = read_container(container_at(container));
  if (const FatEntry* best = select_ptx(entries, machine)) texts.push_back(extract_ptx(*best));
  seen.insert(seen.end(), entries.begin(), entries.end());
}

}  // namespace

std::string FatEntry::describe() const {
  const std::string number =
      letter ? fmt::format("{}{}", architecture, letter) : fmt::format("{}", architecture);
  if (kind == kPtx) return fmt::format("compute_{} PTX", number);
  if (kind == kElf) return fmt::format("sm_{} machine code", number);
  return fmt::format("an image of unknown kind {} for {}", kind, number);
}

std::vector<FatEntry> read_container(std::span<const std::byte> container) {
  if (container.size() < kContainerHeader) corrupt(fmt::format("a container of {} bytes", container.size()));
  if (read<uint32_t>(container, 0) != kContainerMagic) {
    corrupt(
        fmt::format("container magic {:#x}, expected {:#x}", read<uint32_t>(container, 0), kContainerMagic));
  }
  const uint64_t header = read<uint16_t>(container, 6);
  const uint64_t payload = read<uint64_t>(container, 8);
  if (header < kContainerHeader || header > container.size() || payload > container.size() - header) {
    corrupt(fmt::format("a container of {} bytes claims a header of {} and a payload of {}", container.size(),
                        header, payload));
  }
  std::vector<FatEntry> entries;
  std::span<const std::byte> rest = container.subspan(header, payload);
  while (!rest.empty()) {
    uint64_t size = 0;
    entries.push_back(read_entry(rest, container.size() - rest.size(), &size));
    rest = rest.subspan(size);
  }
  return entries;
}

std::string extract_ptx(const FatEntry& entry) {
  std::string text;
  if (entry.compression == Compression::kNone) {
    check_text_size(entry.stored.size());
    text.assign(reinterpret_cast<const char*>(entry.stored.data()), entry.stored.size());
  } else {
    check_text_size(entry.uncompressed_size);
    text = entry.compression == Compression::kLz4 ? decompress_lz4(entry) : decompress_zstd(entry);
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

const FatEntry* select_ptx(std::span<const FatEntry> entries, Architecture machine) {
  const auto rank = [machine](const FatEntry& entry) -> uint32_t {
    if (entry.kind != FatEntry::kPtx || entry.architecture > machine) return 0;
    if (entry.architecture == machine)
      return entry.letter == 'a' ? 100000 : entry.letter == 'f' ? 90000 : 80000;
    return entry.letter ? 0 : entry.architecture;
  };
  const FatEntry* best = nullptr;
  for (const FatEntry& entry : entries) {
    if (rank(entry) > (best ? rank(*best) : 0)) best = &entry;
  }
  return best;
}

uint64_t container_size(const void* data) {
  const std::span header(static_cast<const std::byte*>(data), kContainerHeader);
  if (read<uint32_t>(header, 0) != kContainerMagic) {
    corrupt(fmt::format("container magic {:#x}, expected {:#x}", read<uint32_t>(header, 0), kContainerMagic));
  }
  const uint64_t payload = read<uint64_t>(header, 8);
  if (payload > kMaxContainerBytes) corrupt(fmt::format("a container of {} bytes", payload));
  return read<uint16_t>(header, 6) + payload;
}

bool is_fat_binary(const void* data) {
  const uint32_t magic = read<uint32_t>(std::span(static_cast<const std::byte*>(data), 4), 0);
  return magic == kWrapperMagic || magic == kContainerMagic;
}

std::vector<std::string> ptx_of_image(const void* image, Architecture machine) {
  std::vector<std::string> texts;
  std::vector<FatEntry> seen;
  const std::byte* bytes = static_cast<const std::byte*>(image);
  if (read<uint32_t>(std::span(bytes, 4), 0) == kContainerMagic) {
    append_ptx(image, machine, texts, seen);
  } else {
    const std::span wrapper(bytes, 24);
    if (read<uint32_t>(wrapper, 0) != kWrapperMagic) {
      corrupt(fmt::format("wrapper magic {:#x}, expected {:#x}", read<uint32_t>(wrapper, 0), kWrapperMagic));
    }
    const uint32_t version = read<uint32_t>(wrapper, 4);
    if (version == 1) {
      append_ptx(read<const void*>(wrapper, 8), machine, texts, seen);
    } else if (version == 2) {
      // Separately compiled: the container itself holds only linked machine code, the PTX is in the prelinked
      // list.
      const void* const* list = read<const void* const*>(wrapper, 16);
      for (size_t i = 0; list && list[i]; ++i) {
        if (i == kMaxPrelinked) corrupt("the list of prelinked containers has no end");
        append_ptx(list[i], machine, texts, seen);
      }
    } else {
      corrupt(fmt::format("wrapper version {}, expected 1 or 2", version));
    }
  }
  if (texts.empty()) no_ptx(seen, machine);
  return texts;
}

}  // namespace emu::cuda
