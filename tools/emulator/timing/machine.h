// The machine description: every constant of the timing model in one table, with unit, source and confidence.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace emu::timing {

enum class Confidence : char { High = 'H', Medium = 'M', Low = 'L' };

// X(name, B200 value, H200 value, unit, source, confidence). "cyc" are SM clock cycles.
// Sources: SA = SemiAnalysis microbench-blackwell; AD = QuickRunCUDA B300 pipe catalogue; AS =
// FlashInfer-competition microbenchmarks on B200; TS = TileSight; GN = learn-cuda traces on B200; FG =
// FlashGPU-Sim parameters; FA4 = the FlashAttention-4 paper; ISA = PTX ISA; SASS = scheduling tables of
// nvdisasm; H200 = measured by us on an H200.
#define EMU_MACHINE_PARAMETERS(X)                                                                          \
  X(num_sms, 148, 132, "SMs", "SA, AS; H200", High)                                                        \
  X(clock_ghz, 1.85, 1.98, "GHz", "FA4 paper's clock (1.58..1.965 seen); H200", Medium)                    \
  X(max_warps, 64, 64, "warps/SM", "AS", High)                                                             \
  X(max_ctas, 32, 32, "CTAs/SM", "AS", High)                                                               \
  X(shared_bytes, 233472, 233472, "B/SM", "AS", High)                                                      \
  X(shared_reserved, 1024, 1024, "B/CTA", "AS, H200", High)                                                \
  X(ii_fma, 1, 1, "cyc/warp/SMSP", "AD; H200 124 lanes/clk", High)                                         \
  X(ii_fma_packed, 2, 2, "cyc/warp/SMSP", "AD, FG", High)                                                  \
  X(ii_imad, 2, 2, "cyc/warp/SMSP", "AD; H200", High)                                                      \
  X(ii_imad_wide, 4, 4, "cyc/warp/SMSP", "AD (IMAD.HI 1.00/clk/SM)", Medium)                               \
  X(ii_int_add, 1, 1, "cyc/warp/SMSP", "AD; H200 117 lanes/clk", Medium)                                   \
  X(ii_alu, 2, 2, "cyc/warp/SMSP", "AD; H200 63 lanes/clk", High)                                          \
  X(ii_cvt_pack, 2, 2, "cyc/warp/SMSP", "AD, FG; H200", Medium)                                            \
  X(ii_mufu, 8, 8, "cyc/warp/SMSP", "FA4, AD; H200 16.0 lanes/clk", High)                                  \
  X(ii_xu, 8, 8, "cyc/warp/SMSP", "AD", High)                                                              \
  X(ii_fp64, 64, 2, "cyc/warp/SMSP", "AD (B300 FP64 rate); H200 data sheet", Low)                          \
  X(ii_shuffle_sm, 1, 1, "cyc/warp/SM", "AD; H200 32 lanes/clk", High)                                     \
  X(ii_vote, 2, 2, "cyc/warp/SMSP", "AD", High)                                                            \
  X(ii_redux, 8, 8, "cyc/warp/SMSP", "AD", Medium)                                                         \
  X(lat_fma, 4, 4, "cyc", "SASS, AS; H200", High)                                                          \
  X(lat_alu, 4, 4, "cyc", "SASS, AS; H200", High)                                                          \
  X(lat_cross_pipe, 1, 1, "cyc extra", "SASS 5 across FMA and ALU; H200 fma, max 10.1", High)              \
  X(lat_to_other_units, 2, 2, "cyc extra", "SASS 6 to MUFU, memory; H200 rcp, add 23.05", High)            \
  X(lat_setp_guard, 13, 13, "cyc", "SASS", Medium)                                                         \
  X(lat_mufu, 17, 17, "cyc", "AS; H200", High)                                                             \
  X(lat_xu, 20, 17, "cyc", "AD; H200 popc", Medium)                                                        \
  X(lat_fp64, 40, 16, "cyc", "assumed", Low)                                                               \
  X(lat_shuffle, 24, 24, "cyc", "AD, AS; H200", High)                                                      \
  X(lat_vote, 13, 13, "cyc", "SASS", Medium)                                                               \
  X(lat_redux, 18, 18, "cyc", "AD", Medium)                                                                \
  X(lat_tensor_sync, 20, 33, "cyc", "AD", Medium)                                                          \
  X(lat_shared, 26, 23, "cyc", "AD, AS; H200", High)                                                       \
  X(lat_l1, 38, 38, "cyc", "AS", High)                                                                     \
  X(lat_l2, 300, 276, "cyc", "AS; H200", High)                                                             \
  X(lat_param, 8, 8, "cyc", "FG", Low)                                                                     \
  X(branch_stall, 5, 5, "cyc", "SASS: control bits of BRA", High)                                          \
  X(branch_taken, 6, 6, "cyc extra", "H200 29 a turn of a loop that depends on itself; FG 12 in all",      \
    Medium)                                                                                                \
  X(l2_bytes_per_clk, 70, 30, "B/cyc/SM", "TS, AD; H200 copy within L2", Medium)                           \
  X(bar_sync_base, 11.6, 11.6, "cyc", "H200 12.6 + 2.06 W with the issue; AS 14.6 and 20.7 on B200", High) \
  X(bar_sync_per_warp, 2.06, 2.06, "cyc", "H200, 1 to 32 warps", High)                                     \
  X(bar_arrive, 18, 18, "cyc", "FG 18..24; H200 hop of 41.7 with its loop", Medium)                        \
  X(cluster_barrier, 190, 190, "cyc", "AD 370 round trip", Low)                                            \
  X(mbar_arrive_issue, 8, 5, "cyc", "AD; H200", High)                                                      \
  X(mbar_visible, 24, 24, "cyc", "half of H200's hop of 62 less arrive and branch; FG 29", Medium)         \
  X(mbar_wake, 24, 24, "cyc", "the other half", Medium)                                                    \
  X(lat_mbar_test, 36, 36, "cyc", "FG (H100); H200 41 for a wait that is over, with its branch", High)     \
  X(mbar_try_limit, 2000, 2000, "cyc", "assumed: suspend limit of try_wait", Low)                          \
  X(proxy_fence, 14, 14, "cyc", "H200 17 for a store and the fence", High)                                 \
  X(tma_row, 1.0, 1.0, "cyc/row", "SA refit; H200 (16..64 B rows)", High)                                  \
  X(tma_row_128, 1.18, 1.18, "cyc/row", "H200 (128 B rows)", High)                                         \
  X(bulk_line, 1.33, 1.33, "cyc per 128 B", "H200 96 B/clk", High)                                         \
  X(tma_l2_latency, 300, 300, "cyc", "SA ring slot 400..410; H200 one box alone 404..426", High)           \
  X(bulk_l2_latency, 290, 290, "cyc", "H200 1 KB alone 359", High)                                         \
  X(tma_store_bytes_per_clk, 32, 32, "B/cyc/SM", "AD", Medium)                                             \
  X(tma_store_read_latency, 90, 90, "cyc", "H200 1 KB read after 143", Medium)                             \
  X(tma_store_latency, 1, 1, "cyc", "H200 1 KB written after 144", Medium)                                 \
  X(mma_rate_columns, 2, 2, "columns/cyc", "SA: N/2 cycles per K step at M 64 and 128", High)              \
  X(mma_operand_bytes_per_clk, 128, 128, "B/cyc/SM", "SA", High)                                           \
  X(mma_min_interval, 44, 44, "cyc", "AD", Medium)                                                         \
  X(mma_latency, 104, 104, "cyc", "SA: issue to waiter 104 + N/2 (TS)", High)                              \
  X(mma_issue, 8, 8, "cyc", "GN bound 8..16", Low)                                                         \
  X(commit_issue, 30, 30, "cyc", "AS", Medium)                                                             \
  X(tmem_load_fixed, 25, 25, "cyc", "RH, AS: 29..36 for 64 columns idle", Low)                             \
  X(tmem_columns_per_clk, 2, 2, "columns/cyc/warp", "TS, RH", Low)                                         \
  X(tmem_store_fixed, 6, 6, "cyc", "AS 13 with the wait for it", High)                                     \
  X(tmem_wait_store, 6, 6, "cyc", "AS", Medium)                                                            \
  X(tmem_alloc, 253, 253, "cyc", "AD", Medium)                                                             \
  X(tmem_shift, 12, 12, "cyc", "published B200 probe: 12 each in a stream of shifts", Medium)              \
  X(kernel_launch_us, 2.1, 4.5, "us", "AD; H200 in a virtual machine", Medium)                             \
  X(cta_replace, 2000, 90, "cyc", "GN 0.9..1.9 us with its set-up; H200 390 between CTAs", Low)            \
  X(cta_start, 300, 300, "cyc", "assumed: first instruction fetch and launch overhead", Low)

struct Parameter {
  std::string_view name;
  double value;
  std::string_view unit;
  std::string_view source;
  Confidence confidence;
};

struct Machine {
  std::string name = "b200";
#define EMU_MACHINE_FIELD(field, b200, h200, unit, source, confidence) double field = b200;
  EMU_MACHINE_PARAMETERS(EMU_MACHINE_FIELD)
#undef EMU_MACHINE_FIELD
  bool overridden = false;  // set() changed something: results are what-if figures
};

// "b200" or "h200". Throws std::invalid_argument naming the known machines.
Machine machine(std::string_view name);
// Changes one constant. Throws std::invalid_argument for an unknown name.
void set(Machine& machine, std::string_view name, double value);
// The table, for --list-parameters and the documentation.
std::span<const Parameter> parameters(std::string_view machine_name);

}  // namespace emu::timing
