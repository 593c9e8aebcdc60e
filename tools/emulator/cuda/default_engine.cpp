#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "cuda/engine_factory.h"
#include "cuda/runtime.h"
#include "gpu/decode.h"
#include "gpu/engine.h"
#include "gpu/options.h"
#include "isa/decode_alu.h"

namespace emu::cuda {

std::unique_ptr<Engine> create_engine(const Machine&) {
  try {
    return gpu::make_engine(gpu::options_from_environment());
  } catch (const std::invalid_argument& error) {
    report(error.what());
    std::_Exit(2);
  }
}

}  // namespace emu::cuda

// What `emu --supported` prints: one form a line, "opcode<TAB>operands", from the tables and decoders that
// run programs.
extern "C" int emuPrintSupported() {
  std::set<std::string> lines;
  for (const auto& form : emu::isa::supported_alu_forms()) lines.insert(form.opcode + '\t' + form.operands);
  for (const auto& form : emu::gpu::supported_engine_forms())
    lines.insert(form.opcode + '\t' + form.operands);
  for (const std::string& line : lines) std::puts(line.c_str());
  return 0;
}
