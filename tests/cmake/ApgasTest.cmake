include_guard()
# The functions by which the folders of tests/ declare tests:
#   apgas_test, apgas_room_test, apgas_model_test, apgas_compile_fail_test, apgas_add_test,
#   apgas_test_needs, apgas_run_first

# The programs of the tests are optimized less than the library: that halves the time to build them.
# Empty: as the build type says, which is what ./launch/test --full does.
set(options)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(options -O1)
endif()
set(APGAS_TEST_OPTIONS "${options}" CACHE STRING "Compiler options of the programs of the tests")
unset(options)

# Under mpirun: any user, more places than cores, no binding; waiting places give up the core.
set(apgas_mpirun_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none)

# The transports that need mpirun. Nothing of Open MPI's runs under the sanitizers.
set(apgas_test_networks)
if(apgas_mpi AND NOT APGAS_SANITIZE)
  list(APPEND apgas_test_networks mpi)
  if(apgas_ucx)
    list(APPEND apgas_test_networks ucx)
  endif()
endif()

# The sanitizers' settings are on the test, so that a plain ctest has them too. Without a symbolizer
# clang's know no names, neither to print nor of tsan.supp.
set(apgas_test_environment)
if(APGAS_SANITIZE)
  find_program(apgas_symbolizer NAMES llvm-symbolizer-16 llvm-symbolizer REQUIRED)
  set(symbolizer "external_symbolizer_path=${apgas_symbolizer}")
endif()
if(APGAS_SANITIZE STREQUAL "address")
  list(APPEND apgas_test_environment
    "ASAN_OPTIONS=detect_stack_use_after_return=0 ${symbolizer}"
    "UBSAN_OPTIONS=print_stacktrace=1 ${symbolizer}")
elseif(APGAS_SANITIZE STREQUAL "thread")
  list(APPEND apgas_test_environment
    "TSAN_OPTIONS=halt_on_error=1 ${symbolizer} suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
endif()

# Registers one run of a test program; `environment` and `command` are lists.
function(apgas_add_test name labels processors timeout environment)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    LABELS "${labels}" PROCESSORS ${processors} TIMEOUT ${timeout}
    ENVIRONMENT "${apgas_test_environment};${environment}")
  set(needs)
  foreach(word IN LISTS ARGN)
    if(TARGET "${word}")
      list(APPEND needs ${word})
    elseif(word MATCHES "TARGET_FILE(_DIR)?:([^>]+)>")
      list(APPEND needs ${CMAKE_MATCH_2})
    endif()
  endforeach()
  apgas_test_needs(${name} "${labels}" ${needs})
endfunction()

# apgas_test_needs(<test> <labels> <target>...): the targets that must be built before the test runs.
# Tests of apgas_add_test have those that their command names.
function(apgas_test_needs name labels)
  string(REPLACE ";" " " labels "${labels}")
  string(REPLACE ";" " " targets "${ARGN}")
  set_property(GLOBAL APPEND PROPERTY apgas_tests "${name}\t${labels}\t${targets}\n")
endfunction()

# apgas_write_test_list(): after all tests. Writes tests.tsv into the build folder, by which
# launch/test builds and runs a part of them: a line for each test with its name, labels and targets.
function(apgas_write_test_list)
  get_property(tests GLOBAL PROPERTY apgas_tests)
  list(JOIN tests "" text)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests.tsv CONTENT "${text}" @ONLY)
endfunction()

# Those that last longest and mostly wait come first, so that the others fill the cores beside them
# and nobody waits for them alone at the end.
function(apgas_run_first)
  set_tests_properties(${ARGN} PROPERTIES COST 1000)
endfunction()

# The target of the program of a test: sync/finish is run by sync_finish_test.
function(apgas_test_target result name)
  string(REPLACE "/" "_" target ${name})
  if(NOT name MATCHES "_test$")
    string(APPEND target _test)
  endif()
  set(${result} ${target} PARENT_SCOPE)
endfunction()

