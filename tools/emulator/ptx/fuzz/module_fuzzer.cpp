// libFuzzer target: any bytes are either a module whose bodies print, or a ParseError.
#include <cstddef>
#include <cstdint>

#include "ptx/link.h"
#include "ptx/module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emu::ptx;
  try {
    const Module module = Module::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    const Program program({&module});
    for (const FunctionInfo& info : module.functions()) {
      if (!info.is_defined) continue;
      try {
        const Function& function = module.function(info.name);
        for (const Instruction& instruction : function.instructions) {
          to_string(module, function, instruction);
          for (const Operand& operand : function.operands_of(instruction)) to_string(function, operand);
        }
        for (const SourceLocation& location : function.locations) module.debug_string(location.function);
      } catch (const ParseError&) {
      }
    }
  } catch (const ParseError&) {
  }
  return 0;
}
