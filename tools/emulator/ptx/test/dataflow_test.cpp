// Which operands are read and written, form by form.
#include <set>

#include "ptx/dataflow.h"
#include "ptx/test/helpers.h"
#include "testing/catch.h"

using namespace emu::ptx;
using namespace emu::ptx::test;

namespace {

// "reads a b, writes c" of a single instruction over registers a..h, wide W and predicates p, q.
struct Effect {
  std::set<std::string> reads, writes;
};

Effect effect(const std::string& instruction) {
  const Sample s(
      ".reg .b32 a, b, c, d, e, f, g, h; .reg .b64 W, X; .reg .b128 Q; .reg .pred p, q, t;" + instruction,
      ".func (.param .b32 r) callee(.param .b32 x);");
  Effect result;
  for_each_register(s.function, s.at(0), [&](int32_t reg, Access access) {
    const std::string& name = s.function.registers[reg].name;
    if (access != Access::Write) result.reads.insert(name);
    if (access != Access::Read) result.writes.insert(name);
  });
  return result;
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("arithmetic writes its first operand") {
  for (const char* text :
       {"add.s32 a, b, c;", "fma.rn.f32 a, b, c, c;", "selp.b32 a, b, c, p;", "cvt.rn.bf16x2.f32 a, b, c;",
        "mul.hi.u32 a, b, c;", "prmt.b32 a, b, c, 7;", "lop3.b32 a, b, c, c, 3;",
        "vote.sync.ballot.b32 a, p, -1;", "atom.shared.add.u32 a, [b], c;",
        "mapa.shared::cluster.u32 a, b, c;", "redux.sync.add.s32 a, b, c;"}) {
    INFO(text);
    CHECK(effect(text).writes == Names{"a"});
    CHECK(effect(text).reads.count("a") == 0);
  }
}

TEST_CASE("stores, copies, barriers and tensor operations write memory only") {
  for (const char* text :
       {"st.global.b32 [W], a;",
        "st.shared.v4.b32 [a], {b, c, d, e};",
        "red.global.add.f32 [W], a;",
        "bar.sync a, b;",
        "bar.arrive a, b;",
        "barrier.cluster.arrive.aligned;",
        "mbarrier.init.shared::cta.b64 [a], b;",
        "mbarrier.expect_tx.shared::cta.b64 [a], b;",
        "cp.async.cg.shared.global [a], [W], 16, b;",
        "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [a], [W, {b, c}], [d];",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [W, {b, c}], [a];",
        "prefetch.tensormap [W];",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], b;",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 a, b;",
        "tcgen05.mma.cta_group::1.kind::f16 [a], W, X, b, {c, d, e, f}, p;",
        "tcgen05.mma.cta_group::2.kind::f16 [a], [c], X, b, p;",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [W];",
        "tcgen05.st.sync.aligned.32x32b.x2.b32 [a], {b, c};",
        "stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [a], {b, c, d, e};",
        "nanosleep.u32 a;",
        "fence.proxy.async.shared::cta;",
        "setmaxnreg.dec.sync.aligned.u32 40;",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [a], [b];",
        "bar.warp.sync a;"}) {
    INFO(text);
    CHECK(effect(text).writes.empty());
  }
  CHECK(effect("tcgen05.mma.cta_group::1.kind::f16 [a], W, X, b, {c, d, e, f}, !p;").reads ==
        Names{"a", "W", "X", "b", "c", "d", "e", "f", "p"});
  CHECK(effect("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [W, {b, c}], [a];").reads ==
        Names{"W", "b", "c", "a"});
}

TEST_CASE("vectors and pairs are written whole") {
  CHECK(effect("ld.shared.v4.f32 {a, b, c, d}, [e];").writes == Names{"a", "b", "c", "d"});
  CHECK(effect("mov.b64 {a, b}, W;").writes == Names{"a", "b"});
  CHECK(effect("mov.b64 W, {a, b};").reads == Names{"a", "b"});
  CHECK(effect("setp.lt.s32 p|q, a, b;").writes == Names{"p", "q"});
  CHECK(effect("shfl.sync.bfly.b32 a|p, b, 1, 31, -1;").writes == Names{"a", "p"});
  CHECK(effect("elect.sync _|p, a;").writes == Names{"p"});
  CHECK(effect("match.all.sync.b32 a|p, b, c;").writes == Names{"a", "p"});
  CHECK(effect("tcgen05.ld.sync.aligned.32x32b.x2.b32 {a, b}, [c];").writes == Names{"a", "b"});
  CHECK(effect("tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {a, b}, c, [d];").writes ==
        Names{"a", "b", "c"});
  CHECK(effect("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a, b}, [c];").writes == Names{"a", "b"});
  const Effect mma = effect(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {a, b, c, d}, {e, f, g, h}, {e, f}, {a, b, c, "
      "d};");
  CHECK(mma.writes == Names{"a", "b", "c", "d"});
  CHECK(mma.reads.count("a") == 1);
}

TEST_CASE("barrier queries write their answer") {
  CHECK(effect("mbarrier.try_wait.parity.shared::cta.b64 p, [a], b, c;").writes == Names{"p"});
  CHECK(effect("mbarrier.test_wait.parity.shared::cta.b64 p, [a], b;").writes == Names{"p"});
  CHECK(effect("mbarrier.arrive.shared::cta.b64 W, [a];").writes == Names{"W"});
  CHECK(effect("mbarrier.arrive.expect_tx.shared::cta.b64 _, [a], b;").writes.empty());
  CHECK(effect("bar.red.popc.u32 a, b, p;").writes == Names{"a"});
  CHECK(effect("barrier.cta.red.or.pred p, a, q;").writes == Names{"p"});
  CHECK(effect("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, Q;").writes == Names{"p"});
  CHECK(effect("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {a, b, c, _}, Q;").writes ==
        Names{"a", "b", "c"});
}

TEST_CASE("a guard is read and makes every write partial") {
  const Effect guarded = effect("@!t mov.b32 a, b;");
  CHECK(guarded.reads == Names{"a", "b", "t"});
  CHECK(guarded.writes == Names{"a"});
}

TEST_CASE("calls read arguments and a register callee, and write results") {
  CHECK(effect("call (a), callee, (b);").writes == Names{"a"});
  CHECK(effect("call (a), callee, (b);").reads == Names{"b"});
  CHECK(effect("call (a), W, (b);").reads == Names{"b", "W"});
}

TEST_CASE("an unknown opcode is read and written throughout") {
  CHECK(operand_access("frobnicate.b32", 0) == Access::ReadWrite);
  CHECK(operand_access("tcgen05.novel", 1) == Access::ReadWrite);
  CHECK(operand_access("mbarrier.novel.b64", 0) == Access::ReadWrite);
  CHECK(effect("frobnicate.b32 a, [b];").reads == Names{"a", "b"});
  CHECK(effect("frobnicate.b32 a, [b];").writes == Names{"a"});
}
