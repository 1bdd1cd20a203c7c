// inclusive_scan, exclusive_scan: sums of tiles of 1024 elements into the workspace; one block turns them into offsets;
// every tile is scanned again and its offset added. The order of additions depends on n alone.
#include "kernels/builtin/device_index.cuh"

namespace weft::kernels {
namespace {

constexpr int kScanTile = 1024;  // threads of a block, an element each

// Inclusive scan over the block's 1024 threads; *total receives the sum of all.
template <typename A>
__device__ A ScanBlock(A value, A* total) {
  __shared__ A of_warp[32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const A other = __shfl_up_sync(kFullWarp, value, distance);
    if (lane >= distance) value = Plus(other, value);
  }
  if (lane == 31) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    A sum = of_warp[lane];
    for (int distance = 1; distance < 32; distance *= 2) {
      const A other = __shfl_up_sync(kFullWarp, sum, distance);
      if (lane >= distance) sum = Plus(other, sum);
    }
    of_warp[lane] = sum;
  }
  __syncthreads();
  if (warp > 0) value = Plus(of_warp[warp - 1], value);
  *total = of_warp[31];
  __syncthreads();  // of_warp is written again by the next tile
  return value;
}

__device__ __forceinline__ int64_t TileCount(int64_t n) { return (n + kScanTile - 1) / kScanTile; }

template <typename T>
__device__ Sum<T> Element(const T* src, int64_t n, int64_t i) {
  return i < n ? static_cast<Sum<T>>(Load(src[i])) : Sum<T>{0};
}

template <typename T>
__device__ void TileSums(const T* src, int64_t n, Sum<T>* sums) {
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    Sum<T> total;
    ScanBlock(Element(src, n, tile * kScanTile + threadIdx.x), &total);
    if (threadIdx.x == 0) sums[tile] = total;
  }
}

// Exclusive scan of the tile sums in place, by one block.
template <typename A>
__device__ void TileOffsets(int64_t n, A* sums) {
  const int64_t count = TileCount(n);
  A before = 0;
  for (int64_t first = 0; first < count; first += kScanTile) {
    const int64_t i = first + threadIdx.x;
    const A own = i < count ? sums[i] : A{0};
    A total;
    const A scanned = ScanBlock(own, &total);
    const A left = __shfl_up_sync(kFullWarp, scanned, 1);
    __shared__ A last_of_warp[32];
    if (threadIdx.x % 32 == 31) last_of_warp[threadIdx.x / 32] = scanned;
    __syncthreads();
    A exclusive = left;
    if (threadIdx.x % 32 == 0)
      exclusive = threadIdx.x == 0 ? A{0} : last_of_warp[threadIdx.x / 32 - 1];
    __syncthreads();
    if (i < count) sums[i] = Plus(before, exclusive);
    before = Plus(before, total);
  }
}

// kInclusive: 1 or 0. The left neighbour's sum is read from shared memory rather than by subtracting, which would
// round differently.
template <int kInclusive, typename T>
__device__ void AddOffsets(const T* src, Sum<T>* dst, int64_t n, const Sum<T>* offsets) {
  __shared__ Sum<T> scanned_by[kScanTile];
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    const int64_t i = tile * kScanTile + threadIdx.x;
    Sum<T> total;
    const Sum<T> scanned = ScanBlock(Element(src, n, i), &total);
    scanned_by[threadIdx.x] = scanned;
    __syncthreads();
    const Sum<T> left = threadIdx.x == 0 ? Sum<T>{0} : scanned_by[threadIdx.x - 1];
    if (i < n) dst[i] = Plus(offsets[tile], kInclusive ? scanned : left);
    __syncthreads();
  }
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                                 \
  extern "C" __global__ void __launch_bounds__(1024)                                         \
      weft_scan_##name##_sums(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) {          \
    TileSums(src, n, work);                                                                  \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(1024)                                         \
      weft_scan_##name##_offsets(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) {       \
    TileOffsets(n, work);                                                                    \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(1024)                                         \
      weft_inclusive_scan_##name##_add(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) { \
    AddOffsets<1>(src, dst, n, work);                                                        \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(1024)                                         \
      weft_exclusive_scan_##name##_add(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) { \
    AddOffsets<0>(src, dst, n, work);                                                        \
  }
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
