// The kernels of own_kernels.textproto.

// y := a*x + y, as CUDA's textbooks have it.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x) {
    y[i] = a * x[i] + y[i];
  }
}

// The sum of `count` elements by one block: each thread sums its own, then they meet in shared memory.
// REQUIRES: blockDim.x is THREADS, a power of two.
template <typename T>
__global__ void block_sum(const T* x, int count, T* sum) {
  __shared__ T part[THREADS];
  T own = 0;
  for (int i = threadIdx.x; i < count; i += THREADS) own += x[i];
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *sum = part[0];
}
