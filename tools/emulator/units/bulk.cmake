add_library(emu_bulk STATIC
  ${CMAKE_CURRENT_LIST_DIR}/bulk_copy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/bulk_group.cpp
  ${CMAKE_CURRENT_LIST_DIR}/bulk_number.cpp
  ${CMAKE_CURRENT_LIST_DIR}/mbarrier.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tensor_map.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tensor_map_check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tensor_map_replace.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tma_plan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tma_tile.cpp)
target_include_directories(emu_bulk PUBLIC ${CMAKE_CURRENT_LIST_DIR}/..)
target_link_libraries(emu_bulk PUBLIC emu_memory fmt::fmt)

workbook_test(test_bulk SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/test/test_bulk_copy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test/test_bulk_mbarrier.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test/test_bulk_tensor_map.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test/test_bulk_tile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test/test_bulk_tile_walk.cpp
  LIBS emu_bulk)
