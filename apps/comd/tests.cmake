# All forms of tasks and all numbers of places, bit by bit. Four link cells along each edge, so that
# a place can have a single plane of them; and the smallest cube, with two.
set(comd_program comd)
if(TARGET comd_peers)
  set(comd_program comd_peers)
endif()
list(JOIN peers " " comd_forms)
string(PREPEND comd_forms "begin cobegin coforall forall ")
apgas_app_test(comd serial ARGS ${small_comd} --variant serial)
apgas_add_test(app.comd.equal apps 4 300 "" ${CMAKE_COMMAND}
  -D program=$<TARGET_FILE:${comd_program}>
  "-D arguments=--lattice 7 --steps 40" "-D variants=${comd_forms}" "-D places=1 2 3 4"
  -P ${CMAKE_CURRENT_SOURCE_DIR}/comd/check_equal.cmake)
apgas_add_test(app.comd.equal.smallest apps 2 300 "" ${CMAKE_COMMAND}
  -D program=$<TARGET_FILE:comd> "-D arguments=--lattice 4 --steps 40"
  "-D variants=begin cobegin coforall forall" "-D places=1 2"
  -P ${CMAKE_CURRENT_SOURCE_DIR}/comd/check_equal.cmake)
apgas_add_test(app.comd.equal.published "apps;long" 2 1500 "" ${CMAKE_COMMAND}
  -D program=$<TARGET_FILE:${comd_program}>
  "-D arguments=--lattice 20 --steps 100" "-D variants=${comd_forms}" "-D places=1 2"
  -P ${CMAKE_CURRENT_SOURCE_DIR}/comd/check_equal.cmake)
apgas_app_test(comd np3 PLACES 3 TRANSPORT local ARGS ${small_comd} --seed 5)
apgas_app_test(comd form_beside_idle_places PLACES 2 TRANSPORT local
  ARGS ${small_comd} --variant coforall)
apgas_app_test(comd one_step ARGS --lattice 4 --steps 1)
apgas_app_test(comd too_small EXPECT usage_error ARGS --lattice 3)
apgas_app_test(comd no_steps EXPECT usage_error ARGS --steps 0)
apgas_app_test(comd unknown_variant EXPECT usage_error ARGS --variant cilk)
apgas_app_test(comd too_many_places PLACES 3 TRANSPORT local EXPECT usage_error ARGS --lattice 4)
