# Runs one app and checks what every app promises of it; called by tests.cmake with -D.
# app, program, arguments, places, transport (may be empty), expect

separate_arguments(arguments)
set(ENV{APGAS_PLACES} ${places})
if(transport)
  set(ENV{APGAS_TRANSPORT} ${transport})
endif()
execute_process(COMMAND ${program} ${arguments}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)

function(fail why)
  message(FATAL_ERROR "${app} ${arguments}: ${why}\n"
    "exit code ${code}\n--- stdout\n${output}\n--- stderr\n${errors}")
endfunction()

if(expect STREQUAL usage_error)
  if(NOT code STREQUAL 2)
    fail("a wrong option must end with exit code 2")
  endif()
  if(NOT errors MATCHES "^[^\n]+\n$" OR output)
    fail("a wrong option must be one line on stderr and nothing on stdout")
  endif()
  return()
endif()

if(NOT code STREQUAL 0)
  fail("it failed")
endif()
if(expect STREQUAL help)
  if(NOT output MATCHES "--help" OR errors)
    fail("--help must explain the options on stdout")
  endif()
  return()
endif()

string(REGEX REPLACE ".*\n([^\n]+)\n$" "\\1" last_line "\n${output}")
foreach(name IN ITEMS app places workers seconds verified)
  string(JSON ${name}_found ERROR_VARIABLE problem GET "${last_line}" ${name})
  if(problem)
    fail("the last line must be a JSON object with \"${name}\": ${problem}")
  endif()
endforeach()
if(NOT app_found STREQUAL app OR NOT places_found STREQUAL places)
  fail("the last line must be of ${app} at ${places} places")
endif()
if(NOT verified_found STREQUAL ON OR NOT workers_found GREATER 0)
  fail("the last line must say that the result was verified, and by how many workers")
endif()
