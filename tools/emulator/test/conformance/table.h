// The table of conformance cases: one small kernel each, whose output words were recorded on real hardware.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

// What an approximate instruction promises: its exact function, and how far a result may be from it.
struct ErrorBound {
  enum class Format { kF32, kF64, kF16x2, kBf16x2 };
  Format format = Format::kF32;
  std::string text;                                         // the manual's wording, short
  double (*exact)(double input) = nullptr;                  // evaluated in double
  double (*allowed)(double input, double exact) = nullptr;  // largest absolute error
  std::vector<uint64_t> inputs;                             // operand of each output element
};

struct Case {
  std::string name;                        // family.behaviour
  size_t words = 0;                        // 32-bit words of output; buffers begin as 0xcdcdcdcd
  std::function<void(uint32_t* out)> run;  // launches on the default stream; `out` is device memory
  ErrorBound bound;                        // empty `exact`: all words must be equal
  bool prints = false;                     // what the device prints is the result, not the words

  std::string family() const { return name.substr(0, name.find('.')); }
};

using Table = std::vector<Case>;

// All families, in the order of recording.
Table all_cases();

void integer_cases(Table& table);
void bit_cases(Table& table);
void float_cases(Table& table);
void double_cases(Table& table);
void half_cases(Table& table);
void conversion_cases(Table& table);
void approximation_cases(Table& table);
void warp_cases(Table& table);
void divergence_cases(Table& table);
void barrier_cases(Table& table);
void atomic_cases(Table& table);
void memory_cases(Table& table);
void async_copy_cases(Table& table);
void mbarrier_cases(Table& table);
void bulk_cases(Table& table);
void tensor_load_cases(Table& table);
void tensor_store_cases(Table& table);
void cluster_cases(Table& table);
void matrix_cases(Table& table);
void matrix_shape_cases(Table& table);
void matrix_sparse_cases(Table& table);
void wmma_cases(Table& table);
void atomic_vector_cases(Table& table);
void tensor_modify_cases(Table& table);
void tensor_im2col_cases(Table& table);
void sweep_compare_cases(Table& table);
void sweep_arithmetic_cases(Table& table);
void sweep_convert_cases(Table& table);
void print_cases(Table& table);
void fault_cases(Table& table);

}  // namespace conformance
