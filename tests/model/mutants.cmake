include_guard()
# apgas_mutants(<set> <header> [<name> <text> <replacement>]...) Makes the mutants for a model test:
# copies of a lock-free header of the product, in each of which one <text> is replaced. Each copy
# has a namespace of its own, <name>, within that of the module. <set>_mutants.hpp includes all of them and
# defines <SET>_MUTANTS(X) as X(name1) X(name2) ... Each text must occur exactly once in the header,
# so that a mutant does not go stale when the code that it breaks is changed.
function(apgas_mutants set header)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/mutants)
  set(path ${PROJECT_SOURCE_DIR}/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} original)
  # A header at whose end another one of its folder is included, with definitions for it, is mutated
  # together with that.
  if(original MATCHES "}[^\n]*\n\n#include <[^>]*/([a-z_]+[.]hpp)>\n$")
    set(rest "${CMAKE_MATCH_1}")
    get_filename_component(folder ${path} DIRECTORY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${rest})
    file(READ ${folder}/${rest} definitions)
    string(REGEX REPLACE "\n#include <[^>]*>\n$" "\n${definitions}" original "${original}")
  endif()
  # Independent of the alignment of comments, and of the indentation.
  string(REGEX REPLACE " +" " " original "${original}")
  string(REPLACE "\n " "\n" original "${original}")
  set(includes)
  set(names)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 2 ${last} 3)
    math(EXPR text_at "${i} + 1")
    math(EXPR replacement_at "${i} + 2")
    set(name "${ARGV${i}}")
    string(REGEX REPLACE " +" " " text "${ARGV${text_at}}")
    string(REPLACE "\n " "\n" text "${text}")
    string(FIND "${original}" "${text}" first)
    string(FIND "${original}" "${text}" second REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL second)
      message(FATAL_ERROR "mutant ${name}: not exactly once in ${header}: ${text}")
    endif()
    string(REPLACE "${text}" "${ARGV${replacement_at}}" mutated "${original}")
    string(REGEX REPLACE "(namespace apgas::inline v0::[a-z]+) {" "\\1::${name} {"
      mutated "${mutated}")
    file(CONFIGURE OUTPUT ${out}/${set}_${name}.hpp CONTENT "${mutated}" @ONLY)
    string(APPEND includes "#include \"${set}_${name}.hpp\"\n")
    string(APPEND names " X(${name})")
  endforeach()
  string(TOUPPER ${set} upper)
  file(CONFIGURE OUTPUT ${out}/${set}_mutants.hpp @ONLY
    CONTENT "#pragma once\n${includes}#define ${upper}_MUTANTS(X)${names}\n")
endfunction()
