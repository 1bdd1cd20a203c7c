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
  # The sloppiness is what ccache's manual asks for with precompiled headers.
  set(CMAKE_C_COMPILER_LAUNCHER ${WEFT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${WEFT_CCACHE})
endif()

# Flags of Weft's own code (never applied to generated code).
function(weft_own_flags TARGET)
  target_compile_options(${TARGET} PRIVATE
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
    -Wno-missing-field-initializers  # designated initialisers leave members out on purpose
    -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${TARGET} PRIVATE -fpch-preprocess)  # lets ccache see through precompiled headers
    # GCC 12 finds moved std::optional and std::string members "maybe uninitialized" where it optimises.
    target_compile_options(${TARGET} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Wno-maybe-uninitialized>)
  endif()
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

# The code of tests is compiled for quick builds, also where what it tests is optimised.
function(weft_test_flags TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# weft_test(NAME SRCS … DEPS … LABELS label [WHOLE] [INSTALL] [CONCURRENT]): one GoogleTest binary.
#   Tests are registered one by one (gtest_discover_tests) unless WHOLE, which registers the binary as one test.
#   INSTALL also installs the binary under bin/tests (the GPU machine runs them from there).
#   CONCURRENT marks what runs under ThreadSanitizer: it is part of weft_concurrent_tests, and its label ends in
#   "-concurrent", which `ctest -L` finds as a part of a name (test discovery cannot give a test two labels).
add_custom_target(weft_concurrent_tests)

function(weft_test NAME)
  cmake_parse_arguments(ARG "WHOLE;INSTALL;CONCURRENT" "TIMEOUT;LABELS" "SRCS;DEPS;SYSTEM_DEPS;ENVIRONMENT" ${ARGN})
  if(ARG_CONCURRENT)
    string(APPEND ARG_LABELS -concurrent)
    add_dependencies(weft_concurrent_tests ${NAME})
  endif()
  add_executable(${NAME} ${ARG_SRCS})
  weft_common_flags(${NAME})
  weft_own_flags(${NAME})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} ${ARG_SYSTEM_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_link_options(${NAME} PRIVATE -Wl,--disable-new-dtags)
  weft_test_flags(${NAME})
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

# Precompiled headers: one set for each kind of target, chosen by what the target links. A set holds headers of the
# libraries only, so that a change in Weft never rebuilds it; check_tree.py compiles every header of Weft without them.
set(WEFT_PCH_BASE <algorithm> <cstdint> <functional> <memory> <optional> <string> <utility> <vector>
    <absl/container/flat_hash_map.h> <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/strings/str_format.h>
    <absl/synchronization/mutex.h> <absl/time/time.h> <absl/types/span.h>)
set(WEFT_PCH_PROTO <google/protobuf/message.h> <google/protobuf/repeated_field.h> <google/protobuf/map_field.h>)
set(WEFT_PCH_GRPC <grpcpp/grpcpp.h> <grpcpp/support/client_callback.h> <grpcpp/support/server_callback.h>)
set(WEFT_PCH_TEST <gmock/gmock.h> <gtest/gtest.h>)

# In OUT: all that TARGET links, directly or through Weft's own targets.
function(weft_link_closure TARGET OUT)
  set(seen)
  set(todo ${TARGET})
  while(todo)
    list(POP_FRONT todo current)
    if(current IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${current})
    if(TARGET ${current} AND current MATCHES "^weft_|^hostcuda|^${TARGET}$")
      foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(libraries ${current} ${property})
        if(libraries)
          list(APPEND todo ${libraries})
        endif()
      endforeach()
    endif()
  endwhile()
  set(${OUT} ${seen} PARENT_SCOPE)
endfunction()

function(weft_use_pch NAME)
  if(NOT WEFT_PCH)
    return()
  endif()
  weft_link_closure(${NAME} closure)
  if(NOT weft_base IN_LIST closure OR NAME STREQUAL weft_base)
    return()  # the sets are made from what weft_base links
  endif()
  set(headers ${WEFT_PCH_BASE})
  set(links weft_base)
  set(set base)
  if(weft_proto_grpc IN_LIST closure OR weft_executor_proto IN_LIST closure OR gRPC::grpc++ IN_LIST closure)
    list(APPEND headers ${WEFT_PCH_PROTO} ${WEFT_PCH_GRPC})
    list(APPEND links weft_proto_grpc)
    set(set grpc)
  elseif(weft_proto IN_LIST closure)
    list(APPEND headers ${WEFT_PCH_PROTO})
    list(APPEND links weft_proto)
    set(set proto)
  endif()
  if(GTest::gtest IN_LIST closure)
    list(APPEND headers ${WEFT_PCH_TEST})
    list(APPEND links GTest::gmock GTest::gtest)
    set(set ${set}_test)
  endif()
  # GCC refuses a precompiled header made with another kind of position-independent code.
  get_target_property(type ${NAME} TYPE)
  if(type STREQUAL EXECUTABLE)
    set(set ${set}_exe)
  endif()
  set(owner weft_pch_${set})
  if(NOT TARGET ${owner})
    file(WRITE ${CMAKE_BINARY_DIR}/pch/${owner}.cc.in "// Carries the precompiled headers of ${owner}.\nint main() { return 0; }\n")
    configure_file(${CMAKE_BINARY_DIR}/pch/${owner}.cc.in ${CMAKE_BINARY_DIR}/pch/${owner}.cc COPYONLY)
    if(type STREQUAL EXECUTABLE)
      add_executable(${owner} ${CMAKE_BINARY_DIR}/pch/${owner}.cc)
    else()
      add_library(${owner} STATIC ${CMAKE_BINARY_DIR}/pch/${owner}.cc)
    endif()
    weft_common_flags(${owner})
    weft_own_flags(${owner})
    target_link_libraries(${owner} PRIVATE ${links})
    if(set MATCHES "_test_exe$")  # made by weft_test: GCC breaks on a set made with another -O
      weft_test_flags(${owner})
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
    set_target_properties(${owner} PROPERTIES EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/pch)
  endif()
  target_precompile_headers(${NAME} REUSE_FROM ${owner})
endfunction()
