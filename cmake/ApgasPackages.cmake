include_guard()
# What only packages contain: man pages and completion, documentation, and the files that Debian asks
# for; and the settings of cpack. docs/how_to/packages.md has the commands, launch/package runs all of them.

# Man pages, and completion for bash and zsh, made from what the tools print for --help.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(scripts apgas-run apgas-doctor apgas-ps apgas-top apgas-trace)
list(TRANSFORM scripts PREPEND ${PROJECT_SOURCE_DIR}/launch/)
set(man ${PROJECT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${man}/apgas
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/packages/man_pages.py ${man} ${PROJECT_VERSION}
    ${scripts} $<TARGET_FILE:apgas-info> $<TARGET_FILE:apgas-trace-merge>
  DEPENDS ${scripts} ${PROJECT_SOURCE_DIR}/packages/man_pages.py apgas-info apgas-trace-merge
  COMMENT "Writing man pages" VERBATIM)
add_custom_target(apgas_man ALL DEPENDS ${man}/apgas)
install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools
  FILES_MATCHING PATTERN "*.1.gz")
set(completions ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${man}/apgas DESTINATION ${completions} COMPONENT tools RENAME apgas-run)
foreach(tool IN ITEMS doctor ps top trace info trace-merge)
  install(CODE "file(CREATE_LINK apgas-run
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${completions}/apgas-${tool}\" SYMBOLIC)" COMPONENT tools)
endforeach()
install(FILES ${man}/_apgas DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
  COMPONENT tools)

install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
set(APGAS_SITE "" CACHE PATH
  "The built site of the documents, which apgas-doc then contains; launch/package sets it")
mark_as_advanced(APGAS_SITE)
if(APGAS_SITE)
  if(NOT EXISTS ${APGAS_SITE}/index.html)
    message(FATAL_ERROR "APGAS_SITE=${APGAS_SITE} has no index.html: run ./launch/docs first")
  endif()
  # Without the search of languages in which no page is, which have licences of their own.
  install(DIRECTORY ${APGAS_SITE}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html COMPONENT doc
    PATTERN javascripts/lunr EXCLUDE PATTERN "*.map" EXCLUDE)
  install(FILES packages/debian/apgas-doc.doc-base RENAME apgas-doc
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc-base COMPONENT doc)
endif()
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(FILES apps/hello/hello.cpp apps/averaging/averaging.cpp
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT doc)

set(apgas_maintainer "The apgas maintainers <maintainers@apgas.invalid>" CACHE STRING
  "Name and address of who makes the packages")
mark_as_advanced(apgas_maintainer)
set(names_runtime libapgas0)
set(names_development libapgas-dev)
set(names_tools apgas-tools)
set(names_doc apgas-doc)
string(TIMESTAMP apgas_package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH if set
configure_file(packages/debian/changelog.in debian/changelog @ONLY)
find_program(apgas_gzip gzip REQUIRED)
execute_process(COMMAND ${apgas_gzip} -9nkf ${PROJECT_BINARY_DIR}/debian/changelog
  COMMAND_ERROR_IS_FATAL ANY)
set(CPACK_COMPONENTS_ALL runtime development tools doc)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(name ${names_${component}})
  install(FILES packages/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
  set(CPACK_RPM_${upper}_PACKAGE_NAME ${name})
  set(CPACK_RPM_${upper}_FILE_NAME RPM-DEFAULT)
endforeach()
install(FILES packages/debian/libapgas0.overrides RENAME libapgas0
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT runtime)

set(CPACK_PACKAGE_VENDOR "The apgas authors")
set(CPACK_PACKAGE_CONTACT "${apgas_maintainer}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_NAME apgas)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(about "Tasks at places, within a host and across a cluster, as in X10:
async, finish, at, clocks and phasers, with work stealing within a place.")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "runtime for asynchronous tasks at places: shared library
${about}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "runtime for asynchronous tasks at places: headers
${about}
This package has the headers, the CMake package and the commands of gdb.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "start and observe programs over several places
${about}
This package has the programs that start a job, look at it and read its traces.")
set(CPACK_COMPONENT_DOC_DESCRIPTION "runtime for asynchronous tasks at places: documentation
${about}
This package has the documentation and examples.")

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
# The shlibs file that cpack generates would accept any 0.x library.
set(shlibs "libapgas ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs "${shlibs} libapgas0 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_SOURCE_DIR}/packages/debian/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS openmpi-bin)  # for jobs of several processes
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libapgas0 (= ${PROJECT_VERSION}), libcereal-dev, g++ (>= 4:12)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "apgas-doc, apgas-tools, gdb")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "python3 (>= 3.11)")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS libdw1)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_REQUIRES
  "libapgas0 = ${PROJECT_VERSION}, cereal-devel, gcc-c++ >= 12")
set(CPACK_RPM_DOC_PACKAGE_ARCHITECTURE noarch)
# These folders belong to the package `filesystem` and to others.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /usr/share/man /usr/share/man/man1 /usr/share/doc /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/vendor-completions
  /usr/share/gdb /usr/share/gdb/auto-load
  /usr/lib/cmake /usr/lib/pkgconfig /usr/lib64/cmake /usr/lib64/pkgconfig)

# The source archive is that of the last commit, the same bytes each time.
set(CPACK_SOURCE_GENERATOR External)
set(CPACK_EXTERNAL_ENABLE_STAGING OFF)
set(CPACK_EXTERNAL_PACKAGE_SCRIPT ${PROJECT_SOURCE_DIR}/packages/source_archive.cmake)
set(CPACK_SOURCE_PACKAGE_FILE_NAME apgas-${PROJECT_VERSION})
include(CPack)
