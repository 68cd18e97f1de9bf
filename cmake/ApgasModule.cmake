include_guard()

# apgas_module(<name> [SOURCES ...] [DEPENDS <module>...] [LINK <target>...] [LINK_PRIVATE ...])
#
# Declares the module in the current directory as the library apgas::<name>.
#   include/  public headers, installed as <apgas/...>; other modules see only these
#   src/      private headers and sources; seen by this module alone
# DEPENDS is the whole list of modules whose headers may be included here: an
# include that breaks the layering does not compile.
# Static or shared as BUILD_SHARED_LIBS says; position independent always.
function(apgas_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LINK;LINK_PRIVATE")
  set(target apgas_${name})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS include/*.hpp)
  if(arg_SOURCES)
    add_library(${target} ${arg_SOURCES})
    set(scope PUBLIC)
    target_include_directories(${target} PRIVATE src)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON
      DEFINE_SYMBOL ""
      INSTALL_RPATH \$ORIGIN
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(apgas::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}
    VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS include FILES ${headers})
  list(TRANSFORM arg_DEPENDS PREPEND apgas::)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LINK})
  if(arg_LINK_PRIVATE)
    target_link_libraries(${target} PRIVATE ${arg_LINK_PRIVATE})
  endif()
  install(TARGETS ${target} EXPORT apgas-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()
