include_guard()
# The functions with which the folders of tests/ declare tests: apgas_test, apgas_room_test,
# apgas_model_test, apgas_compile_fail_test, apgas_add_test, apgas_test_needs, apgas_run_first

# Test programs are optimized less than the library, because they then build in half of the time. If
# empty, the build type decides, as in ./launch/test --full.
set(options)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(options -Og)
elseif(APGAS_SANITIZE)  # clang, whose -Og is -O1
  set(options -O0)
endif()
set(APGAS_TEST_OPTIONS "${options}" CACHE STRING "Compiler options of the programs of the tests")
unset(options)

# Programs that say little more in a lane of a sanitizer or with a second compiler than without, for
# the time they take.
option(APGAS_TEST_FULL "Test also what ./launch/test leaves out without --full" OFF)
mark_as_advanced(APGAS_TEST_FULL)

# For mpirun: allow any user and more places than cores, bind nothing, and let waiting places yield
# the core.
set(apgas_mpirun_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none)

# The transports that need mpirun, and those that need it and connect places of one host. Open MPI does
# not run under the sanitizers.
set(apgas_test_networks)
if(apgas_mpi AND NOT APGAS_SANITIZE)
  list(APPEND apgas_test_networks mpi)
  if(apgas_ucx)
    list(APPEND apgas_test_networks ucx)
  endif()
endif()
set(apgas_test_host_networks ${apgas_test_networks})
if(apgas_test_networks)
  list(APPEND apgas_test_host_networks shm)
endif()

# The settings of the sanitizers are part of the test, so that a plain ctest uses them, too. Without
# a symbolizer those of clang do not know function names, neither to print them nor to match
# tsan.supp.
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

# apgas_add_test(<name> <labels> <processors> <timeout> <environment> <command>...): registers one run
# of a program. Labels and environment are lists. A test that is deadlocked ends with the reason, unless
# its environment says otherwise; a script passes the setting on only if it keeps the variables APGAS_*.
function(apgas_add_test name labels processors timeout environment)
  if(CMAKE_CROSSCOMPILING)
    math(EXPR timeout "4 * ${timeout}")  # in an emulator
  endif()
  if(APGAS_SANITIZE)
    math(EXPR timeout "5 * ${timeout}")
  endif()
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    LABELS "${labels}" PROCESSORS ${processors} TIMEOUT ${timeout}
    ENVIRONMENT "APGAS_DEADLOCK=abort;${apgas_test_environment};${environment}")
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

# apgas_test_needs(<test> <labels> <target>...): records which targets must be built before the test
# runs. apgas_add_test records the targets that the command names.
function(apgas_test_needs name labels)
  string(REPLACE ";" " " labels "${labels}")
  string(REPLACE ";" " " targets "${ARGN}")
  set_property(GLOBAL APPEND PROPERTY apgas_tests "${name}\t${labels}\t${targets}\n")
endfunction()

# apgas_write_test_list(): writes tests.tsv into the build folder, after all tests have been declared.
# launch/test reads there what a test needs. A line has the name of a test, its labels and its
# targets, separated by tabs.
function(apgas_write_test_list)
  get_property(tests GLOBAL PROPERTY apgas_tests)
  list(JOIN tests "" text)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests.tsv CONTENT "${text}" @ONLY)
endfunction()

# Starts the given tests first: tests that take long and mostly wait, so that other tests can use
# the cores meanwhile and no such test is left alone at the end.
function(apgas_run_first)
  set_tests_properties(${ARGN} PROPERTIES COST 1000)
endfunction()

# Sets `result` to the target of the program that runs a test: sync_finish_test for sync/finish.
function(apgas_test_target result name)
  string(REPLACE "/" "_" target ${name})
  if(NOT name MATCHES "_test$")
    string(APPEND target _test)
  endif()
  set(${result} ${target} PARENT_SCOPE)
endfunction()

