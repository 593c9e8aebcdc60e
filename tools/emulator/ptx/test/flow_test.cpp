// Reconvergence points, on graphs small enough to see and against a brute-force search.
#include <random>

#include "ptx/flow.h"
#include "ptx/test/helpers.h"
#include "testing/catch.h"

using namespace emu::ptx;
using namespace emu::ptx::test;

namespace {

const std::string kRegisters = ".reg .pred p, q; .reg .b32 r;";

// Whether `block` reaches the end without passing through `avoid`.
bool reaches_end(const FlowGraph& graph, uint32_t block, uint32_t avoid) {
  std::vector<bool> seen(graph.blocks.size(), false);
  std::vector<uint32_t> work{block};
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    if (b == avoid || seen[b]) continue;
    seen[b] = true;
    if (graph.blocks[b].leaves_normally || graph.blocks[b].successors.empty()) return true;
    for (const uint32_t s : graph.blocks[b].successors) work.push_back(s);
  }
  return false;
}

bool post_dominates(const FlowGraph& graph, uint32_t by, uint32_t block) {
  return !reaches_end(graph, block, by);
}

// A graph of n blocks in which every block can reach the last one, the exit.
FlowGraph random_graph(std::mt19937& random, uint32_t n) {
  FlowGraph graph;
  graph.blocks.resize(n);
  for (uint32_t b = 0; b + 1 < n; ++b) {
    graph.blocks[b].successors.push_back(b + 1);
    if (random() % 2) graph.blocks[b].successors.push_back(random() % n);
    if (random() % 5 == 0) graph.blocks[b].successors.push_back(random() % n);
    if (random() % 8 == 0) graph.blocks[b].leaves_normally = true;
  }
  graph.blocks[n - 1].leaves_normally = true;
  return graph;
}

}  // namespace

TEST_CASE("the arms of an if meet behind it") {
  const Sample s(kRegisters +
                 "@p bra ELSE; mov.b32 r,1; bra.uni END; ELSE: mov.b32 r,2; END: mov.b32 r,3; ret;");
  CHECK(s.at(0).target == 3);
  CHECK(s.at(0).reconverge == 4);
  CHECK(s.at(4).is_join);
  CHECK(!s.at(3).is_join);
  CHECK(s.at(2).reconverge == -1);
}

TEST_CASE("a loop's lanes meet at its exit") {
  const Sample s(kRegisters + "LOOP: add.s32 r,r,1; @p bra LOOP; mov.b32 r,3; ret;");
  CHECK(s.at(1).reconverge == 2);
  CHECK(s.at(2).is_join);
  CHECK(!s.at(0).is_join);
}

TEST_CASE("break and continue reconverge at the end and at the head of the loop body") {
  const Sample s(
      kRegisters +
      "LOOP: @p bra BREAK; @q bra NEXT; mov.b32 r,1; NEXT: add.s32 r,r,1; @p bra LOOP; BREAK: ret;");
  CHECK(s.at(0).reconverge == 5);
  CHECK(s.at(1).reconverge == 3);
  CHECK(s.at(4).reconverge == 5);
}

TEST_CASE("an early return leaves only the function's exit to meet at") {
  const Sample s(kRegisters + "@p bra OUT; @q ret; mov.b32 r,1; OUT: ret;");
  CHECK(s.at(0).reconverge == -1);
  const Sample two(kRegisters + "@p bra A; ret; A: ret;");
  CHECK(two.at(0).reconverge == -1);
}

TEST_CASE("nobody waits for lanes that trap") {
  const Sample s(kRegisters +
                 "@p bra BAD; @q bra SKIP; mov.b32 r,1; bra SKIP; BAD: mov.b32 r,2; trap; SKIP: ret;");
  CHECK(s.at(0).reconverge == 1);
  CHECK(s.at(1).reconverge == 6);
  // Where every way traps, the traps count.
  const Sample doomed(kRegisters + "@p bra A; trap; A: trap;");
  CHECK(doomed.at(0).reconverge == -1);
}

TEST_CASE("a loop without exit does not hide the other way's end") {
  const Sample s(kRegisters +
                 "@p bra WORK; SPIN: bra SPIN; WORK: mov.b32 r,1; @q bra L; mov.b32 r,2; L: ret;");
  CHECK(s.at(0).reconverge == -1);
  CHECK(s.at(3).reconverge == 5);
  const Sample all(kRegisters + "L: @p bra M; mov.b32 r,1; M: bra L;");
  CHECK(all.at(0).reconverge == 2);
}

TEST_CASE("an indexed branch reconverges behind its cases") {
  const Sample s(kRegisters +
                 "T: .branchtargets A,B,C; brx.idx r,T; A: mov.b32 r,1; bra E; B: mov.b32 r,2; bra E; C: "
                 "mov.b32 r,3; E: ret;");
  CHECK(s.at(0).reconverge == 6);
  CHECK(s.at(6).is_join);
}

TEST_CASE("a barrier's spin loop reconverges where it is left") {
  const Sample s(
      ".reg .b32 b; { .reg .pred P1; W: mbarrier.try_wait.parity.shared::cta.b64 P1,[b],0; @P1 bra.uni D; "
      "bra.uni W; D: } mov.b32 b,1; ret;");
  CHECK(s.at(1).reconverge == 3);
}

TEST_CASE("post-dominators agree with a search that removes each block in turn") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const FlowGraph graph = random_graph(random, 2 + random() % 14);
    const std::vector<int32_t> immediate = immediate_post_dominators(graph);
    for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
      // The immediate one post-dominates b, and every other post-dominator of b post-dominates it.
      INFO("round " << round << " block " << b);
      std::vector<uint32_t> all;
      for (uint32_t d = 0; d < graph.blocks.size(); ++d)
        if (d != b && post_dominates(graph, d, b)) all.push_back(d);
      if (immediate[b] == kFunctionExit) {
        CHECK(all.empty());
        continue;
      }
      const auto nearest = static_cast<uint32_t>(immediate[b]);
      CHECK(std::find(all.begin(), all.end(), nearest) != all.end());
      for (const uint32_t d : all) CHECK((d == nearest || post_dominates(graph, d, nearest)));
    }
  }
}
