include_guard()
# The library is divided into modules (base, scheduler, ...), a module into rooms, each of which holds
# one concept. A room is a folder:
#   include/  headers, installed as <apgas/...>; seen by the rooms that depend on this one
#   src/      sources and private headers; the headers are seen by those of these rooms that belong
#             to the same module
# An include that no DEPENDS permits does not compile.

# apgas_room(<module>/<folder> [SOURCES <file of src/>...] [DEPENDS <module or module/folder>...]
#            [LINK <target>...] [LINK_PRIVATE <target>...])
#
# Declares a room as the object library apgas_<module>_<folder>. DEPENDS names what its headers and
# sources include: rooms of the same module, and whole modules below. LINK are libraries whose headers
# the headers of the room include, LINK_PRIVATE those that its sources use; there, fmt::fmt means
# ${apgas_fmt}.
function(apgas_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LINK;LINK_PRIVATE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "apgas_room(${room}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  list(TRANSFORM arg_LINK_PRIVATE REPLACE "^fmt::fmt$" ${apgas_fmt})
  string(REGEX MATCH "^[a-z]+" module ${room})
  string(REPLACE "/" "_" target apgas_${room})
  set(folder ${PROJECT_SOURCE_DIR}/${room})
  add_library(${target}_headers INTERFACE)
  add_library(${target}_private INTERFACE)
  target_compile_features(${target}_headers INTERFACE cxx_std_20)
  target_include_directories(${target}_headers INTERFACE $<BUILD_INTERFACE:${folder}/include>)
  target_include_directories(${target}_private INTERFACE $<BUILD_INTERFACE:${folder}/src>)
  target_link_libraries(${target}_headers INTERFACE ${arg_LINK})
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" name apgas_${dependency})
    target_link_libraries(${target}_headers INTERFACE ${name}_headers)
    if(dependency MATCHES "^${module}/")
      target_link_libraries(${target}_private INTERFACE ${name}_private)
    endif()
  endforeach()

  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/include/*.hpp ${folder}/include/*.h)
  set_property(GLOBAL APPEND PROPERTY apgas_header_folders ${folder}/include)
  set_property(GLOBAL APPEND PROPERTY apgas_headers ${headers})
  set_property(GLOBAL APPEND PROPERTY apgas_link ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY apgas_link_private ${arg_LINK_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY apgas_rooms_of_${module} ${target})
  if(NOT arg_SOURCES)
    return()
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${folder}/src/)
  if(CMAKE_UNITY_BUILD)
    set_property(GLOBAL APPEND PROPERTY apgas_sources_of_${module} ${arg_SOURCES})
    set_property(GLOBAL APPEND PROPERTY apgas_needs_of_${module}
      ${target}_headers ${target}_private ${arg_LINK_PRIVATE})
  else()
    apgas_objects(${target} SOURCES ${arg_SOURCES}
      NEEDS ${target}_headers ${target}_private ${arg_LINK_PRIVATE})
  endif()
endfunction()

# apgas_objects(<target> SOURCES <file>... NEEDS <target>...): an object library of the library.
function(apgas_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;NEEDS")
  add_library(${target} OBJECT ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_NEEDS})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  # The same objects make the shared library, which exports what is marked APGAS_API, and the static
  # one that the tests of single modules link.
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  set_property(GLOBAL APPEND PROPERTY apgas_objects ${target})
endfunction()

# apgas_not_joined(<file>...): a unity build compiles these sources by themselves, because they declare
# the same names as other sources of their module.
function(apgas_not_joined)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# apgas_module(<name>): after its rooms. apgas_<name>_headers are the headers of all of them, and
# apgas::<name>, for the tests of one module, has these and the code of the whole library.
# In a unity build the sources of all rooms become one object library, because those of one room are
# too few to share the headers they include. Only the rules between modules are checked there.
function(apgas_module name)
  get_property(rooms GLOBAL PROPERTY apgas_rooms_of_${name})
  list(TRANSFORM rooms APPEND _headers OUTPUT_VARIABLE headers)
  list(TRANSFORM rooms APPEND _private OUTPUT_VARIABLE private)
  if(NOT TARGET apgas_${name}_headers)
    add_library(apgas_${name}_headers INTERFACE)
    target_link_libraries(apgas_${name}_headers INTERFACE ${headers})
    add_library(apgas_${name}_private INTERFACE)
    target_link_libraries(apgas_${name}_private INTERFACE ${private})
  endif()
  get_property(sources GLOBAL PROPERTY apgas_sources_of_${name})
  if(sources)
    get_property(needs GLOBAL PROPERTY apgas_needs_of_${name})
    list(REMOVE_DUPLICATES needs)
    apgas_objects(apgas_${name}_unity SOURCES ${sources} NEEDS ${needs})
  endif()
  add_library(apgas_${name}_module INTERFACE)
  add_library(apgas::${name} ALIAS apgas_${name}_module)
  target_link_libraries(apgas_${name}_module INTERFACE apgas_${name}_headers apgas_internal)
endfunction()
