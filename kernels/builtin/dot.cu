// dot: reduce_sum of the products of two buffers, in the same order of additions.
#include "kernels/builtin/reduce.cuh"

namespace weft::kernels {
namespace {

template <typename T>
__device__ void DotPartial(const T* a, const T* b, int64_t n, Sum<T>* partials) {
  const int64_t size = ChunkSize(n);
  for (int64_t chunk = blockIdx.x; chunk < PartialCount(n); chunk += gridDim.x) {
    const int64_t end = (chunk + 1) * size;
    Sum<T> lanes[kPack<T>] = {};
    VisitChunk(
        chunk * size, end < n ? end : n, a,
        [&](int j, int64_t, T x, T y) { lanes[j] = Plus(lanes[j], Times(Load(x), Load(y))); }, b);
    const Sum<T> sum = CombineBlock<SumOp>(CombineLanes<SumOp, kPack<T>>(lanes), false);
    if (threadIdx.x == 0) partials[chunk] = sum;
  }
}

template <typename T>
__device__ void DotFinal(Sum<T>* dst, int64_t n, const Sum<T>* partials) {
  const auto sum = ReduceChunk<SumOp, Sum<T>>(partials, 0, PartialCount(n));
  if (threadIdx.x == 0) dst[0] = sum;
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                                      \
  extern "C" __global__ void __launch_bounds__(kReduceThreads) weft_dot_##name##_partial(         \
      const T* a, const T* b, Sum<T>* dst, int64_t n, Sum<T>* partials) {                         \
    DotPartial(a, b, n, partials);                                                                \
  }                                                                                               \
  extern "C" __global__ void __launch_bounds__(kReduceThreads)                                    \
      weft_dot_##name##_final(const T* a, const T* b, Sum<T>* dst, int64_t n, Sum<T>* partials) { \
    DotFinal<T>(dst, n, partials);                                                                \
  }
WEFT_FLOAT_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
