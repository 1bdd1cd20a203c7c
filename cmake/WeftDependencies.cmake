# What Weft needs from the distribution, found once. The message of each failure says what to install.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)
if(WEFT_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(WEFT_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

# CUDA: only its headers are needed to build; nvcc is needed for device code (WEFT_CUDA_ARCHITECTURES).
find_path(WEFT_CUDA_INCLUDE_DIR cuda.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
find_program(WEFT_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
if(NOT WEFT_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR "cuda.h was not found. Install the CUDA Toolkit 12.6 or newer, or set CUDA_HOME to where it is.")
endif()
if(NOT WEFT_NVCC AND NOT WEFT_CUDA_ARCHITECTURES STREQUAL "none")
  message(FATAL_ERROR "nvcc was not found. Set CUDA_HOME to the CUDA Toolkit, or configure with "
                      "-DWEFT_CUDA_ARCHITECTURES=none to build for the CPU driver alone.")
endif()
# <cuda.h> for cuda/ alone: a target that links weft_cuda_headers may include it.
add_library(weft_cuda_headers INTERFACE)
target_include_directories(weft_cuda_headers SYSTEM INTERFACE ${WEFT_CUDA_INCLUDE_DIR})
