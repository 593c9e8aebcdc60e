// A microbenchmark: one number about the machine, measured by a kernel that does one thing.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace calibrate {

struct Benchmark {
  std::string name;  // what is measured, dotted from general to particular: "latency.fma"
  std::string unit;
  std::function<double()> run;  // throws std::runtime_error when CUDA fails
};

struct Target {
  bool blackwell = false;  // compute capability 10.x: tcgen05, packed FP32
  int sms = 0;
};

std::vector<Benchmark> pipe_benchmarks(const Target& target);
std::vector<Benchmark> shared_benchmarks(const Target& target);
std::vector<Benchmark> barrier_benchmarks(const Target& target);
std::vector<Benchmark> bulk_benchmarks(const Target& target);
std::vector<Benchmark> memory_benchmarks(const Target& target);
std::vector<Benchmark> tensor_benchmarks(const Target& target);  // empty before Blackwell

}  // namespace calibrate