# apgas_test(<name> SOURCES ... LINK <module>... [PLACES <n>...] [LABELS ...] [TIMEOUT s]
#            [PROCESSORS n] [ENVIRONMENT VAR=value...] [SERIAL] [OPTIMIZED])
# apgas_test(<name> AGAIN <test> ...): the program of another test, in another environment.
# LINK names modules, or apgas for what users link, or any other target. A test without a main() of
# its own gets GoogleTest's.
# Without PLACES: one process, no launcher, label unit. With PLACES: for each n `name.mpi.np<n>` and
# `name.ucx.np<n>` under mpirun and `name.local.np<n>` in one process, label places. Under a
# sanitizer or without MPI only the latter. With OPTIMIZED the build type alone says how to compile.
function(apgas_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;OPTIMIZED" "AGAIN;TIMEOUT;PROCESSORS"
    "SOURCES;LINK;PLACES;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "apgas_test(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)  # ends what hangs, on a machine of any load
  endif()
  if(APGAS_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
  endif()
  if(arg_AGAIN)
    apgas_test_target(program ${arg_AGAIN})
  else()
    apgas_test_target(program ${name})
    apgas_test_program(${program} "${arg_SOURCES}" "${arg_LINK}" "${arg_OPTIMIZED}")
  endif()

  set(tests)
  if(NOT arg_PLACES)
    set(processors 1)
    if(arg_PROCESSORS)
      set(processors ${arg_PROCESSORS})
    endif()
    apgas_add_test(${name} "unit;${arg_LABELS}" ${processors} ${arg_TIMEOUT}
      "${arg_ENVIRONMENT}" ${program})
    list(APPEND tests ${name})
  endif()
  foreach(n IN LISTS arg_PLACES)
    foreach(network IN LISTS apgas_test_networks)
      apgas_add_test(${name}.${network}.np${n} "places;${network};${arg_LABELS}" ${n} ${arg_TIMEOUT}
        "${apgas_mpirun_environment};APGAS_TRANSPORT=${network};${arg_ENVIRONMENT}"
        ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} ${MPIEXEC_PREFLAGS}
        $<TARGET_FILE:${program}> ${MPIEXEC_POSTFLAGS})
      list(APPEND tests ${name}.${network}.np${n})
    endforeach()
    apgas_add_test(${name}.local.np${n} "places;local;${arg_LABELS}" ${n} ${arg_TIMEOUT}
      "APGAS_TRANSPORT=local;APGAS_PLACES=${n};${arg_ENVIRONMENT}" ${program})
    list(APPEND tests ${name}.local.np${n})
  endforeach()
  if(arg_SERIAL)
    set_tests_properties(${tests} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# The program of a test. What all of them include is compiled once, but for those that link only base
# or are compiled with other options.
function(apgas_test_program program sources link optimized)
  add_executable(${program} ${sources})
  target_compile_options(${program} PRIVATE -Wall -Wextra)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(NOT optimized)
    target_compile_options(${program} PRIVATE ${APGAS_TEST_OPTIONS})
  endif()
  if(NOT optimized AND NOT link STREQUAL "base")
    apgas_precompiled(${program} gtest)
  endif()
  list(TRANSFORM link PREPEND apgas:: REGEX "^(base|scheduler|comm|sync|places|launch|apgas)$")
  target_link_libraries(${program} PRIVATE ${link} GTest::gtest GTest::gtest_main)
endfunction()

# apgas_room_test(<module>/<room> LINK <module>... [EXCEPT <file>...] [ALONE <file>...]
#                 [<options of apgas_test>])
# One program of all *_test.cpp in the folder of the room, `module_room_test`; the test is called
# like the room. EXCEPT files belong to other tests. Four files at a time are compiled as one, but
# for those that are ALONE, because they declare the same names as others.
function(apgas_room_test room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;ALONE;LINK")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${room}/*_test.cpp)
  list(TRANSFORM arg_EXCEPT PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/${room}/)
  list(TRANSFORM arg_ALONE PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/${room}/)
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  apgas_test(${room} SOURCES ${sources} LINK ${arg_LINK} ${arg_UNPARSED_ARGUMENTS})
  apgas_test_target(program ${room})
  set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# apgas_model_test(<name> ROOM <module>/<room> SOURCES ... MODULES <module>... [TIMEOUT s] [DEEP])
# A Relacy model of what is in the room, `module/room/name`: compiled with APGAS_MODEL_CHECK against the headers of the modules, private ones
# included, and linked with nothing. Label model. Not built under a sanitizer (Relacy switches
# contexts by itself) or where Relacy is missing. With DEEP `module/room/name_deep`, label long, is the same
# program with the argument --deep: it explores further.
find_path(apgas_relacy relacy/relacy.hpp)
if(NOT apgas_relacy)
  message(WARNING "The models are not built: relacy/relacy.hpp not found (apt install relacy-dev)")
endif()
function(apgas_model_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "DEEP" "TIMEOUT;ROOM" "SOURCES;MODULES")
  if(APGAS_SANITIZE OR NOT apgas_relacy)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE APGAS_MODEL_CHECK)
  target_compile_options(${name} PRIVATE -O2 -Wall)
  foreach(module IN LISTS arg_MODULES ITEMS base)
    target_include_directories(${name} PRIVATE
      $<TARGET_PROPERTY:apgas_${module}_headers,INTERFACE_INCLUDE_DIRECTORIES>
      $<TARGET_PROPERTY:apgas_${module}_private,INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  apgas_add_test(${arg_ROOM}/${name} model 1 ${arg_TIMEOUT} "" ${name})
  if(arg_DEEP)
    apgas_add_test(${arg_ROOM}/${name}_deep "model;long" 1 ${arg_TIMEOUT} "" ${name} --deep)
  endif()
endfunction()

# apgas_compile_fail_test(<name> SOURCE <file> EXPECT <regex> [LINK <module>])
# The file must not compile, and the compiler's output must match. Where the file mentions
# APGAS_TEST_CONTROL it is compiled with that defined too, and must then compile: so it fails
# for what it shows and not for a slip. It sees the headers of the whole library, precompiled by a
# test that comes before; with LINK only those of the module and below.
function(apgas_compile_fail_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;EXPECT;LINK" "")
  set(first ${PROJECT_BINARY_DIR}/compile_fail/first.hpp)
  if(arg_LINK)
    set(first)
  else()
    set(arg_LINK apgas)
    get_property(known GLOBAL PROPERTY apgas_compile_fail_headers)  # TEST sees this folder's only
    if(NOT known)
      set_property(GLOBAL PROPERTY apgas_compile_fail_headers YES)
      file(CONFIGURE OUTPUT ${first} CONTENT "#include <apgas/apgas.hpp>\n" @ONLY)
      apgas_compile_fail_run(compile_fail_headers "" "" apgas ${first})
      set_tests_properties(compile_fail_headers PROPERTIES FIXTURES_SETUP compile_fail_headers)
    endif()
  endif()
  apgas_compile_fail_run(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE} "${arg_EXPECT}"
    ${arg_LINK} "${first}")
  if(first)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED compile_fail_headers)
  endif()
endfunction()

# Registers a run of compile_fail.cmake: of a source, or of the header that comes first in all.
function(apgas_compile_fail_run name source expect module first)
  set(target apgas)
  if(NOT module STREQUAL "apgas")
    string(REPLACE "/" "_" target apgas_${module}_headers)
  endif()
  set(includes $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND}
    "-Dcompiler=${CMAKE_CXX_COMPILER}" "-Dincludes=${includes}" "-Ddefinitions=${definitions}"
    "-Dsource=${source}" "-Dexpect=${expect}" "-Dfirst=${first}"
    -P ${PROJECT_SOURCE_DIR}/tests/cmake/compile_fail.cmake)
  set_tests_properties(${name} PROPERTIES LABELS compile TIMEOUT 120)
  apgas_test_needs(${name} compile)
endfunction()
