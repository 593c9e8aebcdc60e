// What shared or tensor memory held at one source line of a real run, as `emu --snapshot` writes it.
//
// JSON: {"format": "workbook-snapshot-1", "kind": "smem" | "tmem", "file": "kernel.cu", "line": 212, "cta":
// [x, y, z],
//        "cycle": 1234, "base": N, "encoding": "hex" | "base64", "bytes": "...",
//        "columns": C, "expected": "..."}
// smem: `base` is the shared address of the first byte. tmem: `base` is the first column, `columns` how many,
// and the bytes go lane by lane, each lane's columns as little-endian 32-bit words. `file`, `cycle` and
// `expected` are optional; `expected` has the form of `bytes` and marks what differs as wrong.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layout {

struct Snapshot {
  enum Kind { smem, tmem } kind = smem;
  std::string file;
  int line = 0;
  std::array<int, 3> cta{};
  int64_t cycle = -1;
  uint32_t base = 0;
  int columns = 0;  // tmem only
  std::vector<uint8_t> bytes, expected;

  // Is the 16-bit half at byte offset `at` (even) the pattern of memory nobody wrote, 0xFFFA?
  bool poisoned(size_t at) const { return bytes[at] == 0xFA && bytes[at + 1] == 0xFF; }
  bool wrong(size_t at) const {
    return !expected.empty() && (bytes[at] != expected[at] || bytes[at + 1] != expected[at + 1]);
  }
};

// Throws BadInput naming the field that is missing or malformed.
Snapshot parse_snapshot(std::string_view json);
// The same as JSON, bytes in base64.
std::string write_snapshot(const Snapshot& s);

}  // namespace layout
