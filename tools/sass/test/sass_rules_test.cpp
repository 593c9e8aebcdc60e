// What the model issues for small PTX bodies, against what ptxas of CUDA 13.0 made of the same text for
// sm_100a at -O3. Each expectation quotes that machine code.
#include <memory>
#include <string>

#include "gpu/loader.h"
#include "memory/global_memory.h"
#include "testing/catch.h"
#include "timing/sass_flow.h"
#include "timing/sass_schedule.h"

namespace {

using namespace emu;
using timing::CostClass;

constexpr const char* kHeader = R"(.version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 p, .param .u32 n) {
.reg .pred %p<20>; .reg .b32 %r<60>; .reg .f32 %f<40>; .reg .b64 %rd<20>;
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 16; add.s64 %rd4, %rd2, %rd3;
)";
constexpr uint32_t kPrologue = 6;

struct Snippet {
  explicit Snippet(const std::string& body, std::string text = kHeader) {
    text += body + "\nret;\n}\n";
    module = gpu::load_module({&text, 1}, "snippet", memory);
    kernel = &gpu::kernel_of(*module, "k");
  }
  const gpu::Program& program() const { return *kernel->programs.front(); }
  const ptx::Function& function() const { return *program().function; }
  const timing::Cost& cost(uint32_t i) const { return program().issue.instructions[i].cost; }
  uint32_t find(std::string_view opcode, int nth = 0) const {
    for (uint32_t i = 0; i < function().instructions.size(); ++i) {
      if (function().instructions[i].opcode.starts_with(opcode) && nth-- == 0) return i;
    }
    FAIL("no " << opcode);
    return 0;
  }
  // Issue slots of what is neither the prologue, nor a load or store, nor the return.
  unsigned slots() const {
    unsigned total = 0;
    for (uint32_t i = kPrologue; i + 1 < function().instructions.size(); ++i) {
      const std::string_view opcode = function().instructions[i].opcode;
      if (!opcode.starts_with("ld.") && !opcode.starts_with("st.") && opcode != "ret")
        total += cost(i).issue_slots();
    }
    return total;
  }

  memory::GlobalMemory memory;
  std::unique_ptr<gpu::LoadedModule> module;
  const gpu::Kernel* kernel = nullptr;
};

const std::string kFour = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];\n";
const std::string kFourWords = "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd4];\n";

}  // namespace

TEST_CASE("a product and a sum without a rounding of their own are one FFMA") {
  // FFMA R5, R4, R5, -R6
  CHECK(Snippet(kFour + "mul.f32 %f5, %f1, %f2; sub.f32 %f6, %f5, %f3; st.global.f32 [%rd4], %f6;").slots() ==
        1);
  // FMUL R5, R4, R5 ; FADD R5, -R6, R5
  CHECK(Snippet(kFour + "mul.rn.f32 %f5, %f1, %f2; sub.f32 %f6, %f5, %f3; st.global.f32 [%rd4], %f6;")
            .slots() == 2);
}

TEST_CASE("a product that feeds two sums is repeated in both") {
  // FFMA R6, R4, R5, -R6 ; FFMA R7, R4, R5, R7
  CHECK(Snippet(kFour + "mul.f32 %f5, %f1, %f2; sub.f32 %f6, %f5, %f3; add.f32 %f7, %f5, %f4;"
                        "st.global.v2.f32 [%rd4], {%f6, %f7};")
            .slots() == 2);
}

TEST_CASE("maxima are taken three at a time") {
  // FMNMX3 R4, R4, R5, R6 ; FMNMX R7, R7, R4
  const std::string chain = "max.f32 %f5, %f1, %f2; max.f32 %f6, %f5, %f3; max.f32 %f7, %f6, %f4;";
  CHECK(Snippet(kFour + chain + "st.global.f32 [%rd4], %f7;").slots() == 2);
  // FMNMX3 R4, R4, R5, R6 ; FMNMX3 R7, R4, R7, R0
  CHECK(Snippet(kFour + "ld.global.f32 %f9, [%rd4+64];" + chain +
                "max.f32 %f8, %f7, %f9; st.global.f32 [%rd4], %f8;")
            .slots() == 2);
}

TEST_CASE("sm_90 has no maximum of three") {
  std::string text = kHeader;
  text.replace(text.find("sm_100a"), 7, "sm_90a");
  CHECK(Snippet(kFour + "max.f32 %f5, %f1, %f2; max.f32 %f6, %f5, %f3; st.global.f32 [%rd4], %f6;", text)
            .slots() == 2);
}

