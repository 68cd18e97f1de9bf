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
