# Defaults for those who build this project itself, not as a part of theirs.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy and editors
set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(APGAS_CCACHE ccache)
  if(APGAS_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${APGAS_CCACHE})
  endif()
endif()
