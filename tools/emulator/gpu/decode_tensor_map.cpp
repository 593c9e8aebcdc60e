// tensormap.replace and tensormap.cp_fenceproxy: PTX ISA 9.7.9.28 and 9.7.13.
#include <fmt/format.h>

#include "gpu/decode.h"

namespace emu::gpu {

namespace {

using timing::CostClass;

struct FieldName {
  std::string_view name;
  units::TensorMapField field;
  bool has_ordinal;
};
constexpr FieldName kFields[] = {{"global_address", units::TensorMapField::Address, false},
                                 {"rank", units::TensorMapField::Rank, false},
                                 {"box_dim", units::TensorMapField::Box, true},
                                 {"global_dim", units::TensorMapField::Dim, true},
                                 {"global_stride", units::TensorMapField::Stride, true},
                                 {"element_stride", units::TensorMapField::ElementStride, true},
                                 {"elemtype", units::TensorMapField::Type, false},
                                 {"interleave_layout", units::TensorMapField::Interleave, false},
                                 {"swizzle_mode", units::TensorMapField::Swizzle, false},
                                 {"swizzle_atomicity", units::TensorMapField::SwizzleAtom, false},
                                 {"fill_mode", units::TensorMapField::Fill, false}};

ptx::Space take_space(DecodeContext& c) {
  if (c.take("global")) return ptx::Space::Global;
  return c.take("shared::cta") ? ptx::Space::Shared : ptx::Space::Generic;
}

bool decode_replace(DecodeContext& c) {
  c.set(Op::TensorMapReplace, CostClass::GlobalStore);
  Detail& d = c.detail();
  c.take("tile");
  const FieldName* found = nullptr;
  for (const FieldName& field : kFields) {
    if (c.take(field.name)) found = &field;
  }
  if (!found) throw DecodeError{"the field is missing or not supported"};
  d.space = take_space(c);
  c.take("b1024");
  d.flag = c.take("b64");
  c.take("b32");
  c.finish();
  d.map_field = found->field;
  d.address = c.address(0, d.space);
  if (found->has_ordinal) d.immediate = c.immediate(1);
  if (d.immediate >= units::kMaxTensorRank)
    throw DecodeError{fmt::format("ordinal {} is above 4", d.immediate)};
  c.out.src[0] = c.source(found->has_ordinal ? 2 : 1, d.flag ? isa::OperandType::B64 : isa::OperandType::B32);
  return true;
}

// .tensormap::generic.release of any scope: what is written is seen at once.
bool decode_copy(DecodeContext& c) {
  c.set(Op::TensorMapCopy, CostClass::GlobalStore);
  Detail& d = c.detail();
  for (const char* token : {"global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"}) {
    if (!c.take(token)) throw DecodeError{fmt::format("tensormap.cp_fenceproxy without .{}", token)};
  }
  c.take_any({"cta", "cluster", "gpu", "sys"});
  c.finish();
  d.address = c.address(0, ptx::Space::Global);
  d.address2 = c.address(1, ptx::Space::Shared);
  if (c.immediate(2) != units::kTensorMapBytes) throw DecodeError{"tensormap.cp_fenceproxy copies 128 bytes"};
  return true;
}

}  // namespace

bool decode_tensor_map(DecodeContext& c) {
  if (c.head() != "tensormap") return false;
  if (c.take("replace")) return decode_replace(c);
  if (c.take("cp_fenceproxy")) return decode_copy(c);
  return false;
}

}  // namespace emu::gpu
