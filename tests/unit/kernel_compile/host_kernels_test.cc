// Kernels as people write them, on the CPU driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/unit/kernel_compile/cuda_launch.h"

namespace weft::kernels {
namespace {

class HostKernelsTest : public CudaLaunchTest {};

TEST_F(HostKernelsTest, VectorAdd) {
  Load(Source(R"(
extern "C" __global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
})",
              {"add"}));
  std::vector<float> a(1000), b(1000, 2), c(1001, -1);
  std::iota(a.begin(), a.end(), 0.0f);
  ASSERT_EQ(Launch({.grid_x = 4, .block_x = 256}, a.data(), b.data(), c.data(), 1000),
            CUDA_SUCCESS);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(c[i], i + 2.0f);
  EXPECT_EQ(c[1000], -1);
}

TEST_F(HostKernelsTest, ReductionInSharedMemory) {
  Load(Source(R"(
__global__ void __launch_bounds__(256) sum(const int* x, int* out, unsigned n) {
  __shared__ int part[256];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, part[0]);
})",
              {"sum"}));
  std::vector<int> x(5000);
  std::iota(x.begin(), x.end(), 1);
  int out = 0;
  ASSERT_EQ(Launch({.grid_x = 20, .block_x = 256}, x.data(), &out, 5000u), CUDA_SUCCESS);
  EXPECT_EQ(out, 5000 * 5001 / 2);
}

TEST_F(HostKernelsTest, ReductionByShuffles) {
  Load(Source(R"(
__inline__ __device__ double warp_sum(double v) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}
__global__ void sum(const double* x, double* out, int n) {
  static __shared__ double warps[32];
  double v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += x[i];
  v = warp_sum(v);
  if (threadIdx.x % warpSize == 0) warps[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / warpSize ? warps[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) *out = v;
  }
})",
              {"sum"}));
  std::vector<double> x(777);
  std::iota(x.begin(), x.end(), 0.0);
  double out = 0;
  ASSERT_EQ(Launch({.block_x = 128}, x.data(), &out, 777), CUDA_SUCCESS);
  EXPECT_EQ(out, 776 * 777 / 2);
}

TEST_F(HostKernelsTest, TiledMatrixProduct) {
  Load(Source(R"(
#define TILE 16
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[TILE][TILE];
  __shared__ alignas(64) float bs[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
})",
              {"matmul"}));
  constexpr int kSize = 48;
  std::vector<float> a(kSize * kSize), b(kSize * kSize), c(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  ASSERT_EQ(Launch({.grid_x = 3, .grid_y = 3, .block_x = 16, .block_y = 16}, a.data(), b.data(),
                   c.data(), kSize),
            CUDA_SUCCESS);
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) {
      float sum = 0;
      for (int k = 0; k < kSize; ++k) sum += a[row * kSize + k] * b[k * kSize + column];
      ASSERT_EQ(c[row * kSize + column], sum) << row << " " << column;
    }
  }
}

TEST_F(HostKernelsTest, DynamicSharedMemoryInBothScopes) {
  CudaSource source = Source(R"(
extern __shared__ int outer[];
__global__ void reverse(int* x) {
  extern __shared__ __align__(16)
      unsigned char raw[];
  int* tile = reinterpret_cast<int*>(raw);
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = outer[blockDim.x - 1 - threadIdx.x];
})",
                             {"reverse"});
  Load(source);
  std::vector<int> x(100), reversed(100);
  std::iota(x.begin(), x.end(), 0);
  std::reverse_copy(x.begin(), x.end(), reversed.begin());
  ASSERT_EQ(Launch({.block_x = 100, .shared_bytes = 400}, x.data()), CUDA_SUCCESS);
  EXPECT_EQ(x, reversed);
}

