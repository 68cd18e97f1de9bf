# One ctest entry per program and configuration; check_app.cmake does the checking.
include(${CMAKE_CURRENT_SOURCE_DIR}/../tests/cmake/ApgasTest.cmake)

# apgas_app_test(<name> <variant> [PLACES <n>] [TRANSPORT <name>] [EXPECT <what>] ARGS ...)
# EXPECT verified (the default): exit code 0 and a last line of JSON that says so, for n places.
# EXPECT usage_error: exit code 2 and one line on stderr.   EXPECT help: exit code 0 and a text.
function(apgas_app_test name variant)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PLACES;TRANSPORT;EXPECT" "ARGS")
  if(NOT arg_PLACES)
    set(arg_PLACES 1)
  endif()
  if(NOT arg_EXPECT)
    set(arg_EXPECT verified)
  endif()
  list(JOIN arg_ARGS " " arguments)
  set(timeout 60)
  if(APGAS_SANITIZE)
    set(timeout 300)
  endif()
  apgas_add_test(app.${name}.${variant} apps ${arg_PLACES} ${timeout} "" ${CMAKE_COMMAND}
    -D app=${name} -D program=$<TARGET_FILE:${name}> "-D arguments=${arguments}"
    -D places=${arg_PLACES} -D transport=${arg_TRANSPORT} -D expect=${arg_EXPECT}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/check_app.cmake)
endfunction()

set(small_fib -n 22)
set(small_heat --lines 200 --columns 100 --steps 20)
set(small_hello)
set(small_integrate --to 50)
set(small_jacobi -n 200 --steps 20)
set(small_lu -n 256)
set(small_matmul -n 200)
set(small_nqueens -n 9)
set(small_quicksort -n 200000)
set(small_uts -t 1 -a 3 -d 7 -b 4 -r 19)

foreach(name IN ITEMS fib heat hello integrate jacobi lu matmul nqueens quicksort uts)
  apgas_app_test(${name} np1 ARGS ${small_${name}})
  apgas_app_test(${name} help EXPECT help ARGS --help)
  apgas_app_test(${name} wrong_flag EXPECT usage_error ARGS --wrong-flag)
endforeach()

# Every way to write the same program, and the serial one it is compared with.
foreach(variant IN ITEMS finish serial)
  foreach(name IN ITEMS fib integrate nqueens quicksort)
    apgas_app_test(${name} ${variant} ARGS ${small_${name}} --variant ${variant})
  endforeach()
endforeach()
foreach(name IN ITEMS heat jacobi lu matmul)
  apgas_app_test(${name} serial ARGS ${small_${name}} --variant serial)
endforeach()
apgas_app_test(nqueens reduce ARGS ${small_nqueens} --variant reduce)
apgas_app_test(uts serial ARGS ${small_uts} --serial)
apgas_app_test(uts granularity ARGS ${small_uts} --granularity 50)
apgas_app_test(uts portable ARGS ${small_uts} --portable)

# The trees that the benchmark's inventors publish: all four types.
set(tree_T1 -t 1 -a 3 -d 10 -b 4 -r 19)
set(tree_T2 -t 1 -a 2 -d 16 -b 6 -r 502)
set(tree_T3 -t 0 -b 2000 -q 0.124875 -m 8 -r 42)
set(tree_T4 -t 2 -a 0 -d 16 -b 6 -r 1 -q 0.234375 -m 4)
set(tree_T5 -t 1 -a 0 -d 20 -b 4 -r 34)
foreach(tree IN ITEMS T1 T2 T3 T4 T5)
  apgas_app_test(uts ${tree} ARGS ${tree_${tree}})
endforeach()
apgas_app_test(uts balanced ARGS -t 3 -d 8 -b 4)

# Several places: the programs that use them.
foreach(transport IN ITEMS local mpi)
  if(transport STREQUAL mpi AND (APGAS_SANITIZE OR NOT apgas_mpi))
    continue()  # Open MPI itself does not run under the sanitizers
  endif()
  foreach(name IN ITEMS hello jacobi uts)
    apgas_app_test(${name} ${transport}.np2 PLACES 2 TRANSPORT ${transport} ARGS ${small_${name}})
  endforeach()
  foreach(tree IN ITEMS T1 T3)
    apgas_app_test(uts ${tree}.${transport}.np2 PLACES 2 TRANSPORT ${transport}
      ARGS ${tree_${tree}})
  endforeach()
endforeach()
# One that uses only one place still verifies when there are more.
apgas_app_test(fib local.np2 PLACES 2 TRANSPORT local ARGS ${small_fib})

# Values that are wrong in different ways.
apgas_app_test(fib too_large EXPECT usage_error ARGS -n 61)
apgas_app_test(fib not_a_number EXPECT usage_error ARGS -n seven)
apgas_app_test(fib unknown_variant EXPECT usage_error ARGS --variant quantum)
apgas_app_test(lu not_a_power EXPECT usage_error ARGS -n 100)
apgas_app_test(uts wrong_type EXPECT usage_error ARGS -t 4)
apgas_app_test(uts infinite EXPECT usage_error ARGS -t 0 -m 8 -q 1)
apgas_app_test(uts not_a_probability EXPECT usage_error ARGS -t 0 -q nan)
