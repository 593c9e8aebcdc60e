#include "ptx/special.h"

#include <charconv>

namespace emu::ptx {
namespace {

using enum SpecialRegister;

struct Row {
  std::string_view name;
  SpecialRegister which;
  bool has_component = false;
};

constexpr Row kRows[] = {
    {"%tid", Tid, true},
    {"%ntid", Ntid, true},
    {"%laneid", Laneid},
    {"%warpid", Warpid},
    {"%nwarpid", Nwarpid},
    {"%ctaid", Ctaid, true},
    {"%nctaid", Nctaid, true},
    {"%smid", Smid},
    {"%nsmid", Nsmid},
    {"%gridid", Gridid},
    {"%is_explicit_cluster", IsExplicitCluster},
    {"%clusterid", Clusterid, true},
    {"%nclusterid", Nclusterid, true},
    {"%cluster_ctaid", ClusterCtaid, true},
    {"%cluster_nctaid", ClusterNctaid, true},
    {"%cluster_ctarank", ClusterCtarank},
    {"%cluster_nctarank", ClusterNctarank},
    {"%lanemask_eq", LanemaskEq},
    {"%lanemask_le", LanemaskLe},
    {"%lanemask_lt", LanemaskLt},
    {"%lanemask_ge", LanemaskGe},
    {"%lanemask_gt", LanemaskGt},
    {"%clock", Clock},
    {"%clock_hi", ClockHi},
    {"%clock64", Clock64},
    {"%globaltimer", Globaltimer},
    {"%globaltimer_lo", GlobaltimerLo},
    {"%globaltimer_hi", GlobaltimerHi},
    {"%reserved_smem_offset_begin", ReservedSmemOffsetBegin},
    {"%reserved_smem_offset_end", ReservedSmemOffsetEnd},
    {"%reserved_smem_offset_cap", ReservedSmemOffsetCap},
    {"%total_smem_size", TotalSmemSize},
    {"%aggr_smem_size", AggrSmemSize},
    {"%dynamic_smem_size", DynamicSmemSize},
    {"%current_graph_exec", CurrentGraphExec},
};

struct NumberedRow {
  std::string_view prefix;
  std::string_view suffix;
  SpecialRegister which;
  uint32_t count;
};

constexpr NumberedRow kNumbered[] = {
    {"%envreg", "", Envreg, 32},
    {"%pm", "", Pm, 8},
    {"%pm", "_64", Pm64, 8},
    {"%reserved_smem_offset_", "", ReservedSmemOffset, 2},
};

}  // namespace

std::optional<SpecialName> find_special_register(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return SpecialName{row.which, 0, row.has_component};
  for (const NumberedRow& row : kNumbered) {
    if (!name.starts_with(row.prefix) || !name.ends_with(row.suffix)) continue;
    if (name.size() <= row.prefix.size() + row.suffix.size()) continue;
    const std::string_view digits =
        name.substr(row.prefix.size(), name.size() - row.prefix.size() - row.suffix.size());
    uint32_t number = 0;
    const auto end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, number).ptr == end && number < row.count)
      return SpecialName{row.which, static_cast<uint8_t>(number), false};
  }
  return std::nullopt;
}

std::string_view special_register_name(SpecialRegister which) {
  for (const Row& row : kRows)
    if (row.which == which) return row.name;
  for (const NumberedRow& row : kNumbered)
    if (row.which == which) return row.prefix;
  return "%?";
}

}  // namespace emu::ptx
