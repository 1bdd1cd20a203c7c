// The reduction of one chunk by a block, in the order that reduce_math.h lays down.
#pragma once

#include "kernels/builtin/device_math.cuh"
#include "kernels/builtin/reduce_math.h"

namespace weft::kernels {

// Every lane's value combined into lane 0's.
template <typename Op, int kFrom, typename A>
__device__ __forceinline__ A CombineWarp(A value) {
#pragma unroll
  for (int distance = kFrom; distance > 0; distance /= 2) {
    const A other = static_cast<A>(__shfl_down_sync(kFullWarp, value, distance));
    value = Op::Combine(value, other);
  }
  return value;
}

// The block's combined value, in thread 0; a NaN when any thread has `nan` set. May be called again right away.
// REQUIRES: kReduceThreads threads, all of which call.
template <typename Op, typename A>
__device__ A CombineBlock(A value, bool nan) {
  __shared__ A of_warp[kReduceWarps];
  __shared__ bool nan_in_warp[kReduceWarps];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  value = CombineWarp<Op, kWarp / 2>(value);
  const bool warp_has_nan = __ballot_sync(kFullWarp, nan) != 0;
  if (lane == 0) {
    of_warp[warp] = value;
    nan_in_warp[warp] = warp_has_nan;
  }
  __syncthreads();
  if (warp == 0) {
    value = lane < kReduceWarps ? of_warp[lane] : Op::template Identity<A>();
    nan = lane < kReduceWarps && nan_in_warp[lane];
    value = CombineWarp<Op, kReduceWarps / 2>(value);
    value = NanOr(__ballot_sync(kFullWarp, nan) != 0, value);
  }
  __syncthreads();
  return value;
}

// A thread's lanes combined in order.
template <typename Op, int kCount, typename A>
__device__ __forceinline__ A CombineLanes(const A (&lanes)[kCount]) {
  A value = lanes[0];
#pragma unroll
  for (int j = 1; j < kCount; ++j) value = Op::Combine(value, lanes[j]);
  return value;
}

// visit(j, i, src[i], more[i]...) for this thread's elements of first … last - 1, in order; j is the lane of the thread
// that the element belongs to. REQUIRES: kReduceThreads threads; `first` is a multiple of kPack or there is no element.
template <typename T, typename Visit, typename... More>
__device__ __forceinline__ void VisitChunk(int64_t first, int64_t last, const T* src, Visit visit,
                                           const More*... more) {
  using Packed = Pack<T, kPack<T>>;
  const bool aligned =
      IsAligned<T, kPack<T>>(src + first) && (IsAligned<T, kPack<T>>(more + first) && ... && true);
  for (int64_t i = first + static_cast<int64_t>(threadIdx.x) * kPack<T>; i < last;
       i += kReduceThreads * kPack<T>) {
    if (aligned && i + kPack<T> <= last) {
      const auto visit_pack = [&](const auto&... pack) {
#pragma unroll
        for (int j = 0; j < kPack<T>; ++j) visit(j, i + j, pack.values[j]...);
      };
      visit_pack(Packed(*reinterpret_cast<const Packed*>(src + i)),
                 Packed(*reinterpret_cast<const Packed*>(more + i))...);
    } else {
#pragma unroll
      for (int j = 0; j < kPack<T>; ++j) {
        if (i + j < last) visit(j, i + j, src[i + j], more[i + j]...);
      }
    }
  }
}

// Elements first … last - 1, in thread 0. REQUIRES: as CombineBlock.
template <typename Op, typename A, typename T>
__device__ A ReduceChunk(const T* src, int64_t first, int64_t last) {
  A lanes[kPack<T>];
  bool nan = false;
#pragma unroll
  for (int j = 0; j < kPack<T>; ++j) lanes[j] = Op::template Identity<A>();
  VisitChunk(first, last, src, [&](int j, int64_t, T element) {
    const A value = static_cast<A>(Load(element));
    if constexpr (Op::kWatchesNan) nan |= IsNan(value);
    lanes[j] = Op::Combine(lanes[j], value);
  });
  return CombineBlock<Op>(CombineLanes<Op, kPack<T>>(lanes), nan);
}

}  // namespace weft::kernels
