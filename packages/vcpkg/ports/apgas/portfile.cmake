# An overlay: the sources are those of the clone that contains this port, or those of APGAS_SOURCE.
if(DEFINED ENV{APGAS_SOURCE})
  set(SOURCE_PATH "$ENV{APGAS_SOURCE}")
else()
  get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
endif()
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES mpi APGAS_WITH_MPI)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features} "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}" -DAPGAS_WITH_UCX=OFF
    -DAPGAS_BUILD_TESTS=OFF -DAPGAS_BUILD_APPS=OFF -DAPGAS_BUILD_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/apgas)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(AUTO_CLEAN TOOL_NAMES
  apgas-doctor apgas-info apgas-ps apgas-run apgas-top apgas-trace apgas-trace-merge)
# The scripts find their modules beside them, and gdb would look for its commands in this folder only.
set(packages "${CURRENT_PACKAGES_DIR}")
file(RENAME "${packages}/share/apgas/tools" "${packages}/tools/apgas/tools")
file(REMOVE_RECURSE "${packages}/share/gdb" "${packages}/debug/include" "${packages}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