TEST_F(HostKernelsTest, HistogramByAtomics) {
  Load(Source(R"(
__global__ void histogram(const unsigned char* x, unsigned long long* bins, int n) {
  __shared__ unsigned int local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&local[x[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
})",
              {"histogram"}));
  std::vector<unsigned char> x(10000);
  std::vector<unsigned long long> bins(256), expected(256);
  for (size_t i = 0; i < x.size(); ++i) ++expected[x[i] = static_cast<unsigned char>(i * i)];
  ASSERT_EQ(Launch({.grid_x = 3, .block_x = 64}, x.data(), bins.data(), 10000), CUDA_SUCCESS);
  EXPECT_EQ(bins, expected);
}

TEST_F(HostKernelsTest, TemplatesByNameExpression) {
  Load(Source(R"(
namespace blas {
template <typename T, int kScale = 1>
__global__ void axpy(T a, const T* x, T* y, size_t n) {
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) y[i] += kScale * a * x[i];
}
})",
              {"blas::axpy<float>", "blas::axpy<double, 3>"}));
  std::vector<float> x(10, 2), y(10, 1);
  ASSERT_EQ(Launch({.block_x = 4}, 3.0f, x.data(), y.data(), size_t{10}), CUDA_SUCCESS);
  EXPECT_EQ(y, std::vector<float>(10, 7));
  std::vector<double> dx(10, 2), dy(10, 1);
  kernel_ = Kernel("blas::axpy<double, 3>");
  ASSERT_EQ(Launch({.block_x = 4}, 3.0, dx.data(), dy.data(), size_t{10}), CUDA_SUCCESS);
  EXPECT_EQ(dy, std::vector<double>(10, 19));
  size_t offset = 0, size = 0;
  ASSERT_EQ(cuFuncGetParamInfo(kernel_, 3, &offset, &size), CUDA_SUCCESS);
  EXPECT_EQ(offset, 24u);
  EXPECT_EQ(size, 8u);
}

TEST_F(HostKernelsTest, ParametersArePackedAsCudaPacksThem) {
  Load(Source(R"(
struct Pair { char a; float b; };
__global__ void mixed(char c, float4 v, short s, Pair p, int* out) {
  *out = c + int(v.w) + s + p.a + int(p.b);
})",
              {"mixed"}));
  const size_t expected[] = {0, 16, 32, 36, 48};
  for (size_t i = 0; i < 5; ++i) {
    size_t offset = 0;
    ASSERT_EQ(cuFuncGetParamInfo(kernel_, i, &offset, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(offset, expected[i]) << i;
  }
  struct Float4 {
    float x, y, z, w;
  };
  struct Pair {
    char a;
    float b;
  };
  int out = 0;
  ASSERT_EQ(Launch({}, 'a', Float4{1, 2, 3, 4}, short{5}, Pair{6, 7}, &out), CUDA_SUCCESS);
  EXPECT_EQ(out, 'a' + 4 + 5 + 6 + 7);
}

TEST_F(HostKernelsTest, VariablesHaveSymbols) {
  Load(Source(R"(
__constant__ float weights[3];
namespace state { __device__ int counter = 4; }
__global__ void use(float* out) {
  *out = weights[0] + weights[1] + weights[2];
  state::counter += 1;
})",
              {"use"}));
  CUdeviceptr address = 0;
  size_t size = 0;
  ASSERT_EQ(cuModuleGetGlobal(&address, &size, module_, "weights"), CUDA_SUCCESS);
  ASSERT_EQ(size, 12u);
  const float weights[] = {1, 2, 4};
  std::copy(weights, weights + 3, reinterpret_cast<float*>(address));
  float out = 0;
  ASSERT_EQ(Launch({}, &out), CUDA_SUCCESS);
  EXPECT_EQ(out, 7);
  ASSERT_EQ(cuModuleGetGlobal(&address, &size, module_, "state::counter"), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<int*>(address), 5);
}

TEST_F(HostKernelsTest, ShufflesKeepToTheirWidth) {
  Load(Source(R"(
__global__ void shuffles(int* out) {
  const int lane = threadIdx.x;
  int* row = out + 8 * lane;
  row[0] = __shfl_sync(0xffffffffu, lane, 3, 8);
  row[1] = __shfl_up_sync(0xffffffffu, lane, 2, 8);
  row[2] = __shfl_down_sync(0xffffffffu, lane, 2, 8);
  row[3] = __shfl_xor_sync(0xffffffffu, lane, 5);
  row[4] = int(__reduce_add_sync(0xffffffffu, unsigned(lane)));
  row[5] = int(__match_any_sync(0xffffffffu, lane / 16));
  row[6] = __all_sync(0xffffffffu, lane < 32) + 2 * __any_sync(0xffffffffu, lane == 40);
  row[7] = __popc(__ballot_sync(0xffffffffu, lane & 1)) + (__clz(1) << 8) + (__ffs(8) << 16);
})",
              {"shuffles"}));
  std::vector<int> out(32 * 8);
  ASSERT_EQ(Launch({.block_x = 32}, out.data()), CUDA_SUCCESS);
  const auto row = [&](int lane) {
    return std::vector<int>(out.begin() + 8 * lane, out.begin() + 8 * lane + 8);
  };
  const int bits = 16 + (31 << 8) + (4 << 16);
  EXPECT_EQ(row(9), (std::vector<int>{11, 9, 11, 12, 496, 0xffff, 1, bits}));
  EXPECT_EQ(row(31),
            (std::vector<int>{27, 29, 31, 26, 496, static_cast<int>(0xffff0000), 1, bits}));
}

