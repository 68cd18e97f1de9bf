# One ctest entry for each program and configuration; check_app.cmake performs the checks.
include(${CMAKE_CURRENT_SOURCE_DIR}/../tests/cmake/ApgasTest.cmake)

# apgas_app_test(<name> <variant> [PLACES <n>] [TRANSPORT <name>] [EXPECT <what>] ARGS ...)
# EXPECT verified (the default): exit code 0, and a last line of JSON that says so, for n places.
# EXPECT usage_error: exit code 2, and one line on stderr.   EXPECT help: exit code 0, and a text.
function(apgas_app_test name variant)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PLACES;TRANSPORT;EXPECT" "ARGS")
  if(NOT arg_PLACES)
    set(arg_PLACES 1)
  endif()
  if(NOT arg_EXPECT)
    set(arg_EXPECT verified)
  endif()
  list(JOIN arg_ARGS " " arguments)
  apgas_add_test(app.${name}.${variant} apps ${arg_PLACES} 300 "" ${CMAKE_COMMAND}
    -D app=${name} -D program=$<TARGET_FILE:${name}> "-D arguments=${arguments}"
    -D places=${arg_PLACES} -D transport=${arg_TRANSPORT} -D expect=${arg_EXPECT}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/check_app.cmake)
endfunction()

set(small_averaging -n 60)
set(small_bfs --scale 9 --roots 2)
set(small_cg -n 12)
set(small_epcc --test-ms 0.02 --repetitions 2)
set(small_fft -x 16 -y 16 -z 16)
set(small_fib -n 22)
set(small_gups -n 10)
set(small_heat --lines 200 --columns 100 --steps 20)
set(small_hello)
set(small_integrate --to 50)
set(small_jacobi -n 200 --steps 20)
set(small_kmeans -n 3000 -k 8)
set(small_labelprop -n 5000)
set(small_lu -n 256)
set(small_matmul -n 200)
set(small_nqueens -n 9)
set(small_quicksort -n 200000)
set(small_sort -n 20000)
set(small_stream -n 20000 --rounds 3)
set(small_sssp --scale 9)
set(small_triangles --scale 9)
set(small_uts -t 1 -a 3 -d 7 -b 4 -r 19)

foreach(name IN ITEMS averaging bfs cg epcc fft fib gups heat hello integrate jacobi kmeans labelprop
    lu matmul nqueens quicksort sort sssp stream triangles uts)
  apgas_app_test(${name} np1 ARGS ${small_${name}})
  apgas_app_test(${name} help EXPECT help ARGS --help)
  apgas_app_test(${name} wrong_flag EXPECT usage_error ARGS --wrong-flag)
endforeach()

# Every variant of each program, and the serial program it is compared with.
foreach(variant IN ITEMS finish serial)
  foreach(name IN ITEMS fib integrate nqueens quicksort)
    apgas_app_test(${name} ${variant} ARGS ${small_${name}} --variant ${variant})
  endforeach()
endforeach()
foreach(name IN ITEMS heat jacobi lu matmul sort)
  apgas_app_test(${name} serial ARGS ${small_${name}} --variant serial)
endforeach()
foreach(variant IN ITEMS phaser loops serial)
  apgas_app_test(averaging ${variant} ARGS ${small_averaging} --variant ${variant})
endforeach()
apgas_app_test(nqueens reduce ARGS ${small_nqueens} --variant reduce)
foreach(construct IN ITEMS barrier reduction parallel single growing changing)
  apgas_app_test(epcc ${construct} ARGS ${small_epcc} --construct ${construct} --tasks 20)
endforeach()
apgas_app_test(epcc deep_tree ARGS ${small_epcc} --tasks 40 --tiers 4 --degree 3)
apgas_app_test(epcc local.np2 PLACES 2 TRANSPORT local ARGS ${small_epcc} --construct barrier)
apgas_app_test(uts serial ARGS ${small_uts} --serial)
apgas_app_test(uts granularity ARGS ${small_uts} --granularity 50)
apgas_app_test(uts portable ARGS ${small_uts} --portable)
apgas_app_test(uts glb ARGS ${small_uts} --glb --statistics)
apgas_app_test(uts glb.granularity ARGS ${small_uts} --glb --granularity 50)

