// Barriers, fences and mbarriers: PTX ISA 9.7.13.
#include <fmt/format.h>

#include "gpu/decode.h"

namespace emu::gpu {

namespace {

using timing::CostClass;

enum BarrierKind : uint8_t { kSync, kArrive, kRedPopc, kRedAnd, kRedOr };

bool decode_cluster_barrier(DecodeContext& c) {
  const bool arrive = c.take("arrive");
  if (!arrive && !c.take("wait")) throw DecodeError{"barrier.cluster needs .arrive or .wait"};
  c.set(arrive ? Op::ClusterArrive : Op::ClusterWait, CostClass::CtaBarrier);
  Detail& d = c.detail();
  c.take_any({"release", "relaxed", "acquire"});
  d.flag = c.take("aligned");
  c.finish();
  return true;
}

bool decode_cta_barrier(DecodeContext& c) {
  const bool is_bar = c.head() == "bar";
  if (is_bar && c.take("warp")) {
    c.take("sync");
    c.finish();
    c.set(Op::BarrierWarp, CostClass::WarpSync);
    c.out.src[0] = c.source(0, isa::OperandType::B32);
    return true;
  }
  if (!is_bar && c.take("cluster")) return decode_cluster_barrier(c);
  c.take_any({"cta"});
  c.set(Op::Barrier, CostClass::CtaBarrier);
  Detail& d = c.detail();
  d.flag = c.take("aligned") || is_bar;  // bar.X is barrier.X.aligned
  size_t first = 0;
  if (c.take("sync")) {
    d.variant = kSync;
  } else if (c.take("arrive")) {
    d.variant = kArrive;
  } else if (c.take("red")) {
    const std::string_view op = c.take_any({"popc", "and", "or"});
    d.variant = op == "popc" ? kRedPopc : op == "and" ? kRedAnd : kRedOr;
    const std::string_view type = c.take_any({"u32", "pred"});
    c.out.dst[0] = c.destination(0, type == "u32" ? isa::OperandType::B32 : isa::OperandType::Predicate);
    first = 1;
  } else {
    throw DecodeError{"the barrier operation is not supported"};
  }
  c.finish();
  c.out.src[0] = c.source(first, isa::OperandType::B32);
  size_t operands = c.operand_count();
  if (d.variant >= kRedPopc) {
    bool negated = false;
    c.out.src[2] = c.predicate_source(c.operand(operands - 1), &negated);
    d.flag3 = negated;
    --operands;
  }
  if (operands > first + 1) {
    c.out.src[1] = c.source(first + 1, isa::OperandType::B32);
    d.has_extra = true;  // a thread count is given
  }
  return true;
}

bool decode_fence(DecodeContext& c) {
  if (c.head() == "membar") {
    if (c.take("proxy")) {
      // membar.proxy.* is fence.proxy.*
    } else {
      c.take_any({"cta", "gl", "sys"});
      c.finish();
      c.set(Op::Nop, CostClass::Fence);
      return true;
    }
  } else if (!c.take("proxy")) {
    // Generic-proxy order: every access of the emulator is performed in program order.
    c.take("mbarrier_init");
    c.take_any({"sc", "acq_rel", "acquire", "release"});
    c.take_any({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    c.take_any({"cta", "cluster", "gpu", "sys"});
    c.finish();
    c.set(Op::Nop, CostClass::Fence);
    return true;
  }
  if (c.take("alias") || c.take("tensormap::generic")) {
    while (!c.next().empty()) {
    }
    c.set(Op::Nop, CostClass::Fence);
    return true;
  }
  if (!c.take("async") && !c.take("async::generic")) throw DecodeError{"this proxy is not supported"};
  c.take_any({"acquire", "release"});
  const std::string_view space = c.take_any({"global", "shared::cta", "shared::cluster"});
  c.take_any({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  c.take_any({"cta", "cluster", "gpu", "sys"});
  c.finish();
  c.set(space == "global" ? Op::Nop : Op::FenceProxy, CostClass::Fence);
  return true;
}

enum TxKind : uint8_t { kExpect, kComplete };
enum ArriveKind : uint8_t { kPlain, kExpectTx, kDrop, kDropExpectTx, kNoComplete, kDropNoComplete };

ptx::Space shared_space(DecodeContext& c, Detail& d) {
  if (c.take("shared::cluster")) return d.cluster_scope = true, ptx::Space::Shared;
  if (c.take_any({"shared::cta", "shared"}) != "") return ptx::Space::Shared;
  return ptx::Space::Generic;
}

bool decode_arrive(DecodeContext& c, bool drop) {
  c.set(Op::MbarrierArrive, CostClass::Mbarrier);
  Detail& d = c.detail();
  const bool expect = c.take("expect_tx");
  const bool no_complete = c.take("noComplete");
  d.variant = no_complete ? (drop ? kDropNoComplete : kNoComplete)
              : expect    ? (drop ? kDropExpectTx : kExpectTx)
                          : (drop ? kDrop : kPlain);
  c.take_any({"release", "relaxed"});
  c.take_any({"cta", "cluster"});
  d.space = shared_space(c, d);
  c.take("b64");
  c.finish();
  uint8_t width = 0;
  c.out.dst[0] = c.destination_any(c.operand(0), &width);
  d.has_destination = width != 0;
  d.address = c.address(1, d.space);
  if (c.operand_count() > 2) {
    c.out.src[0] = c.source(2, isa::OperandType::B32);
    d.has_extra = true;
  }
  return true;
}

bool decode_wait(DecodeContext& c, bool may_suspend) {
  c.set(Op::MbarrierTest, CostClass::MbarrierWait);
  Detail& d = c.detail();
  d.flag = may_suspend;
  d.flag2 = c.take("parity");
  c.take_any({"acquire", "relaxed"});
  c.take_any({"cta", "cluster"});
  d.space = shared_space(c, d);
  c.take("b64");
  c.finish();
  c.out.dst[0] = c.destination(0, isa::OperandType::Predicate);
  d.address = c.address(1, d.space);
  c.out.src[0] = c.source(2, d.flag2 ? isa::OperandType::B32 : isa::OperandType::B64);
  if (c.operand_count() > 3) {
    c.out.src[1] = c.source(3, isa::OperandType::B32);
    d.has_extra = true;
  }
  return true;
}

bool decode_mbarrier(DecodeContext& c) {
  if (c.take("arrive")) return decode_arrive(c, false);
  if (c.take("arrive_drop")) return decode_arrive(c, true);
  if (c.take("test_wait")) return decode_wait(c, false);
  if (c.take("try_wait")) return decode_wait(c, true);
  if (c.take("pending_count")) {
    c.take("b64");
    c.finish();
    c.set(Op::MbarrierPending, CostClass::Alu);
    c.out.dst[0] = c.destination(0, isa::OperandType::B32);
    c.out.src[0] = c.source(1, isa::OperandType::B64);
    return true;
  }
  const bool expect = c.take("expect_tx");
  if (expect || c.take("complete_tx")) {
    c.set(Op::MbarrierTx, CostClass::Mbarrier);
    Detail& d = c.detail();
    d.variant = expect ? kExpect : kComplete;
    c.take("relaxed");
    c.take_any({"cta", "cluster"});
    d.space = shared_space(c, d);
    c.take("b64");
    c.finish();
    d.address = c.address(0, d.space);
    c.out.src[0] = c.source(1, isa::OperandType::B32);
    return true;
  }
  const bool init = c.take("init");
  if (!init && !c.take("inval")) throw DecodeError{"this mbarrier operation is not supported"};
  c.set(init ? Op::MbarrierInit : Op::MbarrierInval, CostClass::Mbarrier);
  Detail& d = c.detail();
  d.space = shared_space(c, d);
  c.take("b64");
  c.finish();
  d.address = c.address(0, d.space);
  if (init) c.out.src[0] = c.source(1, isa::OperandType::B32);
  return true;
}

}  // namespace

bool decode_barrier(DecodeContext& c) {
  const std::string& head = c.head();
  if (head == "bar" || head == "barrier") return decode_cta_barrier(c);
  if (head == "fence" || head == "membar") return decode_fence(c);
  if (head == "mbarrier") return decode_mbarrier(c);
  return false;
}

}  // namespace emu::gpu