TEST_CASE("ex2 without ftz handles its range in three more instructions") {
  // FSETP.GEU P0, R0, -126 ; @!P0 FMUL R0, R0, 0.5 ; MUFU.EX2 R5, R0 ; @!P0 FMUL R5, R5, R5
  const Snippet full(kFour + "ex2.approx.f32 %f5, %f1; st.global.f32 [%rd4], %f5;");
  const timing::Cost& cost = full.cost(full.find("ex2"));
  CHECK(cost.pipe == CostClass::Mufu);
  CHECK(cost.extra_alu == 1);
  CHECK(cost.extra_fma == 2);
  // MUFU.EX2 R5, R0
  CHECK(Snippet(kFour + "ex2.approx.ftz.f32 %f5, %f1; st.global.f32 [%rd4], %f5;").slots() == 1);
}

TEST_CASE("a pair is packed to bf16 by one F2FP, and a negation rides on its reader") {
  // F2FP.BF16.F32.PACK_AB R5, R4, R5
  CHECK(Snippet(kFour + "cvt.rn.bf16x2.f32 %r3, %f1, %f2; st.global.b32 [%rd4], %r3;").slots() == 1);
  // FADD R5, -R4, R5
  CHECK(Snippet(kFour + "neg.f32 %f5, %f1; add.f32 %f6, %f5, %f2; st.global.f32 [%rd4], %f6;").slots() == 1);
}

TEST_CASE(
    "shift and add, multiply and subtract, three summands, two logic operations: one instruction each") {
  // LEA R5, R4, R5, 0x3
  CHECK(Snippet(kFourWords + "shl.b32 %r7, %r3, 3; add.s32 %r8, %r7, %r4; st.global.u32 [%rd4], %r8;")
            .slots() == 1);
  // IMAD R5, R4, -0x3, R5
  CHECK(Snippet(kFourWords + "mul.lo.s32 %r7, %r3, 3; sub.s32 %r8, %r4, %r7; st.global.u32 [%rd4], %r8;")
            .slots() == 1);
  // IADD3 R5, R6, R4, R5
  CHECK(Snippet(kFourWords + "add.s32 %r7, %r3, %r4; add.s32 %r8, %r7, %r5; st.global.u32 [%rd4], %r8;")
            .slots() == 1);
  // LOP3.LUT R5, R6, R4, R5, 0xf8
  CHECK(Snippet(kFourWords + "and.b32 %r7, %r3, %r4; or.b32 %r8, %r7, %r5; st.global.u32 [%rd4], %r8;")
            .slots() == 1);
}

TEST_CASE("64-bit sums and logic work on halves") {
  // IADD3 R4, P0, R4, R6 ; IADD3.X R5, R5, R7, P0
  CHECK(
      Snippet("ld.global.v2.u64 {%rd5, %rd6}, [%rd4]; add.s64 %rd7, %rd5, %rd6; st.global.u64 [%rd4], %rd7;")
          .slots() == 2);
  // HFMA2 R5 (a constant) ; LOP3.LUT R4, R4, 0x10000
  CHECK(Snippet("ld.global.u32 %r3, [%rd4]; cvt.u64.u32 %rd5, %r3; or.b64 %rd6, %rd5, 4611756662049538048;"
                "st.global.u64 [%rd4], %rd6;")
            .slots() == 2);
}

TEST_CASE("a displacement folds into the address") {
  // LDG R5, [R2.64+0x100] ; IADD3 R5, R0, R5
  CHECK(Snippet("ld.global.u32 %r3, [%rd4]; add.s64 %rd5, %rd4, 256; ld.global.u32 %r4, [%rd5];"
                "add.s32 %r5, %r3, %r4; st.global.u32 [%rd4], %r5;")
            .slots() == 1);
}

TEST_CASE("a predicate that goes through an integer stays a predicate") {
  // ISETP.GT P0, R4, R5 ; @P0 EXIT
  CHECK(Snippet(kFourWords + "setp.gt.s32 %p1, %r3, %r4; selp.u32 %r7, 1, 0, %p1; setp.eq.s32 %p2, %r7, 0;"
                             "@%p2 st.global.u32 [%rd4], %r3;")
            .slots() == 1);
}

namespace {

const std::string kMma = R"(
mov.u32 %r10, smem; ld.shared.u32 %r11, [%r10]; mov.b32 %r12, 136316048; mov.b32 %r13, 1;
ld.shared.u64 %rd5, [%r10+8]; ld.shared.u64 %rd6, [%r10+16];
setp.ne.u32 %p5, %r13, 0;
tcgen05.mma.cta_group::1.kind::f16 [%r11], %rd5, %rd6, %r12, %p5;
)";

}  // namespace

TEST_CASE("where elect.sync chose one lane an MMA issues once") {
  const Snippet snippet(
      "elect.sync _|%p1, 0xFFFFFFFF; selp.u32 %r3, 1, 0, %p1; setp.eq.s32 %p2, %r3, 0;"
      "@%p2 bra done;" +
      kMma + "done:");
  const uint32_t mma = snippet.find("tcgen05.mma");
  const timing::SassFlow flow(snippet.function());
  CHECK(flow.convergence[flow.block(mma)] == timing::Convergence::Elected);
  // As in chapter 7's MMA loop: R2UR of the accumulator, of both words of both descriptors, two UMOV.
  CHECK(snippet.cost(mma).extra_uniform == 7);
  CHECK(snippet.cost(mma).extra_alu == 0);
}