TEST_F(HostKernelsTest, WarpAggregatedCounterInABranch) {
  Load(Source(R"(
__global__ void filter(const int* x, int* out, int* count) {
  const int v = x[threadIdx.x];
  if (v % 3 != 0) return;
  if (v % 2 == 0) {
    const unsigned mask = __activemask();
    const int lane = threadIdx.x % warpSize, leader = __ffs(mask) - 1;
    int base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & ((1u << lane) - 1))] = v;
  }
})",
              {"filter"}));
  std::vector<int> x(128), out(128, -1);
  std::iota(x.begin(), x.end(), 0);
  int count = 0;
  ASSERT_EQ(Launch({.block_x = 128}, x.data(), out.data(), &count), CUDA_SUCCESS);
  ASSERT_EQ(count, 22);
  std::sort(out.begin(), out.begin() + 22);
  for (int i = 0; i < 22; ++i) EXPECT_EQ(out[i], 6 * i);
}

TEST_F(HostKernelsTest, MathematicsAndBits) {
  CudaSource source = Source(R"(
#include "lib/scale.h"
__global__ void numbers(float* f, int* i) {
  f[0] = rsqrtf(4.0f) + __expf(0.0f) + fminf(NAN, 2.0f) + max(1.0f, 3.0f) + __fmaf_rn(2, 3, 4);
  f[1] = scale(__saturatef(7.0f)) + abs(-2.0f) + __ldg(f + 2);
  float2 p = make_float2(1, 2);
  f[3] = p.x + p.y + dot(p, p);
  i[0] = min(threadIdx.x, 3u) + max(2, 5) + __float2int_rn(2.5f) + __mulhi(1 << 30, 8);
  i[1] = int(__brev(1u) >> 31) + __float_as_int(1.0f);
})",
                             {"numbers"});
  source.headers.push_back(
      {"lib/scale.h",
       "#pragma once\n"
       "__device__ __forceinline__ float scale(float x) { return FACTOR * x; }\n"
       "__host__ __device__ inline float dot(float2 a, float2 b) {"
       " return a.x * b.x + a.y * b.y; }\n"});
  source.options = {"-DFACTOR=10", "--use_fast_math", "-std=c++17"};
  Load(source);
  std::vector<float> f = {0, 0, 0.5f, 0};
  std::vector<int> i(2);
  ASSERT_EQ(Launch({}, f.data(), i.data()), CUDA_SUCCESS);
  EXPECT_EQ(f[0], 0.5f + 1 + 2 + 3 + 10);
  EXPECT_EQ(f[1], 12.5f);
  EXPECT_EQ(f[3], 8.0f);
  EXPECT_EQ(i[0], 0 + 5 + 2 + 2);
  EXPECT_EQ(i[1], 1 + 0x3f800000);
}

TEST_F(HostKernelsTest, BarrierThatCannotCompleteFailsTheLaunch) {
  Load(Source(R"(
__global__ void stuck() {
  if (threadIdx.x < 16) __syncthreads(); else __syncwarp();
})",
              {"stuck"}));
  EXPECT_EQ(Launch({.block_x = 32}), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(HostKernelsTest, AssertAndTrapFailTheLaunch) {
  Load(Source(R"(
__global__ void check(int value) { assert(value == 1); if (value == 1) __trap(); })",
              {"check"}));
  EXPECT_EQ(Launch({.block_x = 32}, 1), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(HostKernelsTest, LaunchesOnTwoWorkersHaveSharedMemoryOfTheirOwn) {
  Load(Source(R"(
__global__ void rounds(int value, int* wrong) {
  __shared__ int mine[64];
  for (int i = 0; i < 200; ++i) {
    mine[threadIdx.x] = value + i;
    __syncthreads();
    if (mine[63 - threadIdx.x] != value + i) atomicAdd(wrong, 1);
    __syncthreads();
  }
})",
              {"rounds"}));
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  int wrong[2] = {0, 0};
  for (int i = 0; i < 20; ++i) {
    int value = i;
    int* address = &wrong[i % 2];
    void* params[] = {&value, &address};
    ASSERT_EQ(cuLaunchKernel(kernel_, 4, 1, 1, 64, 1, 1, 0, i % 2 == 0 ? stream_ : other, params,
                             nullptr),
              CUDA_SUCCESS);
  }
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(wrong[0] + wrong[1], 0);
}

}  // namespace
}  // namespace weft::kernels
