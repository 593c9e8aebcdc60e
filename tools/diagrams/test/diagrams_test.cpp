// The pictures rest on what the kernels say and on what the schedules compute: both are checked here.
#include <fmt/format.h>

#include <fstream>

#include "diagrams/helpers.h"
#include "diagrams/kernel.h"
#include "diagrams/kernel_schedules.h"
#include "diagrams/picture.h"
#include "layout/descriptors.h"
#include "layout/tma.h"
#include "svg/check.h"
#include "testing/catch.h"

using namespace diagrams;

namespace {

const Kernels& kernels() {
  static const Kernels all(CHAPTERS_FOLDER);
  return all;
}

int count_ops(const KernelSchedule& k, const std::string& prefix) {
  int n = 0;
  for (const Op& o : k.schedule.ops()) n += o.label.rfind(prefix, 0) == 0;
  return n;
}

}  // namespace

TEST_CASE("a kernel's constants are read out of its text") {
  const std::string path = fmt::format("{}/kernel_under_test.cu", SCRATCH_FOLDER);
  std::ofstream(path) << "constexpr int kWarps = 10;\nconstexpr int kThreads = kWarps * 32;  // note\n"
                         "constexpr uint32_t kTileBytes = (128 - 0) * 128 * sizeof(__nv_bfloat16);\n"
                         "struct SharedStorage {\n  alignas(1024) __nv_bfloat16 q[2][64];\n  uint32_t a;\n  "
                         "uint64_t b[3];\n};\n"
                         "__device__ uint64_t make(const T* t) { return matrix_descriptor(shared_address(t), "
                         "16, 8 * 128, Swizzle::k128B); }\n";
  const Kernel k(path);
  CHECK(k["kThreads"] == 320);
  CHECK(k["kTileBytes"] == 32768);
  CHECK(k.member("a").offset == 256);
  CHECK(k.member("b").offset == 264);  // aligned to 8
  CHECK(k.member("b").bytes == 24);
  CHECK(k.shared_bytes() == 1024);
  CHECK(k.descriptor_in("make", layout::Major::k).sbo == 1024);
  CHECK(k.descriptor_in("make", layout::Major::k).mode == layout::Swizzle::b128);
  CHECK_THROWS_WITH(k["kMissing"], ContainsSubstring("no constant kMissing"));
  CHECK_THROWS_WITH(k.require("no such words"), ContainsSubstring("no longer says"));
}

TEST_CASE("the boxes that the kernels load meet the descriptors that they issue") {
  struct Operand {
    const char *member, *function;
    layout::Major major;
  };
  for (int chapter : {1, 2, 3, 4, 5}) {
    const Kernel& k = kernels()[chapter];
    for (const Operand& o : {Operand{"q_smem", "k_major_descriptor", layout::Major::k},
                             Operand{"k_smem", "k_major_descriptor", layout::Major::k},
                             Operand{"v_smem", "issue_pv", layout::Major::mn}}) {
      const layout::Tile t = operand_tile(k, o.member, o.function, o.major);
      layout::Filling f;
      f.box = {{k.value("kSliceWidth"), 128}, 2, t.form.mode};
      f.box.validate();
      f.boxes = k.value("HEAD_DIM") / k.value("kSliceWidth");
      f.box_stride = static_cast<uint32_t>(k["kSliceBytes"]);
      INFO("chapter " << chapter << ' ' << o.member);
      CHECK(layout::compare(t, f).wrong == 0);
    }
  }
}

TEST_CASE("shared memory of every chapter fits a B200's CTA") {
  for (int chapter = 0; chapter <= 7; ++chapter) CHECK(kernels()[chapter].shared_bytes() <= 232448);
}

TEST_CASE("every schedule multiplies every tile and keeps QK, softmax, PV in order") {
  for (const KernelSchedule& k : {two_tiles_schedule(4), ring_schedule(4, 3), pipelined_schedule(4, 3)}) {
    CHECK(count_ops(k, "Q0K") == 4);
    CHECK(count_ops(k, "Q1K") == 4);
    CHECK(count_ops(k, "P0V") == 4);
    CHECK(count_ops(k, "P1V") == 4);
    CHECK(count_ops(k, "softmax") == 8);
    for (const Op& o : k.schedule.ops()) {
      for (int before : o.after) CHECK(k.schedule.ops()[before].end() <= o.start);
    }
  }
}

TEST_CASE("an operation never starts while its row works") {
  const KernelSchedule k = pipelined_schedule(6, 3);
  const auto& ops = k.schedule.ops();
  for (size_t i = 0; i < ops.size(); ++i) {
    for (size_t j = i + 1; j < ops.size(); ++j) {
      if (ops[i].row == ops[j].row) CHECK((ops[j].start >= ops[i].end() || ops[i].start >= ops[j].end()));
    }
  }
}

TEST_CASE("chapters 4 to 7 each shorten the schedule of eight key tiles, per query tile") {
  const double one = 2 * one_tile_schedule(8, {"TMA", "tensor core", "rows"}).schedule.length();
  const double two = two_tiles_schedule(8).schedule.length(), ring = ring_schedule(8, 3).schedule.length();
  const double pipelined = pipelined_schedule(8, 3).schedule.length();
  CHECK(two < one);
  CHECK(ring < two);
  CHECK(pipelined < ring);
}

TEST_CASE("every picture is well-formed, legible, and clear of overlaps") {
  const auto pictures = all_pictures();
  CHECK(pictures.size() >= 45);
  for (const Picture& p : pictures) {
    const auto problems = svg::check(p.draw(kernels()).str());
    INFO(p.file() << ": " << (problems.empty() ? "" : problems.front()));
    CHECK(problems.empty());
  }
}
