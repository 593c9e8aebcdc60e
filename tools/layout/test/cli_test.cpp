// The command as a user meets it: help, answers, exit codes, one clear line for bad input.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "layout/snapshot.h"
#include "testing/catch.h"

namespace {

struct Result {
  int code;
  std::string text;
};

Result layout_command(const std::string& arguments) {
  FILE* pipe = popen((std::string(LAYOUT_COMMAND) + " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  Result r{-1, {}};
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) r.text.append(buffer.data(), n);
  r.code = WEXITSTATUS(pclose(pipe));
  return r;
}

bool says(const Result& r, const std::string& words) { return r.text.find(words) != std::string::npos; }
long lines(const Result& r) { return std::count(r.text.begin(), r.text.end(), '\n'); }

}  // namespace

TEST_CASE("every subcommand explains itself") {
  const Result all = layout_command("--help");
  CHECK(all.code == 0);
  for (const char* name : {"smem", "descriptor", "idesc", "tensormap", "tmem", "banks", "snapshot"}) {
    CHECK(says(all, name));
    const Result one = layout_command(std::string(name) + " --help");
    CHECK(one.code == 0);
    CHECK(says(one, "Usage"));
  }
}

TEST_CASE("smem answers with offsets, descriptor and agreement") {
  const Result r = layout_command("smem --tile 128x64 --type bf16 --major k --swizzle 128 --mma-k 1");
  CHECK(r.code == 0);
  CHECK(says(r, "SBO       1024 B"));
  CHECK(says(r, "0x4000404000010102"));
  CHECK(says(r, "agree     yes"));
}

TEST_CASE("legal words exit 0, illegal ones say why and exit 1") {
  CHECK(layout_command("descriptor 0x4000404000010100").code == 0);
  const Result bad = layout_command("descriptor 0x6000404000010100");
  CHECK(bad.code == 1);
  CHECK(says(bad, "ILLEGAL: swizzle code 3"));
  CHECK(says(layout_command("idesc 0x08210490"), "B N-major"));
  CHECK(layout_command("idesc 0x08200480").code == 1);
}

TEST_CASE("tensormap says whether box and descriptor agree") {
  CHECK(layout_command("tensormap --tile 128x64 --start 0x1000 --descriptor 0x4000404000010100").code == 0);
  const Result no = layout_command("tensormap --tile 128x64 --start 0x1000 --descriptor 0x0000400800800100");
  CHECK(no.code == 1);
  CHECK(says(no, "agree     NO"));
}

TEST_CASE("bad input is one clear line and exit 2") {
  for (const char* arguments :
       {"smem --tile 5x", "smem --swizzle 96", "smem --major z", "smem --start 0x1010", "smem --mma-k 4",
        "smem --tile 128x64 --box 128x128", "descriptor 0xZZ", "idesc 0x123456789", "tmem --columns S:500:64",
        "tmem --shape 16x999b", "banks --width 3", "banks --stride 2", "snapshot /no/such/file",
        "smem --nonsense"}) {
    const Result r = layout_command(arguments);
    INFO(arguments << " -> " << r.text);
    CHECK(r.code == 2);
    CHECK(lines(r) == 1);
    CHECK(r.text.rfind("layout: ", 0) == 0);
  }
}

TEST_CASE("banks counts wavefronts") {
  CHECK(says(layout_command("banks --stride 128 --width 16 --lanes 8"), "total 8 wavefronts, 1 without"));
  CHECK(says(layout_command("banks --stride 128 --width 16 --lanes 8 --swizzle 128"),
             "total 1 wavefronts, 1 without"));
}

TEST_CASE("a snapshot file is counted and drawn, poison in red") {
  layout::Snapshot s;
  s.line = 7;
  s.base = 0x400;
  s.bytes.assign(256, 0);
  s.bytes[32] = 0xFA;
  s.bytes[33] = 0xFF;
  std::ofstream("snapshot_for_test.json") << layout::write_snapshot(s);
  const Result r = layout_command("snapshot snapshot_for_test.json -o snapshot_for_test.svg");
  CHECK(r.code == 0);
  CHECK(says(r, "1 of 128 halves poisoned"));
  std::ifstream in("snapshot_for_test.svg");
  const std::string svg((std::istreambuf_iterator<char>(in)), {});
  CHECK(svg.find("class=\"bad e\"") != std::string::npos);
}
