// Where an MMA operand's elements lie in shared memory: the canonical layouts of tcgen05 (PTX ISA 9.7.16.3),
// stated here a second time, independently of the kernels' headers and of the emulator.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace layout {

// What the user asked for cannot be: one line, naming the value, the limit and the way out.
struct BadInput : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

enum class Major { k, mn };

// 128-byte swizzle with 32-byte atoms exists for MN-major operands of 32-bit types only.
enum class Swizzle { none, b32, b64, b128, b128_32 };

struct ElementType {
  std::string_view name;
  int bytes;
};
ElementType element_type(std::string_view name);  // bf16 f16 tf32 f32 e4m3 e5m2 u8 s8; throws BadInput
Swizzle swizzle_mode(std::string_view name);      // none 32 64 128 128a32; throws BadInput
std::string_view name_of(Swizzle mode);
std::string_view name_of(Major major);

// Bytes of one row of the swizzle pattern (128, 64, 32), or 16 without swizzle.
uint32_t span_bytes(Swizzle mode);
// Bytes after which the pattern repeats; tiles start at multiples of it.
uint32_t repeat_bytes(Swizzle mode);

// The XOR on an absolute shared-memory byte address (PTX ISA 5.5.7). Its own inverse.
uint32_t swizzled(uint32_t address, Swizzle mode);

// One operand as a matrix descriptor describes it. `k` counts along the contraction, `mn` along the other
// index.
struct Canonical {
  Major major = Major::k;
  Swizzle mode = Swizzle::none;
  int element_bytes = 2;
  uint32_t lbo = 0, sbo = 0;  // bytes

  // Elements in 16 bytes.
  int unit() const { return 16 / element_bytes; }
  // Contraction of one dense MMA instruction: 32 bytes of elements.
  int mma_k() const { return 32 / element_bytes; }
  // Throws BadInput for a combination of type, major mode and swizzle that PTX ISA 9.7.16.10 does not have.
  void validate() const;
  // Byte offset before the XOR.
  uint32_t linear(int mn, int k) const;
  // Byte address of element (mn, k) when the descriptor starts at `start`.
  uint32_t address(uint32_t start, int mn, int k) const { return swizzled(start + linear(mn, k), mode); }
  // Is LBO read at all? Not in swizzled K-major.
  bool uses_lbo() const { return major == Major::mn || mode == Swizzle::none; }
  // What the two offsets step over, in words.
  std::string lbo_meaning() const;
  std::string sbo_meaning() const;
};

// A whole tile, walked by several instructions. In swizzled K-major a tile wider than the span is cut into
// slabs of one span each, `slab_bytes` apart; the kernel steps from slab to slab, no descriptor field does.
struct Tile {
  Canonical form;
  int mn = 128, k = 64;
  uint32_t start = 0;
  uint32_t slab_bytes = 0;

  // Offset of the descriptor start of instruction `step` from the tile's start.
  uint32_t step_offset(int step) const;
  uint32_t address(int mn_index, int k_index) const;
  // What the tile covers, end of the last byte minus start.
  uint32_t bytes() const { return static_cast<uint32_t>(mn) * k * form.element_bytes; }
};

// The packed tile that TMA boxes of one span (or of 16 bytes, without swizzle) make, with its natural LBO and
// SBO.
Tile packed_tile(Major major, Swizzle mode, int element_bytes, int mn, int k, uint32_t start);

}  // namespace layout
