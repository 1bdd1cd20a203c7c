// compact: the kept elements of each tile are counted into the workspace; one block turns the counts into the place of each
// tile's first and writes how many there are; every tile moves its own from there, and clears what lies behind all.
#include "kernels/builtin/compact_math.h"
#include "kernels/builtin/scan.cuh"

namespace weft::kernels {
namespace {

__device__ __forceinline__ void CountKept(const uint8_t* mask, int64_t n, int64_t* counts) {
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    int count = 0;
    for (int item = threadIdx.x; item < kScanTile; item += kScanThreads) {
      const int64_t i = tile * kScanTile + item;
      count += __syncthreads_count(i < n && IsKept(mask[i]));
    }
    if (threadIdx.x == 0) counts[tile] = count;
  }
}

__device__ __forceinline__ void PlaceTiles(int64_t n, int64_t* counts, int64_t* total) {
  const int64_t all = TileOffsets(n, counts);
  if (threadIdx.x == 0) *total = all;
}

template <typename T>
__device__ __forceinline__ void MoveKept(const T* src, const uint8_t* mask, T* dst, int64_t n,
                                         const int64_t* places, int64_t total) {
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    ScanTile<ScanKind::kExclusive>(
        tile * kScanTile, n, places[tile],
        [=](int64_t i) { return static_cast<int64_t>(IsKept(mask[i])); },
        [=](int64_t i, int64_t place) {
          if (IsKept(mask[i])) dst[place] = src[i];
          if (i >= total) dst[i] = T{0};
        });
  }
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                                 \
  extern "C" __global__ void __launch_bounds__(kScanThreads) weft_compact_##name##_count(    \
      const T* src, const uint8_t* mask, T* dst, int64_t* count, int64_t n, int64_t* work) { \
    CountKept(mask, n, work);                                                                \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(kScanThreads) weft_compact_##name##_place(    \
      const T* src, const uint8_t* mask, T* dst, int64_t* count, int64_t n, int64_t* work) { \
    PlaceTiles(n, work, count);                                                              \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(kScanThreads) weft_compact_##name##_move(     \
      const T* src, const uint8_t* mask, T* dst, int64_t* count, int64_t n, int64_t* work) { \
    MoveKept(src, mask, dst, n, work, *count);                                               \
  }
WEFT_WIDTHS(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
