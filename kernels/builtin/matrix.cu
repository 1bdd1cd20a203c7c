// transpose, matmul, add_rows, softmax.
#include "kernels/builtin/device_index.cuh"

namespace weft::kernels {
namespace {

constexpr int kTile = 32;

// Block 32 × 8. The extra column of the tile moves each row to another bank, so that reading a column has no conflicts.
template <typename T>
__device__ void Transpose(const T* src, T* dst, int64_t rows, int64_t cols) {
  __shared__ T tile[kTile][kTile + 1];
  const int64_t tiles_x = (cols + kTile - 1) / kTile;
  const int64_t tiles_y = (rows + kTile - 1) / kTile;
  for (int64_t ty = blockIdx.y; ty < tiles_y; ty += gridDim.y) {
    for (int64_t tx = blockIdx.x; tx < tiles_x; tx += gridDim.x) {
      for (int step = threadIdx.y; step < kTile; step += blockDim.y) {
        const int64_t row = ty * kTile + step;
        const int64_t col = tx * kTile + threadIdx.x;
        if (row < rows && col < cols) tile[step][threadIdx.x] = src[row * cols + col];
      }
      __syncthreads();
      for (int step = threadIdx.y; step < kTile; step += blockDim.y) {
        const int64_t row = tx * kTile + step;  // of dst
        const int64_t col = ty * kTile + threadIdx.x;
        if (row < cols && col < rows) dst[row * rows + col] = tile[threadIdx.x][step];
      }
      __syncthreads();
    }
  }
}

constexpr int kMatTile = 16;

// Block 16 × 16, a tile of c a block; products are summed in order of k, in the compute type.
template <typename T>
__device__ void Matmul(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {
  using C = Compute<T>;
  __shared__ C tile_a[kMatTile][kMatTile];
  __shared__ C tile_b[kMatTile][kMatTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  for (int64_t row0 = static_cast<int64_t>(blockIdx.y) * kMatTile; row0 < m;
       row0 += static_cast<int64_t>(gridDim.y) * kMatTile) {
    for (int64_t col0 = static_cast<int64_t>(blockIdx.x) * kMatTile; col0 < n;
         col0 += static_cast<int64_t>(gridDim.x) * kMatTile) {
      C sum = 0;
      for (int64_t k0 = 0; k0 < k; k0 += kMatTile) {
        tile_a[y][x] = row0 + y < m && k0 + x < k ? Load(a[(row0 + y) * k + k0 + x]) : C{0};
        tile_b[y][x] = k0 + y < k && col0 + x < n ? Load(b[(k0 + y) * n + col0 + x]) : C{0};
        __syncthreads();
        for (int i = 0; i < kMatTile; ++i) sum = Plus(sum, Times(tile_a[y][i], tile_b[i][x]));
        __syncthreads();
      }
      if (row0 + y < m && col0 + x < n) c[(row0 + y) * n + col0 + x] = Store<T>(sum);
    }
  }
}

// A block of 256 a row.
template <typename C, typename Combine>
__device__ C OverBlock(C value, Combine combine) {
  __shared__ C of_warp[8];
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(kFullWarp, value, distance));
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warp[0];
  for (int warp = 1; warp < 8; ++warp) value = combine(value, of_warp[warp]);
  __syncthreads();
  return value;
}

template <typename T>
__device__ void Softmax(const T* x, T* y, int64_t rows, int64_t cols) {
  using C = Compute<T>;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = x + row * cols;
    C largest = -std::numeric_limits<C>::infinity();
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) largest = Max(largest, Load(in[i]));
    largest = OverBlock(largest, [](C a, C b) { return Max(a, b); });
    C sum = 0;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) sum += exp(Load(in[i]) - largest);
    sum = OverBlock(sum, [](C a, C b) { return a + b; });
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
      y[row * cols + i] = Store<T>(exp(Load(in[i]) - largest) / sum);
    }
    __syncthreads();
  }
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                           \
  extern "C" __global__ void weft_transpose_##name(const T* src, T* dst, int64_t rows, \
                                                   int64_t cols) {                     \
    Transpose(src, dst, rows, cols);                                                   \
  }
WEFT_WIDTHS(WEFT_DEFINE)
#undef WEFT_DEFINE

#define WEFT_DEFINE(name, T)                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                             \
      weft_matmul_##name(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {       \
    Matmul(a, b, c, m, n, k);                                                                   \
  }                                                                                             \
  extern "C" __global__ void weft_add_rows_##name(const T* x, const T* row, T* y, int64_t rows, \
                                                  int64_t cols) {                               \
    for (int64_t i = FirstIndex(); i < rows * cols; i += GridStride()) {                        \
      y[i] = Store<T>(Plus(Load(x[i]), Load(row[i % cols])));                                   \
    }                                                                                           \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(256)                                             \
      weft_softmax_##name(const T* x, T* y, int64_t rows, int64_t cols) {                       \
    Softmax(x, y, rows, cols);                                                                  \
  }
WEFT_FLOAT_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
