// reduce_sum, reduce_min, reduce_max: partial results of up to 1024 blocks into the workspace, then one block combines
// them. Which elements a block takes, and the order of every combination, depend on n alone.
#include "kernels/builtin/device_index.cuh"
#include "kernels/builtin/reduce_math.h"

namespace weft::kernels {
namespace {

template <typename A>
__device__ __forceinline__ A ShuffleDown(A value, int distance) {
  return __shfl_down_sync(kFullWarp, value, distance);
}

// The block's combined value, in thread 0. REQUIRES: blockDim.x is a multiple of 32, at most 1024.
template <typename Op, typename A>
__device__ A CombineBlock(A value) {
  __shared__ A of_warp[32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int distance = 16; distance > 0; distance /= 2) {
    value = Op::Combine(value, ShuffleDown(value, distance));
  }
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < static_cast<int>(blockDim.x / 32) ? of_warp[lane] : Op::template Identity<A>();
    for (int distance = 16; distance > 0; distance /= 2) {
      value = Op::Combine(value, ShuffleDown(value, distance));
    }
  }
  return value;
}

template <typename Op, typename T>
__device__ void Partial(const T* src, int64_t n, typename Op::template Accumulator<T>* partials) {
  using A = typename Op::template Accumulator<T>;
  A value = Op::template Identity<A>();
  for (int64_t i = FirstIndex(); i < n; i += GridStride()) {
    value = Op::Combine(value, static_cast<A>(Load(src[i])));
  }
  value = CombineBlock<Op>(value);
  if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

template <typename Op, typename T>
__device__ void Final(typename Op::template Result<T>* dst, int64_t n,
                      const typename Op::template Accumulator<T>* partials) {
  using A = typename Op::template Accumulator<T>;
  const int64_t count = PartialCount(n);
  A value = Op::template Identity<A>();
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) value = Op::Combine(value, partials[i]);
  value = CombineBlock<Op>(value);
  if (threadIdx.x == 0) dst[0] = Op::template Finish<T>(value);
}

}  // namespace

#define WEFT_DEFINE_OP(op, Op, name, T)                                            \
  extern "C" __global__ void weft_reduce_##op##_##name##_partial(                  \
      const T* src, Op::Result<T>* dst, int64_t n, Op::Accumulator<T>* partials) { \
    Partial<Op, T>(src, n, partials);                                              \
  }                                                                                \
  extern "C" __global__ void weft_reduce_##op##_##name##_final(                    \
      const T* src, Op::Result<T>* dst, int64_t n, Op::Accumulator<T>* partials) { \
    Final<Op, T>(dst, n, partials);                                                \
  }
#define WEFT_DEFINE(name, T)          \
  WEFT_DEFINE_OP(sum, SumOp, name, T) \
  WEFT_DEFINE_OP(min, MinOp, name, T) \
  WEFT_DEFINE_OP(max, MaxOp, name, T)
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE
#undef WEFT_DEFINE_OP

}  // namespace weft::kernels
