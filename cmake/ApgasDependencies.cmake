# Finds what the modules link. Each name is used by one module: hwloc and Boost.Context by
# scheduler, cereal and MPI by comm, CLI11 and nlohmann_json by the programs; fmt in .cpp files.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
find_package(Boost 1.74 CONFIG REQUIRED COMPONENTS context)
find_package(cereal REQUIRED)
find_package(fmt REQUIRED)
# Only the headers of fmt if programs cannot be linked with its library. The system may have built it
# with another standard library (libstdc++, and here it is libc++) or a newer one.
# An fmt that is built together with this project needs no such check.
set(apgas_fmt fmt::fmt)
get_target_property(apgas_fmt_imported fmt::fmt IMPORTED)
if(apgas_fmt_imported)
  include(CheckCXXSourceCompiles)
  include(CMakePushCheckState)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES fmt::fmt)
  check_cxx_source_compiles("
    #include <string>
    #include <fmt/format.h>
    int main() { return fmt::format(\"{}\", std::string()) == \"\" ? 0 : 1; }" apgas_links_fmt)
  cmake_pop_check_state()
  if(NOT apgas_links_fmt)
    set(apgas_fmt fmt::fmt-header-only)
  endif()
endif()
set(apgas_standard_library stdc++)
if("c++" IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  set(apgas_standard_library c++)
endif()
find_package(nlohmann_json REQUIRED)

# MPI: AUTO uses it when it is there. Without it a program has one place, or several in one process
# (APGAS_TRANSPORT=local). Afterwards apgas_mpi says what was decided.
set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is enough
set(APGAS_WITH_MPI AUTO CACHE STRING "Build the mpi transport: ON, OFF, or AUTO (when found)")
set_property(CACHE APGAS_WITH_MPI PROPERTY STRINGS AUTO ON OFF)
set(apgas_mpi OFF)
if(APGAS_WITH_MPI)
  if(APGAS_WITH_MPI STREQUAL "AUTO")
    find_package(MPI COMPONENTS CXX)
  else()
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  set(apgas_mpi ${MPI_CXX_FOUND})
endif()

# UCX: the faster transport of a job that MPI started. AUTO, ON and OFF as for MPI; apgas_ucx says
# what was decided.
set(APGAS_WITH_UCX AUTO CACHE STRING "Build the ucx transport: ON, OFF, or AUTO (when found)")
set_property(CACHE APGAS_WITH_UCX PROPERTY STRINGS AUTO ON OFF)
set(apgas_ucx OFF)
# Not under the sanitizers: UCX takes the calls that manage memory, and the thread sanitizer crashes.
if(apgas_mpi AND APGAS_WITH_UCX AND NOT APGAS_SANITIZE)
  if(APGAS_WITH_UCX STREQUAL "AUTO")
    pkg_check_modules(ucx IMPORTED_TARGET ucx>=1.12)
  else()
    pkg_check_modules(ucx REQUIRED IMPORTED_TARGET ucx>=1.12)
  endif()
  set(apgas_ucx ${ucx_FOUND})
endif()

if(apgas_ucx)
  message(STATUS "apgas: transports ucx (${ucx_VERSION}), mpi (${MPI_CXX_LIBRARIES}) and local")
elseif(apgas_mpi)
  message(STATUS "apgas: transports mpi (${MPI_CXX_LIBRARIES}) and local")
else()
  message(STATUS "apgas: transport local only (no MPI)")
endif()
