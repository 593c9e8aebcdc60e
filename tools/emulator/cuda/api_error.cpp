// Error codes: last error, names, descriptions.
#include "cuda/api.h"
#include "cuda/error_table.h"

using namespace emu::cuda;

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(last_error(), cudaSuccess); }

cudaError_t cudaPeekAtLastError() { return last_error(); }

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find_error(error);
  return found && found->runtime_name ? found->runtime_name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find_error(error);
  return found && found->runtime_name ? found->text : "unrecognized error code";
}

}  // extern "C"
