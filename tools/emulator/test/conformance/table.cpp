#include "table.h"

namespace conformance {

Table all_cases() {
  Table table;
  for (auto* add : {integer_cases,       bit_cases,           float_cases,
                    double_cases,        half_cases,          conversion_cases,
                    approximation_cases, warp_cases,          divergence_cases,
                    barrier_cases,       atomic_cases,        atomic_vector_cases,
                    memory_cases,        async_copy_cases,    mbarrier_cases,
                    bulk_cases,          tensor_load_cases,   tensor_store_cases,
                    tensor_modify_cases, tensor_im2col_cases, cluster_cases,
                    matrix_cases,        matrix_shape_cases,  matrix_sparse_cases,
                    wmma_cases,          sweep_compare_cases, sweep_arithmetic_cases,
                    sweep_convert_cases, print_cases,         fault_cases})
    add(table);
  return table;
}

}  // namespace conformance
