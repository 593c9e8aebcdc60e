// The decoded form of a PTX function: what a warp executes.
//
// Registers live in a lane file: slot s of a 32-bit value is 32 consecutive uint32_t (128 bytes, one per
// lane); a 64-bit value takes slots s and s+1 as 32 consecutive uint64_t (256 bytes, s even); 128-bit values
// take four slots as 32 consecutive 16-byte values. 16-bit values live zero-extended in a 32-bit slot.
// Predicates are 32-bit lane masks in a file of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "timing/cost_class.h"

namespace emu::isa {

constexpr int kLanes = 32;
using LaneMask = uint32_t;

// Which array a Ref points into.
enum class Base : uint32_t { Registers = 0, Constants = 1, Special = 2 };

// A source or destination: base array (2 bits) and slot (30 bits). For predicates: the index into the
// predicate file.
struct Ref {
  uint32_t raw = 0;
  static Ref make(Base base, uint32_t slot) { return {static_cast<uint32_t>(base) << 30 | slot}; }
  static Ref predicate(uint32_t index) { return {index}; }
  Base base() const { return static_cast<Base>(raw >> 30); }
  uint32_t slot() const { return raw & 0x3fffffffu; }
};

// Predicate file: entries 0 and 1 are the constants false and true, 2 is scratch for a sink `_`, 3 is the
// carry flag CC.CF of add.cc and its kin; a function's predicate p lives at kFirstPredicate + p.
constexpr uint32_t kFalsePredicate = 0;
constexpr uint32_t kTruePredicate = 1;
constexpr uint32_t kSinkPredicate = 2;
constexpr uint32_t kCarryPredicate = 3;
constexpr uint32_t kFirstPredicate = 4;
// Slots 0..3 of every register frame are scratch for a sink `_`; a function's slot s lives at kFirstSlot + s.
constexpr uint32_t kSinkSlot = 0;
constexpr uint32_t kFirstSlot = 4;

// What an ALU routine sees of a warp.
struct LaneFile {
  std::byte* base[3];  // indexed by Base
  uint32_t* predicates;

  template <typename T>  // T: uint32_t, int32_t, float for 32-bit; uint64_t, double ... for 64-bit
  T* at(Ref r) const {
    return reinterpret_cast<T*>(base[r.raw >> 30] + static_cast<size_t>(r.raw & 0x3fffffffu) * (kLanes * 4));
  }
};

struct Instr;
using AluFn = void (*)(const LaneFile& file, const Instr& instr, LaneMask active);

// Who executes an instruction.
enum class Kind : uint8_t {
  Alu,      // registers to registers, lane by lane: `alu`
  AluSync,  // registers to registers across lanes (shfl, vote, mma.sync ...): the engine first gathers the
            // lanes that the member mask (or .aligned) names, then calls `alu` with them
  Engine,  // control flow, memory, barriers, asynchronous units: `op` names it, gpu/ executes it
};

struct Instr {
  AluFn alu = nullptr;
  const Ref* wide = nullptr;  // further operands (vectors), in the order the form documents
  Ref dst[2];
  Ref src[4];
  uint16_t guard = kTruePredicate;  // predicate index
  bool guard_negated = false;
  uint8_t negated = 0;  // bit i: predicate source i is `!p`
  Kind kind = Kind::Alu;
  timing::Cost cost;
  uint16_t op = 0;            // gpu::Op for Kind::Engine
  uint16_t modifiers = 0;     // meaning depends on op
  int8_t member_source = -1;  // AluSync: index of the member-mask source, -1 for .aligned without a mask
  bool join = false;          // reconvergence point of a divergent branch
  bool watch = false;         // a snapshot is taken when a warp reaches it
  uint32_t aux = 0;           // engine: branch target, index into side tables, immediate
  uint32_t source = 0;        // index of the ptx::Instruction, for reports
};

// Broadcast constants of one function: immediates become slots so that operands are never special-cased.
class ConstantPool {
 public:
  Ref b32(uint32_t value) { return add(value, false); }
  Ref b64(uint64_t value) { return add(value, true); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(words_.data()); }

 private:
  Ref add(uint64_t value, bool wide) {
    auto [it, fresh] = index_[wide].try_emplace(value, 0);
    if (fresh) {
      const size_t slot = (words_.size() / kLanes + 1) & ~size_t{1};
      words_.resize((slot + 2) * kLanes);
      it->second = static_cast<uint32_t>(slot);
      auto* p = words_.data() + slot * kLanes;
      for (int lane = 0; lane < kLanes; ++lane) {
        if (wide) {
          std::memcpy(reinterpret_cast<std::byte*>(p) + lane * 8, &value, 8);
        } else {
          p[lane] = static_cast<uint32_t>(value);
        }
      }
    }
    return Ref::make(Base::Constants, it->second);
  }
  std::vector<uint32_t> words_;
  std::unordered_map<uint64_t, uint32_t> index_[2];
};

// Special registers that do not change while a warp runs are materialised as lane arrays at warp creation, so
// any operand may name one. %clock, %clock64, %globaltimer are engine operations.
enum class SpecialSlot : uint32_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,  // GridId is 64-bit
  GridIdHigh,
  LanemaskEq,
  LanemaskLt,
  LanemaskLe,
  LanemaskGt,
  LanemaskGe,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  DynamicSmemSize,
  TotalSmemSize,
  Envreg0,
  Envreg1,
  Envreg2,
  Count
};

}  // namespace emu::isa