# The trees that the authors of the benchmark publish: all four types.
set(tree_T1 -t 1 -a 3 -d 10 -b 4 -r 19)
set(tree_T2 -t 1 -a 2 -d 16 -b 6 -r 502)
set(tree_T3 -t 0 -b 2000 -q 0.124875 -m 8 -r 42)
set(tree_T4 -t 2 -a 0 -d 16 -b 6 -r 1 -q 0.234375 -m 4)
set(tree_T5 -t 1 -a 0 -d 20 -b 4 -r 34)
foreach(tree IN ITEMS T1 T2 T3 T4 T5)
  apgas_app_test(uts ${tree} ARGS ${tree_${tree}})
endforeach()
apgas_app_test(uts balanced ARGS -t 3 -d 8 -b 4)

# The programs that use several places.
foreach(transport IN ITEMS local mpi)
  if(transport STREQUAL mpi AND (APGAS_SANITIZE OR NOT apgas_mpi))
    continue()  # Open MPI itself does not run under the sanitizers
  endif()
  foreach(tree IN ITEMS T1 T3)
    apgas_app_test(uts ${tree}.${transport}.np2 PLACES 2 TRANSPORT ${transport}
      ARGS ${tree_${tree}})
  endforeach()
endforeach()
# Over every transport, also with one place.
foreach(transport IN ITEMS local ${apgas_test_networks})
  foreach(places IN ITEMS 1 2 4)
    foreach(name IN ITEMS hello jacobi)
      apgas_app_test(${name} ${transport}.np${places} PLACES ${places} TRANSPORT ${transport}
        ARGS ${small_${name}})
    endforeach()
    apgas_app_test(uts glb.${transport}.np${places} PLACES ${places} TRANSPORT ${transport}
      ARGS ${small_uts} --glb)
  endforeach()
endforeach()
# A grid of places, two by two, and places without an equal share.
apgas_app_test(jacobi uneven.np4 PLACES 4 TRANSPORT local ARGS -n 101 --steps 20)
# Memory of other places, over every transport.
foreach(transport IN ITEMS local ${apgas_test_networks})
  foreach(places IN ITEMS 1 2 4)
    foreach(variant IN ITEMS counted awaited task batches)
      apgas_app_test(gups ${variant}.${transport}.np${places} PLACES ${places}
        TRANSPORT ${transport} ARGS ${small_gups} --variant ${variant})
    endforeach()
    foreach(variant IN ITEMS copy pieces)
      apgas_app_test(stream ${variant}.${transport}.np${places} PLACES ${places}
        TRANSPORT ${transport} ARGS ${small_stream} --variant ${variant})
    endforeach()
  endforeach()
endforeach()
# Programs that distribute their input over the places, also in unequal portions.
apgas_app_test(heat places ARGS ${small_heat} --variant places)
foreach(transport IN ITEMS local ${apgas_test_networks})
  foreach(places IN ITEMS 1 2 4)
    foreach(name IN ITEMS bfs cg fft kmeans labelprop sort sssp triangles)
      apgas_app_test(${name} ${transport}.np${places} PLACES ${places} TRANSPORT ${transport}
        ARGS ${small_${name}})
    endforeach()
    apgas_app_test(heat places.${transport}.np${places} PLACES ${places} TRANSPORT ${transport}
      ARGS ${small_heat} --variant places)
    apgas_app_test(bfs batches.${transport}.np${places} PLACES ${places} TRANSPORT ${transport}
      ARGS ${small_bfs} --variant batches)
    apgas_app_test(sort few_distinct.${transport}.np${places} PLACES ${places}
      TRANSPORT ${transport} ARGS -n 4001 --distinct 3)
  endforeach()
