// Scans of tiles by a block, and of the sums of tiles; scan_math.h has the order.
#pragma once

#include "kernels/builtin/device_math.cuh"
#include "kernels/builtin/scan_math.h"

namespace weft::kernels {

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
// one. load(i) gives element i, store(i, sum) takes its sum, each for the tile's elements below n alone, neighbours by
// neighbouring threads. All loads come before the first store. REQUIRES: kScanThreads threads, all of which call.
template <ScanKind kKind, typename A, typename LoadItem, typename StoreItem>
__device__ A ScanTile(int64_t first, int64_t n, A before, LoadItem load, StoreItem store) {
  __shared__ TileBuffer<A> tile;
  const int thread = threadIdx.x;
  const int lane = thread % kWarp;
  const int warp = thread / kWarp;
  for (int item = thread; item < kScanTile; item += kScanThreads) {
    tile.At(item) = first + item < n ? load(first + item) : A{0};
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
    if (first + item < n) store(first + item, tile.At(item));
  }
  __syncthreads();  // the next tile writes the buffer
  return after;
}

// Exclusive scan of the sums of the tiles of n elements in place, by one block; returns the sum of all.
template <typename A>
__device__ A TileOffsets(int64_t n, A* sums) {
  const int64_t count = TileCount(n);
  A before = 0;
  for (int64_t first = 0; first < count; first += kScanTile) {
    before = ScanTile<ScanKind::kExclusive>(
        first, count, before, [=](int64_t i) { return sums[i]; },
        [=](int64_t i, A sum) { sums[i] = sum; });
  }
  return before;
}

}  // namespace weft::kernels
