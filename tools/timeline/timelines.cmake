# Draws NN_timeline.svg for every chapter from 01 on: the same three iterations of the first CTA, so that neighbours
# compare. Variables: BUILD (holds emu, timeline and the chapters), CHAPTERS (the source folder), OUT, SCRATCH (for
# the traces).
file(GLOB folders RELATIVE ${CHAPTERS} ${CHAPTERS}/[0-9][0-9]_*)
list(SORT folders)
file(MAKE_DIRECTORY ${OUT} ${SCRATCH})
foreach(folder ${folders})
  string(SUBSTRING ${folder} 0 2 number)
  if(number STREQUAL "00")
    continue()
  endif()
  set(trace ${SCRATCH}/${number}_timeline.json)
  execute_process(
    COMMAND ${BUILD}/emu --timing --trace ${trace} -- ${BUILD}/ch${number} --bench --json --shape 1x1x256x1024
    OUTPUT_VARIABLE report RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "chapter ${number} failed under the emulator: ${report}")
  endif()
  string(JSON title GET "${report}" title)
  math(EXPR chapter "${number}")
  execute_process(
    COMMAND ${BUILD}/timeline ${trace} --output ${OUT}/${number}_timeline.svg --iterations 3..5
            --title "Chapter ${chapter}, timeline: ${title}"
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "no timeline of chapter ${number}")
  endif()
endforeach()