endforeach()
apgas_app_test(bfs two_vertices PLACES 4 TRANSPORT local ARGS --scale 1 --roots 2)
apgas_app_test(bfs other_seed PLACES 2 TRANSPORT local ARGS --scale 9 --edge-factor 1 --seed 7)
apgas_app_test(heat places.odd PLACES 4 TRANSPORT local
  ARGS --lines 31 --columns 17 --steps 21 --variant places)
apgas_app_test(kmeans few_points PLACES 4 TRANSPORT local ARGS -n 3 -k 3)
apgas_app_test(kmeans no_rounds PLACES 2 TRANSPORT local ARGS -n 500 -k 4 --rounds 0)
apgas_app_test(labelprop no_edges PLACES 4 TRANSPORT local ARGS -n 3 --degree 0)
apgas_app_test(labelprop one_component PLACES 2 TRANSPORT local ARGS -n 2000 --degree 30 --seed 5)
apgas_app_test(sort ascending PLACES 4 TRANSPORT local ARGS -n 10007 --ascending --distinct 50)
foreach(name IN ITEMS sssp triangles)
  apgas_app_test(${name} serial ARGS ${small_${name}} --variant serial)
  apgas_app_test(${name} two_vertices PLACES 4 TRANSPORT local ARGS --scale 1 --edge-factor 1)
  apgas_app_test(${name} other_seed PLACES 2 TRANSPORT local
    ARGS --scale 8 --edge-factor 2 --seed 7)
  apgas_app_test(${name} too_large EXPECT usage_error ARGS --scale 40)
endforeach()
apgas_app_test(sssp narrow_buckets PLACES 2 TRANSPORT local ARGS ${small_sssp} --delta 1)
apgas_app_test(sssp one_bucket PLACES 2 TRANSPORT local ARGS ${small_sssp} --delta 1000000)
apgas_app_test(sssp equal_weights PLACES 2 TRANSPORT local ARGS ${small_sssp} --heaviest 1)
apgas_app_test(sssp no_width EXPECT usage_error ARGS --delta 0)
apgas_app_test(cg serial ARGS ${small_cg} --variant serial)
apgas_app_test(cg uneven PLACES 4 TRANSPORT local ARGS -n 7)
apgas_app_test(cg a_plane_each PLACES 4 TRANSPORT local ARGS -n 4)
apgas_app_test(cg one_point ARGS -n 1)
apgas_app_test(cg fewer_planes_than_places PLACES 4 TRANSPORT local EXPECT usage_error ARGS -n 3)
apgas_app_test(cg not_a_number EXPECT usage_error ARGS --tolerance nan)
apgas_app_test(fft serial ARGS ${small_fft} --variant serial)
apgas_app_test(fft all_factors PLACES 2 TRANSPORT local ARGS -x 30 -y 20 -z 9 --rounds 2)
apgas_app_test(fft thin PLACES 4 TRANSPORT local ARGS -x 4 -y 8 -z 1)
apgas_app_test(fft one_point ARGS -x 1 -y 1 -z 1)
apgas_app_test(fft large_factor EXPECT usage_error ARGS -z 7)
apgas_app_test(fft no_multiple PLACES 2 TRANSPORT local EXPECT usage_error ARGS -x 15)
apgas_app_test(sort few_keys PLACES 4 TRANSPORT local ARGS -n 3)

