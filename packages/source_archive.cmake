# Run by cpack --config CPackSourceConfig.cmake: writes the archive of the last commit. Its bytes
# depend only on the commit and on gzip: names are sorted, times are those of the commit, and
# permissions and compression are not those that the user has set for git.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
set(archive ${CPACK_PACKAGE_DIRECTORY}/${CPACK_PACKAGE_FILE_NAME}.tar.gz)
execute_process(COMMAND git -C ${root} -c tar.umask=0022 -c tar.tar.gz.command=gzip\ -9n
  archive --format=tar.gz --prefix=${CPACK_PACKAGE_FILE_NAME}/ -o ${archive} HEAD
  RESULT_VARIABLE code ERROR_VARIABLE error)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "The source archive is made of a commit, so this needs git and a clone: ${error}")
endif()
execute_process(COMMAND git -C ${root} status --porcelain OUTPUT_VARIABLE changes)
if(changes)
  message(WARNING "The archive has the last commit, without these changes:\n${changes}")
endif()
set(CPACK_EXTERNAL_BUILT_PACKAGES ${archive})
