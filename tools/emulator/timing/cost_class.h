// What an instruction costs the issuing warp, as a class; the machine description gives each class its
// numbers.
#pragma once

#include <cstdint>

namespace emu::timing {

// Pipe membership follows the SASS that ptxas emits for sm_100 (scheduling tables of nvdisasm): the FMA
// group, the ALU group, the variable-latency MIO group, and the uniform/asynchronous group.
enum class CostClass : uint8_t {
  Free,       // folds into a neighbour in SASS: register moves, cvta, reinterpreting cvt, address adds
  Fma,        // add/mul/fma.f32
  FmaPacked,  // f32x2, f16x2, bf16x2 arithmetic: two cycles of the FMA pipe
  Imad,       // mul/mad.lo integer
  ImadWide,   // mul/mad.hi and .wide
  IntAdd,     // add/sub: ptxas may place it on either pipe
  Alu,        // logic, shifts, prmt, selp, setp, min/max, clz-free bit work
  CvtPack,    // cvt to packed bf16x2/f16x2/fp8
  Mufu,       // ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh (one MUFU slot)
  Xu,         // popc, clz, brev, float <-> int and 64-bit conversions
  Fp64,
  Vote,  // vote, match, activemask, elect
  Shuffle,
  Redux,
  TensorSync,  // mma.sync
  Param,       // ld.param, ld.const: constant port
  SharedLoad,
  SharedStore,
  GlobalLoad,
  GlobalStore,
  Local,
  Atomic,
  Branch,
  Call,
  CtaBarrier,
  WarpSync,
  Mbarrier,      // init, arrive, expect_tx
  MbarrierWait,  // test_wait, try_wait
  Fence,
  TmaIssue,
  AsyncCopy,  // cp.async (non-bulk)
  TmemLoad,
  TmemStore,
  TmemWait,
  TmemAlloc,
  MmaIssue,
  Commit,
  Uniform,  // integer work that ptxas puts on the uniform datapath
  Special,  // reading %clock, %globaltimer and other special registers
  Sleep,
  Count
};

// Instructions that ptxas expands (division, square root with rounding, ex2 with range handling) issue
// `slots` times on `pipe`; the other issue slots of the expansion are `extra_fma`, `extra_alu`,
// `extra_uniform` (moves to uniform registers and work there) and `extra_control` (convergence, scoreboard
// fences, no-operations), the last two on pipes that nothing else contends for. `stall` are cycles beyond
// the issue slots for which the control bits of the expansion hold the warp.
struct Cost {
  CostClass pipe = CostClass::Alu;
  uint8_t slots = 1;
  uint8_t extra_fma = 0;
  uint8_t extra_alu = 0;
  uint8_t extra_uniform = 0;
  uint8_t extra_control = 0;
  uint8_t stall = 0;

  unsigned issue_slots() const {
    return unsigned{slots} + extra_fma + extra_alu + extra_uniform + extra_control;
  }
};

// "Fma", "CvtPack", ...
const char* class_name(CostClass cost_class);

}  // namespace emu::timing
