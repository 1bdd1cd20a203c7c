// inclusive_scan, exclusive_scan: sums of tiles into the workspace; one block turns them into what lies before each tile;
// every tile is scanned from there.
#include "kernels/builtin/reduce.cuh"
#include "kernels/builtin/scan.cuh"

namespace weft::kernels {
namespace {

static_assert(kScanThreads == kReduceThreads);

template <typename T>
__device__ void TileSums(const T* src, int64_t n, Sum<T>* sums) {
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    const int64_t last = (tile + 1) * kScanTile;
    const Sum<T> sum = ReduceChunk<SumOp, Sum<T>>(src, tile * kScanTile, last < n ? last : n);
    if (threadIdx.x == 0) sums[tile] = sum;
  }
}

template <ScanKind kKind, typename T>
__device__ void ScanTiles(const T* src, Sum<T>* dst, int64_t n, const Sum<T>* offsets) {
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    ScanTile<kKind>(
        tile * kScanTile, n, offsets[tile],
        [=](int64_t i) { return static_cast<Sum<T>>(Load(src[i])); },
        [=](int64_t i, Sum<T> sum) { dst[i] = sum; });
  }
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                                 \
  extern "C" __global__ void __launch_bounds__(kScanThreads)                                 \
      weft_scan_##name##_sums(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) {          \
    TileSums(src, n, work);                                                                  \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(kScanThreads)                                 \
      weft_scan_##name##_offsets(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) {       \
    TileOffsets(n, work);                                                                    \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(kScanThreads)                                 \
      weft_inclusive_scan_##name##_add(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) { \
    ScanTiles<ScanKind::kInclusive>(src, dst, n, work);                                      \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(kScanThreads)                                 \
      weft_exclusive_scan_##name##_add(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) { \
    ScanTiles<ScanKind::kExclusive>(src, dst, n, work);                                      \
  }
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
