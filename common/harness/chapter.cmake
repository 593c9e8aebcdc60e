# add_chapter(NN directory): builds chapters/<directory>/{kernel.cu,driver.cpp} to ${CMAKE_BINARY_DIR}/chNN.
# Target run_chNN is chNN with the emulator to run it on; target workbook is all of them.
function(add_chapter number directory)
  if(NOT WORKBOOK_NVCC)
    return()
  endif()
  cuda_object(kernel SOURCE ${directory}/kernel.cu)
  add_executable(ch${number} ${directory}/driver.cpp ${kernel})
  target_include_directories(ch${number} PRIVATE ${CMAKE_SOURCE_DIR}/common)
  target_link_libraries(ch${number} PRIVATE harness)
  cuda_link(ch${number})
  add_custom_target(run_ch${number} DEPENDS ch${number})
  foreach(emulator emu emu_cudart)
    if(TARGET ${emulator})
      add_dependencies(run_ch${number} ${emulator})
    endif()
  endforeach()
  if(NOT TARGET workbook)
    add_custom_target(workbook)
  endif()
  add_dependencies(workbook run_ch${number})
endfunction()

# chapter_test(NN name [EMU options...] ARGS arguments...): one CTest entry that runs chNN on the emulator and
# asks for exit code 0.
function(chapter_test number name)
  cmake_parse_arguments(T "" "" "EMU;ARGS" ${ARGN})
  if(NOT TARGET emu OR NOT TARGET ch${number})
    return()
  endif()
  add_test(NAME ch${number}_${name}
           COMMAND $<TARGET_FILE:emu> ${T_EMU} -- $<TARGET_FILE:ch${number}> ${T_ARGS})
  set_tests_properties(ch${number}_${name} PROPERTIES LABELS chapter)
endfunction()
