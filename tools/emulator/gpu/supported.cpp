// The list of engine forms for `emu --supported`. The decoders take opcodes apart token by token and hold no
// list; so the forms of the manual are written out here as patterns, each is given to the real decoder as one
// instruction of a small kernel, and what it accepts is listed.
#include <fmt/format.h>

#include "gpu/decode.h"
#include "isa/alu_form_index.h"

namespace emu::gpu {

namespace {

// (a,b): one of them; {a,b}: one of them or none. Operands in the registers of kRegisters.
struct Family {
  const char* pattern;
  const char* operands;
};

constexpr const char* kRegisters =
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<140>; .reg .b64 %d<20>; .reg .b128 %q<4>;";

constexpr Family kFamilies[] = {
    // Control
    {"bra{.uni}", "L"},
    {"call{.uni}", "callee"},
    {"ret{.uni}", ""},
    {"exit", ""},
    {"trap", ""},
    {"brkpt", ""},
    {"nanosleep.u32", "%r0"},
    {"setmaxnreg.(inc,dec).sync.aligned.u32", "40"},
    {"griddepcontrol.(wait,launch_dependents)", ""},
    {"pmevent", "1"},
    // Addresses
    {"cvta{.to}.(global,shared,local,const,param).u64", "%d0, %d1"},
    {"isspacep.(global,shared,shared::cta,shared::cluster,local,const)", "%p0, %d1"},
    {"mapa{.shared::cluster}.u64", "%d0, %d1, %r1"},
    {"mapa.shared::cluster.u32", "%r0, %r1, %r2"},
    {"getctarank.shared::cluster.u32", "%r0, %r1"},
    {"createpolicy.fractional.L2::(evict_first,evict_last,evict_normal).b64", "%d0, 0f3F800000"},
    {"prefetch.tensormap", "[%d0]"},
    {"prefetch{.global}.(L1,L2)", "[%d0]"},
    {"discard.global.L2", "[%d0], 128"},
    {"applypriority.global.L2::evict_normal", "[%d0], 128"},
    // Loads and stores
    {"ld{.volatile,.weak}{.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param}"
     ".(b8,u8,s8,b16,u16,s16)",
     "%r0, [%d0]"},
    {"ld{.volatile,.weak}{.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param}.(b32,u32,s32,"
     "f32)",
     "%r0, [%d0]"},
    {"ld{.volatile,.weak}{.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param}.(b64,u64,s64,"
     "f64)",
     "%d2, [%d0]"},
    {"ld{.global,.shared}.b128", "%q0, [%d0]"},
    {"ld{.global,.shared,.local,.const,.param}.v2.(b32,u32,s32,f32)", "{%r0, %r1}, [%d0]"},
    {"ld{.global,.shared,.local,.const,.param}.v4.(b32,u32,s32,f32)", "{%r0, %r1, %r2, %r3}, [%d0]"},
    {"ld{.global,.shared,.local,.const,.param}.v2.(b64,u64,s64,f64)", "{%d2, %d3}, [%d0]"},
    {"ld.global{.L1::no_allocate}.v8.(b32,f32)", "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d0]"},
    {"ld.global.v4.(b64,f64)", "{%d2, %d3, %d4, %d5}, [%d0]"},
    {"ld.global.nc{.L1::no_allocate}{.L2::128B,.L2::256B}.(u32,f32)", "%r0, [%d0]"},
    {"ld.(relaxed,acquire).(cta,cluster,gpu,sys){.global,.shared}.(b32,u32)", "%r0, [%d0]"},
    {"ld.(relaxed,acquire).(cta,cluster,gpu,sys){.global,.shared}.(b64,u64)", "%d2, [%d0]"},
    {"st{.volatile,.weak}{.global,.shared,.shared::cta,.shared::cluster,.local,.param}.(b8,u8,s8,b16,u16,"
     "s16)",
     "[%d0], %h0"},
    {"st{.volatile,.weak}{.global,.shared,.shared::cta,.shared::cluster,.local,.param}.(b32,u32,s32,f32)",
     "[%d0], %r0"},
    {"st{.volatile,.weak}{.global,.shared,.shared::cta,.shared::cluster,.local,.param}.(b64,u64,s64,f64)",
     "[%d0], %d2"},
    {"st{.global,.shared}.b128", "[%d0], %q0"},
    {"st{.global,.shared,.local,.param}.v2.(b32,u32,s32,f32)", "[%d0], {%r0, %r1}"},
    {"st{.global,.shared,.local,.param}.v4.(b32,u32,s32,f32)", "[%d0], {%r0, %r1, %r2, %r3}"},
    {"st{.global,.shared,.local,.param}.v2.(b64,u64,s64,f64)", "[%d0], {%d2, %d3}"},
    {"st{.relaxed.cta}.global{.L1::no_allocate}.v8.(b32,f32)",
     "[%d0], {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}"},
    {"st.global.v4.(b64,f64)", "[%d0], {%d2, %d3, %d4, %d5}"},
    {"st.(relaxed,release).(cta,cluster,gpu,sys){.global,.shared}.(b32,u32)", "[%d0], %r0"},
    {"st.(relaxed,release).(cta,cluster,gpu,sys){.global,.shared}.(b64,u64)", "[%d0], %d2"},
    {"st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes.(b32,u32,s32,f32)", "[%r0], %r1, [%r2]"},
    {"st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes.(b64,u64,s64,f64)", "[%r0], %d1, [%r2]"},
    {"st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes.v2.(b64,u64)", "[%r0], {%d1, %d2}, [%r2]"},
    {"st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes.v4.(b32,f32)",
     "[%r0], {%r3, %r4, %r5, %r6}, [%r2]"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.(add,min,max).(u32,s32)",
     "[%r0], %r1, [%r2]"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.(and,or,xor).b32",
     "[%r0], %r1, [%r2]"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.(inc,dec).u32",
     "[%r0], %r1, [%r2]"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64", "[%r0], %d1, [%r2]"},
    {"st.bulk{.weak}.shared::cta", "[%d0], %d1, 0"},
    // Atomics
    {"atom{.relaxed,.acquire,.release,.acq_rel}{.cta,.cluster,.gpu,.sys}{.global,.shared}.(add,min,max).(u32,"
     "s32)",
     "%r0, [%d0], %r1"},
    {"atom{.relaxed,.acquire,.release,.acq_rel}{.cta,.cluster,.gpu,.sys}{.global,.shared}.(and,or,xor,exch)."
     "b32",
     "%r0, [%d0], %r1"},
    {"atom{.global,.shared}{.cta,.gpu,.sys}.(add,min,max).(u32,s32)", "%r0, [%d0], %r1"},
    {"atom{.global,.shared}{.cta,.gpu,.sys}.(inc,dec).u32", "%r0, [%d0], %r1"},
    {"atom.add.(relaxed,acquire,release,acq_rel).(cta,cluster,gpu,sys).u32", "%r0, [%d0], %r1"},
    {"atom{.global,.shared}.(add,min,max).(u64,s64)", "%d2, [%d0], %d3"},
    {"atom{.global,.shared}.(and,or,xor,exch).b64", "%d2, [%d0], %d3"},
    {"atom{.relaxed}{.global,.shared}.cas.b32", "%r0, [%d0], %r1, %r2"},
    {"atom{.relaxed}{.global,.shared}.cas.b64", "%d2, [%d0], %d3, %d4"},
    {"atom{.global,.shared}.cas.b16", "%h0, [%d0], %h1, %h2"},
    {"atom{.global,.shared}.exch.b128", "%q0, [%d0], %q1"},
    {"atom{.global,.shared}.cas.b128", "%q0, [%d0], %q1, %q2"},
    {"atom{.global,.shared}.add.f32", "%r0, [%d0], %r1"},
    {"atom{.global,.shared}.add.f64", "%d2, [%d0], %d3"},
    {"atom{.global,.shared}.add.noftz.(f16x2,bf16x2)", "%r0, [%d0], %r1"},
    {"atom{.global,.shared}.add.noftz.(f16,bf16)", "%h0, [%d0], %h1"},
    {"atom.global.v2.f32.add", "{%r0, %r1}, [%d0], {%r2, %r3}"},
    {"atom.global.v4.f32.add", "{%r0, %r1, %r2, %r3}, [%d0], {%r4, %r5, %r6, %r7}"},
    {"atom.global.v2.(f16x2,bf16x2).(add,min,max).noftz", "{%r0, %r1}, [%d0], {%r2, %r3}"},
    {"red{.relaxed}{.gpu,.sys,.cta}{.global,.shared}.(add,min,max).(u32,s32)", "[%d0], %r1"},
    {"red{.global,.shared}.(and,or,xor).b32", "[%d0], %r1"},
    {"red{.global,.shared}.add.f32", "[%d0], %r1"},
    {"red{.global,.shared}.add.(u64,f64)", "[%d0], %d1"},
    {"(atom).global.(add,min,max).noftz.v2.(f16,bf16)", "{%h0, %h1}, [%d0], {%h2, %h3}"},
    {"(red).global.(add,min,max).noftz.v4.(f16,bf16)", "[%d0], {%h0, %h1, %h2, %h3}"},
    {"red.global.(add,min,max).noftz.v8.(f16,bf16)", "[%d0], {%h0, %h1, %h2, %h3, %h0, %h1, %h2, %h3}"},
    {"red.global.(add,min,max).noftz.v4.(f16x2,bf16x2)", "[%d0], {%r2, %r3, %r4, %r5}"},
    {"(ld).mmio.relaxed.sys.global.u32", "%r0, [%d0]"},
    {"red.global.v2.f32.add", "[%d0], {%r2, %r3}"},
    {"red.global.v4.f32.add", "[%d0], {%r2, %r3, %r4, %r5}"},
    // Matrices and cp.async
    {"(ldmatrix).sync.aligned.m8n8.x1{.trans}{.shared,.shared::cta}.b16", "{%r0}, [%r1]"},
    {"ldmatrix.sync.aligned.m8n8.x2{.trans}{.shared,.shared::cta}.b16", "{%r0, %r2}, [%r1]"},
    {"ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared,.shared::cta}.b16", "{%r0, %r2, %r3, %r4}, [%r1]"},
    {"stmatrix.sync.aligned.m8n8.x1{.trans}{.shared,.shared::cta}.b16", "[%r1], {%r0}"},
    {"stmatrix.sync.aligned.m8n8.x2{.trans}{.shared,.shared::cta}.b16", "[%r1], {%r0, %r2}"},
    {"stmatrix.sync.aligned.m8n8.x4{.trans}{.shared,.shared::cta}.b16", "[%r1], {%r0, %r2, %r3, %r4}"},
    {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "{%r0, %r2}, [%r1]"},
    {"wmma.load.(a,b).sync.aligned.(row,col).(m16n16k16,m32n8k16,m8n32k16){.global,.shared,.shared::cta}.f16",
     "{%r0, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d0], %r1"},
    {"wmma.load.c.sync.aligned.(row,col).(m16n16k16,m32n8k16,m8n32k16){.global,.shared,.shared::cta}.(f32,"
     "s32)",
     "{%r0, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d0], %r1"},
    {"wmma.load.c.sync.aligned.(row,col).(m16n16k16,m32n8k16,m8n32k16){.global,.shared,.shared::cta}.f16",
     "{%r0, %r2, %r3, %r4}, [%d0], %r1"},
    {"wmma.load.(a,b).sync.aligned.(row,col).m16n16k16{.global,.shared}.bf16",
     "{%r0, %r2, %r3, %r4}, [%d0], %r1"},
    {"wmma.load.(a,b).sync.aligned.(row,col).m16n16k16{.global,.shared}.(u8,s8)", "{%r0, %r2}, [%d0], %r1"},
    {"wmma.load.(a,b).sync.aligned.(row,col).m16n16k8{.global,.shared}.tf32",
     "{%r0, %r2, %r3, %r4}, [%d0], %r1"},
    {"wmma.load.(a,b).sync.aligned.(row,col).m8n8k4{.global,.shared}.f64", "{%d2}, [%d0], %r1"},
    {"wmma.load.a.sync.aligned.row.(m8n8k32.u4,m8n8k32.s4,m8n8k128.b1)", "{%r0}, [%d0], %r1"},
    {"wmma.store.d.sync.aligned.(row,col).(m16n16k16,m32n8k16,m8n32k16){.global,.shared,.shared::cta}.(f32,"
     "s32)",
     "[%d0], {%r0, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, %r1"},
    {"wmma.store.d.sync.aligned.(row,col).(m16n16k16,m32n8k16,m8n32k16){.global,.shared,.shared::cta}.f16",
     "[%d0], {%r0, %r2, %r3, %r4}, %r1"},
    {"wmma.store.d.sync.aligned.(row,col).m8n8k4{.global,.shared}.f64", "[%d0], {%d2, %d3}, %r1"},
    {"cp.async.ca{.shared,.shared::cta}.global{.L2::64B,.L2::128B,.L2::256B}", "[%r0], [%d0], 4"},
    {"cp.async.(ca,cg){.shared,.shared::cta}.global{.L2::64B,.L2::128B,.L2::256B}", "[%r0], [%d0], 16, %r2"},
    {"cp.async.(commit_group,wait_all)", ""},
    {"cp.async.wait_group", "1"},
    {"cp.async.mbarrier.arrive{.noinc}{.shared,.shared::cta}.b64", "[%r0]"},
    // Barriers and fences
    {"bar.sync", "0"},
    {"bar{.cta}.(sync,arrive)", "%r0, %r1"},
    {"barrier{.cta}.sync{.aligned}", "0"},
    {"barrier{.cta}.(sync,arrive){.aligned}", "%r0, %r1"},
    {"(bar,barrier){.cta}.red.(popc).u32", "%r0, 1, %p1"},
    {"(bar,barrier){.cta}.red.(and,or).pred", "%p0, 1, %p1"},
    {"bar.warp.sync", "%r0"},
    {"barrier.cluster.arrive{.release,.relaxed}{.aligned}", ""},
    {"barrier.cluster.wait{.acquire}{.aligned}", ""},
    {"membar.(cta,gl,sys)", ""},
    {"fence{.sc,.acq_rel,.acquire,.release}.(cta,cluster,gpu,sys)", ""},
    {"fence.mbarrier_init.release.cluster", ""},
    {"fence.proxy.(alias,async)", ""},
    {"fence.proxy.async.(global,shared::cta,shared::cluster)", ""},
    {"fence.proxy.tensormap::generic.release.(cta,cluster,gpu,sys)", ""},
    {"fence.proxy.tensormap::generic.acquire.(cta,cluster,gpu,sys)", "[%d0], 128"},
    {"mbarrier.init{.shared,.shared::cta}.b64", "[%r0], %r1"},
    {"mbarrier.inval{.shared,.shared::cta}.b64", "[%r0]"},
    {"mbarrier.(expect_tx,complete_tx){.relaxed.cta,.relaxed.cluster}{.shared,.shared::cta,.shared::cluster}."
     "b64",
     "[%r0], %r1"},
    {"mbarrier.(arrive,arrive_drop){.release,.relaxed}{.cta,.cluster}{.shared,.shared::cta}.b64",
     "%d0, [%r0]"},
    {"mbarrier.(arrive,arrive_drop){.release,.relaxed}{.cta,.cluster}.shared::cluster.b64", "_, [%r0]"},
    {"mbarrier.(arrive,arrive_drop).expect_tx{.release,.relaxed}{.cta,.cluster}{.shared::cta,.shared::"
     "cluster}.b64",
     "_, [%r0], %r1"},
    {"mbarrier.(arrive,arrive_drop).noComplete{.release.cta}{.shared,.shared::cta}.b64", "%d0, [%r0], %r1"},
    {"mbarrier.(test_wait,try_wait).parity{.acquire,.relaxed}{.cta,.cluster}{.shared,.shared::cta}.b64",
     "%p0, [%r0], %r1"},
    {"mbarrier.(test_wait,try_wait){.acquire,.relaxed}{.cta,.cluster}{.shared,.shared::cta}.b64",
     "%p0, [%r0], %d1"},
    {"mbarrier.pending_count.b64", "%r0, %d0"},
    // Bulk copies
    {"cp.async.bulk.(commit_group)", ""},
    {"cp.async.bulk.wait_group{.read}", "0"},
    {"cp.async.bulk.(shared::cta,shared::cluster).global.mbarrier::complete_tx::bytes",
     "[%r0], [%d0], %r1, [%r2]"},
    {"cp.async.bulk.(shared::cta,shared::cluster).global.mbarrier::complete_tx::bytes.L2::cache_hint",
     "[%r0], [%d0], %r1, [%r2], %d1"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob",
     "[%r0], [%d0], %r1, %r3, %r4, [%r2]"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
     "[%r0], [%d0], %r1, [%r2], %h0"},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "[%r0], [%r3], %r1, [%r2]"},
    {"cp.async.bulk.global.shared::cta.bulk_group", "[%d0], [%r0], %r1"},
    {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint", "[%d0], [%r0], %r1, %d1"},
    {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "[%d0], [%r0], %r1, %h0"},
    {"cp.async.bulk.prefetch.L2.global", "[%d0], %r1"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.(add,min,max).(u32,s32,u64,s64)",
     "[%d0], [%r0], %r1"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.(and,or,xor).(b32,b64)", "[%d0], [%r0], %r1"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.(inc,dec).u32", "[%d0], [%r0], %r1"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.(f32,f64)", "[%d0], [%r0], %r1"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.(add,min,max){.noftz}.(f16,bf16)",
     "[%d0], [%r0], %r1"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(add,min,max).(u32,s32)",
     "[%r0], [%r3], %r1, [%r2]"},
    // Cluster launch control
    {"clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes{.multicast::cluster::"
     "all}.b128",
     "[%r0], [%r1]"},
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "%p0, %q0"},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128", "{%r0, %r1, %r2, %r3}, %q0"},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::(x,y,z).b32.b128", "%r0, %q0"},
    // tcgen05 without register vectors
    {"tcgen05.alloc.cta_group::(1,2).sync.aligned{.shared::cta}.b32", "[%r0], %r1"},
    {"tcgen05.dealloc.cta_group::(1,2).sync.aligned.b32", "%r0, %r1"},
    {"tcgen05.relinquish_alloc_permit.cta_group::(1,2).sync.aligned", ""},
    {"tcgen05.fence::(before,after)_thread_sync", ""},
    {"tcgen05.wait::(ld,st).sync.aligned", ""},
    {"tcgen05.commit.cta_group::(1,2).mbarrier::arrive::one{.shared::cluster}.b64", "[%d0]"},
    {"tcgen05.commit.cta_group::(1,2).mbarrier::arrive::one{.shared::cluster}.multicast::cluster.b64",
     "[%d0], %h0"},
    {"tcgen05.cp.cta_group::(1,2).(128x256b,128x128b,4x256b,64x128b.warpx2::02_13,64x128b.warpx2::01_23,"
     "32x128b.warpx4)"
     "{.b8x16.b6x16_p32,.b8x16.b4x16_p64}",
     "[%r0], %d0"},
    {"tcgen05.shift.cta_group::(1,2).down", "[%r0]"},
    {"tcgen05.mma.cta_group::(1,2).kind::(f16,tf32,f8f6f4,i8)", "[%r0], %d0, %d1, %r1, %p0"},
    {"tcgen05.mma{.ws}.sp.cta_group::1.kind::(f16,tf32,f8f6f4,i8)", "[%r0], %d0, %d1, [%r2], %r1, %p0"},
    {"tcgen05.mma.sp.cta_group::2.kind::(f16,tf32,f8f6f4,i8)", "[%r0], [%r4], %d1, [%r2], %r1, %p0"},
    {"tcgen05.mma.sp.cta_group::1.kind::(mxf8f6f4,mxf4).block_scale",
     "[%r0], %d0, %d1, [%r2], %r1, [%r3], [%r4], %p0"},
    {"tcgen05.mma.cta_group::(1,2).kind::(f16,tf32,f8f6f4,i8)", "[%r0], [%r2], %d1, %r1, %p0"},
    {"tcgen05.mma.cta_group::(1,2).kind::(f16,tf32,f8f6f4,i8).collector::a::(fill,use,lastuse,discard)",
     "[%r0], %d0, %d1, %r1, %p0"},
    {"tcgen05.mma.cta_group::(1,2).kind::(f16,tf32,f8f6f4,i8).ashift", "[%r0], [%r2], %d1, %r1, %p0"},
    {"tcgen05.mma.cta_group::(1,2).kind::(mxf8f6f4,mxf4,mxf4nvf4).block_scale"
     "{.scale_vec::1X,.scale_vec::2X,.scale_vec::4X,.block16,.block32}",
     "[%r0], %d0, %d1, %r1, [%r2], [%r3], %p0"},
    {"tcgen05.mma.cta_group::(1,2).kind::(mxf8f6f4.block_scale.block32,mxf4.block_scale.block32,"
     "mxf4nvf4.block_scale.block16).collector::a::(fill,use,lastuse,discard)",
     "[%r0], [%r4], %d1, %r1, [%r2], [%r3], %p0"},
    {"tcgen05.mma.ws.cta_group::1.kind::(f16,tf32,f8f6f4,i8)", "[%r0], %d0, %d1, %r1, %p0, %d2"},
    {"tcgen05.mma.ws.cta_group::1.kind::(f16,tf32,f8f6f4,i8).collector::(b0,b1,b2,b3)::(fill,use,lastuse,"
     "discard)",
     "[%r0], [%r2], %d1, %r1, %p0"},
    {"multimem.(ld_reduce,red).global.add.f32", "%r0, [%d0]"},
    {"tensormap.replace.tile.global_address(.global,.shared::cta).b1024.b64", "[%d0], %d1"},
    {"tensormap.replace.tile.rank(.global,.shared::cta).b1024.b32", "[%d0], %r1"},
    {"tensormap.replace.tile.(box_dim,global_dim,element_stride)(.global,.shared::cta).b1024.b32",
     "[%d0], 1, %r1"},
    {"tensormap.replace.tile.global_stride(.global,.shared::cta).b1024.b64", "[%d0], 1, %d1"},
    {"tensormap.replace.tile.(elemtype,interleave_layout,swizzle_mode,swizzle_atomicity,fill_mode)(.global,."
     "shared::cta)."
     "b1024.b32",
     "[%d0], 1"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.(cta,cluster,gpu,sys).sync."
     "aligned",
     "[%d0], [%r0], 128"},
    {"wgmma.fence.sync.aligned", ""},
    {"tex.1d.v4.f32.s32", "{%r0, %r1, %r2, %r3}, [%d0, {%r4}]"},
};

std::string registers(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}%r{}", i ? ", " : "", i + 4);
  return text + "}";
}

