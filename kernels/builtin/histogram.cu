// histogram: counts in shared memory, one set a block, added to the result by atomics; straight into the result where
// the bins do not fit there.
#include "kernels/builtin/device_index.cuh"

namespace weft::kernels {

#define WEFT_DEFINE(name, T)                                                               \
  extern "C" __global__ void weft_histogram_##name##_clear(const T* src, uint32_t* counts, \
                                                           int64_t bins, int64_t n) {      \
    for (int64_t i = FirstIndex(); i < bins; i += GridStride()) counts[i] = 0;             \
  }                                                                                        \
  extern "C" __global__ void weft_histogram_##name##_count(const T* src, uint32_t* counts, \
                                                           int64_t bins, int64_t n) {      \
    extern __shared__ uint32_t of_block[];                                                 \
    unsigned shared_bytes;                                                                 \
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared_bytes));                          \
    const bool in_shared = shared_bytes >= bins * sizeof(uint32_t);                        \
    uint32_t* own = in_shared ? of_block : counts;                                         \
    if (in_shared) {                                                                       \
      for (int64_t i = threadIdx.x; i < bins; i += blockDim.x) of_block[i] = 0;            \
      __syncthreads();                                                                     \
    }                                                                                      \
    for (int64_t i = FirstIndex(); i < n; i += GridStride()) {                             \
      const int64_t bin = static_cast<int64_t>(src[i]);                                    \
      if (bin >= 0 && bin < bins) atomicAdd(&own[bin], 1u);                                \
    }                                                                                      \
    if (in_shared) {                                                                       \
      __syncthreads();                                                                     \
      for (int64_t i = threadIdx.x; i < bins; i += blockDim.x) {                           \
        if (of_block[i] != 0) atomicAdd(&counts[i], of_block[i]);                          \
      }                                                                                    \
    }                                                                                      \
  }
WEFT_DEFINE(u8, uint8_t)
WEFT_DEFINE(i32, int32_t)
#undef WEFT_DEFINE

}  // namespace weft::kernels
