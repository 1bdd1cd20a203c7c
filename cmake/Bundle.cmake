# What `cmake --install` lays down (bin/ lib/ share/, relocatable) and what CPack packs.
#
# Components: runtime (default), tests (bin/tests, share/weft/tests), development (headers, library, CMake package).
include(GNUInstallDirs)

set(WEFT_PROGRAMS weft weftd weft-executor)

# Everything a person needs to run Weft from the build tree, without the tests.
add_custom_target(weft_programs DEPENDS ${WEFT_PROGRAMS} hostcuda weft_kernel_images)

install(TARGETS ${WEFT_PROGRAMS} RUNTIME DESTINATION bin COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/demos/ DESTINATION share/weft/demos COMPONENT runtime)
install(FILES LICENSE README.md DESTINATION share/doc/weft COMPONENT runtime)

if(WEFT_BUNDLE_DEPS)
  # The distribution's libraries go beside ours. glibc and its loader stay the machine's own: they belong to its kernel
  # interface and its NVIDIA driver, and are compatible upwards.
  install(CODE [[
    file(GLOB_RECURSE programs "${CMAKE_INSTALL_PREFIX}/bin/*")
    set(elf_programs)
    foreach(program ${programs})
      file(READ "${program}" magic LIMIT 4 HEX)
      if(magic STREQUAL "7f454c46")
        list(APPEND elf_programs "${program}")
      endif()
    endforeach()
    file(GLOB elf_libraries "${CMAKE_INSTALL_PREFIX}/lib/*.so" "${CMAKE_INSTALL_PREFIX}/share/weft/kernels/*.so")
    file(GET_RUNTIME_DEPENDENCIES
      EXECUTABLES ${elf_programs}
      LIBRARIES ${elf_libraries}
      RESOLVED_DEPENDENCIES_VAR dependencies
      UNRESOLVED_DEPENDENCIES_VAR missing
      CONFLICTING_DEPENDENCIES_PREFIX conflict  # an earlier install's copies: found there and in the system
      PRE_EXCLUDE_REGEXES "^(libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl)\\.so" "^ld-linux" "^linux-vdso"
                          "^libcuda\\.so")
    if(missing)
      message(FATAL_ERROR "not found, so not bundled: ${missing}")
    endif()
    foreach(library ${dependencies} ${conflict_FILENAMES})
      if(NOT IS_ABSOLUTE "${library}")
        continue()  # the earlier copy stays
      endif()
      cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${library}" NORMALIZE inside)
      if(NOT inside)
        file(INSTALL "${library}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib" FOLLOW_SYMLINK_CHAIN)
      endif()
    endforeach()
    list(LENGTH dependencies count)
    message(STATUS "Bundled ${count} shared libraries")
  ]] ALL_COMPONENTS)
endif()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "The Weft authors")
set(CPACK_PACKAGE_FILE_NAME weft-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
include(CPack)
