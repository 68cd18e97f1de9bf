# An overlay: the sources are those of the clone that contains this port, or those of APGAS_SOURCE.
if(DEFINED ENV{APGAS_SOURCE})
  set(SOURCE_PATH $ENV{APGAS_SOURCE})
else()
  get_filename_component(SOURCE_PATH ${CMAKE_CURRENT_LIST_DIR}/../../../.. ABSOLUTE)
endif()
set(mpi OFF)
if("mpi" IN_LIST FEATURES)
  set(mpi ON)
endif()
vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH}
  OPTIONS -DAPGAS_WITH_MPI=${mpi} -DAPGAS_WITH_UCX=OFF
    -DAPGAS_BUILD_TESTS=OFF -DAPGAS_BUILD_APPS=OFF -DAPGAS_BUILD_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/apgas)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES apgas-info apgas-trace-merge AUTO_CLEAN)
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
