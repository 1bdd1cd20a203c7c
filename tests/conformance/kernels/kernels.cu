// Device code of the conformance suite, for GPUs; kernels_host.cc has the same for the CPU.

#include <cstdint>

namespace {

__device__ uint64_t NowNs() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ void SpinNs(uint64_t ns) {
  const uint64_t start = NowNs();
  while (NowNs() - start < ns) {
  }
}

struct Triple {
  uint32_t x, y, z;
};

}  // namespace

__device__ uint64_t conformance_variable = 42;

extern "C" {

// out[i] = a[i] + b[i] for i < count, one element a thread.
__global__ void add(const uint32_t* a, const uint32_t* b, uint32_t* out, uint64_t count) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) out[i] = a[i] + b[i];
}

// Adds 1 to *counter in two steps that lie `busy_ns` apart: two at the same time lose one.
__global__ void increment(uint64_t* counter, uint64_t busy_ns) {
  const uint64_t value = *static_cast<volatile uint64_t*>(counter);
  SpinNs(busy_ns);
  *static_cast<volatile uint64_t*>(counter) = value + 1;
}

// Appends `value` to log[1…]; log[0] counts.
__global__ void append(uint32_t* log, uint32_t value) { log[1 + atomicAdd(&log[0], 1u)] = value; }

__global__ void set_condition(cudaGraphConditionalHandle handle, const uint32_t* value) {
  cudaGraphSetConditional(handle, *value);
}

__global__ void decrement(uint32_t* word) { *word -= 1; }

__global__ void spin(uint64_t ns) { SpinNs(ns); }

// Says "here" in here[self], waits for here[other], and writes to met[self] whether it came in time.
__global__ void rendezvous(uint32_t* here, uint32_t self, uint32_t other, uint64_t timeout_ns,
                           uint32_t* met) {
  atomicExch(&here[self], 1u);
  const uint64_t start = NowNs();
  bool seen = false;
  while (!seen && NowNs() - start < timeout_ns) seen = atomicAdd(&here[other], 0u) == 1u;
  met[self] = seen ? 1 : 0;
}

// The parameters as they arrived.
__global__ void mixed_params(uint8_t a, uint64_t b, uint16_t c, float d, Triple e, uint64_t* out) {
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = __float_as_uint(d);
  out[4] = e.x;
  out[5] = e.y;
  out[6] = e.z;
}

// The launch as the kernel sees it, and how many threads ran.
__global__ void launch_shape(uint32_t* out) {
  uint32_t shared_bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared_bytes));
  out[0] = gridDim.x;
  out[1] = gridDim.y;
  out[2] = gridDim.z;
  out[3] = blockDim.x;
  out[4] = blockDim.y;
  out[5] = blockDim.z;
  out[6] = shared_bytes;
  atomicAdd(&out[7], 1u);
}

__global__ void read_variable(uint64_t* out) { *out = conformance_variable; }

// out[i]: the texel at (points[2 i], points[2 i + 1]), and the i-th.
__global__ void sample(cudaTextureObject_t texture, const float* points, float* out,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = tex2D<float>(texture, points[2 * i], points[2 * i + 1]);
  }
}
__global__ void fetch(cudaTextureObject_t texture, int32_t first, uint32_t* out, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint2 texel = tex1Dfetch<uint2>(texture, first + static_cast<int32_t>(i));
    out[2 * i] = texel.x;
    out[2 * i + 1] = texel.y;
  }
}

}  // extern "C"