# apgas_test(<name> SOURCES ... LINK <module>... [PLACES <n>...] [LABELS ...] [TIMEOUT s]
#            [PROCESSORS n] [ENVIRONMENT VAR=value...] [SERIAL] [OPTIMIZED])
# apgas_test(<name> AGAIN <test> ...): the program of another test with another environment.
# LINK names modules, whose internal functions the test may call, or `apgas`, the library as users
# link it, or any other target. A test without its own main() gets the one of GoogleTest. Without
# PLACES, the test is one process without a launcher, label unit. With PLACES, there are for each n
# the tests `name.mpi.np<n>`, `name.ucx.np<n>` and, for more than one place, `name.shm.np<n>` under
# mpirun, and `name.local.np<n>` in one process, label places; under a sanitizer or without MPI only
# the latter. With OPTIMIZED, APGAS_TEST_OPTIONS
# do not apply.
function(apgas_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;OPTIMIZED" "AGAIN;TIMEOUT;PROCESSORS"
    "SOURCES;LINK;PLACES;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "apgas_test(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)  # ends a test that hangs, under any load
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
    set(networks ${apgas_test_networks})
    if(n GREATER 1)
      set(networks ${apgas_test_host_networks})
    endif()
    foreach(network IN LISTS networks)
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

# Adds the program of a test. It uses the precompiled headers unless it links only base or is compiled
# with other options.
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
# The unit tests of a room: all *_test.cpp in its folder are one program, and one test that is called
# like the room. EXCEPT names files that belong to other tests. Up to three files are compiled as one;
# ALONE names files that cannot be joined, because they declare names of other files.
function(apgas_room_test room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;ALONE;LINK")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${room}/*_test.cpp)
  list(TRANSFORM arg_EXCEPT PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/${room}/)
  list(TRANSFORM arg_ALONE PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/${room}/)
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  apgas_test(${room} SOURCES ${sources} LINK ${arg_LINK} ${arg_UNPARSED_ARGUMENTS})
  apgas_test_target(program ${room})
  set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 3)
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# apgas_model_test(<name> ROOM <module>/<room> SOURCES ... MODULES <module>... [TIMEOUT s] [DEEP])
# A Relacy model of a structure in the room, called `module/room/name`, label model. It is compiled
# with APGAS_MODEL_CHECK against the headers of the modules, including private ones, and linked with
# nothing. It is not built under a sanitizer, because Relacy switches contexts itself, nor without
# Relacy. With DEEP there is also `module/room/name_deep`, label long: the same program with the
# argument --deep, which explores more.
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

# apgas_compile_fail_test(<name> SOURCE <file> EXPECT <regex> [LINK <module>] [FIRST])
# The file must not compile, and the output of the compiler must match. If the file mentions
# APGAS_TEST_CONTROL, it must compile with that defined, which shows that it fails for the intended
# reason; one test, compile_fail_controls, compiles all such files together. The file sees the headers of the
# whole library, which an earlier test precompiles; with LINK only those of the module and the modules
# below it.
# With FIRST the first error must match, which is the line that a user reads. If clang is installed
# beside another compiler, `name.clang` repeats the test with it.
function(apgas_compile_fail_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FIRST" "SOURCE;EXPECT;LINK" "")
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE})
  if(arg_LINK)
    apgas_compile_fail_run(${name} "${source}" "${arg_EXPECT}" ${arg_LINK} "" -Dcontrol=ON)
    return()
  endif()
  file(STRINGS ${source} control REGEX APGAS_TEST_CONTROL LIMIT_COUNT 1)
  if(control)
    set_property(GLOBAL APPEND PROPERTY apgas_compile_fail_controls ${source})
  endif()
  apgas_compile_fail_headers(compile_fail_headers ${CMAKE_CXX_COMPILER} first)
  apgas_compile_fail_run(${name} "${source}" "${arg_EXPECT}" apgas "${first}"
    -Dfirst_error=${arg_FIRST})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED compile_fail_headers)
  find_program(APGAS_SECOND_COMPILER NAMES clang++-16 clang++)
  mark_as_advanced(APGAS_SECOND_COMPILER)
  if(APGAS_TEST_FULL AND arg_FIRST AND APGAS_SECOND_COMPILER AND
      NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    apgas_compile_fail_headers(compile_fail_headers_clang ${APGAS_SECOND_COMPILER} first)
    apgas_compile_fail_run(${name}.clang "${source}" "${arg_EXPECT}" apgas "${first}"
      -Dfirst_error=ON -Dcompiler=${APGAS_SECOND_COMPILER})
    set_tests_properties(${name}.clang PROPERTIES FIXTURES_REQUIRED compile_fail_headers_clang)
  endif()
endfunction()

# apgas_compile_fail_controls(): after all compile-fail tests. Registers the test of their controls.
function(apgas_compile_fail_controls)
  get_property(controls GLOBAL PROPERTY apgas_compile_fail_controls)
  list(JOIN controls "\n" controls)
  apgas_compile_fail_headers(compile_fail_headers ${CMAKE_CXX_COMPILER} first)
  apgas_compile_fail_run(compile_fail_controls "" "" apgas ${first} "-Dcontrols=${controls}")
  set_tests_properties(compile_fail_controls PROPERTIES FIXTURES_REQUIRED compile_fail_headers)
endfunction()

# Registers, once, the test that precompiles all headers with the compiler; `result` is its header.
function(apgas_compile_fail_headers name compiler result)
  set(first ${PROJECT_BINARY_DIR}/${name}/first.hpp)
  set(${result} ${first} PARENT_SCOPE)
  get_property(known GLOBAL PROPERTY apgas_${name})  # TEST covers this folder only
  if(NOT known)
    set_property(GLOBAL PROPERTY apgas_${name} YES)
    file(CONFIGURE OUTPUT ${first} CONTENT "#include <apgas/apgas.hpp>\n" @ONLY)
    apgas_compile_fail_run(${name} "" "" apgas ${first} -Dcompiler=${compiler})
    set_tests_properties(${name} PROPERTIES FIXTURES_SETUP ${name})
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
    "-Dsource=${source}" "-Dexpect=${expect}" "-Dfirst=${first}" ${ARGN}
    -P ${PROJECT_SOURCE_DIR}/tests/cmake/compile_fail.cmake)
  set_tests_properties(${name} PROPERTIES LABELS compile TIMEOUT 120)
  apgas_test_needs(${name} compile)
endfunction()
