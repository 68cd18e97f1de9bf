# Tests of life beside those that all programs have.
apgas_app_test(life no_clients ARGS -n 16 --clients 0 --generations 10)
apgas_app_test(life one_generation PLACES 2 TRANSPORT local
  ARGS -n 17 --clients 9 --generations 1)
apgas_app_test(life many_clients PLACES 4 TRANSPORT local
  ARGS -n 40 --clients 500 --generations 40 --seed 3)
apgas_app_test(life serial ARGS ${small_life} --variant serial)
apgas_app_test(life many_clients.serial
  ARGS -n 40 --clients 500 --generations 40 --seed 3 --variant serial)
if("openmp" IN_LIST peers)
  apgas_app_test(life_peers many_clients.openmp
    ARGS -n 40 --clients 500 --generations 40 --seed 3 --variant openmp)
endif()
apgas_app_test(life small_board EXPECT usage_error ARGS -n 15)
apgas_app_test(life too_many_visits EXPECT usage_error SAYS "of memory, and this machine has"
  ARGS --generations 1000000 --clients 100000)
