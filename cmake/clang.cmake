# The compiler of the presets asan, tsan, fuzz, clang and libcxx: clang 16 where it is installed under
# that name, as in Debian and Ubuntu; else the clang that the system has, as in Fedora and Arch. Another
# one is chosen by -DCMAKE_C_COMPILER and -DCMAKE_CXX_COMPILER.
if(NOT DEFINED CMAKE_CXX_COMPILER)
  find_program(apgas_clang_cxx NAMES clang++-16 clang++)
  string(REPLACE "clang++" "clang" of_the_same_version "${apgas_clang_cxx}")
  find_program(apgas_clang NAMES ${of_the_same_version})
  mark_as_advanced(apgas_clang apgas_clang_cxx)
  if(NOT apgas_clang OR NOT apgas_clang_cxx)
    message(FATAL_ERROR "clang is not installed: bash launch/prepare.sh prints the commands")
  endif()
  if(NOT DEFINED CMAKE_C_COMPILER)
    set(CMAKE_C_COMPILER ${apgas_clang})
  endif()
  set(CMAKE_CXX_COMPILER ${apgas_clang_cxx})
endif()
