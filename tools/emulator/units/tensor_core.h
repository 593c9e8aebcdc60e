// One tcgen05.mma: operands gathered when it starts, arithmetic and the accumulator's read and write when it
// completes. No time and no queue here; the engine owns those. PTX ISA 9.7.16.10.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "units/instruction_descriptor.h"
#include "units/smem_descriptor.h"
#include "units/tmem.h"

namespace emu::units {

enum class CollectorUse : std::uint8_t { Discard, Fill, Use, LastUse };

struct MmaOperation {
  MmaKind kind = MmaKind::F16;
  int cta_group = 1;
  bool weight_stationary = false;                  ///< .ws
  bool a_shift = false;                            ///< .ashift: refused
  bool sparse = false;                             ///< .sp
  std::uint32_t metadata_address = 0;              ///< when sparse
  CollectorUse collector = CollectorUse::Discard;  ///< a cache hint; values do not depend on it
  std::uint32_t d_address = 0;
  bool a_in_tmem = false;
  std::uint32_t a_address = 0;     ///< when a_in_tmem
  std::uint64_t a_descriptor = 0;  ///< when not
  std::uint64_t b_descriptor = 0;
  std::uint32_t instruction_descriptor = 0;
  bool accumulate = false;  ///< enable-input-d
  int scale_d_shift = 0;    ///< scale-input-d: D counts as D * 2^-shift, 0..15, kinds f16 and tf32
  /// Bit i of the concatenation: lane i is not written. Words 0-3 the even CTA (or the only one), 4-7 the
  /// odd.
  std::array<std::uint32_t, 8> disabled_lanes{};
  std::uint64_t zero_columns = 0;  ///< .ws: the zero-column mask descriptor; 0 masks nothing
  // Block-scaled kinds.
  int scale_blocks = 0;  ///< factors for each row: .scale_vec::1X, 2X or 4X
  std::uint32_t scale_a_address = 0;
  std::uint32_t scale_b_address = 0;
  bool first_scale_copy_only = false;  ///< do not ask for copies of the factors in every lane quarter
};

/// The async proxy's view of one CTA's shared memory: bytes[i] is shared address base + i.
struct SharedView {
  const std::byte* bytes = nullptr;
  std::uint32_t base = 0;
  std::uint32_t size = 0;
};

enum class MmaPrecision : std::uint8_t {
  Exact,  ///< the published Blackwell rule, bit for bit
  Fast,   ///< one f32 fused multiply-add per term
};

struct SharedRange {
  int cta;  ///< 0 the even CTA (or the only one), 1 the odd
  std::uint32_t address;
  std::uint32_t bytes;
};

struct TmemRange {
  int cta;
  int first_column;
  int columns;
  bool written;  ///< the accumulator; otherwise operand A, scale factors or metadata
};

/// Every rule this operation breaks, one sentence each; empty when start_mma accepts it.
std::vector<std::string> mma_problems(const MmaOperation& operation);

class MmaInFlight {
 public:
  MmaInFlight(MmaInFlight&&) noexcept;
  MmaInFlight& operator=(MmaInFlight&&) noexcept;
  ~MmaInFlight();

  /// Multiplies and writes the accumulator, reading its old value now if it accumulates. Call once, in queue
  /// order.
  void complete(MmaPrecision precision);

  const MmaOperation& operation() const;
  const InstructionDescriptor& shape() const;

  /// The shared bytes operands A and B were gathered from, adjacent 16-byte chunks merged.
  void for_each_shared_range(const std::function<void(const SharedRange&)>& visit) const;

  /// The tensor-memory columns of D, of an A in tensor memory, of scale factors and of metadata, in each CTA,
  /// for ownership and hazard checks.
  std::vector<TmemRange> tmem_ranges() const;

 private:
  friend MmaInFlight start_mma(const MmaOperation&, std::span<const SharedView>,
                               std::span<TensorMemory* const>);
  struct State;
  explicit MmaInFlight(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Checks the operation and gathers A and B. `shared` and `tmem` hold one entry for each CTA of the group
/// (even CTA first). Throws TensorError naming every broken rule, or an operand element outside a CTA's
/// shared memory.
MmaInFlight start_mma(const MmaOperation& operation, std::span<const SharedView> shared,
                      std::span<TensorMemory* const> tmem);

}  // namespace emu::units
