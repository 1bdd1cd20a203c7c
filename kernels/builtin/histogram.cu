// histogram: counts in shared memory, one set a block, added to the result by atomics; straight into the result where
// the bins do not fit there.
#include "kernels/builtin/device_math.cuh"

namespace weft::kernels {
namespace {

__device__ __forceinline__ uint32_t DynamicSharedBytes() {
  uint32_t bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

template <typename T>
__device__ __forceinline__ void CountInto(uint32_t* counts, const T* src, int64_t bins, int64_t n) {
  ForEach(n, src, [=](T value) {
    const int64_t bin = static_cast<int64_t>(value);
    if (bin >= 0 && bin < bins) atomicAdd(&counts[bin], 1u);
  });
}

template <typename T>
__device__ void Count(const T* src, uint32_t* counts, int64_t bins, int64_t n) {
  extern __shared__ uint32_t of_block[];
  // The schema asks for no shared memory where the bins do not fit.
  if (DynamicSharedBytes() < bins * sizeof(uint32_t)) {
    CountInto(counts, src, bins, n);
    return;
  }
  for (int64_t i = threadIdx.x; i < bins; i += blockDim.x) of_block[i] = 0;
  __syncthreads();
  CountInto(of_block, src, bins, n);
  __syncthreads();
  for (int64_t i = threadIdx.x; i < bins; i += blockDim.x) {
    if (of_block[i] != 0) atomicAdd(&counts[i], of_block[i]);
  }
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                               \
  extern "C" __global__ void weft_histogram_##name##_clear(const T* src, uint32_t* counts, \
                                                           int64_t bins, int64_t n) {      \
    Map(bins, counts, [](int64_t) { return 0u; });                                         \
  }                                                                                        \
  extern "C" __global__ void weft_histogram_##name##_count(const T* src, uint32_t* counts, \
                                                           int64_t bins, int64_t n) {      \
    Count(src, counts, bins, n);                                                           \
  }
WEFT_DEFINE(u8, uint8_t)
WEFT_DEFINE(i32, int32_t)
#undef WEFT_DEFINE

}  // namespace weft::kernels
