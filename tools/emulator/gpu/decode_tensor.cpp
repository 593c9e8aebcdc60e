// The tcgen05 family: PTX ISA 9.7.16.
#include <fmt/format.h>

#include <utility>

#include "gpu/decode.h"

namespace emu::gpu {

namespace {

using timing::CostClass;
using units::TmemShape;

int take_cta_group(DecodeContext& c) {
  if (c.take("cta_group::2")) return 2;
  if (!c.take("cta_group::1")) throw DecodeError{".cta_group is missing"};
  return 1;
}

bool decode_allocation(DecodeContext& c, Op op) {
  c.set(op, CostClass::TmemAlloc);
  Detail& d = c.detail();
  d.cta_group = take_cta_group(c);
  c.take("sync");
  c.take("aligned");
  if (c.take("shared::cta")) d.space = ptx::Space::Shared;
  c.take("b32");
  c.finish();
  if (op == Op::TmemAlloc) {
    d.address = c.address(0, d.space);
    c.out.src[0] = c.source(1, isa::OperandType::B32);
  } else if (op == Op::TmemDealloc) {
    c.out.src[0] = c.source(0, isa::OperandType::B32);
    c.out.src[1] = c.source(1, isa::OperandType::B32);
  }
  return true;
}

bool decode_access(DecodeContext& c, bool load) {
  c.set(load ? Op::TmemLoad : Op::TmemStore, load ? CostClass::TmemLoad : CostClass::TmemStore);
  Detail& d = c.detail();
  c.take("sync");
  c.take("aligned");
  const std::string_view shape = c.take_any({"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
  if (shape.empty()) throw DecodeError{"the access shape is missing or not supported"};
  d.tmem.shape = shape == "32x32b"    ? TmemShape::Lanes32x32b
                 : shape == "16x64b"  ? TmemShape::Lanes16x64b
                 : shape == "16x128b" ? TmemShape::Lanes16x128b
                 : shape == "16x256b" ? TmemShape::Lanes16x256b
                                      : TmemShape::Lanes16x32bx2;
  const std::string_view count = c.take_any({"x128", "x64", "x32", "x16", "x8", "x4", "x2", "x1"});
  if (count.empty()) throw DecodeError{".xN is missing"};
  d.tmem.count = std::stoi(std::string(count.substr(1)));
  d.tmem.packed16 = c.take(load ? "pack::16b" : "unpack::16b");
  c.take("b32");
  c.finish();
  const bool split = d.tmem.shape == TmemShape::Lanes16x32bx2;
  if (load) {
    c.data(0, d, true, isa::OperandType::B32);
    d.address = c.address(1, ptx::Space::Generic);
    if (split) d.tmem.split_offset = static_cast<uint32_t>(c.immediate(2));
  } else {
    d.address = c.address(0, ptx::Space::Generic);
    if (split) d.tmem.split_offset = static_cast<uint32_t>(c.immediate(1));
    c.data(split ? 2 : 1, d, false, isa::OperandType::B32);
  }
  const int registers = units::tmem_register_count(d.tmem.shape, d.tmem.count);
  if (registers == 0 || static_cast<size_t>(registers) != d.data.size()) {
    throw DecodeError{
        fmt::format("{} registers given, .{}.x{} takes {}", d.data.size(), shape, d.tmem.count, registers)};
  }
  return true;
}

void take_kind(DecodeContext& c, units::MmaOperation& mma) {
  using units::MmaKind;
  constexpr std::pair<std::string_view, MmaKind> kKinds[] = {
      {"kind::f16", MmaKind::F16},           {"kind::tf32", MmaKind::TF32},
      {"kind::f8f6f4", MmaKind::F8F6F4},     {"kind::i8", MmaKind::I8},
      {"kind::mxf8f6f4", MmaKind::MXF8F6F4}, {"kind::mxf4", MmaKind::MXF4},
      {"kind::mxf4nvf4", MmaKind::MXF4NVF4}};
  for (const auto& [token, kind] : kKinds) {
    if (!c.take(token)) continue;
    mma.kind = kind;
    return;
  }
  throw DecodeError{"this .kind is not supported"};
}

// .block16 and .block32 are other names of .scale_vec::4X and, by the kind, 1X or 2X (PTX ISA 9.7.16.10.7.1).
void take_scale_vector(DecodeContext& c, units::MmaOperation& mma) {
  if (!units::is_block_scaled(mma.kind)) return;
  if (!c.take("block_scale")) throw DecodeError{fmt::format("kind::{} needs .block_scale", name(mma.kind))};
  const int natural = mma.kind == units::MmaKind::MXF8F6F4 ? 1 : 2;
  const std::string_view vector =
      c.take_any({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"});
  if (vector.empty() && mma.kind == units::MmaKind::MXF4NVF4) {
    throw DecodeError{"kind::mxf4nvf4 needs .block16, .block32 or .scale_vec"};
  }
  mma.scale_blocks = natural;
  if (vector == "block16") mma.scale_blocks = 4;
  if (vector.starts_with("scale_vec")) mma.scale_blocks = vector[vector.size() - 2] - '0';
  const bool exists =
      mma.kind == units::MmaKind::MXF4NVF4 ? mma.scale_blocks >= 2 : mma.scale_blocks == natural;
  if (!exists) throw DecodeError{fmt::format("kind::{} has no .{}", name(mma.kind), vector)};
}

// A hint: .ws keeps B, in one of four buffers, the others keep A.
void take_collector(DecodeContext& c, units::MmaOperation& mma) {
  using units::CollectorUse;
  const auto take_use = [&](const std::string& buffer) {
    constexpr std::pair<const char*, CollectorUse> kUses[] = {{"fill", CollectorUse::Fill},
                                                              {"use", CollectorUse::Use},
                                                              {"lastuse", CollectorUse::LastUse},
                                                              {"discard", CollectorUse::Discard}};
    for (const auto& [word, use] : kUses) {
      if (!c.take(fmt::format("collector::{}::{}", buffer, word))) continue;
      mma.collector = use;
      return true;
    }
    return false;
  };
  if (!mma.weight_stationary) {
    take_use("a");
    return;
  }
  for (const char* buffer : {"b0", "b1", "b2", "b3"}) {
    if (take_use(buffer)) return;
  }
}

// d, a, b, the metadata of a sparse a, and the instruction descriptor; returns how many operands that was.
size_t decode_mma_operands(DecodeContext& c, Detail& d) {
  d.address = c.address(0, ptx::Space::Generic);
  d.a_in_tmem = c.operand(1).kind == ptx::OperandKind::Address;
  d.mma.a_in_tmem = d.a_in_tmem;
  if (d.a_in_tmem) {
    d.address2 = c.address(1, ptx::Space::Generic);
  } else {
    c.out.src[0] = c.source(1, isa::OperandType::B64);
  }
  c.out.src[1] = c.source(2, isa::OperandType::B64);
  size_t index = 3;
  if (d.mma.sparse) d.address3 = c.address(index++, ptx::Space::Generic);
  c.out.src[2] = c.source(index++, isa::OperandType::B32);
  return index;
}

bool decode_mma(DecodeContext& c) {
  c.set(Op::Mma, CostClass::MmaIssue);
  Detail& d = c.detail();
  d.mma.weight_stationary = c.take("ws");
  d.mma.sparse = c.take("sp");
  d.cta_group = take_cta_group(c);
  d.mma.cta_group = d.cta_group;
  take_kind(c, d.mma);
  take_scale_vector(c, d.mma);
  take_collector(c, d.mma);
  if (c.take("ashift")) throw DecodeError{".ashift is not supported"};
  c.finish();
  const bool scaled = units::is_block_scaled(d.mma.kind);
  if (d.mma.sparse && scaled) throw DecodeError{"block-scaled sparse .sp forms are not supported"};
  if (d.mma.weight_stationary && (d.cta_group != 1 || scaled)) {
    throw DecodeError{
        fmt::format("tcgen05.mma.ws has no .cta_group::{}.kind::{}", d.cta_group, name(d.mma.kind))};
  }
  size_t index = decode_mma_operands(c, d);
  if (scaled) {
    d.address3 = c.address(index++, ptx::Space::Generic);
    d.address4 = c.address(index++, ptx::Space::Generic);
  } else if (index < c.operand_count() && c.operand(index).kind == ptx::OperandKind::Vector) {
    d.coordinates = c.vector_sources(index++, isa::OperandType::B32);  // the disabled-lane words
    const size_t words = d.cta_group == 2 ? 8 : 4;
    if (d.coordinates.size() != words || d.mma.weight_stationary) {
      throw DecodeError{fmt::format("the lane mask has {} words, cta_group::{}{} takes {}",
                                    d.coordinates.size(), d.cta_group, d.mma.weight_stationary ? ".ws" : "",
                                    d.mma.weight_stationary ? "none" : std::to_string(words))};
    }
  }
  d.extra = c.predicate_source(c.operand(index++), &d.flag);
  if (index < c.operand_count() && d.mma.weight_stationary) {
    c.out.src[3] = c.source(index++, isa::OperandType::B64);
    d.has_extra = true;  // the zero-column mask
  } else if (index < c.operand_count() && !scaled) {
    d.mma.scale_d_shift = static_cast<int>(c.immediate(index++));
  }
  if (index < c.operand_count()) throw DecodeError{"more operands than this form has"};
  return true;
}

bool decode_tmem_copy(DecodeContext& c) {
  using Shape = units::TmemCopyShape;
  c.set(Op::TmemCopy, CostClass::MmaIssue);
  Detail& d = c.detail();
  d.cta_group = take_cta_group(c);
  const std::string_view shape = c.take_any({"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"});
  if (shape.empty()) throw DecodeError{"the copy shape is missing or not supported"};
  if (shape == "128x256b") d.copy = Shape::Rows128x256b;
  if (shape == "128x128b") d.copy = Shape::Rows128x128b;
  if (shape == "4x256b") d.copy = Shape::Rows4x256b;
  if (shape == "64x128b") {
    const std::string_view copies = c.take_any({"warpx2::02_13", "warpx2::01_23"});
    if (copies.empty()) throw DecodeError{".64x128b needs .warpx2::02_13 or .warpx2::01_23"};
    d.copy = copies == "warpx2::02_13" ? Shape::Rows64x128b_02_13 : Shape::Rows64x128b_01_23;
  }
  if (shape == "32x128b") {
    if (!c.take("warpx4")) throw DecodeError{".32x128b needs .warpx4"};
    d.copy = Shape::Rows32x128b;
  }
  if (c.take("b8x16")) {
    const std::string_view format = c.take_any({"b6x16_p32", "b4x16_p64"});
    if (format.empty()) throw DecodeError{".b8x16 needs .b6x16_p32 or .b4x16_p64"};
    d.copy_format = format == "b6x16_p32" ? units::TmemCopyFormat::B6 : units::TmemCopyFormat::B4;
  }
  c.finish();
  d.address = c.address(0, ptx::Space::Generic);
  c.out.src[0] = c.source(1, isa::OperandType::B64);
  return true;
}

bool decode_tmem_shift(DecodeContext& c) {
  c.set(Op::TmemShift, CostClass::MmaIssue);
  Detail& d = c.detail();
  d.cta_group = take_cta_group(c);
  if (!c.take("down")) throw DecodeError{".down is missing"};
  c.finish();
  d.address = c.address(0, ptx::Space::Generic);
  return true;
}

bool decode_commit(DecodeContext& c) {
  c.set(Op::Commit, CostClass::Commit);
  Detail& d = c.detail();
  d.cta_group = take_cta_group(c);
  if (!c.take("mbarrier::arrive::one")) throw DecodeError{"only .mbarrier::arrive::one commits exist"};
  d.space = c.take("shared::cluster") ? ptx::Space::Shared : ptx::Space::Generic;
  d.flag2 = c.take("multicast::cluster");
  c.take("b64");
  c.finish();
  d.address = c.address(0, d.space);
  if (d.flag2) {
    d.extra = c.source(1, isa::OperandType::B16);
    d.has_extra = true;
  }
  return true;
}

}  // namespace

bool decode_tensor(DecodeContext& c) {
  if (c.head() != "tcgen05") return false;
  if (c.take("alloc")) return decode_allocation(c, Op::TmemAlloc);
  if (c.take("dealloc")) return decode_allocation(c, Op::TmemDealloc);
  if (c.take("relinquish_alloc_permit")) return decode_allocation(c, Op::TmemRelinquish);
  if (c.take("ld")) return decode_access(c, true);
  if (c.take("st")) return decode_access(c, false);
  if (c.take("mma")) return decode_mma(c);
  if (c.take("commit")) return decode_commit(c);
  if (c.take("cp")) return decode_tmem_copy(c);
  if (c.take("shift")) return decode_tmem_shift(c);
  const bool wait_load = c.take("wait::ld");
  if (wait_load || c.take("wait::st")) {
    c.set(Op::TmemWait, CostClass::TmemWait);
    c.detail().flag = wait_load;
    c.take("sync");
    c.take("aligned");
    c.finish();
    return true;
  }
  if (c.take("fence::before_thread_sync") || c.take("fence::after_thread_sync")) {
    c.finish();
    c.set(Op::TensorFence, CostClass::Fence);
    return true;
  }
  throw DecodeError{"this tcgen05 instruction is not supported"};
}

}  // namespace emu::gpu
