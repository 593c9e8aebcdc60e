#include "timing/machine.h"

#include <fmt/format.h>

#include <stdexcept>

namespace emu::timing {

namespace {

#define EMU_ROW_B200(field, b200, h200, unit, source, confidence) \
  {#field, b200, unit, source, Confidence::confidence},
#define EMU_ROW_H200(field, b200, h200, unit, source, confidence) \
  {#field, h200, unit, source, Confidence::confidence},
constexpr Parameter kB200[] = {EMU_MACHINE_PARAMETERS(EMU_ROW_B200)};
constexpr Parameter kH200[] = {EMU_MACHINE_PARAMETERS(EMU_ROW_H200)};
#undef EMU_ROW_B200
#undef EMU_ROW_H200

}  // namespace

std::span<const Parameter> parameters(std::string_view machine_name) {
  if (machine_name == "b200") return kB200;
  if (machine_name == "h200") return kH200;
  throw std::invalid_argument(fmt::format("machine '{}' is not known; use b200 or h200", machine_name));
}

void set(Machine& machine, std::string_view name, double value) {
#define EMU_SET(field, b200, h200, unit, source, confidence) \
  if (name == #field) {                                      \
    machine.field = value;                                   \
    machine.overridden = true;                               \
    return;                                                  \
  }
  EMU_MACHINE_PARAMETERS(EMU_SET)
#undef EMU_SET
  throw std::invalid_argument(
      fmt::format("the machine has no constant '{}'; emu --list-parameters prints them all", name));
}

Machine machine(std::string_view name) {
  Machine result;
  for (const Parameter& parameter : parameters(name)) set(result, parameter.name, parameter.value);
  result.name = name;
  result.overridden = false;
  return result;
}

}  // namespace emu::timing
