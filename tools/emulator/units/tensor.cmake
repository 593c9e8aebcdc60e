# The arithmetic kernels are one source compiled for three instruction sets; mma_kernels.cpp picks at run time.
add_library(emu_tensor STATIC
  smem_descriptor.cpp instruction_descriptor.cpp tmem.cpp tmem_access.cpp tmem_copy.cpp
  mma_arithmetic.cpp mma_operand.cpp mma_kernels.cpp mma_kernels_portable.cpp mma_layout.cpp mma_check.cpp
  block_scale.cpp block_scale_arithmetic.cpp sparse_operand.cpp zero_columns.cpp tensor_core.cpp)
target_include_directories(emu_tensor PUBLIC ${CMAKE_SOURCE_DIR}/tools/emulator)
target_link_libraries(emu_tensor PUBLIC fmt::fmt)
set_source_files_properties(mma_kernels_portable.cpp mma_operand.cpp block_scale.cpp PROPERTIES COMPILE_OPTIONS "-O3")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_sources(emu_tensor PRIVATE mma_kernels_avx2.cpp mma_kernels_avx512.cpp)
  set_source_files_properties(mma_kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "-O3;-mavx2;-mfma")
  set_source_files_properties(mma_kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "-O3;-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
  target_compile_definitions(emu_tensor PRIVATE EMU_TENSOR_X86)
endif()

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench_tensor_core.cpp)
  add_executable(bench_tensor_core bench_tensor_core.cpp)
  target_link_libraries(bench_tensor_core PRIVATE emu_tensor)
endif()

foreach(name descriptors tmem arithmetic mma layouts scaled scaled_layouts weight_stationary sparse)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test/test_tensor_${name}.cpp)
    workbook_test(test_tensor_${name} SOURCES test/test_tensor_${name}.cpp LIBS emu_tensor)
    if(TARGET test_tensor_${name})
      target_compile_definitions(test_tensor_${name} PRIVATE
        TENSOR_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/test/data")
    endif()
  endif()
endforeach()
