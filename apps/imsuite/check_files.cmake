# Checks that --input reads a file that --write has written, with the same result, and that half of
# such a file is refused with a message that names it. Called by ../tests.cmake with -D: program,
# kernel, file.

# Runs the program and sets its exit code, output and errors.
macro(solve)
  execute_process(COMMAND ${program} ${kernel} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  # These fields may differ between runs.
  string(REGEX REPLACE "\"seconds\":[^,]+," "" output "${output}")
endmacro()

function(fail why)
  message(FATAL_ERROR "${kernel}: ${why}\n"
    "exit code ${code}\n--- stdout\n${output}\n--- stderr\n${errors}")
endfunction()

file(REMOVE ${file} ${file}.again)
solve(--nodes 50 --seed 4 --write ${file})
if(NOT code STREQUAL 0 OR NOT output MATCHES "\"verified\":true" OR NOT EXISTS ${file})
  fail("it must write its input")
endif()
set(generated "${output}")

solve(--input ${file} --write ${file}.again)
if(NOT code STREQUAL 0 OR NOT output STREQUAL generated)
  fail("from the file it must come to the same result, which was\n${generated}")
endif()
file(READ ${file} text)
file(READ ${file}.again again)
if(NOT again STREQUAL text)
  fail("what was read from ${file} is not what was written to it: see ${file}.again")
endif()

file(SIZE ${file} bytes)
math(EXPR half "${bytes} / 2")
file(READ ${file} text LIMIT ${half})
file(WRITE ${file}.half "${text}")
solve(--input ${file}.half)
if(NOT code STREQUAL 2 OR output)
  fail("half a file must be refused")
endif()
string(FIND "${errors}" "imsuite: ${file}.half:" place)
if(NOT place EQUAL 0 OR NOT errors MATCHES "^[^\n]+: wanted [^\n]+\n$")
  fail("it must say in one line that half a file is wrong, and where")
endif()
