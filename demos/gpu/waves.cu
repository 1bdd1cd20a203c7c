// Kernels for GPUs alone: jobs bring them as source, PTX, cubin and fatbin.

// y = a * x + 1, of `count` elements.
extern "C" __global__ void scale_add(float* y, const float* x, float a, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] = a * x[i] + 1.0f;
}

// Each block adds up a part of x, waits for all other blocks, and writes the sum of all parts to its
// place in `total`. `arrived` is 0. The blocks must run at once: a cooperative launch.
extern "C" __global__ void sum_for_all(const float* x, float* parts, unsigned* arrived,
                                       float* total, int per_block) {
  if (threadIdx.x != 0) return;
  float part = 0.0f;
  for (int i = 0; i < per_block; ++i) part += x[blockIdx.x * per_block + i];
  parts[blockIdx.x] = part;
  __threadfence();
  atomicAdd(arrived, 1u);
  while (atomicAdd(arrived, 0u) < gridDim.x) {
  }
  __threadfence();
  float sum = 0.0f;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += static_cast<volatile float*>(parts)[i];
  total[blockIdx.x] = sum;
}

// Reverses `count` elements in shared memory, of one block; more than 48 KiB of them.
extern "C" __global__ void reverse_shared(float* x, int count) {
  extern __shared__ float kept[];
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    kept[i] = x[i];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    x[i] = kept[count - 1 - i];
}
