// Loads, stores, atomics, matrix loads, non-bulk asynchronous copies: PTX ISA 9.7.9, 9.7.13, 9.7.14.5.
#include <fmt/format.h>

#include "gpu/decode.h"

namespace emu::gpu {

namespace {

using timing::CostClass;

struct TypeInfo {
  uint8_t bytes;
  ValueType type;
  isa::OperandType immediate;
};

bool parse_type(std::string_view token, TypeInfo& info) {
  using I = isa::OperandType;
  if (token == "b8" || token == "u8") return info = {1, ValueType::Unsigned, I::B32}, true;
  if (token == "s8") return info = {1, ValueType::Signed, I::B32}, true;
  if (token == "b16" || token == "u16") return info = {2, ValueType::Unsigned, I::B16}, true;
  if (token == "s16") return info = {2, ValueType::Signed, I::B16}, true;
  if (token == "f16") return info = {2, ValueType::Half, I::B16}, true;
  if (token == "bf16") return info = {2, ValueType::Bfloat, I::B16}, true;
  if (token == "b32" || token == "u32") return info = {4, ValueType::Unsigned, I::B32}, true;
  if (token == "s32") return info = {4, ValueType::Signed, I::B32}, true;
  if (token == "f32") return info = {4, ValueType::Float, I::F32}, true;
  if (token == "f16x2") return info = {4, ValueType::Half, I::B32}, true;
  if (token == "bf16x2") return info = {4, ValueType::Bfloat, I::B32}, true;
  if (token == "b64" || token == "u64") return info = {8, ValueType::Unsigned, I::B64}, true;
  if (token == "s64") return info = {8, ValueType::Signed, I::B64}, true;
  if (token == "f64") return info = {8, ValueType::Float, I::F64}, true;
  if (token == "b128") return info = {16, ValueType::Bits, I::B128}, true;
  return false;
}

TypeInfo take_type(DecodeContext& c) {
  static const std::initializer_list<std::string_view> kTypes = {
      "b8",  "u8",  "s8",    "b16",    "u16", "s16", "f16", "bf16", "b32", "u32",
      "s32", "f32", "f16x2", "bf16x2", "b64", "u64", "s64", "f64",  "b128"};
  TypeInfo info{};
  const std::string_view token = c.take_any(kTypes);
  if (token.empty() || !parse_type(token, info))
    throw DecodeError{"the element type is missing or not supported"};
  return info;
}

// Semantics, scopes and cache hints: the emulator executes ordinary accesses in order and at once, which
// satisfies every one of them.
void take_memory_order(DecodeContext& c) {
  c.take("mmio");
  c.take_any({"weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "sc"});
  c.take_any({"cta", "cluster", "gpu", "sys"});
}

// Whether a cache-policy operand follows.
bool take_cache_hints(DecodeContext& c) {
  c.take_any({"ca", "cg", "cs", "cv", "lu", "wb", "wt"});
  c.take("nc");
  c.take_any(
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  c.take_any({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  c.take_any({"L2::64B", "L2::128B", "L2::256B"});
  c.take("unified");
  return c.take("L2::cache_hint");
}

ptx::Space take_space(DecodeContext& c, Detail& d) {
  if (c.take("global")) return ptx::Space::Global;
  if (c.take("shared::cluster")) return d.cluster_scope = true, ptx::Space::Shared;
  if (c.take_any({"shared", "shared::cta"}) != "") return ptx::Space::Shared;
  if (c.take("local")) return ptx::Space::Local;
  if (c.take("const")) return ptx::Space::Const;
  if (c.take_any({"param", "param::entry", "param::func"}) != "") return ptx::Space::Param;
  return ptx::Space::Generic;
}

CostClass load_cost(ptx::Space space) {
  switch (space) {
    case ptx::Space::Shared:
      return CostClass::SharedLoad;
    case ptx::Space::Local:
      return CostClass::Local;
    case ptx::Space::Const:
    case ptx::Space::Param:
      return CostClass::Param;
    default:
      return CostClass::GlobalLoad;
  }
}

CostClass store_cost(ptx::Space space) {
  return space == ptx::Space::Shared                                ? CostClass::SharedStore
         : space == ptx::Space::Local || space == ptx::Space::Param ? CostClass::Local
                                                                    : CostClass::GlobalStore;
}

// `.param` means the launch's parameter block in an entry and the frame in a function, and in an entry the
// frame too when the address is a call-scope variable.
ptx::Space effective_space(DecodeContext& c, const AddressOperand& address, ptx::Space space) {
  if (space != ptx::Space::Param) return space;
  if (address.symbol == SymbolBase::Frame) return ptx::Space::Local;
  return c.function.is_entry ? ptx::Space::Param : ptx::Space::Local;
}

bool decode_load_store(DecodeContext& c, bool load) {
  c.set(load ? Op::Load : Op::Store, CostClass::GlobalLoad);
  Detail& d = c.detail();
  take_memory_order(c);
  d.space = take_space(c, d);
  take_cache_hints(c);
  const std::string_view vector = c.take_any({"v2", "v4", "v8"});
  const TypeInfo type = take_type(c);
  c.finish();
  d.bytes = type.bytes;
  d.type = type.type;
  d.address = c.address(load ? 1 : 0, d.space);
  c.data(load ? 0 : 1, d, load, type.immediate);
  d.count = static_cast<uint8_t>(d.data.size());
  const size_t declared = vector.empty() ? 1 : static_cast<size_t>(vector[1] - '0');
  if (declared != d.data.size()) {
    throw DecodeError{fmt::format("{} elements given where the opcode says {}", d.data.size(), declared)};
  }
  const ptx::Space written = d.space;
  d.space = effective_space(c, d.address, d.space);
  c.out.cost.pipe = written == ptx::Space::Param && d.space == ptx::Space::Local
                        ? CostClass::Free  // call parameters travel in registers
                        : (load ? load_cost(d.space) : store_cost(d.space));
  return true;
}

bool decode_atomic(DecodeContext& c) {
  const bool reduction = c.head() == "red";
  c.set(Op::Atomic, CostClass::Atomic);
  Detail& d = c.detail();
  const bool async = reduction && c.take("async");
  if (async) c.take("mbarrier::complete_tx::bytes");
  take_memory_order(c);
  d.space = take_space(c, d);
  c.take("noftz");
  c.take("L2::cache_hint");
  const std::string_view vector = c.take_any({"v2", "v4", "v8"});
  const std::string_view op =
      c.take_any({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  const TypeInfo type = take_type(c);
  c.finish();
  static constexpr std::string_view kNames[] = {"add", "min", "max", "inc",  "dec",
                                                "and", "or",  "xor", "exch", "cas"};
  bool known = false;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (op == kNames[i]) {
      d.atomic = static_cast<AtomicOp>(i);
      known = true;
    }
  }
  if (!known) throw DecodeError{"the atomic operation is missing or not supported"};
  d.bytes = type.bytes;
  d.type = type.type;
  const bool float_type =
      type.type == ValueType::Float || type.type == ValueType::Half || type.type == ValueType::Bfloat;
  const bool float_ok =
      d.atomic == AtomicOp::Add || d.atomic == AtomicOp::Exch || d.atomic == AtomicOp::Cas ||
      ((d.atomic == AtomicOp::Min || d.atomic == AtomicOp::Max) && type.type != ValueType::Float);
  if (float_type && !float_ok) throw DecodeError{fmt::format("atomic {} does not exist for this type", op)};
  const size_t first = reduction ? 0 : 1;
  d.has_destination = !reduction;
  if (async) {
    if (d.space != ptx::Space::Shared) throw DecodeError{"only red.async to .shared::cluster is supported"};
    if (float_type || d.atomic >= AtomicOp::Exch) throw DecodeError{"red.async reduces integers"};
    c.set(Op::StoreAsync, CostClass::SharedStore);
    d.flag = true;
    d.address2 = c.address(2, ptx::Space::Shared);
  }
  d.address = c.address(first, d.space);
  if (!reduction) {
    Detail wanted;
    c.data(0, wanted, true, type.immediate);
    d.coordinates = wanted.data;  // destinations
    if (wanted.data_width[0] == 0) d.has_destination = false;
  }
  c.data(first + 1, d, false, type.immediate);
  d.count = static_cast<uint8_t>(d.data.size());
  if (!vector.empty() && d.atomic == AtomicOp::Cas)
    throw DecodeError{"vector compare-and-swap does not exist"};
  if (d.atomic == AtomicOp::Cas) {
    uint8_t width = 0;
    d.extra = c.source_any(first + 2, &width, type.immediate);
    d.has_extra = true;
  }
  return true;
}

bool decode_matrix(DecodeContext& c, bool load) {
  c.set(load ? Op::LoadMatrix : Op::StoreMatrix, load ? CostClass::SharedLoad : CostClass::SharedStore);
  Detail& d = c.detail();
  c.take("sync");
  c.take("aligned");
  const bool trans = c.take("trans");
  const std::string_view count = c.take_any({"x1", "x2", "x4"});
  d.flag = trans;
  if (!c.take("m8n8")) throw DecodeError{"only .m8n8 matrices of .b16 are supported"};
  if (!c.take("b16")) throw DecodeError{"only .b16 elements are supported"};
  d.space = take_space(c, d);
  c.finish();
  d.address = c.address(load ? 1 : 0, d.space);
  c.data(load ? 0 : 1, d, load, isa::OperandType::B32);
  d.count = static_cast<uint8_t>(d.data.size());
  if (d.count != (count.empty() ? 0 : count[1] - '0'))
    throw DecodeError{"the register list does not match .xN"};
  c.out.cost.slots = d.count;
  return true;
}

bool decode_copy_async(DecodeContext& c) {
  if (c.take("commit_group")) {
    c.finish();
    c.set(Op::CopyAsyncCommit, CostClass::AsyncCopy);
    return true;
  }
  if (c.take("wait_all")) {
    c.finish();
    c.set(Op::CopyAsyncWait, CostClass::AsyncCopy);
    c.detail().flag = true;
    return true;
  }
  if (c.take("wait_group")) {
    c.finish();
    c.set(Op::CopyAsyncWait, CostClass::AsyncCopy);
    c.detail().immediate = c.immediate(0);
    return true;
  }
  if (c.take("mbarrier")) {
    c.take("arrive");
    c.set(Op::CopyAsyncArrive, CostClass::Mbarrier);
    Detail& d = c.detail();
    d.flag = c.take("noinc");
    d.space = take_space(c, d);
    c.take("b64");
    c.finish();
    d.address = c.address(0, d.space);
    return true;
  }
  c.set(Op::CopyAsync, CostClass::AsyncCopy);
  Detail& d = c.detail();
  const bool policy = take_cache_hints(c);  // its operand stands last
  d.space = take_space(c, d);  // .shared stands first: the destination
  if (d.space == ptx::Space::Global && c.take_any({"shared", "shared::cta"}) != "")
    d.space = ptx::Space::Shared;
  c.take("global");
  c.finish();
  d.space2 = ptx::Space::Global;
  d.address = c.address(0, ptx::Space::Shared);
  d.address2 = c.address(1, ptx::Space::Global);
  d.bytes = static_cast<uint8_t>(c.immediate(2));
  if (d.bytes != 4 && d.bytes != 8 && d.bytes != 16) throw DecodeError{"cp.async copies 4, 8 or 16 bytes"};
  if (c.operand_count() > 3) {
    const ptx::Operand& size = c.operand(3);
    if (size.kind == ptx::OperandKind::Register && size.reg_class == ptx::RegClass::Pred) {
      d.extra = c.predicate_source(size, &d.flag3);
      d.flag2 = true;  // ignore-src predicate
    } else if (c.operand_count() > 4 || !policy) {
      d.extra = c.source(3, isa::OperandType::B32);
      d.has_extra = true;
    }
  }
  return true;
}

}  // namespace

bool decode_memory(DecodeContext& c) {
  const std::string& head = c.head();
  if (head == "ld" || head == "ldu") return decode_load_store(c, true);
  if (head == "st") {
    if (c.take("async")) {
      c.set(Op::StoreAsync, CostClass::SharedStore);
      Detail& d = c.detail();
      take_memory_order(c);
      c.take("mbarrier::complete_tx::bytes");
      d.space = take_space(c, d);
      c.take_any({"v2", "v4"});
      const TypeInfo type = take_type(c);
      c.finish();
      d.bytes = type.bytes;
      d.address = c.address(0, ptx::Space::Shared);
      c.data(1, d, false, type.immediate);
      d.count = static_cast<uint8_t>(d.data.size());
      d.address2 = c.address(2, ptx::Space::Shared);
      return true;
    }
    if (c.take("bulk")) {
      c.set(Op::StoreBulk, CostClass::SharedStore);
      Detail& d = c.detail();
      c.take("weak");
      d.space = take_space(c, d);
      c.finish();
      d.address = c.address(0, ptx::Space::Shared);
      uint8_t width = 0;
      c.out.src[0] = c.source_any(1, &width, isa::OperandType::B64);
      d.bytes = width;
      if (c.immediate(2) != 0) throw DecodeError{"st.bulk stores zeros only"};
      return true;
    }
    return decode_load_store(c, false);
  }
  if (head == "atom" || head == "red") return decode_atomic(c);
  if (head == "ldmatrix") return decode_matrix(c, true);
  if (head == "stmatrix") return decode_matrix(c, false);
  if (head == "cp") {
    if (!c.take("async")) return false;
    if (c.take("bulk")) return false;
    return decode_copy_async(c);
  }
  if (head == "prefetch" || head == "prefetchu" || head == "discard" || head == "applypriority") {
    // Hints without an architectural effect. discard may leave the bytes undefined; leaving them is allowed.
    while (!c.next().empty()) {
    }
    c.set(Op::Nop, CostClass::GlobalLoad);
    return true;
  }
  if (head == "createpolicy") {
    while (!c.next().empty()) {
    }
    c.set(Op::CreatePolicy, CostClass::Alu);
    c.out.dst[0] = c.destination(0, isa::OperandType::B64);
    return true;
  }
  return false;
}

}  // namespace emu::gpu
