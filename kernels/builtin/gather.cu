// gather, scatter: elements moved by a buffer of indices.
#include "kernels/builtin/device_math.cuh"
#include "kernels/builtin/gather_math.h"

namespace weft::kernels {
namespace {

template <typename T, typename I>
__device__ __forceinline__ void Gather(const T* src, const I* index, T* dst, int64_t size,
                                       int64_t n) {
  Map(
      n, dst, [=](int64_t, I from) { return InRange(from, size) ? src[from] : T{0}; }, index);
}

// The highest place that is scattered to each element of dst, plus 1 (gather_math.h).
template <typename I>
__device__ __forceinline__ void ClaimElements(const I* index, int64_t size, int64_t n,
                                              unsigned long long* winners) {
  for (int64_t i = FirstIndex(); i < n; i += GridStride()) {
    const I to = index[i];
    if (InRange(to, size)) atomicMax(&winners[to], static_cast<unsigned long long>(i) + 1);
  }
}

template <typename T>
__device__ __forceinline__ void MoveWinners(const T* src, T* dst, int64_t size,
                                            const unsigned long long* winners) {
  for (int64_t i = FirstIndex(); i < size; i += GridStride()) {
    if (winners[i] != kKept) dst[i] = src[winners[i] - 1];
  }
}

}  // namespace

#define WEFT_DEFINE_INDEXED(name, T, index_name, I)                                               \
  extern "C" __global__ void weft_gather_##name##_##index_name(const T* src, const I* index,      \
                                                               T* dst, int64_t size, int64_t n) { \
    Gather(src, index, dst, size, n);                                                             \
  }                                                                                               \
  extern "C" __global__ void weft_scatter_##name##_##index_name##_clear(                          \
      const T* src, const I* index, T* dst, int64_t n, int64_t size,                              \
      unsigned long long* winners) {                                                              \
    Map(size, winners, [](int64_t) { return kKept; });                                            \
  }                                                                                               \
  extern "C" __global__ void weft_scatter_##name##_##index_name##_claim(                          \
      const T* src, const I* index, T* dst, int64_t n, int64_t size,                              \
      unsigned long long* winners) {                                                              \
    ClaimElements(index, size, n, winners);                                                       \
  }                                                                                               \
  extern "C" __global__ void weft_scatter_##name##_##index_name##_move(                           \
      const T* src, const I* index, T* dst, int64_t n, int64_t size,                              \
      unsigned long long* winners) {                                                              \
    MoveWinners(src, dst, size, winners);                                                         \
  }
#define WEFT_DEFINE(name, T)                 \
  WEFT_DEFINE_INDEXED(name, T, b32, int32_t) \
  WEFT_DEFINE_INDEXED(name, T, b64, int64_t)
WEFT_WIDTHS(WEFT_DEFINE)
#undef WEFT_DEFINE
#undef WEFT_DEFINE_INDEXED

}  // namespace weft::kernels
