// The zero-column mask descriptor of tcgen05.mma.ws: columns of B that count as zero, and a shift of the
// others. PTX ISA 9.7.16.4.3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emu::units {

/// The first rule that the descriptor breaks for an instruction of M rows, or "". `max_shift` is what bits
/// 30-31 of the instruction descriptor allow.
std::string zero_columns_problem(std::uint64_t descriptor, int m, int max_shift);

/// One entry for each of the N columns: whether it counts as zero. `m` is 32, 64 or 128.
///
/// The manual's table names the two spans the wrong way round: by its own examples "use span" counts the
/// columns where B is used, and "skip span" the zeros. A start count takes columns off the first span only;
/// one that exceeds it leaves one column, as a public simulator reports of hardware.
std::vector<bool> zero_columns(std::uint64_t descriptor, int m, int n);

/// Column n of the product uses column n + shift of B.
int zero_columns_shift(std::uint64_t descriptor);

}  // namespace emu::units
