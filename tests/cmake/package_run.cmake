# Builds the outside project `source` in the folder `work` and runs it. `way` is find_package,
# pkg_config, add_subdirectory, fetch_content or unpacked_archive; `flags`, separated by newlines, are
# for cmake. See package.cmake.
cmake_policy(VERSION 3.25)
string(REPLACE "\n" ";" flags "${flags}")
set(build ${work}/${way})
file(REMOVE_RECURSE ${build})
file(MAKE_DIRECTORY ${build})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(way STREQUAL "pkg_config")
  file(GLOB_RECURSE pc ${work}/prefix/*/apgas.pc)
  cmake_path(GET pc PARENT_PATH folder)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  cmake_path(GET folder PARENT_PATH libraries)
  set(ENV{LD_LIBRARY_PATH} ${libraries})  # for shared libraries, since a .pc file gives no rpath
  foreach(program IN ITEMS outside outside_errors)
    run(sh -c "${compiler} -O2 ${source}/${program}.cpp -o ${build}/${program} $(pkg-config --cflags --libs apgas)")
  endforeach()
  run(sh -c "${c_compiler} -std=c99 -pedantic -Werror ${source}/outside_c.c -o ${build}/outside_c $(pkg-config --cflags --libs apgas-c)")
else()
  run(${CMAKE_COMMAND} -S ${source} -B ${build} ${flags})
  run(${CMAKE_COMMAND} --build ${build} --target outside outside_errors outside_c)
endif()

foreach(places IN ITEMS 1 2)
  set(ENV{APGAS_TRANSPORT} local)
  set(ENV{APGAS_PLACES} ${places})
  run(${build}/outside)
  run(${build}/outside_errors)
  run(${build}/outside_c)
endforeach()
