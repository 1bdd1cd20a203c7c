// Copies between buffers of one device, for copy nodes of graphs. No job names it.
//
// One 16-byte word a thread: on an H200 that moves what cuMemcpyAsync does (2.1 TB/s of 1 GiB); four words a thread move
// 4 % less. When it is used, and why, stands in graph/plan/copy_launch.h.
#include <cstdint>

namespace weft::kernels {

// dst and src: multiples of 16, apart. Threads: one for each 16 bytes and for what is left behind them.
extern "C" __global__ void weft_copy_bytes(uint4* __restrict__ dst, const uint4* __restrict__ src,
                                           uint64_t bytes) {
  const uint64_t words = bytes / sizeof(uint4);
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words) {
    dst[i] = src[i];
  } else if (i == words) {
    for (uint64_t byte = words * sizeof(uint4); byte < bytes; ++byte) {
      reinterpret_cast<unsigned char*>(dst)[byte] =
          reinterpret_cast<const unsigned char*>(src)[byte];
    }
  }
}

}  // namespace weft::kernels
