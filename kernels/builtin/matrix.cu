// transpose, matmul, add_rows, softmax.
#include "kernels/builtin/rows.cuh"

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

// Block 16 × 16; a tile of 64 × 64 of c a block, 4 × 4 a thread, 16 of k at a time.
constexpr int kMatSide = 16;
constexpr int kMatItems = 4;
constexpr int kMatTile = kMatSide * kMatItems;
constexpr int kMatDepth = 16;

__device__ __forceinline__ float MultiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double MultiplyAdd(double a, double b, double c) { return fma(a, b, c); }

// Elements of a and b for one step of k. The extra columns spread the writes of a, which run along k, over the banks.
template <typename C>
struct MatTiles {
  C a[kMatDepth][kMatTile + 2];
  C b[kMatDepth][kMatTile];
};

// Zeros stand for what lies outside of a matrix.
template <typename T>
__device__ __forceinline__ Compute<T> At(const T* matrix, int64_t rows, int64_t cols, int64_t row,
                                         int64_t col) {
  return row < rows && col < cols ? Load(matrix[row * cols + col]) : Compute<T>{0};
}

struct MatExtents {
  int64_t m;
  int64_t n;
  int64_t k;
};

// The tile of c at (row0, col0). Sums run in order of k, each product fused with its addition.
template <typename T>
__device__ __forceinline__ void MatmulTile(const T* a, const T* b, T* c, const MatExtents& size,
                                           int64_t row0, int64_t col0) {
  using C = Compute<T>;
  __shared__ MatTiles<C> tiles;
  const int thread = threadIdx.y * kMatSide + threadIdx.x;
  C sums[kMatItems][kMatItems] = {};
  for (int64_t k0 = 0; k0 < size.k; k0 += kMatDepth) {
    for (int i = thread; i < kMatTile * kMatDepth; i += kMatSide * kMatSide) {
      const int a_row = i / kMatDepth;
      const int a_col = i % kMatDepth;
      tiles.a[a_col][a_row] = At(a, size.m, size.k, row0 + a_row, k0 + a_col);
      const int b_row = i / kMatTile;
      const int b_col = i % kMatTile;
      tiles.b[b_row][b_col] = At(b, size.k, size.n, k0 + b_row, col0 + b_col);
    }
    __syncthreads();
    for (int i = 0; i < kMatDepth; ++i) {
#pragma unroll
      for (int r = 0; r < kMatItems; ++r) {
        const C factor = tiles.a[i][threadIdx.y + r * kMatSide];
#pragma unroll
        for (int q = 0; q < kMatItems; ++q) {
          sums[r][q] = MultiplyAdd(factor, tiles.b[i][threadIdx.x + q * kMatSide], sums[r][q]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kMatItems; ++r) {
#pragma unroll
    for (int q = 0; q < kMatItems; ++q) {
      const int64_t row = row0 + threadIdx.y + r * kMatSide;
      const int64_t col = col0 + threadIdx.x + q * kMatSide;
      if (row < size.m && col < size.n) c[row * size.n + col] = Store<T>(sums[r][q]);
    }
  }
}

template <typename T>
__device__ void Matmul(const T* a, const T* b, T* c, const MatExtents& size) {
  for (int64_t row0 = static_cast<int64_t>(blockIdx.y) * kMatTile; row0 < size.m;
       row0 += static_cast<int64_t>(gridDim.y) * kMatTile) {
    for (int64_t col0 = static_cast<int64_t>(blockIdx.x) * kMatTile; col0 < size.n;
         col0 += static_cast<int64_t>(gridDim.x) * kMatTile) {
      MatmulTile(a, b, c, size, row0, col0);
    }
  }
}

// One row by `threads` threads, of which this is number `thread`; over(value, combine) combines over them.
template <typename T, typename Over>
__device__ __forceinline__ void SoftmaxRow(const T* x, T* y, int64_t cols, int thread, int threads,
                                           Over over) {
  using C = Compute<T>;
  C largest = -std::numeric_limits<C>::infinity();
  for (int64_t i = thread; i < cols; i += threads) largest = Max(largest, Load(x[i]));
  largest = over(largest, [](C a, C b) { return Max(a, b); });
  CompensatedSum<C> own;
  for (int64_t i = thread; i < cols; i += threads) own.Add(exp(Load(x[i]) - largest));
  const C sum = over(own.value(), [](C a, C b) { return a + b; });
  for (int64_t i = thread; i < cols; i += threads) y[i] = Store<T>(exp(Load(x[i]) - largest) / sum);
}

template <typename T>
__device__ void Softmax(const T* x, T* y, int64_t rows, int64_t cols) {
  ForEachRow(rows, cols, [=](int64_t row, int thread, int threads, auto over) {
    SoftmaxRow(x + row * cols, y + row * cols, cols, thread, threads, over);
  });
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
    Matmul(a, b, c, {m, n, k});                                                                 \
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
