// Cases that try every modifier of an instruction: one kernel runs many forms on the same operands, and each
// form gives one word, a hash of its results in all threads. A word that differs names the form by its place
// in the list.
#pragma once
#include "../instruction.cuh"

namespace conformance {

// Sums in any order.
__device__ inline void add_hash(u32* word, u32 thread, uint64_t value) {
  atomicAdd(word,
            mix(static_cast<u32>(value) ^ mix(static_cast<u32>(value >> 32) + 0x9e3779b9 * (thread + 1))));
}

struct End {};  // of a list of forms, behind its last comma

template <typename Op>
__device__ void try_form(u32* out, int& form, u32 thread, uint64_t x, uint64_t y, uint64_t z) {
  if constexpr (!std::is_same_v<Op, End>) {
    // Through memory: ptxas 13.0 takes a 16-bit result of set for zero-extended, which it is not.
    const volatile typename Op::Out::Type result = Op::apply(x, y, z);
    add_hash(out + form++, thread, result);
  }
}
template <typename... Ops>
__global__ void try_forms(const uint64_t* operands, u32* out, int count) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t x = operands[i], y = operands[i + count], z = operands[i + 2 * count];
  int form = 0;
  (try_form<Ops>(out, form, i, x, y, z), ...);
}

// All operations of a sweep have operands of the same kinds.
template <typename First, typename... Rest>
void add_sweep(Table& table, const std::string& name) {
  using In = typename First::In;
  static_assert((std::is_same_v<Rest, End> || ...));
  constexpr int kArity = std::tuple_size_v<In>, kCount = 512;
  Case added;
  added.name = "sweep." + name, added.words = sizeof...(Rest);
  added.run = [](u32* out) {
    std::vector<uint64_t> all = operands(std::tuple_element_t<0, In>::kValues, 0, kArity, kCount);
    if constexpr (kArity > 1) append(all, operands(std::tuple_element_t<1, In>::kValues, 1, kArity, kCount));
    if constexpr (kArity > 2) append(all, operands(std::tuple_element_t<2, In>::kValues, 2, kArity, kCount));
    all.resize(3 * kCount);
    try_forms<First, Rest...><<<kCount / 128, 128>>>(to_device(all), out, kCount);
  };
  table.push_back(added);
}

#define NAME_OF(NAME, ...) NAME,

}  // namespace conformance
