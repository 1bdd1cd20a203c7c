# weft_library and weft_test: the only two ways to make a target of Weft's own.
#
# DEPS is the declaration of the arrows between folders: scripts/check_tree.py compares every #include of a target's
# files with it, so an undeclared dependency fails CI even where it would link.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Everything that Weft runs from the build tree lies as it does when installed: build/<preset>/{bin,lib,share/weft}.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(WEFT_SHARE_DIR ${CMAKE_BINARY_DIR}/share/weft)
set(WEFT_TEST_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${WEFT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WEFT_CCACHE})
endif()

# Flags of Weft's own code (never applied to generated code).
function(weft_own_flags TARGET)
  target_compile_options(${TARGET} PRIVATE
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
    -Wno-missing-field-initializers  # designated initialisers leave members out on purpose
    -Werror)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${TARGET} PRIVATE -Wthread-safety -Wno-unused-command-line-argument)
  endif()
endfunction()

function(weft_common_flags TARGET)
  target_include_directories(${TARGET} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(${TARGET} PUBLIC cxx_std_20)
  set_target_properties(${TARGET} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(WEFT_SANITIZE)
    target_compile_options(${TARGET} PRIVATE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${TARGET} PRIVATE -fsanitize=${WEFT_SANITIZE})
  endif()
endfunction()

# weft_library(NAME [SHARED|INTERFACE] HDRS … SRCS … DEPS … [SYSTEM_DEPS …])
#   DEPS         targets of Weft's own, by target name (weft_base, weft_proto, …)
#   SYSTEM_DEPS  targets of the distribution's libraries (absl::status, gRPC::grpc++, …)
function(weft_library NAME)
  cmake_parse_arguments(ARG "SHARED;INTERFACE" "" "HDRS;SRCS;DEPS;SYSTEM_DEPS" ${ARGN})
  if(ARG_INTERFACE)
    add_library(${NAME} INTERFACE)
    target_link_libraries(${NAME} INTERFACE ${ARG_DEPS} ${ARG_SYSTEM_DEPS})
    target_include_directories(${NAME} INTERFACE ${PROJECT_SOURCE_DIR})
  else()
    if(ARG_SHARED)
      add_library(${NAME} SHARED ${ARG_HDRS} ${ARG_SRCS})
    else()
      add_library(${NAME} STATIC ${ARG_HDRS} ${ARG_SRCS})
    endif()
    weft_common_flags(${NAME})
    weft_own_flags(${NAME})
    target_include_directories(${NAME} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${NAME} PUBLIC ${ARG_DEPS} ${ARG_SYSTEM_DEPS})
    weft_use_pch(${NAME})
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_TARGETS ${NAME})
  string(REPLACE "weft_" "" alias ${NAME})
  add_library(weft::${alias} ALIAS ${NAME})
endfunction()

# weft_program(NAME SRCS … DEPS … [SYSTEM_DEPS …]): an installed program; its rpath finds ../lib in either tree.
function(weft_program NAME)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;SYSTEM_DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SRCS})
  weft_common_flags(${NAME})
  weft_own_flags(${NAME})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} ${ARG_SYSTEM_DEPS})
  # DT_RPATH rather than DT_RUNPATH: bundled libraries must find each other through the program's path too.
  target_link_options(${NAME} PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(${NAME} PROPERTIES BUILD_RPATH "$ORIGIN/../lib" INSTALL_RPATH "$ORIGIN/../lib")
  weft_use_pch(${NAME})
endfunction()

# weft_test(NAME SRCS … DEPS … LABELS … [WHOLE] [INSTALL]): one GoogleTest binary.
#   Tests are registered one by one (gtest_discover_tests) unless WHOLE, which registers the binary as one test.
#   INSTALL also installs the binary under bin/tests (the GPU machine runs them from there).
function(weft_test NAME)
  cmake_parse_arguments(ARG "WHOLE;INSTALL" "TIMEOUT" "SRCS;DEPS;SYSTEM_DEPS;LABELS;ENVIRONMENT" ${ARGN})
  add_executable(${NAME} ${ARG_SRCS})
  weft_common_flags(${NAME})
  weft_own_flags(${NAME})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} ${ARG_SYSTEM_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_link_options(${NAME} PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(${NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests
    BUILD_RPATH "$ORIGIN/../../lib" INSTALL_RPATH "$ORIGIN/../../lib")
  weft_use_pch(${NAME})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set(properties LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  if(ARG_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${ARG_ENVIRONMENT}")
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${NAME} COMMAND ${NAME})
    set_tests_properties(${NAME} PROPERTIES ${properties})
  else()
    include(GoogleTest)
    gtest_discover_tests(${NAME} PROPERTIES ${properties} DISCOVERY_MODE PRE_TEST)
  endif()
  if(ARG_INSTALL)
    install(TARGETS ${NAME} RUNTIME DESTINATION bin/tests COMPONENT tests)
  endif()
endfunction()

# Precompiled headers: one set for each kind of target, chosen by what it links. The headers are those of the
# libraries only, so that a change in Weft never rebuilds a set; check_tree.py compiles every header without them.
function(weft_use_pch TARGET)
endfunction()
