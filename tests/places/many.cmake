# The programs of this folder with many workers and with many places, however few cores there are.

# Settings that a program has in its other tests, too.
set(finish_tree_settings APGAS_FINISH_TREE=2)
set(flood_settings APGAS_TASK_WINDOW=1M APGAS_SEND_QUEUE=1M)
set(frame_counts_settings APGAS_DEADLOCK=off)
set(team_order_settings APGAS_TEAM_WARNING=1)

# apgas_many_test(<name> <program> <workers> <places> <transport> [VAR=value...]), if the program is
# built.
function(apgas_many_test name program workers places transport)
  if(TARGET places_${program}_test)
    apgas_add_test(${name}.${program} "places;${transport};long;scheduler/workers" 2 3000
      "APGAS_TRANSPORT=${transport};APGAS_PLACES=${places};APGAS_WORKERS=${workers};${${program}_settings};${ARGN}"
      places_${program}_test)
  endif()
endfunction()

# As many workers as APGAS_WORKERS permits. The sanitizers have the constructs only.
set(programs constructs coroutine internals)
if(NOT APGAS_SANITIZE)
  list(APPEND programs c_program dist_algorithms flood frame_counts one_sided random_tree zero_copy)
endif()
foreach(program IN LISTS programs)
  apgas_many_test(places_thousand_workers_test ${program} 1024 1 local)
endforeach()

# Many places: where each place would call each other one, tests take some_places() of check.hpp. Left
# out are the tests that nobody has seen to end with so many places in the present form.
set(constructs_tests "*-team_random.*:section_refusals.*")
set(internals_tests "*-team.sends*:clock_in_finish.the_spawner_drops*:grown_clock.*:random_phases.*:phaser.runs*"
  "too_large.*:team_timer.*")
set(dist_algorithms_tests "*-dist_sort.sorts_arrays*:dist_sort.loses*")
set(one_sided_tests "*-copy.*:remote_atomics.are_atomic*")
set(one_sided_amount APGAS_TEST_ROUNDS=1)
set(random_tree_amount APGAS_TEST_TREES=10)
set(zero_copy_tests "zero_copy.*-*with_children:*of_serialisation")
list(REMOVE_ITEM programs c_program flood)
if(NOT APGAS_SANITIZE)
  list(APPEND programs finish_tree team_order)
endif()
foreach(program IN LISTS programs)
  set(filter "*")
  if(DEFINED ${program}_tests)
    list(JOIN ${program}_tests ":" filter)
  endif()
  apgas_many_test(places_many_places_test ${program} 1 256 local "GTEST_FILTER=${filter}"
    ${${program}_amount})
endforeach()

# Each place is a process, which the program starts by mpirun.
set(constructs_tests "*-group_random.*:section_refusals.*:team_random.*:glb.a_long_spine*")
list(APPEND internals_tests "clock.waits*:clock_at.the_body_advances:team_boards.*:team.scatters*"
  "team.gathers*:team.alltoall*:team.many*:team.a_root*")
if(apgas_mpi AND NOT APGAS_SANITIZE)
  foreach(program IN ITEMS constructs internals)
    list(JOIN ${program}_tests ":" filter)
    apgas_many_test(places_many_processes_test ${program} 1 256 shm "GTEST_FILTER=${filter}"
      ${apgas_mpirun_environment})
  endforeach()
endif()
