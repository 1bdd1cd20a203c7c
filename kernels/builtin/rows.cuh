// Rows of a matrix shared among threads, as row_math.h has it.
#pragma once

#include "kernels/builtin/device_math.cuh"
#include "kernels/builtin/row_math.h"

namespace weft::kernels {

// Combined over the lanes of the warp, the same in all of them.
template <typename C, typename Combine>
__device__ __forceinline__ C OverWarp(C value, Combine combine) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(kFullWarp, value, distance));
  }
  return value;
}

// Combined over the block, the same in all threads. May be called again right away. REQUIRES: all threads call.
template <typename C, typename Combine>
__device__ C OverBlock(C value, Combine combine) {
  __shared__ C of_warp[kRowWarps];
  value = OverWarp(value, combine);
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = of_warp[0];
  for (int warp = 1; warp < kRowWarps; ++warp) value = combine(value, of_warp[warp]);
  __syncthreads();
  return value;
}

// visit(row, thread, threads, over) for every row: thread `thread` of `threads` that share it; over(value, combine)
// combines over them. REQUIRES: blocks of kRowWarps warps.
template <typename Visit>
__device__ __forceinline__ void ForEachRow(int64_t rows, int64_t cols, Visit visit) {
  if (cols <= kWarpRowLimit) {
    const int64_t stride = static_cast<int64_t>(gridDim.x) * kRowWarps;
    for (int64_t row = static_cast<int64_t>(blockIdx.x) * kRowWarps + threadIdx.x / kWarp;
         row < rows; row += stride) {
      visit(row, static_cast<int>(threadIdx.x) % kWarp, kWarp,
            [](auto value, auto combine) { return OverWarp(value, combine); });
    }
    return;
  }
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    visit(row, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
          [](auto value, auto combine) { return OverBlock(value, combine); });
  }
}

}  // namespace weft::kernels
