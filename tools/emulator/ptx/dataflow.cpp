#include "ptx/dataflow.h"

#include <algorithm>
#include <iterator>

namespace emu::ptx {
namespace {

enum class Rule : uint8_t {
  Destination,    // operand 0 is written, the rest is read
  Destinations2,  // operands 0 and 1 are written
  Sources,        // nothing but memory is written
  Unknown,
};

struct RuleRow {
  std::string_view prefix;  // whole dotted components of an opcode
  Rule rule;
};

// Sorted by prefix; the longest one that matches decides. PTX ISA 9.7, group by group.
constexpr RuleRow kRules[] = {
    {"abs", Rule::Destination},
    {"activemask", Rule::Destination},
    {"add", Rule::Destination},
    {"addc", Rule::Destination},
    {"alloca", Rule::Destination},
    {"and", Rule::Destination},
    {"applypriority", Rule::Sources},
    {"atom", Rule::Destination},
    {"bar", Rule::Sources},
    {"bar.cta.red", Rule::Destination},
    {"bar.red", Rule::Destination},
    {"barrier", Rule::Sources},
    {"barrier.cta.red", Rule::Destination},
    {"barrier.red", Rule::Destination},
    {"bfe", Rule::Destination},
    {"bfi", Rule::Destination},
    {"bfind", Rule::Destination},
    {"bmsk", Rule::Destination},
    {"bra", Rule::Sources},
    {"brev", Rule::Destination},
    {"brkpt", Rule::Sources},
    {"brx", Rule::Sources},
    {"call", Rule::Destination},
    {"clusterlaunchcontrol.query_cancel", Rule::Destination},
    {"clusterlaunchcontrol.try_cancel", Rule::Sources},
    {"clz", Rule::Destination},
    {"cnot", Rule::Destination},
    {"copysign", Rule::Destination},
    {"cos", Rule::Destination},
    {"cp", Rule::Sources},
    {"createpolicy", Rule::Destination},
    {"cvt", Rule::Destination},
    {"cvta", Rule::Destination},
    {"discard", Rule::Sources},
    {"div", Rule::Destination},
    {"dp2a", Rule::Destination},
    {"dp4a", Rule::Destination},
    {"elect", Rule::Destination},
    {"ex2", Rule::Destination},
    {"exit", Rule::Sources},
    {"fence", Rule::Sources},
    {"fma", Rule::Destination},
    {"fns", Rule::Destination},
    {"getctarank", Rule::Destination},
    {"griddepcontrol", Rule::Sources},
    {"isspacep", Rule::Destination},
    {"istypep", Rule::Destination},
    {"ld", Rule::Destination},
    {"ldmatrix", Rule::Destination},
    {"ldu", Rule::Destination},
    {"lg2", Rule::Destination},
    {"lop3", Rule::Destination},
    {"mad", Rule::Destination},
    {"mad24", Rule::Destination},
    {"madc", Rule::Destination},
    {"mapa", Rule::Destination},
    {"match", Rule::Destination},
    {"max", Rule::Destination},
    {"mbarrier.arrive", Rule::Destination},
    {"mbarrier.arrive_drop", Rule::Destination},
    {"mbarrier.complete_tx", Rule::Sources},
    {"mbarrier.expect_tx", Rule::Sources},
    {"mbarrier.init", Rule::Sources},
    {"mbarrier.inval", Rule::Sources},
    {"mbarrier.pending_count", Rule::Destination},
    {"mbarrier.test_wait", Rule::Destination},
    {"mbarrier.try_wait", Rule::Destination},
    {"membar", Rule::Sources},
    {"min", Rule::Destination},
    {"mma", Rule::Destination},
    {"mov", Rule::Destination},
    {"movmatrix", Rule::Destination},
    {"mul", Rule::Destination},
    {"mul24", Rule::Destination},
    {"multimem.ld_reduce", Rule::Destination},
    {"multimem.red", Rule::Sources},
    {"multimem.st", Rule::Sources},
    {"nanosleep", Rule::Sources},
    {"neg", Rule::Destination},
    {"not", Rule::Destination},
    {"or", Rule::Destination},
    {"pmevent", Rule::Sources},
    {"popc", Rule::Destination},
    {"prefetch", Rule::Sources},
    {"prefetchu", Rule::Sources},
    {"prmt", Rule::Destination},
    {"rcp", Rule::Destination},
    {"red", Rule::Sources},
    {"redux", Rule::Destination},
    {"rem", Rule::Destination},
    {"ret", Rule::Sources},
    {"rsqrt", Rule::Destination},
    {"sad", Rule::Destination},
    {"selp", Rule::Destination},
    {"set", Rule::Destination},
    {"setmaxnreg", Rule::Sources},
    {"setp", Rule::Destination},
    {"shf", Rule::Destination},
    {"shfl", Rule::Destination},
    {"shl", Rule::Destination},
    {"shr", Rule::Destination},
    {"sin", Rule::Destination},
    {"slct", Rule::Destination},
    {"sqrt", Rule::Destination},
    {"st", Rule::Sources},
    {"stackrestore", Rule::Sources},
    {"stacksave", Rule::Destination},
    {"stmatrix", Rule::Sources},
    {"sub", Rule::Destination},
    {"subc", Rule::Destination},
    {"szext", Rule::Destination},
    {"tanh", Rule::Destination},
    {"tcgen05.alloc", Rule::Sources},
    {"tcgen05.commit", Rule::Sources},
    {"tcgen05.cp", Rule::Sources},
    {"tcgen05.dealloc", Rule::Sources},
    {"tcgen05.fence::after_thread_sync", Rule::Sources},
    {"tcgen05.fence::before_thread_sync", Rule::Sources},
    {"tcgen05.ld", Rule::Destination},
    {"tcgen05.ld.red", Rule::Destinations2},
    {"tcgen05.mma", Rule::Sources},
    {"tcgen05.relinquish_alloc_permit", Rule::Sources},
    {"tcgen05.shift", Rule::Sources},
    {"tcgen05.st", Rule::Sources},
    {"tcgen05.wait::ld", Rule::Sources},
    {"tcgen05.wait::st", Rule::Sources},
    {"tensormap", Rule::Sources},
    {"testp", Rule::Destination},
    {"trap", Rule::Sources},
    {"vote", Rule::Destination},
    {"wmma.load", Rule::Destination},
    {"wmma.mma", Rule::Destination},
    {"wmma.store", Rule::Sources},
    {"xor", Rule::Destination},
};
static_assert(std::is_sorted(std::begin(kRules), std::end(kRules),
                             [](const RuleRow& a, const RuleRow& b) { return a.prefix < b.prefix; }));

// Tries "a.b.c", "a.b", "a": at most three components tell instructions apart.
Rule find_rule(std::string_view opcode) {
  size_t end = opcode.find('.');
  for (int i = 0; i < 2 && end != std::string_view::npos; ++i) end = opcode.find('.', end + 1);
  std::string_view prefix = opcode.substr(0, end);
  while (true) {
    const auto row = std::lower_bound(std::begin(kRules), std::end(kRules), prefix,
                                      [](const RuleRow& r, std::string_view p) { return r.prefix < p; });
    if (row != std::end(kRules) && row->prefix == prefix) return row->rule;
    const size_t dot = prefix.rfind('.');
    if (dot == std::string_view::npos) return Rule::Unknown;
    prefix = prefix.substr(0, dot);
  }
}

bool has_prefix(const Instruction& instruction, std::string_view prefix) {
  const std::string_view opcode = instruction.opcode;
  return opcode.starts_with(prefix) && (opcode.size() == prefix.size() || opcode[prefix.size()] == '.');
}

}  // namespace

Access operand_access(std::string_view opcode, uint32_t index) {
  switch (find_rule(opcode)) {
    case Rule::Destination:
      return index == 0 ? Access::Write : Access::Read;
    case Rule::Destinations2:
      return index < 2 ? Access::Write : Access::Read;
    case Rule::Sources:
      return Access::Read;
    case Rule::Unknown:
      break;
  }
  return Access::ReadWrite;
}

bool is_async_register_load(const Instruction& instruction) { return has_prefix(instruction, "tcgen05.ld"); }

bool is_async_register_wait(const Instruction& instruction) {
  return has_prefix(instruction, "tcgen05.wait::ld");
}

bool ends_path(const Instruction& instruction) {
  if (instruction.guard >= 0) return false;
  for (const std::string_view family : {"bra", "brx", "ret", "exit", "trap"})
    if (has_prefix(instruction, family)) return true;
  return false;
}

}  // namespace emu::ptx
