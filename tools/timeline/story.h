// What happened in one CTA between two times, arranged in rows: who worked, who waited, and for whom.
#pragma once

#include <string>
#include <vector>

#include "timeline/labels.h"
#include "timeline/trace.h"

namespace timeline {

struct Block {
  enum class Kind { Work, MbarrierWait, BarrierWait } kind = Kind::Work;
  double begin = 0, end = 0;
  std::string label;               // may be empty
  std::vector<std::string> brief;  // for narrow blocks, longest first
  std::string fill;                // class of svg/palette.h
  std::string tip;
};

// A wait within a warp's work, long enough to be in the trace.
struct Overlay {
  double begin = 0, end = 0;
  std::string reason;
};

struct Row {
  std::string title, detail, more;
  std::vector<Block> blocks;
  std::vector<std::pair<double, double>> flights;  // served, but the results are not yet there
  std::vector<Overlay> waits;                      // within its work
  std::vector<Slice> uses;                         // of a pipe: drawn as its busy share
  double pipes = 0;                                // how many of them there are; 0: a row of blocks
};

// An arrival in row `from` ended a wait in row `to`.
struct Arrow {
  size_t from = 0, to = 0;
  double arrived = 0, ended = 0;
};

struct Story {
  double from = 0, to = 0;
  std::vector<Row> rows;
  std::vector<Arrow> arrows;
  std::vector<double> iterations;                             // starts of all iterations of the CTA
  std::vector<std::pair<std::string, std::string>> meanings;  // fill -> what it stands for here
};

// When each iteration of the main loop begins: where the tensor core starts the operations that it starts
// with, as the labels group them. Empty when there are none.
std::vector<double> iterations(const Cta& cta, const Labels& labels);

Story tell(const Cta& cta, const Labels& labels, double from, double to);

}  // namespace timeline
