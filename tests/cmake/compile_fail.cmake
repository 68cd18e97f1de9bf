# Compiles `source`, and fails unless the compiler rejects it with output that matches `expect`. The
# header `first` is included before it; without a source it is only precompiled. With
# `first_error` the first error alone must match, and with `control` the source must compile with
# APGAS_TEST_CONTROL. With `controls`, sources separated by newlines, it
# fails unless these compile with APGAS_TEST_CONTROL, all of them in one file. See
# apgas_compile_fail_test in ApgasTest.cmake.
cmake_policy(VERSION 3.25)
list(TRANSFORM includes PREPEND -I)
list(TRANSFORM definitions PREPEND -D)
set(command ${compiler} -std=c++20 ${includes} ${definitions})

if(NOT source AND NOT controls)
  execute_process(COMMAND ${command} -x c++-header ${first} -o ${first}.gch
    COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

function(compile result_variable output_variable source)
  set(before)
  if(first)
    set(before -include ${first})
  endif()
  execute_process(COMMAND ${command} -fsyntax-only ${before} ${ARGN} ${source}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${result_variable} ${result} PARENT_SCOPE)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()

# Each source gets a namespace of its own. The headers are included before.
if(controls)
  string(REPLACE "\n" ";" controls "${controls}")
  set(headers)
  set(text)
  foreach(control IN LISTS controls)
    file(STRINGS ${control} lines REGEX "^#include")
    list(APPEND headers ${lines})
    cmake_path(GET control STEM name)
    string(APPEND text "namespace control_${name} {\n#include \"${control}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(JOIN headers "\n" headers)
  file(WRITE ${first}.controls.cpp "#define APGAS_TEST_CONTROL\n${headers}\n${text}")
  compile(result output ${first}.controls.cpp)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "The controls must compile, but:\n${output}")
  endif()
  return()
endif()

if(control)
  compile(result output ${source} -DAPGAS_TEST_CONTROL)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "The control must compile, but:\n${output}")
  endif()
endif()
compile(result output ${source})
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
