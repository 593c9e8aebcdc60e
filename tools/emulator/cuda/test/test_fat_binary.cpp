#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "container_builder.h"
#include "cuda/fat_binary.h"
#include "testing/catch.h"

using namespace emu::cuda;
using emu::cuda::test::build_container;
using emu::cuda::test::EntrySpec;
using emu::cuda::test::FatBinary;
using emu::cuda::test::Packing;

namespace {

std::string sample_text() {
  std::string text = "\n\n\n\n\n\n\n\n.version 9.0\n.target sm_100a\n.address_size 64\n";
  for (int i = 0; i < 2000; ++i) text += "add.u32 %r" + std::to_string(i) + ", %r1, %r2;\n";
  return text;
}

EntrySpec ptx(uint32_t architecture, char letter, std::string text = "ptx") {
  EntrySpec spec;
  spec.architecture = architecture;
  spec.letter = letter;
  spec.text = std::move(text);
  return spec;
}

std::string chosen(const std::vector<EntrySpec>& specs, Architecture machine) {
  const std::vector<std::byte> container = build_container(specs);
  const std::vector<FatEntry> entries = read_container(container);
  const FatEntry* best = select_ptx(entries, machine);
  return best ? best->describe() : "none";
}

std::string error_of(const void* image, Architecture machine) {
  try {
    ptx_of_image(image, machine);
    return "no error";
  } catch (const FatBinaryError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("text comes back unchanged from every way nvcc stores it") {
  for (const Packing packing : {Packing::kRaw, Packing::kLz4, Packing::kZstd, Packing::kZstdBest}) {
    for (const uint32_t extension : {0u, 0x10u, 0x30u, 0x48u}) {
      EntrySpec spec = ptx(100, 'a', sample_text());
      spec.packing = packing;
      spec.extension = extension;
      FatBinary binary({spec});
      CHECK(ptx_of_image(&binary.wrapper, 100) == std::vector<std::string>{sample_text()});
      CHECK(ptx_of_image(binary.container.data(), 100).front() == sample_text());
    }
  }
}

TEST_CASE("the entry nearest to the machine is chosen") {
  // -arch=sm_100a stores compute_100 first and compute_100a second.
  CHECK(chosen({ptx(100, 0), ptx(100, 'a')}, 100) == "compute_100a PTX");
  CHECK(chosen({ptx(100, 0), ptx(100, 'f')}, 100) == "compute_100f PTX");
  CHECK(chosen({ptx(80, 0), ptx(90, 0), ptx(70, 0)}, 100) == "compute_90 PTX");
  CHECK(chosen({ptx(90, 'a'), ptx(80, 0)}, 100) == "compute_80 PTX");
  CHECK(chosen({ptx(103, 'a'), ptx(120, 0)}, 100) == "none");
  CHECK(chosen({ptx(100, 'a'), ptx(90, 0), ptx(90, 'a')}, 90) == "compute_90a PTX");
  CHECK(chosen({ptx(100, 'a'), ptx(90, 'a')}, 100) == "compute_100a PTX");
  CHECK(chosen({ptx(100, 'a')}, 90) == "none");
}

// fuzz/corpus holds containers as nvcc 13.0 wrote them with --compress-mode none, speed and size, and
// -compress-all.
TEST_CASE("containers written by nvcc are read in every compression mode") {
  std::string text;
  for (const char* mode : {"none", "speed", "size", "all"}) {
    std::ifstream file(std::string(CUDA_TEST_DIR) + "/../fuzz/corpus/" + mode, std::ios::binary);
    REQUIRE(file);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::vector<FatEntry> entries = read_container(std::as_bytes(std::span(bytes)));
    const FatEntry* best = select_ptx(entries, 100);
    REQUIRE(best);
    CHECK(best->describe() == "compute_100a PTX");
    CHECK_THAT(extract_ptx(*best),
               Catch::Matchers::Contains(".version 9.0") && Catch::Matchers::Contains(".target sm_100a") &&
                   Catch::Matchers::Contains(".entry _Z1kPii") && Catch::Matchers::EndsWith("\n"));
  }
}

TEST_CASE("separately compiled programs give one text for every source file") {
  const FatBinary first({ptx(100, 'a', "first")}), second({ptx(100, 'a', "second")});
  const void* list[] = {first.container.data(), second.container.data(), nullptr};
  EntrySpec elf = ptx(100, 'a', "machine code");
  elf.kind = 2;
  FatBinary linked({elf});
  linked.wrapper.version = 2;
  linked.wrapper.prelinked = list;
  CHECK(ptx_of_image(&linked.wrapper, 100) == std::vector<std::string>{"first", "second"});
}

TEST_CASE("a program without PTX is told how to get it") {
  EntrySpec elf = ptx(100, 'a', "machine code");
  elf.kind = 2;
  FatBinary binary({elf});
  const std::string message = error_of(&binary.wrapper, 100);
  CHECK_THAT(message, Catch::Matchers::Contains("sm_100a machine code") &&
                          Catch::Matchers::Contains("-gencode arch=compute_100a,code=compute_100a"));
}

TEST_CASE("corrupt containers are refused by name") {
  FatBinary binary({ptx(100, 'a', sample_text())});
  binary.wrapper.version = 3;
  CHECK_THAT(error_of(&binary.wrapper, 100), Catch::Matchers::Contains("wrapper version 3"));
  binary.wrapper.version = 1;
  binary.wrapper.container = nullptr;
  CHECK_THAT(error_of(&binary.wrapper, 100), Catch::Matchers::Contains("without a container"));
  binary.wrapper.magic = 7;
  CHECK_THAT(error_of(&binary.wrapper, 100), Catch::Matchers::Contains("wrapper magic 0x7"));
  std::vector<std::byte> cut = binary.container;
  cut.resize(100);
  CHECK_THROWS_AS(read_container(cut), FatBinaryError);
}

TEST_CASE("a claimed size costs no memory") {
  EntrySpec spec = ptx(100, 'a', sample_text());
  for (const Packing packing : {Packing::kLz4, Packing::kZstd}) {
    spec.packing = packing;
    std::vector<std::byte> container = build_container({spec});
    const uint64_t huge = uint64_t{1} << 60, large = kMaxPtxBytes;
    std::memcpy(container.data() + 16 + 56, &huge, 8);
    CHECK_THROWS_AS(extract_ptx(read_container(container).front()), FatBinaryError);
    std::memcpy(container.data() + 16 + 56, &large, 8);
    if (packing == Packing::kLz4) {
      CHECK_THROWS_AS(extract_ptx(read_container(container).front()), FatBinaryError);
    } else {
      CHECK(extract_ptx(read_container(container).front()) == sample_text());
    }
    const uint64_t small = 10;
    std::memcpy(container.data() + 16 + 56, &small, 8);
    CHECK_THROWS_AS(extract_ptx(read_container(container).front()), FatBinaryError);
  }
}

TEST_CASE("random damage never does more than raise an error") {
  std::mt19937 random(1);
  EntrySpec zstd = ptx(100, 'a', sample_text());
  zstd.packing = Packing::kZstd;
  EntrySpec lz4 = ptx(100, 0, sample_text());
  lz4.packing = Packing::kLz4;
  const std::vector<std::byte> good = build_container({zstd, lz4, ptx(90, 'a', "raw")});
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bad = good;
    const size_t span = round % 2 ? bad.size() : 160;
    for (int hits = 1 + round % 4; hits > 0; --hits) bad[random() % span] = std::byte(random());
    if (round % 5 == 0) bad.resize(random() % bad.size());
    try {
      for (const FatEntry& entry : read_container(bad)) extract_ptx(entry);
    } catch (const FatBinaryError&) {
      ++refused;
    }
  }
  CHECK(refused > 500);
}
