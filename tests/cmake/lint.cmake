# Tests of the code as text, label lint. The tools have fixed versions (tests/lint-tools.txt),
# because another version would disagree, and are in build/tools, where launch/test installs them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
apgas_add_test(tidy lint 1 300 ""
  ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/tidy.py ${PROJECT_SOURCE_DIR})

# Every public header compiles by itself.
add_test(NAME headers COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/headers.py
  ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER_LAUNCHER})
set_tests_properties(headers PROPERTIES LABELS "lint;long" TIMEOUT 600 PROCESSORS 2)
apgas_test_needs(headers "lint;long")

find_program(apgas_shellcheck shellcheck)
if(apgas_shellcheck)
  add_test(NAME shellcheck COMMAND ${apgas_shellcheck} -x
    launch/docs launch/package launch/quickstart launch/test launch/prepare.sh .ci/run
    docs/pictures/render
    tests/fuzz/run.sh)
  set_tests_properties(shellcheck PROPERTIES LABELS lint TIMEOUT 60
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  apgas_test_needs(shellcheck lint)
endif()

set(tools ${PROJECT_SOURCE_DIR}/build/tools/bin)
find_program(apgas_clang_format clang-format PATHS ${tools} NO_DEFAULT_PATH)
find_program(apgas_clang_tidy clang-tidy PATHS ${tools} NO_DEFAULT_PATH)
if(NOT apgas_clang_format OR NOT apgas_clang_tidy)
  message(STATUS "apgas: no lint tools in ${tools}: the tests format and clang_tidy are left out")
  return()
endif()

# The interpreter beside the tools has PyYAML.
apgas_add_test(public_files lint 1 60 "" ${tools}/python ${PROJECT_SOURCE_DIR}/tests/public_files.py)
apgas_add_test(public_files_test lint 1 120 ""
  ${tools}/python ${PROJECT_SOURCE_DIR}/tests/scripts/public_files_test.py)

set(patterns base scheduler comm sync places launch apps tests)
list(TRANSFORM patterns PREPEND ${PROJECT_SOURCE_DIR}/)
set(c_patterns ${patterns})
list(TRANSFORM patterns APPEND "/*.[ch]pp")
list(TRANSFORM c_patterns APPEND "/*.[ch]")
file(GLOB_RECURSE apgas_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${patterns} ${c_patterns})
add_test(NAME format COMMAND ${apgas_clang_format} --dry-run --Werror ${apgas_sources})
set_tests_properties(format PROPERTIES LABELS lint TIMEOUT 60
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
apgas_test_needs(format lint)
add_custom_target(format COMMAND ${apgas_clang_format} -i ${apgas_sources}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Formatting ${PROJECT_SOURCE_DIR}" VERBATIM)

# The sources of the library and the apps, with the headers that they include, as far as they have
# changed since the last run without findings. This takes many minutes if nothing has passed before;
# clang_tidy_deep lets the analyzer follow every path it can, which takes five times as long.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set(clang_tidy ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/clang_tidy.py ${PROJECT_BINARY_DIR}
  --clang-tidy ${apgas_clang_tidy})
add_test(NAME clang_tidy COMMAND ${clang_tidy})
add_test(NAME clang_tidy_deep COMMAND ${clang_tidy} --deep)
set_tests_properties(clang_tidy clang_tidy_deep PROPERTIES
  LABELS lint TIMEOUT 1800 PROCESSORS ${cores})
set_property(TEST clang_tidy clang_tidy_deep APPEND PROPERTY LABELS long)
apgas_test_needs(clang_tidy "lint;long")
apgas_test_needs(clang_tidy_deep "lint;long")
