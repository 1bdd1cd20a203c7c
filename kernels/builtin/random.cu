// random_uniform, random_normal: a thread makes the elements of one block of random words at a time.
#include "kernels/builtin/device_math.cuh"
#include "kernels/builtin/random_math.h"

namespace weft::kernels {
namespace {

// Elements `offset` … offset + n - 1 of the sequence of `seed`; make(block) gives those of one block.
template <typename T, typename Make>
__device__ __forceinline__ void FillRandom(T* dst, uint64_t seed, int64_t offset, int64_t n,
                                           Make make) {
  constexpr int kCount = kPerBlock<T>;
  const int64_t first_block = offset / kCount;
  const int64_t skipped = offset % kCount;
  const int64_t blocks = (skipped + n + kCount - 1) / kCount;
  for (int64_t block = FirstIndex(); block < blocks; block += GridStride()) {
    const RandomElements<T> made = make(RandomBlock(seed, first_block + block));
    const int64_t first = block * kCount - skipped;
    if (first >= 0 && first + kCount <= n && IsAligned<T, kCount>(dst + first)) {
      Pack<T, kCount> pack;
#pragma unroll
      for (int j = 0; j < kCount; ++j) pack.values[j] = made.values[j];
      *reinterpret_cast<Pack<T, kCount>*>(dst + first) = pack;
      continue;
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (first + j >= 0 && first + j < n) dst[first + j] = made.values[j];
    }
  }
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                                   \
  extern "C" __global__ void weft_random_uniform_##name(T* dst, uint64_t seed, int64_t offset, \
                                                        int64_t n) {                           \
    FillRandom(dst, seed, offset, n,                                                           \
               [](const PhiloxBlock& block) { return UniformBlock<T>(block); });               \
  }
WEFT_FLOAT_TYPES(WEFT_DEFINE)
WEFT_DEFINE(u32, uint32_t)
WEFT_DEFINE(u64, uint64_t)
#undef WEFT_DEFINE

#define WEFT_DEFINE(name, T)                                                                   \
  extern "C" __global__ void weft_random_normal_##name(                                        \
      T* dst, uint64_t seed, int64_t offset, Compute<T> mean, Compute<T> stddev, int64_t n) {  \
    FillRandom(dst, seed, offset, n,                                                           \
               [=](const PhiloxBlock& block) { return NormalBlock<T>(block, mean, stddev); }); \
  }
WEFT_FLOAT_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
