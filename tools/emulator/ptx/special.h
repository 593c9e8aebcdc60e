// Special registers (PTX ISA 10): names the machine provides, read with mov.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace emu::ptx {

enum class SpecialRegister : uint8_t {
  Tid,
  Ntid,
  Laneid,
  Warpid,
  Nwarpid,
  Ctaid,
  Nctaid,
  Smid,
  Nsmid,
  Gridid,
  IsExplicitCluster,
  Clusterid,
  Nclusterid,
  ClusterCtaid,
  ClusterNctaid,
  ClusterCtarank,
  ClusterNctarank,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  ClockHi,
  Clock64,
  Pm,
  Pm64,
  Envreg,
  Globaltimer,
  GlobaltimerLo,
  GlobaltimerHi,
  ReservedSmemOffsetBegin,
  ReservedSmemOffsetEnd,
  ReservedSmemOffsetCap,
  ReservedSmemOffset,
  TotalSmemSize,
  AggrSmemSize,
  DynamicSmemSize,
  CurrentGraphExec,
};

struct SpecialName {
  SpecialRegister which;
  uint8_t number;      // N of %envregN, %pmN, %reserved_smem_offset_N, else 0
  bool has_component;  // takes .x, .y, .z or .w
};

// The special register called `name` (with its '%', without a component), or nothing.
std::optional<SpecialName> find_special_register(std::string_view name);

// "%tid" for Tid and so on; numbered registers come without their number.
std::string_view special_register_name(SpecialRegister which);

}  // namespace emu::ptx