# The peers in plain MPI, under mpirun.
if(apgas_mpi AND NOT APGAS_SANITIZE)
  function(apgas_peer_test name variant places expect)
    list(JOIN ARGN " " arguments)
    apgas_add_test(app.${name}.${variant} apps ${places} 60 "${apgas_mpirun_environment}"
      ${CMAKE_COMMAND} -D app=${name} -D program=$<TARGET_FILE:${name}>
      "-D arguments=${arguments}" -D launcher=${MPIEXEC_EXECUTABLE} -D places=${places}
      -D expect=${expect} -P ${CMAKE_CURRENT_SOURCE_DIR}/check_app.cmake)
  endfunction()
  set(peers bfs cg fft gups jacobi kmeans labelprop sort)
  foreach(places IN ITEMS 1 2 4)
    foreach(name IN LISTS peers)
      apgas_peer_test(${name}_mpi np${places} ${places} verified ${small_${name}})
    endforeach()
    apgas_peer_test(gups_mpi small_buckets.np${places} ${places} verified -n 8 --bucket 3)
    apgas_peer_test(sort_mpi few_distinct.np${places} ${places} verified -n 4001 --distinct 3)
  endforeach()
  apgas_peer_test(labelprop_mpi no_edges 4 verified -n 3 --degree 0)
  foreach(name IN LISTS peers)
    apgas_app_test(${name}_mpi wrong_flag EXPECT usage_error ARGS --wrong-flag)
    apgas_app_test(${name}_mpi help EXPECT help ARGS --help)
  endforeach()
endif()

# A program that uses only one place verifies its result with several places, too.
apgas_app_test(fib local.np2 PLACES 2 TRANSPORT local ARGS ${small_fib})

# The kernels of IMSuite, with each of the three policies. The baseline is slow, so it has fewer
# nodes.
set(imsuite_kernels kcommittee leader_elect_hs leader_elect_lcr byzantine bfs_bellman_ford
  bfs_dijkstra mis mst vertex_coloring dominating_set leader_elect_dp)
foreach(kernel IN LISTS imsuite_kernels)
  foreach(sync IN ITEMS clocks finish)
    apgas_app_test(imsuite ${kernel}.${sync} ARGS ${kernel} --sync ${sync} --nodes 100 --repeat 3)
  endforeach()
  apgas_app_test(imsuite ${kernel}.baseline ARGS ${kernel} --sync baseline --nodes 20)
  apgas_add_test(app.imsuite.${kernel}.files apps 1 300 "" ${CMAKE_COMMAND}
    -D program=$<TARGET_FILE:imsuite> -D kernel=${kernel}
    -D file=${CMAKE_CURRENT_BINARY_DIR}/imsuite_${kernel}.txt
    -P ${CMAKE_CURRENT_SOURCE_DIR}/imsuite/check_files.cmake)
endforeach()
apgas_app_test(imsuite help EXPECT help ARGS --help)
apgas_app_test(imsuite short_name ARGS LCR --nodes 10)
foreach(shape IN ITEMS tree chain)
  apgas_app_test(imsuite ${shape} ARGS DST --nodes 60 --shape ${shape})
endforeach()

# The same with the nodes in blocks over the places.
foreach(transport IN ITEMS local mpi ucx)
  if((transport STREQUAL mpi AND (APGAS_SANITIZE OR NOT apgas_mpi)) OR
     (transport STREQUAL ucx AND (APGAS_SANITIZE OR NOT apgas_ucx)))
    continue()
  endif()
  foreach(places IN ITEMS 2 4)
    foreach(kernel IN LISTS imsuite_kernels)
      apgas_app_test(imsuite ${kernel}.${transport}.np${places} PLACES ${places}
        TRANSPORT ${transport} ARGS ${kernel} --nodes 60 --repeat 2)
    endforeach()
  endforeach()
  apgas_app_test(imsuite LCR.${transport}.np2 PLACES 2 TRANSPORT ${transport} ARGS LCR)
endforeach()
foreach(kernel IN LISTS imsuite_kernels)
  apgas_app_test(imsuite ${kernel}.finish.local.np2 PLACES 2 TRANSPORT local
    ARGS ${kernel} --nodes 60 --sync finish)
  # Some places have no node.
  foreach(sync IN ITEMS clocks finish)
    apgas_app_test(imsuite ${kernel}.few_nodes.${sync} PLACES 4 TRANSPORT local
      ARGS ${kernel} --nodes 3 --sync ${sync})
  endforeach()
