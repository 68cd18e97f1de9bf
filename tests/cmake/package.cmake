# The library as users get it, label package: installs this build into a folder, then builds and
# runs the project in tests/package with it, in each way that README.md shows.
set(package_dir ${PROJECT_BINARY_DIR}/package_test)
set(package_flags -G ${CMAKE_GENERATOR} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
  -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER} -DCMAKE_BUILD_TYPE=Release
  -DBUILD_SHARED_LIBS=${BUILD_SHARED_LIBS} -DAPGAS_WITH_MPI=${APGAS_WITH_MPI})

# package_test(<way> <timeout> [-D...]): configures and builds the project, and runs it with one and
# two places. The project is that of the folder package_source, if that is set.
function(package_test way timeout)
  string(JOIN "\n" flags ${package_flags} ${ARGN})
  set(source ${PROJECT_SOURCE_DIR}/tests/package)
  if(package_source)
    set(source ${package_source})
  endif()
  add_test(NAME package.${way} COMMAND ${CMAKE_COMMAND} -Dway=${way}
    -Dsource=${source} -Dwork=${package_dir} "-Dflags=${flags}"
    -Dcompiler=${CMAKE_CXX_COMPILER} -Dc_compiler=${CMAKE_C_COMPILER}
    -P ${PROJECT_SOURCE_DIR}/tests/cmake/package_run.cmake)
  set_tests_properties(package.${way} PROPERTIES LABELS package TIMEOUT ${timeout})
  apgas_test_needs(package.${way} package all)
endfunction()

add_test(NAME package.install COMMAND ${CMAKE_COMMAND}
  --install ${PROJECT_BINARY_DIR} --prefix ${package_dir}/prefix)
set_tests_properties(package.install PROPERTIES LABELS package TIMEOUT 60
  FIXTURES_SETUP apgas_installed)
apgas_test_needs(package.install package all)
package_test(find_package 300 -DCMAKE_PREFIX_PATH=${package_dir}/prefix)
package_test(pkg_config 300)
set_tests_properties(package.find_package package.pkg_config PROPERTIES
  FIXTURES_REQUIRED apgas_installed)
# Another project may build its parts with joined sources, which takes a fifth of the time.
set(package_joined -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS_RELEASE=-O1)
package_test(add_subdirectory 1200 ${package_joined})
set_property(TEST package.add_subdirectory APPEND PROPERTY LABELS long)

get_target_property(type apgas TYPE)
if(type STREQUAL "SHARED_LIBRARY")
  apgas_add_test(package.sbom package 1 300 ""
    ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/package/sbom_test.py $<TARGET_FILE:apgas>)
endif()
# What the shared library exports is what tests/package/exported_symbols.txt lists. Compilers differ in
# the copies of inline functions that they emit, so the list is that of g++.
if(type STREQUAL "SHARED_LIBRARY" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND apgas_ucx)
  add_test(NAME package.exported_symbols COMMAND ${Python3_EXECUTABLE}
    ${PROJECT_SOURCE_DIR}/tests/package/exported_symbols.py $<TARGET_FILE:apgas>)
  set_tests_properties(package.exported_symbols PROPERTIES LABELS package TIMEOUT 60)
  apgas_test_needs(package.exported_symbols package apgas)
endif()

# The man pages and the completion of the tools, which are made from what they print for --help.
set(tools_with_pages apgas-run apgas-doctor apgas-ps apgas-top apgas-trace)
list(TRANSFORM tools_with_pages PREPEND ${PROJECT_SOURCE_DIR}/launch/)
apgas_add_test(package.man_pages package 1 300 ""
  ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/package/man_pages_test.py
  ${tools_with_pages} $<TARGET_FILE:apgas-info> $<TARGET_FILE:apgas-trace-merge>)

# CMake can fetch the last commit, and its source archive has the same bytes everywhere and can be
# built.
if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
  package_test(fetch_content 1200 ${package_joined})
  add_test(NAME package.source_archive COMMAND ${Python3_EXECUTABLE}
    ${PROJECT_SOURCE_DIR}/tests/package/source_archive.py ${package_dir}/source_archive)
  set_tests_properties(package.source_archive PROPERTIES LABELS package TIMEOUT 600
    FIXTURES_SETUP apgas_archive)
  apgas_test_needs(package.source_archive package)
  set(package_source ${package_dir}/source_archive/unpacked/tests/package)
  package_test(unpacked_archive 1200 ${package_joined})
  unset(package_source)
  set_tests_properties(package.unpacked_archive PROPERTIES FIXTURES_REQUIRED apgas_archive)
  set_property(TEST package.fetch_content package.unpacked_archive APPEND PROPERTY LABELS long)
endif()
