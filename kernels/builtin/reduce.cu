// reduce_sum, reduce_min, reduce_max: a partial result a chunk into the workspace, then one block combines them.
#include "kernels/builtin/reduce.cuh"

namespace weft::kernels {
namespace {

template <typename Op, typename T>
__device__ void Partial(const T* src, int64_t n, AccumulatorOf<Op, T>* partials) {
  const int64_t size = ChunkSize(n);
  for (int64_t chunk = blockIdx.x; chunk < PartialCount(n); chunk += gridDim.x) {
    const int64_t last = (chunk + 1) * size;
    const auto value =
        ReduceChunk<Op, AccumulatorOf<Op, T>>(src, chunk * size, last < n ? last : n);
    if (threadIdx.x == 0) partials[chunk] = value;
  }
}

template <typename Op, typename T>
__device__ void Final(ResultOf<Op, T>* dst, int64_t n, const AccumulatorOf<Op, T>* partials) {
  const auto value = ReduceChunk<Op, AccumulatorOf<Op, T>>(partials, 0, PartialCount(n));
  if (threadIdx.x == 0) dst[0] = Op::template Finish<T>(value);
}

}  // namespace

#define WEFT_DEFINE_OP(op, Op, name, T)                                                           \
  extern "C" __global__ void __launch_bounds__(kReduceThreads)                                    \
      weft_reduce_##op##_##name##_partial(const T* src, ResultOf<Op, T>* dst, int64_t n,          \
                                          AccumulatorOf<Op, T>* partials) {                       \
    Partial<Op, T>(src, n, partials);                                                             \
  }                                                                                               \
  extern "C" __global__ void __launch_bounds__(kReduceThreads) weft_reduce_##op##_##name##_final( \
      const T* src, ResultOf<Op, T>* dst, int64_t n, AccumulatorOf<Op, T>* partials) {            \
    Final<Op, T>(dst, n, partials);                                                               \
  }
#define WEFT_DEFINE(name, T)          \
  WEFT_DEFINE_OP(sum, SumOp, name, T) \
  WEFT_DEFINE_OP(min, MinOp, name, T) \
  WEFT_DEFINE_OP(max, MaxOp, name, T)
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE
#undef WEFT_DEFINE_OP

}  // namespace weft::kernels