TEST_CASE("where several lanes may come an MMA is issued lane by lane") {
  const Snippet snippet("setp.ne.s32 %p2, %r2, 0; @%p2 bra done;" + kMma + "done:");
  const uint32_t mma = snippet.find("tcgen05.mma");
  const timing::SassFlow flow(snippet.function());
  CHECK(flow.convergence[flow.block(mma)] == timing::Convergence::Partial);
  // As in chapter 1: ELECT and three PLOP3, BRA.U.ANY, and 44 cycles from one MMA to the next by their
  // control bits.
  CHECK(snippet.cost(mma).extra_alu == 4);
  CHECK(snippet.cost(mma).extra_control == 1);
  CHECK(snippet.cost(mma).issue_slots() + snippet.cost(mma).stall == 44);
}

TEST_CASE("what derives from parameters and block numbers alone goes to the uniform datapath") {
  const Snippet snippet(
      "mov.u32 %r3, %ctaid.x; add.s32 %r4, %r3, %r1; add.s32 %r5, %r4, %r2; xor.b32 %r6, %r4, 5;"
      "st.global.v2.u32 [%rd4], {%r5, %r6};");
  CHECK(snippet.cost(snippet.find("xor")).pipe == CostClass::Uniform);
  CHECK(snippet.cost(snippet.find("add.s32", 1)).pipe == CostClass::IntAdd);
}

TEST_CASE("the schedule spreads independent chains and keeps every dependence") {
  const Snippet snippet(kFour +
                        "add.f32 %f5, %f1, %f1; ex2.approx.ftz.f32 %f6, %f5; add.f32 %f7, %f6, %f6;"
                        "add.f32 %f8, %f2, %f2; ex2.approx.ftz.f32 %f9, %f8; add.f32 %f10, %f9, %f9;"
                        "st.global.v2.f32 [%rd4], {%f7, %f10};");
  std::vector<timing::Cost> costs;
  for (uint32_t i = 0; i < snippet.function().instructions.size(); ++i) costs.push_back(snippet.cost(i));
  const auto order = timing::schedule(snippet.function(), costs, timing::machine("b200"));
  std::vector<uint32_t> place(order.size());
  for (uint32_t at = 0; at < order.size(); ++at) place[order[at]] = at;
  const uint32_t ex2 = snippet.find("ex2"), second = snippet.find("ex2", 1), load = snippet.find("ld.global");
  // The second exponential does not wait for the first one's reader.
  CHECK(place[second] < place[ex2 + 1]);
  CHECK(place[load] < place[ex2 - 1]);
  CHECK(place[ex2 - 1] < place[ex2]);
  CHECK(place[ex2] < place[ex2 + 1]);
  CHECK(place[snippet.find("st.global")] > place[second + 1]);
  CHECK(order.back() == order.size() - 1);
}

TEST_CASE("a load from tensor memory moves up while the one before is worked on") {
  std::string body = "mov.b32 %r3, 0;\n";
  for (int k = 0; k < 2; ++k) {
    const std::string a = std::to_string(10 * k + 1), b = std::to_string(10 * k + 2),
                      c = std::to_string(10 * k + 3);
    body += "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r" + std::to_string(20 + k * 2) + ", %r" +
            std::to_string(21 + k * 2) + "}, [%r3];\ntcgen05.wait::ld.sync.aligned;\n";
    body += "mov.b32 %f" + a + ", %r" + std::to_string(20 + k * 2) + "; add.f32 %f" + b + ", %f" + a +
            ", %f" + a + "; mul.f32 %f" + c + ", %f" + b + ", %f" + b + ";\n";
  }
  body += "st.global.v2.f32 [%rd4], {%f3, %f13};";
  const Snippet snippet(body);
  std::vector<timing::Cost> costs;
  for (uint32_t i = 0; i < snippet.function().instructions.size(); ++i) costs.push_back(snippet.cost(i));
  const auto order = timing::schedule(snippet.function(), costs, timing::machine("b200"));
  std::vector<uint32_t> place(order.size());
  for (uint32_t at = 0; at < order.size(); ++at) place[order[at]] = at;
  // Chapter 7: LDTM R4 ; LDTM R20 ; LDTM R12, and only then FMNMX3 on R4.
  CHECK(place[snippet.find("tcgen05.ld", 1)] < place[snippet.find("mul.f32")]);
  CHECK(place[snippet.find("tcgen05.wait")] < place[snippet.find("add.f32")]);
  const ptx::Function moved = timing::reordered(snippet.function(), order);
  CHECK(moved.instructions.size() == order.size());
  CHECK(moved.num_slots > 0);
}
