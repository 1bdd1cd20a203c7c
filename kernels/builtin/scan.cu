// inclusive_scan, exclusive_scan: sums of tiles into the workspace; one block turns them into what lies before each tile;
// every tile is scanned from there.
#include "kernels/builtin/reduce.cuh"
#include "kernels/builtin/scan_math.h"

namespace weft::kernels {
namespace {

static_assert(kScanThreads == kReduceThreads);

// A tile in shared memory. A thread's neighbouring items are kScanItems apart from the next thread's; one unused slot
// after every 32 spreads them over the banks.
template <typename A>
struct TileBuffer {
  static constexpr int kSlots = kScanTile + kScanTile / 32;
  A slots[kSlots];
  A warp_sums[kScanWarps];
  __device__ __forceinline__ A& At(int item) { return slots[item + item / 32]; }
};

// Scans one tile, which starts at element `first` and has `before` in front of it; returns what lies before the next
// one. REQUIRES: kScanThreads threads, all of which call. dst may be src.
template <ScanKind kKind, typename T>
__device__ Sum<T> ScanTile(const T* src, Sum<T>* dst, int64_t first, int64_t n, Sum<T> before) {
  using A = Sum<T>;
  __shared__ TileBuffer<A> tile;
  const int thread = threadIdx.x;
  const int lane = thread % kWarp;
  const int warp = thread / kWarp;
  for (int item = thread; item < kScanTile; item += kScanThreads) {
    tile.At(item) = first + item < n ? static_cast<A>(Load(src[first + item])) : A{0};
  }
  __syncthreads();
  A items[kScanItems];
  A sum = 0;
#pragma unroll
  for (int j = 0; j < kScanItems; ++j) {
    items[j] = tile.At(thread * kScanItems + j);
    sum = Plus(sum, items[j]);
  }
#pragma unroll
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const A other = __shfl_up_sync(kFullWarp, sum, distance);
    if (lane >= distance) sum = Plus(other, sum);
  }
  if (lane == kWarp - 1) tile.warp_sums[warp] = sum;
  const A left = __shfl_up_sync(kFullWarp, sum, 1);
  __syncthreads();
  A running = before;
  A after = before;
  for (int w = 0; w < kScanWarps; ++w) {
    after = Plus(after, tile.warp_sums[w]);
    if (w + 1 == warp) running = after;
  }
  if (lane > 0) running = Plus(running, left);
#pragma unroll
  for (int j = 0; j < kScanItems; ++j) {
    const A with_own = Plus(running, items[j]);
    tile.At(thread * kScanItems + j) = kKind == ScanKind::kInclusive ? with_own : running;
    running = with_own;
  }
  __syncthreads();
  for (int item = thread; item < kScanTile; item += kScanThreads) {
    if (first + item < n) dst[first + item] = tile.At(item);
  }
  __syncthreads();  // the next tile writes the buffer
  return after;
}

template <typename T>
__device__ void TileSums(const T* src, int64_t n, Sum<T>* sums) {
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    const int64_t last = (tile + 1) * kScanTile;
    const Sum<T> sum = ReduceChunk<SumOp, Sum<T>>(src, tile * kScanTile, last < n ? last : n);
    if (threadIdx.x == 0) sums[tile] = sum;
  }
}

// Exclusive scan of the tile sums in place, by one block.
template <typename A>
__device__ void TileOffsets(int64_t n, A* sums) {
  const int64_t count = TileCount(n);
  A before = 0;
  for (int64_t first = 0; first < count; first += kScanTile) {
    before = ScanTile<ScanKind::kExclusive, A>(sums, sums, first, count, before);
  }
}

template <ScanKind kKind, typename T>
__device__ void ScanTiles(const T* src, Sum<T>* dst, int64_t n, const Sum<T>* offsets) {
  for (int64_t tile = blockIdx.x; tile < TileCount(n); tile += gridDim.x) {
    ScanTile<kKind>(src, dst, tile * kScanTile, n, offsets[tile]);
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
