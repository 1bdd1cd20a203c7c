// argmax, argmin: the best place of each chunk into the workspace, then one block picks among them.
#include "kernels/builtin/arg_math.h"
#include "kernels/builtin/reduce.cuh"

namespace weft::kernels {
namespace {

template <Wanted kWanted, typename C>
__device__ __forceinline__ Candidate<C> BestOfWarp(Candidate<C> best) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const C value = __shfl_down_sync(kFullWarp, best.value, distance);
    const int64_t place = __shfl_down_sync(kFullWarp, best.place, distance);
    best = Better<kWanted>(best, Candidate<C>{value, place});
  }
  return best;
}

// The place of the block's best candidate, in thread 0. May be called again right away. REQUIRES: kReduceThreads
// threads, all of which call.
template <Wanted kWanted, typename C>
__device__ int64_t BestOfBlock(Candidate<C> best) {
  __shared__ C values[kReduceWarps];
  __shared__ int64_t places[kReduceWarps];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  best = BestOfWarp<kWanted>(best);
  if (lane == 0) {
    values[warp] = best.value;
    places[warp] = best.place;
  }
  __syncthreads();
  if (warp == 0) {
    best = lane < kReduceWarps ? Candidate<C>{values[lane], places[lane]} : Candidate<C>{};
    best = BestOfWarp<kWanted>(best);
  }
  __syncthreads();
  return best.place;
}

template <Wanted kWanted, typename T>
__device__ void ArgPartial(const T* src, int64_t n, int64_t* places) {
  using C = Compute<T>;
  const int64_t size = ChunkSize(n);
  for (int64_t chunk = blockIdx.x; chunk < PartialCount(n); chunk += gridDim.x) {
    const int64_t end = (chunk + 1) * size;
    Candidate<C> best;
    VisitChunk(chunk * size, end < n ? end : n, src, [&](int, int64_t i, T element) {
      best = Better<kWanted>(best, Candidate<C>{Load(element), i});
    });
    const int64_t place = BestOfBlock<kWanted>(best);
    if (threadIdx.x == 0) places[chunk] = place;
  }
}

template <Wanted kWanted, typename T>
__device__ void ArgFinal(const T* src, int64_t* dst, int64_t n, const int64_t* places) {
  using C = Compute<T>;
  Candidate<C> best;
  for (int64_t i = threadIdx.x; i < PartialCount(n); i += kReduceThreads) {
    if (places[i] == kNoPlace) continue;
    best = Better<kWanted>(best, Candidate<C>{Load(src[places[i]]), places[i]});
  }
  const int64_t place = BestOfBlock<kWanted>(best);
  if (threadIdx.x == 0) dst[0] = place;
}

}  // namespace

#define WEFT_DEFINE_ARG(op, wanted, name, T)                                                 \
  extern "C" __global__ void __launch_bounds__(kReduceThreads)                               \
      weft_##op##_##name##_partial(const T* src, int64_t* dst, int64_t n, int64_t* places) { \
    ArgPartial<wanted>(src, n, places);                                                      \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(kReduceThreads)                               \
      weft_##op##_##name##_final(const T* src, int64_t* dst, int64_t n, int64_t* places) {   \
    ArgFinal<wanted>(src, dst, n, places);                                                   \
  }
#define WEFT_DEFINE(name, T)                         \
  WEFT_DEFINE_ARG(argmax, Wanted::kLargest, name, T) \
  WEFT_DEFINE_ARG(argmin, Wanted::kSmallest, name, T)
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE
#undef WEFT_DEFINE_ARG

}  // namespace weft::kernels
