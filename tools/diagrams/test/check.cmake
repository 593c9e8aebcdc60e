# Runs the picture checker over everything in diagrams/, timelines included. Variables: CHECKER, FOLDER.
file(GLOB pictures ${FOLDER}/*.svg)
execute_process(COMMAND ${CHECKER} ${pictures} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "pictures in diagrams/ have problems")
endif()
