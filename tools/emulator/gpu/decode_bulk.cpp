// Bulk and tensor copies, bulk groups, cluster launch control: PTX ISA 9.7.9.25, 9.7.9.27, 9.7.13.
#include <fmt/format.h>

#include "gpu/decode.h"

namespace emu::gpu {

namespace {

using timing::CostClass;

// Where a bulk operation goes, from the order of its state-space tokens: the destination stands first.
struct Direction {
  bool to_shared = false;   // load
  bool to_cluster = false;  // the destination may be another CTA of the cluster
  bool from_shared = false;
  bool prefetch = false;
};

Direction take_direction(DecodeContext& c) {
  Direction direction;
  if (c.take("prefetch")) {
    c.take("L2");
    c.take("global");
    direction.prefetch = true;
    return direction;
  }
  direction.to_cluster = c.take("shared::cluster");
  const bool cta = c.take("shared::cta");
  const bool global = c.take("global");
  if (direction.to_cluster) {
    direction.to_shared = true;
    direction.from_shared = cta;
  } else if (cta && global) {
    // "global.shared::cta" is a store, "shared::cta.global" a load: the opcode's text decides.
    const std::string_view text = c.instruction.opcode;
    direction.from_shared = text.find(".global") < text.find(".shared::cta");
    direction.to_shared = !direction.from_shared;
  } else {
    throw DecodeError{"the direction of this bulk operation is not supported"};
  }
  return direction;
}

void take_common(DecodeContext& c, Detail& d) {
  c.take("mbarrier::complete_tx::bytes");
  c.take("bulk_group");
  d.flag2 = c.take("multicast::cluster");
  if (c.take("cta_group::2")) d.cta_group = 2;
  c.take("cta_group::1");
}

bool decode_plain_copy(DecodeContext& c) {
  c.set(Op::BulkCopy, CostClass::TmaIssue);
  Detail& d = c.detail();
  const Direction direction = take_direction(c);
  take_common(c, d);
  const bool hint = c.take("L2::cache_hint");
  const bool masked = c.take("cp_mask");
  d.flag = c.take("ignore_oob");
  // PTX ISA 9.3: the copy's own accesses, weak or relaxed; nothing else than bytes is visible here.
  c.take("weak");
  if (c.take("relaxed")) {
    c.take_any({"cta", "cluster", "gpu", "sys"});
    c.take("b128");
  }
  c.finish();
  // variant: 0 global -> shared, 1 shared -> shared of the cluster, 2 shared -> global, 3 prefetch
  if (direction.prefetch) {
    d.variant = 3;
    d.address2 = c.address(0, ptx::Space::Global);
    c.out.src[0] = c.source(1, isa::OperandType::B32);
    return true;
  }
  d.variant = direction.to_shared ? (direction.from_shared ? 1 : 0) : 2;
  d.cluster_scope = direction.to_cluster;
  d.address = c.address(0, direction.to_shared ? ptx::Space::Shared : ptx::Space::Global);
  d.address2 = c.address(1, direction.from_shared ? ptx::Space::Shared : ptx::Space::Global);
  c.out.src[0] = c.source(2, isa::OperandType::B32);
  size_t index = 3;
  if (d.flag) {
    if (d.variant != 0 || d.cluster_scope)
      throw DecodeError{".ignore_oob is for copies from .global to .shared::cta"};
    c.out.src[1] = c.source(index++, isa::OperandType::B32);
    c.out.src[2] = c.source(index++, isa::OperandType::B32);
  }
  if (direction.to_shared) d.address3 = c.address(index++, ptx::Space::Shared);
  if (d.flag2) {
    d.extra = c.source(index++, isa::OperandType::B16);
    d.has_extra = true;
  }
  if (hint) ++index;
  if (masked) {
    d.extra = c.source(index++, isa::OperandType::B16);
    d.flag3 = true;
  }
  return true;
}

bool decode_tensor_copy(DecodeContext& c, bool reduce) {
  c.set(Op::TensorCopy, CostClass::TmaIssue);
  Detail& d = c.detail();
  const std::string_view rank = c.take_any({"1d", "2d", "3d", "4d", "5d"});
  if (rank.empty()) throw DecodeError{"the tensor's rank is missing"};
  d.count = static_cast<uint8_t>(rank[0] - '0');
  if (reduce) {
    const std::string_view op = c.take_any({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    const auto known = units::bulk_op(std::string(op));
    if (!known) throw DecodeError{"the reduction is missing"};
    d.bulk_op = *known;
  }
  const Direction direction = take_direction(c);
  take_common(c, d);
  const bool hint = c.take("L2::cache_hint");
  d.flag = c.take("tile::gather4") || c.take("tile::scatter4");
  const bool im2col = c.take("im2col");
  c.take("tile");
  c.finish();
  // variant: 0 load, 1 store, 2 reduce, 3 prefetch
  d.variant = direction.prefetch ? 3 : reduce ? 2 : direction.to_shared ? 0 : 1;
  d.cluster_scope = direction.to_cluster;
  if (d.variant == 0) {
    d.address = c.address(0, ptx::Space::Shared);
    d.address2 = c.address(1, ptx::Space::Generic);
    d.coordinates = c.coordinates(1);
    d.address3 = c.address(2, ptx::Space::Shared);
    size_t index = 3;
    if (im2col) d.offsets = c.vector_sources(index++, isa::OperandType::B16);
    if (d.flag2) {
      d.extra = c.source(index++, isa::OperandType::B16);
      d.has_extra = true;
    }
    if (hint) ++index;
  } else {
    d.address2 = c.address(0, ptx::Space::Generic);
    d.coordinates = c.coordinates(0);
    if (d.variant != 3) d.address = c.address(1, ptx::Space::Shared);
    if (im2col && d.variant != 3) throw DecodeError{"only loads and prefetches in im2col mode are supported"};
    if (im2col) d.offsets = c.vector_sources(1, isa::OperandType::B16);
  }
  if (im2col && (d.flag || d.offsets.size() + 2 != d.count))
    throw DecodeError{fmt::format("{} offsets given for rank {}", d.offsets.size(), d.count)};
  const size_t wanted = d.flag ? 5u : d.count;
  if (d.coordinates.size() != wanted) {
    throw DecodeError{fmt::format("{} coordinates given, {} needed", d.coordinates.size(), wanted)};
  }
  return true;
}

bool decode_plain_reduce(DecodeContext& c) {
  c.set(Op::BulkReduce, CostClass::TmaIssue);
  Detail& d = c.detail();
  const Direction direction = take_direction(c);
  take_common(c, d);
  const bool hint = c.take("L2::cache_hint");
  c.take("noftz");
  const std::string_view op = c.take_any({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  const std::string_view type =
      c.take_any({"u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "b32", "b64"});
  c.finish();
  const auto known_op = units::bulk_op(std::string(op));
  const auto known_type = units::bulk_type(std::string(type));
  if (!known_op || !known_type) throw DecodeError{"the reduction or its type is missing"};
  d.bulk_op = *known_op;
  d.bulk_type = *known_type;
  d.variant = direction.to_shared ? 1 : 2;
  if (direction.to_shared) d.space = ptx::Space::Shared;  // of the mbarrier
  d.address = c.address(0, direction.to_shared ? ptx::Space::Shared : ptx::Space::Global);
  d.address2 = c.address(1, ptx::Space::Shared);
  c.out.src[0] = c.source(2, isa::OperandType::B32);
  if (direction.to_shared) d.address3 = c.address(3, ptx::Space::Shared);
  (void)hint;
  return true;
}

bool decode_clc(DecodeContext& c) {
  if (c.take("try_cancel")) {
    c.set(Op::ClcTryCancel, CostClass::TmaIssue);
    Detail& d = c.detail();
    c.take("async");
    c.take("shared::cta");
    c.take("mbarrier::complete_tx::bytes");
    d.flag2 = c.take("multicast::cluster::all");
    c.take("b128");
    c.finish();
    d.address = c.address(0, ptx::Space::Shared);
    d.address3 = c.address(1, ptx::Space::Shared);
    return true;
  }
  c.take("query_cancel");
  c.set(Op::ClcQuery, CostClass::Alu);
  Detail& d = c.detail();
  if (c.take("is_canceled")) {
    c.take("pred");
    c.take("b128");
    c.finish();
    d.variant = 0;
    c.out.dst[0] = c.destination(0, isa::OperandType::Predicate);
  } else {
    std::string_view component =
        c.take_any({"get_first_ctaid", "get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"});
    if (component.empty()) throw DecodeError{"this query is not supported"};
    c.take("v4");
    c.take("b32");
    c.take("b128");
    c.finish();
    d.variant = component == "get_first_ctaid" ? 1 : static_cast<uint8_t>(2 + component.back() - 'x');
    c.data(0, d, true, isa::OperandType::B32);
  }
  c.out.src[0] = c.source(1, isa::OperandType::B128);
  return true;
}

}  // namespace

// decode_memory has already taken `async` and `bulk` from cp.* opcodes.
bool decode_bulk(DecodeContext& c) {
  if (c.head() == "clusterlaunchcontrol") return decode_clc(c);
  if (c.head() != "cp") return false;
  const bool reduce = c.take("reduce");
  if (reduce) {
    c.take("async");
    c.take("bulk");
  }
  if (c.take("commit_group")) {
    c.finish();
    c.set(Op::BulkCommit, CostClass::TmaIssue);
    return true;
  }
  if (c.take("wait_group")) {
    c.set(Op::BulkWait, CostClass::MbarrierWait);
    c.detail().flag = c.take("read");
    c.finish();
    c.detail().immediate = c.immediate(0);
    return true;
  }
  if (c.take("tensor")) return decode_tensor_copy(c, reduce);
  return reduce ? decode_plain_reduce(c) : decode_plain_copy(c);
}

}  // namespace emu::gpu
