// Indexing shared by the CUDA kernels: 64-bit, striding by the grid, so that any grid covers any extent.
#pragma once

#include <cstdint>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/numbers.h"

namespace weft::kernels {

inline constexpr unsigned kFullWarp = 0xffffffffu;

__device__ __forceinline__ int64_t FirstIndex() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t GridStride() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace weft::kernels
