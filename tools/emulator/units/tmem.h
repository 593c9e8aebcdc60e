// Tensor memory of one SM: 128 lanes x 512 columns of 32 bits, and who holds which columns. PTX
// ISA 9.7.16.1, 9.7.16.7.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace emu::units {

/// A program broke a rule of the tensor core or of tensor memory. The text names the thing, the value and the
/// limit.
class TensorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int kTmemLanes = 128;
inline constexpr int kTmemColumns = 512;
inline constexpr std::uint32_t kTmemPoison = 0xFFFAFFFAu;

struct TmemAddress {
  int lane = 0;
  int column = 0;
};

/// Bits 31:16 are the lane, 15:0 the column. Throws TensorError when the column is 512 or more. Lanes of 128
/// and above are not defined; hardware was seen to ignore the upper lane bits, so they are dropped.
TmemAddress decode_tmem_address(std::uint32_t address);

class TensorMemory {
 public:
  /// Names a resident CTA. The engine picks the numbers.
  using Owner = std::uint64_t;

  TensorMemory();

  /// The 128 lanes of one column, contiguous.
  std::uint32_t* column(int column) { return &cells_[static_cast<std::size_t>(column) * kTmemLanes]; }
  const std::uint32_t* column(int column) const {
    return &cells_[static_cast<std::size_t>(column) * kTmemLanes];
  }
  std::uint32_t& at(int lane, int column_index) { return column(column_index)[lane]; }
  std::uint32_t at(int lane, int column_index) const { return column(column_index)[lane]; }

  /// First fit. Returns the address, or nothing when the columns are not free yet (the instruction then
  /// blocks). The columns come back poisoned. Throws when the count is not a power of two in 32..512, exceeds
  /// an earlier allocation of the same CTA, or follows relinquish_alloc_permit.
  std::optional<std::uint32_t> try_allocate(Owner owner, std::uint32_t columns);

  /// Throws unless (address, columns) is a live allocation of `owner`.
  void deallocate(Owner owner, std::uint32_t address, std::uint32_t columns);

  void relinquish(Owner owner);

  /// What `owner` must still deallocate, as text; empty when nothing.
  std::string leftover(Owner owner) const;

  /// Forgets a CTA that has ended, freeing whatever it still held.
  void retire(Owner owner);

  bool owns(Owner owner, int first_column, int columns) const;

  /// Whether a CTA may go on using columns that it has deallocated and nobody has taken since, as hardware
  /// lets it.
  void forgive_early_deallocation(bool forgive) { forgive_ = forgive; }

  /// Throws when [first_column, first_column + columns) leaves the 512 columns or is not wholly allocated to
  /// `owner`; the text names the first column at fault and who holds it. `what` names the access.
  void require_owned(Owner owner, int first_column, int columns, const std::string& what) const;

  int free_columns() const;

 private:
  static constexpr int kUnit = 32;
  static constexpr int kUnits = kTmemColumns / kUnit;
  struct Cta {
    std::uint32_t smallest_allocation = kTmemColumns;
    bool relinquished = false;
    std::unordered_map<std::uint32_t, std::uint32_t> live;  // first column -> columns
  };
  std::vector<std::uint32_t> cells_;
  bool holds(int unit, Owner owner) const {
    return holder_[unit] == owner || (forgive_ && !holder_[unit] && last_holder_[unit] == owner);
  }
  bool forgive_ = false;
  std::array<std::optional<Owner>, kUnits> holder_;
  std::array<std::optional<Owner>, kUnits> last_holder_;
  std::unordered_map<Owner, Cta> ctas_;
};

}  // namespace emu::units
