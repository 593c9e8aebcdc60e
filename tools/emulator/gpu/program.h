// One PTX function decoded for one kernel: instructions, their side tables and constants.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/issue.h"
#include "gpu/op.h"
#include "isa/decode_alu.h"
#include "isa/program.h"
#include "isa/wmma_layout.h"
#include "ptx/link.h"
#include "ptx/module.h"
#include "units/bulk_number.h"
#include "units/tensor_core.h"
#include "units/tensor_map.h"
#include "units/tmem_access.h"
#include "units/tmem_copy.h"

namespace emu::gpu {

using isa::Instr;
using isa::LaneFile;
using isa::LaneMask;
using isa::Ref;

// Where a symbol's address comes from when it is not a constant of the module.
enum class SymbolBase : uint8_t {
  None,       // `offset` is the whole address
  CtaShared,  // offset in the CTA's shared memory; the CTA's rank goes into bits 24 and up
  Frame,      // offset in the thread's local memory, from the frame's base
  Parameters  // offset in the launch's parameter block
};

struct AddressOperand {
  Ref base;
  bool has_base = false;
  bool wide = true;  // 64-bit base register
  SymbolBase symbol = SymbolBase::None;
  int64_t offset = 0;
};

enum class AtomicOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas };
enum class ValueType : uint8_t { Bits, Unsigned, Signed, Float, Half, Bfloat };

// A fragment of wmma.load or wmma.store.
struct WmmaFragment {
  isa::WmmaOperand operand = isa::WmmaOperand::A;
  isa::WmmaShape shape;
  isa::WmmaType type;
  bool row_major = true;  // in memory
};

// What an engine operation needs beside the Refs in Instr.
struct Detail {
  AddressOperand address, address2, address3, address4;
  ptx::Space space = ptx::Space::Generic;
  ptx::Space space2 = ptx::Space::Generic;
  uint8_t bytes = 4;  // of one element
  uint8_t count = 1;  // elements of a vector
  ValueType type = ValueType::Bits;
  AtomicOp atomic = AtomicOp::Add;
  bool has_destination = true;
  bool cluster_scope = false;                       // shared::cluster: the address may name another CTA
  bool flag = false, flag2 = false, flag3 = false;  // meaning given by the decoder of the operation
  uint8_t variant = 0;
  uint64_t immediate = 0;
  std::vector<Ref> data;            // vector elements
  std::vector<uint8_t> data_width;  // bytes of each element's register (2, 4, 8, 16); 0 for a sink
  std::vector<Ref> coordinates;
  Ref extra;  // multicast mask, count, ...
  bool has_extra = false;
  WmmaFragment wmma;
  units::TensorMapField map_field = units::TensorMapField::Address;
  std::vector<Ref> offsets;  // of an im2col copy
  // tcgen05
  units::TmemAccess tmem;
  units::MmaOperation mma;
  units::TmemCopyShape copy = units::TmemCopyShape::Rows128x256b;
  units::TmemCopyFormat copy_format = units::TmemCopyFormat::Plain;
  bool a_in_tmem = false;
  units::BulkOp bulk_op = units::BulkOp::Add;
  units::BulkType bulk_type = units::BulkType::U32;
  int cta_group = 1;
  // calls
  int32_t callee = -1;  // index into Kernel::programs, -1 indirect, builtin() otherwise
  std::string name;     // builtin's or unsupported form's name
  std::vector<int64_t> argument_offsets, result_offsets;  // in the caller's frame
  std::vector<uint32_t> argument_sizes, result_sizes;
  std::vector<uint32_t> targets;  // brx.idx
};

struct LoadedModule;

struct Program {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::unique_ptr<ptx::Function> scheduled;  // the function in the order ptxas issues it, if it was reordered
  uint32_t module_index = 0;
  std::vector<Instr> code;
  std::deque<Detail> details;
  isa::ConstantPool constants;
  isa::WideOperands wide;
  IssueInfo issue;                        // timed mode
  std::map<uint32_t, uint32_t> unwaited;  // see gpu/unwaited.h
  uint32_t num_slots = 0;                 // with the sink slots
  uint32_t num_predicates = 0;            // with the constant predicates
  uint32_t frame_bytes = 0;               // local memory of one call: call parameters, then locals
  uint32_t local_offset = 0;              // where .local variables begin within it
};

// An entry with everything it can reach.
struct Kernel {
  LoadedModule* module = nullptr;
  std::string name;
  std::vector<std::unique_ptr<Program>> programs;  // [0] is the entry
  std::map<std::pair<uint32_t, const ptx::FunctionInfo*>, int32_t> index;
  std::map<std::string, uint32_t> shared_offsets;  // module-scope and in-body shared variables, by key
  uint32_t static_shared = 0;                      // bytes
  uint32_t dynamic_align = 16;
  std::atomic<bool> load_reported{false};  // the report of an unwaited tcgen05.ld comes once a kernel
  bool reads_shared_async = false;  // something in the kernel reads shared memory through the async proxy
};

}  // namespace emu::gpu
