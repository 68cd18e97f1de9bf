# Compiles `source`, and fails unless the compiler rejects it with output that matches `expect`. The
# header `first` is included before it; without a source it is only precompiled. With
# `first_error` the first error alone must match. See apgas_compile_fail_test in ApgasTest.cmake.
cmake_policy(VERSION 3.25)
list(TRANSFORM includes PREPEND -I)
list(TRANSFORM definitions PREPEND -D)
set(command ${compiler} -std=c++20 ${includes} ${definitions})

if(NOT source)
  execute_process(COMMAND ${command} -x c++-header ${first} -o ${first}.gch
    COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

function(compile result_variable output_variable)
  set(before)
  if(first)
    set(before -include ${first})
  endif()
  execute_process(COMMAND ${command} -fsyntax-only ${before} ${ARGN} ${source}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${result_variable} ${result} PARENT_SCOPE)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()

file(READ ${source} text)
if(text MATCHES "APGAS_TEST_CONTROL")
  compile(result output -DAPGAS_TEST_CONTROL)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "The control must compile, but:\n${output}")
  endif()
endif()
compile(result output)
if(result EQUAL 0)
  message(FATAL_ERROR "${source} compiles, but must not")
endif()
set(seen "${output}")
if(first_error)
  string(REGEX MATCH "error: [^\n]*" seen "${output}")
endif()
if(NOT seen MATCHES "${expect}")
  message(FATAL_ERROR "The compiler's output does not match '${expect}':\n${output}")
endif()
