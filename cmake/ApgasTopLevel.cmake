# Defaults for those who build this project itself, not as a part of theirs.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy and editors
set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(APGAS_CCACHE ccache)
  if(APGAS_CCACHE)
    # ccache refuses every source that uses a precompiled header without this sloppiness. Paths below
    # the base directory are made relative, so that all clones of the repository share their results.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${APGAS_CCACHE})
  endif()
endif()

# apgas_precompiled(<target> <of>): the target sees what most sources of its kind include compiled
# once, as <of> says: `apps` (all of apgas) or `gtest` (that and GoogleTest). For targets that link
# apgas::comm or what is above it.
function(apgas_precompiled target of)
  set(owner apgas_precompiled_${of})
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${owner}.cpp CONTENT "" @ONLY)
    add_library(${owner} OBJECT ${PROJECT_BINARY_DIR}/${owner}.cpp)
    target_link_libraries(${owner} PRIVATE apgas::apgas)
    set(headers <apgas/apgas.hpp>)
    if(of STREQUAL "gtest")
      target_link_libraries(${owner} PRIVATE GTest::gtest)
      target_compile_options(${owner} PRIVATE ${APGAS_TEST_OPTIONS})  # must be alike for clang
      list(APPEND headers <gtest/gtest.h>)
    else()
      target_compile_options(${owner} PRIVATE -Wpedantic)  # must be alike, it defines a macro
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  foreach(each IN ITEMS ${owner} ${target})  # the option is for ccache
    target_compile_options(${each} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endforeach()
endfunction()
