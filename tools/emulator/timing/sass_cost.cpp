#include "timing/sass_cost.h"

#include "timing/sass_rules.h"

namespace emu::timing {

const char* class_name(CostClass cost_class) {
  static constexpr const char* kNames[] = {
      "Free",       "Fma",      "FmaPacked",  "Imad",        "ImadWide",   "IntAdd",      "Alu",
      "CvtPack",    "Mufu",     "Xu",         "Fp64",        "Vote",       "Shuffle",     "Redux",
      "TensorSync", "Param",    "SharedLoad", "SharedStore", "GlobalLoad", "GlobalStore", "Local",
      "Atomic",     "Branch",   "Call",       "CtaBarrier",  "WarpSync",   "Mbarrier",    "MbarrierWait",
      "Fence",      "TmaIssue", "AsyncCopy",  "TmemLoad",    "TmemStore",  "TmemWait",    "TmemAlloc",
      "MmaIssue",   "Commit",   "Uniform",    "Special",     "Sleep"};
  static_assert(std::size(kNames) == static_cast<size_t>(CostClass::Count));
  return kNames[static_cast<size_t>(cost_class)];
}

void estimate_sass(const ptx::Function& function, std::vector<Cost>& costs, const SassTarget& target) {
  const SassFlow flow(function);
  SassContext context{flow, costs, target};
  fold_moves(context);
  fuse_float(context);
  fuse_integer(context);
  fold_addresses(context);
  hoist_invariants(context);
  place_uniform(context);
  add_control(context);
}

}  // namespace emu::timing
