// spin: one thread that is busy for some time on the device's clock.
#include <cstdint>

namespace weft::kernels {
namespace {

__device__ __forceinline__ uint64_t Now() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

}  // namespace

extern "C" __global__ void weft_spin_u64(uint64_t* mark, int64_t ns) {
  const uint64_t start = Now();
  uint64_t now = start;
  while (now - start < static_cast<uint64_t>(ns)) now = Now();
  mark[0] = start;
  mark[1] = now;
}

}  // namespace weft::kernels
