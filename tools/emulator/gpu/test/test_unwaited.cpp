#include "gpu/unwaited.h"

#include <string>

#include "ptx/module.h"
#include "testing/catch.h"

namespace {

// How many instructions of a body use a register of tcgen05.ld before the wait.
size_t uses_in(const std::string& body) {
  const emu::ptx::Module module = emu::ptx::Module::parse(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
      ".reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n" +
      body + "\nret;\n}\n");
  return emu::gpu::unwaited_reads(module.function("k")).size();
}

const std::string kLoad = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];\n";
const std::string kWait = "tcgen05.wait::ld.sync.aligned;\n";

}  // namespace

TEST_CASE("a register of tcgen05.ld is used before the wait or behind it") {
  CHECK(uses_in(kLoad + "add.u32 %r3, %r1, 1;\n" + kWait) == 1);
  CHECK(uses_in(kLoad + kWait + "add.u32 %r3, %r1, 1;\n") == 0);
}

TEST_CASE("a copy before the wait is no use, and hides none") {
  const std::string copies = "mov.b32 %f1, %r1;\nmov.b64 %rd1, {%r1, %r2};\n";
  CHECK(uses_in(kLoad + copies + kWait + "add.f32 %f2, %f1, %f1;\n") == 0);
  CHECK(uses_in(kLoad + copies + "add.f32 %f2, %f1, %f1;\nadd.u64 %rd2, %rd1, 1;\n" + kWait) == 2);
  CHECK(uses_in(kLoad + "mov.b32 %f1, %r1;\nmov.f32 %f2, %f1;\nadd.f32 %f3, %f2, %f2;\n" + kWait) == 1);
}

TEST_CASE("a register written anew holds nothing of the load") {
  CHECK(uses_in(kLoad + "mov.b32 %r1, 7;\nmov.b32 %r2, 7;\nadd.u32 %r3, %r1, %r2;\n" + kWait) == 0);
}
