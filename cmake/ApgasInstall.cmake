include_guard()
include(CMakePackageConfigHelpers)

# apgas_library(): after all modules. The one library that users link, and what is installed for them:
# its headers, the CMake package, the pkg-config file, and the tools that are scripts. The components
# runtime, development and tools are those of packages (ApgasPackages.cmake).
function(apgas_library)
  foreach(property IN ITEMS objects header_folders headers link link_private definitions)
    get_property(${property} GLOBAL PROPERTY apgas_${property})
    list(REMOVE_DUPLICATES ${property})
  endforeach()
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)

  set(type SHARED)
  if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
    set(type STATIC)
  endif()
  add_library(apgas ${type} ${objects})
  add_library(apgas::apgas ALIAS apgas)
  target_sources(apgas PUBLIC FILE_SET HEADERS BASE_DIRS ${header_folders} FILES ${headers})
  set_target_properties(apgas PROPERTIES
    LINKER_LANGUAGE CXX
    VERIFY_INTERFACE_HEADER_SETS ON
    INSTALL_RPATH \$ORIGIN
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(apgas PUBLIC cxx_std_20)
  target_compile_definitions(apgas PUBLIC ${definitions})
  target_link_libraries(apgas PUBLIC ${link} PRIVATE ${link_private})

  # What tests and tools of the project link: they call functions that the shared library hides.
  if(type STREQUAL "SHARED")
    set(map ${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map)
    # Calls within the library go straight to its own functions.
    target_link_options(apgas PRIVATE
      LINKER:--version-script=${map} LINKER:-z,defs LINKER:-Bsymbolic-functions)
    set_property(TARGET apgas APPEND PROPERTY LINK_DEPENDS ${map})
    add_library(apgas_internal STATIC EXCLUDE_FROM_ALL ${objects})
    set_target_properties(apgas_internal PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(apgas_internal PUBLIC ${header_folders})
    target_compile_features(apgas_internal PUBLIC cxx_std_20)
    target_compile_definitions(apgas_internal PUBLIC ${definitions})
    target_link_libraries(apgas_internal PUBLIC ${link} PRIVATE ${link_private})
    # A program with both would have two copies of the runtime: CMake refuses it.
    set_target_properties(apgas PROPERTIES INTERFACE_apgas_copy shared)
    set_target_properties(apgas_internal PROPERTIES INTERFACE_apgas_copy internal)
    foreach(library IN ITEMS apgas apgas_internal)
      set_property(TARGET ${library} APPEND PROPERTY COMPATIBLE_INTERFACE_STRING apgas_copy)
    endforeach()
  else()
    add_library(apgas_internal INTERFACE)
    target_link_libraries(apgas_internal INTERFACE apgas)
  endif()

  set(dir ${CMAKE_INSTALL_LIBDIR}/cmake/apgas)
  install(TARGETS apgas EXPORT apgas-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(EXPORT apgas-targets NAMESPACE apgas:: DESTINATION ${dir} COMPONENT development)
  set(apgas_library_type ${type})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/apgas-config.cmake.in
    apgas-config.cmake INSTALL_DESTINATION ${dir})
  write_basic_package_version_file(apgas-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/apgas-config.cmake
    ${PROJECT_BINARY_DIR}/apgas-config-version.cmake
    DESTINATION ${dir} COMPONENT development)

  apgas_install_pkgconfig(${type} "${definitions}")
  apgas_install_gdb_commands(${type})
  set(tools apgas-run apgas-doctor apgas-ps apgas-top apgas-trace)
  list(TRANSFORM tools PREPEND ${PROJECT_SOURCE_DIR}/launch/)
  install(PROGRAMS ${tools} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/launch/tools DESTINATION ${CMAKE_INSTALL_DATADIR}/apgas
    COMPONENT tools FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
endfunction()

# Installs the commands of gdb, and for the shared library a script that loads them. gdb runs it together
# with the library if it has the name of the library's file and lies beside it, or in a folder for such
# scripts.
function(apgas_install_gdb_commands type)
  set(source ${PROJECT_SOURCE_DIR}/launch/gdb)
  set(folder ${CMAKE_INSTALL_DATADIR}/apgas/gdb)
  install(FILES ${source}/load.py DESTINATION ${folder} COMPONENT development)
  install(DIRECTORY ${source}/apgas_gdb DESTINATION ${folder} COMPONENT development
    FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
  if(NOT type STREQUAL "SHARED" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
  endif()
  set(name libapgas.so.${PROJECT_VERSION}-gdb.py)
  set(apgas_gdb_folder ${source})
  configure_file(${source}/libapgas-gdb.py.in ${PROJECT_BINARY_DIR}/built/${name} @ONLY)
  file(GENERATE OUTPUT $<TARGET_FILE:apgas>-gdb.py INPUT ${PROJECT_BINARY_DIR}/built/${name})
  cmake_path(SET root NORMALIZE /${folder})
  file(RELATIVE_PATH apgas_gdb_folder /${CMAKE_INSTALL_LIBDIR} ${root})
  configure_file(${source}/libapgas-gdb.py.in ${PROJECT_BINARY_DIR}/installed/${name} @ONLY)
  # The prefix is that of the installation, which may differ from that of the configuration.
  install(FILES ${PROJECT_BINARY_DIR}/installed/${name}
    DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}"
    COMPONENT development)
endfunction()

# Writes and installs apgas.pc, and apgas-c.pc for programs in C. A static library needs what it
# links by itself on the user's command line too; that is in Libs, so that `pkg-config --libs apgas`
# is enough in both cases.
function(apgas_install_pkgconfig type definitions)
  set(libraries -lapgas)
  set(requires)
  if(type STREQUAL "STATIC")
    set(requires hwloc)
    if(apgas_fmt STREQUAL "fmt::fmt")
      list(APPEND requires fmt)
    endif()
    list(APPEND libraries -lboost_context)
    if(apgas_mpi)
      list(APPEND libraries ${MPI_CXX_LIBRARIES})
    endif()
    if(apgas_ucx)
      list(APPEND requires ucx)
    endif()
  endif()
  list(APPEND libraries -pthread)
  foreach(library IN LISTS CMAKE_DL_LIBS)
    list(APPEND libraries -l${library})
  endforeach()
  set(c_libraries ${libraries})
  if(type STREQUAL "STATIC")
    list(APPEND c_libraries -l${apgas_standard_library} -lm)
  endif()
  list(JOIN c_libraries " " apgas_pc_c_libraries)
  list(TRANSFORM definitions PREPEND -D)
  list(JOIN definitions " " apgas_pc_definitions)
  list(JOIN libraries " " apgas_pc_libraries)
  list(JOIN requires " " apgas_pc_requires)
  set(dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  cmake_path(SET root NORMALIZE /${dir})
  file(RELATIVE_PATH apgas_pc_prefix ${root} /)
  foreach(package IN ITEMS apgas apgas-c)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${dir}
      COMPONENT development)
  endforeach()
endfunction()
