// Input tensors: families that stress different parts of online softmax, from a seed, the same on every
// machine.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bf16.h"
#include "harness/problem.h"

namespace harness {

enum class Family {
  kNormal,      // Q, K, V standard normal: scaled scores of standard deviation 1
  kWide,        // Q, K, V of standard deviation 4: scores of deviation 16, softmax near one-hot
  kStaircase,   // each key tile raises every row's maximum by about 16 in log2 units: a rescale in every tile
  kDescending,  // each key tile lowers it by about 2: the first tile's maximum stays, later tiles still count
  kOnehot,      // key j is 16 times unit vector j mod 128: the scores are a copy of Q's elements
  kEqual,       // all of Q and K equal: every weight is the same, O is the mean of V
};

std::string_view family_name(Family family);
std::string family_names();  // for messages: "normal, wide, ..."
// Throws std::invalid_argument that lists the names.
Family parse_family(std::string_view name);

// BF16, laid out as Problem says.
struct Inputs {
  std::vector<Bf16> q, k, v;
};

// `key_tile` is the number of keys after which the staircase takes a step.
Inputs make_inputs(const Problem& problem, Family family, uint64_t seed, int key_tile);

}  // namespace harness
