# Runs comd in several ways and compares the digests of positions and momenta: all ways must agree
# bit by bit. Called by tests.cmake with -D: program, arguments, variants (separated by spaces),
# places (likewise; of the variant places).

separate_arguments(arguments)
separate_arguments(variants)
separate_arguments(places)

set(expected)
function(compare_digest variant number_of_places)
  set(ENV{APGAS_PLACES} ${number_of_places})
  execute_process(COMMAND ${program} ${arguments} --variant ${variant}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code STREQUAL 0)
    message(FATAL_ERROR "--variant ${variant}, ${number_of_places} places: exit code ${code}\n"
      "${output}\n${errors}")
  endif()
  string(REGEX MATCH "\"digest\":\"([0-9a-f]+)\"" found "${output}")
  if(NOT found)
    message(FATAL_ERROR "--variant ${variant}: there is no digest in\n${output}")
  endif()
  if(expected AND NOT CMAKE_MATCH_1 STREQUAL expected)
    message(FATAL_ERROR "--variant ${variant}, ${number_of_places} places: the digest is "
      "${CMAKE_MATCH_1}, not ${expected}, that of the serial program")
  endif()
  set(expected ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

compare_digest(serial 1)
foreach(variant IN LISTS variants)
  compare_digest(${variant} 1)
endforeach()
foreach(n IN LISTS places)
  compare_digest(places ${n})
endforeach()
