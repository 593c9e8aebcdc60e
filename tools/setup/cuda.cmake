# The CUDA toolkit of this build: the one set-up chose, else the first nvcc of 13.0 or newer that is found.
# Defines WORKBOOK_NVCC, WORKBOOK_CUDA_INCLUDE, WORKBOOK_CUDART (a libcudart.so.13 to link against),
# the header-only target cuda_headers, and cuda_object().
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/setup/find_nvcc.sh
                OUTPUT_VARIABLE WORKBOOK_NVCC OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE find_nvcc_result)
if(NOT find_nvcc_result EQUAL 0)
  message(WARNING "no nvcc of 13.0 or newer: chapters and kernel tests are left out. Way out: make setup")
  set(WORKBOOK_NVCC "")
  return()
endif()
get_filename_component(cuda_bin ${WORKBOOK_NVCC} REALPATH)
get_filename_component(cuda_bin ${cuda_bin} DIRECTORY)
get_filename_component(cuda_root ${cuda_bin} DIRECTORY)
unset(WORKBOOK_CUDA_INCLUDE CACHE)
unset(WORKBOOK_CUDART CACHE)
find_path(WORKBOOK_CUDA_INCLUDE cuda_runtime_api.h
          PATHS ${cuda_root}/include ${cuda_root}/targets/x86_64-linux/include REQUIRED NO_DEFAULT_PATH)
find_library(WORKBOOK_CUDART NAMES libcudart.so.13
             PATHS ${cuda_root}/lib64 ${cuda_root}/lib ${cuda_root}/targets/x86_64-linux/lib REQUIRED NO_DEFAULT_PATH)
message(STATUS "nvcc: ${WORKBOOK_NVCC}")

add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${WORKBOOK_CUDA_INCLUDE})

# cuda_object(<out-var> SOURCE file.cu [ARCH 100a] [FLAGS ...] [ALLOW_SPILLS] [DEPENDS ...]): compiles one CUDA file
# to a host object holding its fat binary (SASS and PTX), prints each kernel's registers, spills and shared memory,
# and fails on a spill. <out-var> receives the object's path, to be listed among an executable's sources, which
# then calls cuda_link().
function(cuda_object out_var)
  cmake_parse_arguments(O "ALLOW_SPILLS" "SOURCE;ARCH" "FLAGS;DEPENDS" ${ARGN})
  if(NOT O_ARCH)
    set(O_ARCH 100a)
  endif()
  get_filename_component(source ${O_SOURCE} ABSOLUTE)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
  string(MAKE_C_IDENTIFIER ${name} name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.sm_${O_ARCH}.o)
  set(spills "")
  if(O_ALLOW_SPILLS)
    set(spills --allow-spills)
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_SOURCE_DIR}/tools/setup/nvcc_report.sh ${spills} -- ${WORKBOOK_NVCC}
            -gencode arch=compute_${O_ARCH},code=[sm_${O_ARCH},compute_${O_ARCH}] -std=c++20 -O3 -lineinfo
            -cudart shared --ptxas-options=-v -Xcompiler -fPIC -I${CMAKE_SOURCE_DIR}/common ${O_FLAGS}
            -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source} ${CMAKE_SOURCE_DIR}/tools/setup/nvcc_report.sh ${O_DEPENDS}
    DEPFILE ${object}.d
    VERBATIM COMMENT "nvcc ${O_SOURCE}")
  set(${out_var} ${object} PARENT_SCOPE)
endfunction()

# cuda_link(<target>): links <target> to libcudart.so.13. RUNPATH, not RPATH, so that the emulator's library
# can be put before it by LD_LIBRARY_PATH.
function(cuda_link target)
  get_filename_component(directory ${WORKBOOK_CUDART} DIRECTORY)
  target_link_libraries(${target} PRIVATE cuda_headers ${WORKBOOK_CUDART})
  set_target_properties(${target} PROPERTIES BUILD_RPATH ${directory})
  target_link_options(${target} PRIVATE -Wl,--enable-new-dtags)
endfunction()