endforeach()
apgas_app_test(imsuite baseline.local.np2 PLACES 2 TRANSPORT local EXPECT usage_error
  ARGS LCR --sync baseline)

# imsuite_refuses(<variant> <kernel> <the file's lines>): the message is one line and the exit code
# is 2.
function(imsuite_refuses variant kernel)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/imsuite_bad_${variant}.txt)
  list(JOIN ARGN "\n" text)
  file(WRITE ${file} "${text}\n")
  apgas_app_test(imsuite bad_${variant} EXPECT usage_error ARGS ${kernel} --input ${file})
endfunction()
imsuite_refuses(empty LCR "")
imsuite_refuses(no_nodes LCR 0)
imsuite_refuses(too_many_nodes LCR 1000000 1)
imsuite_refuses(letters LCR 3 1 two 3)
imsuite_refuses(truncated LCR 3 1 2)
imsuite_refuses(rubbish LCR 2 1 2 rubbish)
imsuite_refuses(same_id HS 3 1 2 1)
imsuite_refuses(short_row MIS 3 010 10 010)
imsuite_refuses(asymmetric MIS 3 010 001 010)
imsuite_refuses(unconnected BF 3 0 010 100 000)
imsuite_refuses(no_separator DP 2 01 10 1 2)
imsuite_refuses(not_a_tree VC 3 0 011 101 110 " " 0 0 0)
imsuite_refuses(two_weights MST 2 01 10 " " 0 5 6 0)
apgas_app_test(imsuite no_kernel EXPECT usage_error)
apgas_app_test(imsuite unknown_kernel EXPECT usage_error ARGS sorting)
apgas_app_test(imsuite wrong_flag EXPECT usage_error ARGS LCR --wrong-flag)
apgas_app_test(imsuite unknown_sync EXPECT usage_error ARGS LCR --sync barrier)
apgas_app_test(imsuite no_file EXPECT usage_error ARGS LCR --input /nowhere/at/all)
apgas_app_test(imsuite unwritable EXPECT usage_error ARGS LCR --nodes 5 --write /nowhere/at/all)
apgas_app_test(imsuite two_sizes EXPECT usage_error ARGS LCR --nodes 5 --input /nowhere/at/all)
apgas_app_test(imsuite too_large EXPECT usage_error ARGS MST --nodes 20000)
apgas_app_test(imsuite too_many_threads EXPECT usage_error ARGS LCR --sync baseline --nodes 5000)
apgas_app_test(imsuite no_tree EXPECT usage_error ARGS VC --shape sparse)

# Invalid values of several kinds.
apgas_app_test(epcc one_task EXPECT usage_error ARGS --tasks 1)
apgas_app_test(epcc too_many_leaves EXPECT usage_error ARGS --tiers 8 --degree 64)
apgas_app_test(epcc unknown_construct EXPECT usage_error ARGS --construct lock)
apgas_app_test(fib too_large EXPECT usage_error ARGS -n 61)
apgas_app_test(fib not_a_number EXPECT usage_error ARGS -n seven)
apgas_app_test(fib unknown_variant EXPECT usage_error ARGS --variant quantum)
apgas_app_test(heat fewer_lines_than_places PLACES 4 TRANSPORT local EXPECT usage_error
  ARGS --lines 3 --variant places)
apgas_app_test(kmeans fewer_points_than_clusters EXPECT usage_error ARGS -n 3 -k 4)
apgas_app_test(labelprop not_a_degree EXPECT usage_error ARGS --degree nan)
apgas_app_test(sort no_keys EXPECT usage_error ARGS -n 0)
apgas_app_test(bfs too_large EXPECT usage_error ARGS --scale 40)
apgas_app_test(lu not_a_power EXPECT usage_error ARGS -n 100)
apgas_app_test(uts wrong_type EXPECT usage_error ARGS -t 4)
apgas_app_test(uts infinite EXPECT usage_error ARGS -t 0 -m 8 -q 1)
apgas_app_test(uts not_a_probability EXPECT usage_error ARGS -t 0 -q nan)
