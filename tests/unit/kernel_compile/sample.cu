// What the readers of compiled code are tested with: the toolkit's compiler makes machine code, a
// fatbin and PTX of it.
__constant__ float coefficients[16];
__device__ int counter;

template <typename T>
__global__ void scale(T* values, T factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor * static_cast<T>(coefficients[i & 15]);
}
template __global__ void scale<float>(float*, float, int);
template __global__ void scale<double>(double*, double, int);

// A stack frame (an array that is indexed), static shared memory and a limit of threads.
extern "C" __global__ void __launch_bounds__(256, 2) mix(float* values, int stride) {
  __shared__ float shared[1024];
  float local[64];
  for (int i = 0; i < 64; ++i) local[i] = values[i * stride];
  for (int i = 0; i < 64; ++i) local[(i * 7 + stride) & 63] += values[i];
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += local[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  values[threadIdx.x] = shared[(threadIdx.x + 1) & 255];
  atomicAdd(&counter, 1);
}

struct Odd {
  char first;
  int rest[5];
};
extern "C" __global__ void packed(Odd odd, signed char byte, long long* out) {
  out[0] = odd.rest[3] + byte;
}

struct Large {
  char bytes[20000];
};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
extern "C" __global__ void large(Large large, float* out) { out[0] = large.bytes[123]; }
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float* out) { out[blockIdx.x] = 1; }
#endif