struct Candidate {
  std::string opcode, operands;
};

// tcgen05.ld and .st, whose register count follows from shape and .xN, and tensor copies with their
// coordinates.
void add_counted(std::vector<Candidate>& out) {
  using units::TmemShape;
  for (TmemShape shape : {TmemShape::Lanes32x32b, TmemShape::Lanes16x64b, TmemShape::Lanes16x128b,
                          TmemShape::Lanes16x256b, TmemShape::Lanes16x32bx2}) {
    const bool split = shape == TmemShape::Lanes16x32bx2;
    for (int count = 1; count <= 128; count *= 2) {
      const int n = units::tmem_register_count(shape, count);
      if (n == 0) continue;
      for (const char* pack : {"", ".pack::16b"}) {
        out.push_back({fmt::format("tcgen05.ld.sync.aligned.{}.x{}{}.b32", units::name(shape), count, pack),
                       registers(n) + ", [%r0]" + (split ? ", 16" : "")});
      }
      for (const char* pack : {"", ".unpack::16b"}) {
        out.push_back({fmt::format("tcgen05.st.sync.aligned.{}.x{}{}.b32", units::name(shape), count, pack),
                       std::string("[%r0], ") + (split ? "16, " : "") + registers(n)});
      }
    }
  }
  const auto add = [&](const std::string& pattern, const std::string& operands) {
    for (std::string& opcode : isa::expand_pattern(pattern)) out.push_back({std::move(opcode), operands});
  };
  for (int rank = 1; rank <= 5; ++rank) {
    const std::string tensor = "[%d0, " + registers(rank) + "]";
    const std::string load = fmt::format("cp.async.bulk.tensor.{}d{{.cta_group::1,.cta_group::2}}", rank);
    const std::string end = ".global{.tile}.mbarrier::complete_tx::bytes";
    const std::string groups = "{.cta_group::1,.cta_group::2}";
    add(load + ".(shared::cta,shared::cluster)" + end, "[%r0], " + tensor + ", [%r1]");
    add(fmt::format("cp.async.bulk.tensor.{}d.(shared::cta,shared::cluster)", rank) + end + groups,
        "[%r0], " + tensor + ", [%r1]");
    add(load + ".(shared::cta,shared::cluster)" + end + ".L2::cache_hint",
        "[%r0], " + tensor + ", [%r1], %d1");
    add(load + ".shared::cluster" + end + ".multicast::cluster", "[%r0], " + tensor + ", [%r1], %h0");
    add(load + ".shared::cluster" + end + ".multicast::cluster.L2::cache_hint",
        "[%r0], " + tensor + ", [%r1], %h0, %d1");
    add(fmt::format("cp.async.bulk.tensor.{}d.shared::cluster", rank) + end + groups + ".multicast::cluster",
        "[%r0], " + tensor + ", [%r1], %h0");
    add(fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta{{.tile}}.bulk_group", rank),
        tensor + ", [%r0]");
    add(fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta{{.tile}}.bulk_group.L2::cache_hint", rank),
        tensor + ", [%r0], %d1");
    add(fmt::format(
            "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.(add,min,max,inc,dec,and,or,xor){{.tile}}"
            ".bulk_group",
            rank),
        tensor + ", [%r0]");
    add(fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global{{.tile}}", rank), tensor);
    if (rank >= 3) {
      const std::string offsets = rank == 3 ? ", {%h0}" : rank == 4 ? ", {%h0, %h1}" : ", {%h0, %h1, %h2}";
      add(load + ".(shared::cta,shared::cluster).global.im2col.mbarrier::complete_tx::bytes",
          "[%r0], " + tensor + ", [%r1]" + offsets);
    }
  }
  const std::string rows = "[%d0, " + registers(5) + "]";
  add("cp.async.bulk.tensor.2d.(shared::cta,shared::cluster).global.tile::gather4.mbarrier::complete_tx::"
      "bytes",
      "[%r0], " + rows + ", [%r1]");
  add("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group", rows + ", [%r0]");
}

bool accepted(const LoadedModule& owner, const std::string& entry) {
  try {
    const Kernel& kernel = kernel_of(const_cast<LoadedModule&>(owner), entry);
    const Instr& in = kernel.programs[0]->code[0];
    return in.kind == isa::Kind::Engine && static_cast<Op>(in.op) != Op::Unsupported;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::vector<EngineForm> supported_engine_forms() {
  std::vector<Candidate> candidates;
  for (const Family& family : kFamilies) {
    for (std::string& opcode : isa::expand_pattern(family.pattern))
      candidates.push_back({std::move(opcode), family.operands});
  }
  add_counted(candidates);
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n.func callee() { ret; }\n";
  for (size_t i = 0; i < candidates.size(); ++i) {
    text += fmt::format(".entry f{}() {{ {} {} {}; L: ret; }}\n", i, kRegisters, candidates[i].opcode,
                        candidates[i].operands);
  }
  memory::GlobalMemory memory;
  const auto module = load_module(std::span(&text, 1), "supported forms", memory);
  std::vector<EngineForm> forms;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (accepted(*module, fmt::format("f{}", i)))
      forms.push_back({candidates[i].opcode, candidates[i].operands});
  }
  return forms;
}

}  // namespace emu::gpu
