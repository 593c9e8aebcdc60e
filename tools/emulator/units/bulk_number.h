// The element arithmetic of bulk reductions: read-modify-write of one element of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace emu::units {

enum class BulkType : std::uint8_t { U8, U16, U32, S32, U64, S64, F16, BF16, F32, F64, B32, B64, F32Ftz };
enum class BulkOp : std::uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

const char* name_of(BulkType type);
const char* name_of(BulkOp op);
std::uint32_t size_of(BulkType type);  // bytes

// "add", "min", ... and "u32", "bf16", ... as PTX spells them; nullopt for anything else.
std::optional<BulkOp> bulk_op(const std::string& name);
std::optional<BulkType> bulk_type(const std::string& name);

// Whether cp.reduce.async.bulk takes the pair (PTX ISA 9.7.9.25, and what ptxas 13.0 accepts).
// to_global: shared::cta -> global; otherwise shared::cta -> shared::cluster.
bool bulk_reduce_allows(BulkOp op, BulkType type, bool to_global);

// *at = *at op *value for `count` elements, each one relaxed atomic update. f32, f16 and bf16 add round once
// to nearest even and keep subnormals (as an H200 does, though the manual says that f32 flushes); F32Ftz,
// which only tensor maps name, flushes them. The pair must be one that
// bulk_reduce_allows names; and/or/xor take any integer type of their width.
void reduce_elements(BulkOp op, BulkType type, void* at, const void* value, std::size_t count);

// Narrow floats as the reductions use them.
float f16_to_f32(std::uint16_t bits);
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f64_to_f16(double value);   // round to nearest even
std::uint16_t f64_to_bf16(double value);  // round to nearest even

}  // namespace emu::units
