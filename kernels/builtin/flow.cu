// Kernels that nodes of other kinds are made of: what a conditional node goes by, and the signal of a semaphore. One
// thread each; no job names them.
#include <cstdint>

namespace weft::kernels {

// cudaGraphSetConditional is the driver's: nvcc leaves it as the one undefined symbol of the image, which loading
// resolves. Neither relocatable device code nor cudadevrt is needed.
extern "C" __global__ void weft_set_condition(cudaGraphConditionalHandle handle,
                                              const uint32_t* value) {
  cudaGraphSetConditional(handle, *value);
}

// Never lowers the value. What came before is seen by whoever sees the value, also on the host and in other processes.
extern "C" __global__ void weft_signal_u64(uint64_t* semaphore, uint64_t value) {
  __threadfence_system();
  atomicMax_system(reinterpret_cast<unsigned long long*>(semaphore),
                   static_cast<unsigned long long>(value));
}

}  // namespace weft::kernels
