// Indexing and memory access shared by the CUDA kernels: 64-bit, striding by the grid, so that any grid covers any
// extent; 16 bytes a thread and access where the buffers are aligned for it.
#pragma once

#include <cstdint>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/numbers.h"

namespace weft::kernels {

inline constexpr unsigned kFullWarp = 0xffffffffu;
inline constexpr int kWarp = 32;

// The thread's number in the launch, and how many threads there are: over all dimensions, since a job may choose any shape.
__device__ __forceinline__ int64_t FirstIndex() {
  const int64_t block =
      (static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  return block * (blockDim.x * blockDim.y * blockDim.z) + thread;
}
__device__ __forceinline__ int64_t GridStride() {
  return static_cast<int64_t>(gridDim.x) * gridDim.y * gridDim.z *
         (blockDim.x * blockDim.y * blockDim.z);
}

// Neighbouring elements that one access moves.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

template <typename T, int kCount>
__device__ __forceinline__ bool IsAligned(const T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % sizeof(Pack<T, kCount>) == 0;
}

template <typename... T>
constexpr int LargestSize() {
  size_t largest = 1;
  ((largest = sizeof(T) > largest ? sizeof(T) : largest), ...);
  return static_cast<int>(largest);
}

template <int kCount, typename Op, typename Out, typename... In>
__device__ __forceinline__ void MapPack(int64_t first, Out* out, Op op,
                                        const Pack<In, kCount>&... in) {
  Pack<Out, kCount> result;
#pragma unroll
  for (int j = 0; j < kCount; ++j) result.values[j] = op(first + j, in.values[j]...);
  *reinterpret_cast<Pack<Out, kCount>*>(out + first) = result;
}

// out[i] = op(i, in[i]...) for all i below n. `out` may be one of `in`.
template <typename Op, typename Out, typename... In>
__device__ __forceinline__ void Map(int64_t n, Out* out, Op op, const In*... in) {
  constexpr int kCount = 16 / LargestSize<Out, In...>();
  const bool aligned = IsAligned<Out, kCount>(out) && (IsAligned<In, kCount>(in) && ... && true);
  const int64_t packs = aligned ? n / kCount : 0;
  for (int64_t p = FirstIndex(); p < packs; p += GridStride()) {
    MapPack<kCount, Op, Out, In...>(p * kCount, out, op,
                                    reinterpret_cast<const Pack<In, kCount>*>(in)[p]...);
  }
  for (int64_t i = packs * kCount + FirstIndex(); i < n; i += GridStride())
    out[i] = op(i, in[i]...);
}

// visit(in[i]) for all i below n, in no particular order.
template <typename Visit, typename T>
__device__ __forceinline__ void ForEach(int64_t n, const T* in, Visit visit) {
  constexpr int kCount = 16 / static_cast<int>(sizeof(T));
  const int64_t packs = IsAligned<T, kCount>(in) ? n / kCount : 0;
  for (int64_t p = FirstIndex(); p < packs; p += GridStride()) {
    const Pack<T, kCount> pack = reinterpret_cast<const Pack<T, kCount>*>(in)[p];
#pragma unroll
    for (int j = 0; j < kCount; ++j) visit(pack.values[j]);
  }
  for (int64_t i = packs * kCount + FirstIndex(); i < n; i += GridStride()) visit(in[i]);
}

}  // namespace weft::kernels
