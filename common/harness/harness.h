// What a chapter's driver.cpp uses: say what the chapter is, and the harness runs, checks, times and reports
// it.
//
//   int main(int argc, char** argv) {
//     return harness::run_chapter({.number = 1,
//                                  .title = "Baseline",
//                                  .change = "every hand-off waits at once",
//                                  .launch = chapter01::launch,
//                                  .query_tile = 128,
//                                  .key_tile = 128},
//                                 argc, argv);
//   }
#pragma once
#include <cstdint>
#include <string>

#include "harness/problem.h"

namespace harness {

struct Chapter {
  int number = 0;
  std::string title{};
  std::string change{};  // what differs from the chapter before, one line; empty for the first
  Launcher launch = nullptr;
  int query_tile = 128;  // query rows per CTA; query_length must be a multiple
  int key_tile = 128;    // keys per iteration; key_length must be a multiple
  // Shape when --shape is not given.
  Problem default_problem{.batch = 1, .heads = 2, .query_length = 512, .key_length = 512};
};

// Exit codes, the same for every driver.
inline constexpr int kExitPass = 0;
inline constexpr int kExitFail = 1;         // wrong result, or the launch failed
inline constexpr int kExitUsage = 2;        // command line not understood
inline constexpr int kExitWrongDevice = 3;  // no CUDA device, or not compute capability 10.0

// Parses the command line, runs the chapter on the current device, prints the report. Returns an exit code.
int run_chapter(const Chapter& chapter, int argc, char** argv);

// One 128 x 128 tile of scores, S = Q K^T without scaling: chapter 0.
// q and k are BF16 [128, 128] row-major; s is float [128, 128] row-major, all in device memory.
struct OneTileChapter {
  int number = 0;
  std::string title{};
  std::string change{};
  void (*launch)(const void* q, const void* k, float* s, cudaStream_t stream) = nullptr;
};

// As run_chapter, for a kernel that computes one tile of scores; also prints the upper left corner of S
// beside the reference. Takes the same options except --shape.
int run_one_tile(const OneTileChapter& chapter, int argc, char** argv);

}  // namespace harness
