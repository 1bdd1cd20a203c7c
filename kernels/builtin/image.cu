// gaussian_blur, box_blur, sobel, rgb_to_gray, stencil5. Pixels beyond the border are the nearest ones inside.
#include "kernels/builtin/device_math.cuh"
#include "kernels/builtin/image_math.h"

namespace weft::kernels {
namespace {

// visit(row, col) for every pixel; neighbouring threads take neighbouring columns. Any grid and block covers any image;
// along z the same pixels are done again.
template <typename Visit>
__device__ __forceinline__ void ForEachPixel(int64_t height, int64_t width, Visit visit) {
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const int64_t cols = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const int64_t rows = static_cast<int64_t>(gridDim.y) * blockDim.y;
  for (int64_t row = first_row; row < height; row += rows) {
    for (int64_t col = first_col; col < width; col += cols) visit(row, col);
  }
}

// Weights by distance, divided by their sum (both sides of the centre counted). REQUIRES: all threads of the block call.
__device__ void MakeWeights(float* weights, int radius, double sigma) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i <= radius; i += blockDim.x * blockDim.y) weights[i] = BlurWeight(i, sigma);
  __syncthreads();
  if (thread == 0) {
    float sum = weights[0];
    for (int i = 1; i <= radius; ++i) sum += 2 * weights[i];
    for (int i = 0; i <= radius; ++i) weights[i] /= sum;
  }
  __syncthreads();
}

enum class Along { kRows, kColumns };

// Along rows into the workspace, then along columns into dst.
template <Along kAlong, typename In, typename Out>
__device__ void Blur(const In* in, Out* out, double sigma, int64_t height, int64_t width) {
  __shared__ float weights[kMaxBlurRadius + 1];
  const int radius = BlurRadius(sigma);
  MakeWeights(weights, radius, sigma);
  ForEachPixel(height, width, [&](int64_t row, int64_t col) {
    const In* line = kAlong == Along::kRows ? in + row * width : in + col;
    const int64_t step = kAlong == Along::kRows ? 1 : width;
    const int64_t place = kAlong == Along::kRows ? col : row;
    const int64_t size = kAlong == Along::kRows ? width : height;
    float sum = weights[0] * static_cast<float>(line[place * step]);
    for (int offset = 1; offset <= radius; ++offset) {
      const float before = static_cast<float>(line[ClampIndex(place - offset, size) * step]);
      const float behind = static_cast<float>(line[ClampIndex(place + offset, size) * step]);
      sum += weights[offset] * (before + behind);
    }
    out[row * width + col] = StorePixel<Out>(sum);
  });
}

// Sums along rows into the workspace, then along columns, divided by the number of pixels of the box.
template <Along kAlong, typename In, typename Out>
__device__ void BoxBlur(const In* in, Out* out, int64_t radius, int64_t height, int64_t width) {
  const float pixels = kAlong == Along::kRows ? 1.0f : BoxPixels(radius);
  ForEachPixel(height, width, [&](int64_t row, int64_t col) {
    const In* line = kAlong == Along::kRows ? in + row * width : in + col;
    const int64_t step = kAlong == Along::kRows ? 1 : width;
    const int64_t place = kAlong == Along::kRows ? col : row;
    const int64_t size = kAlong == Along::kRows ? width : height;
    float sum = static_cast<float>(line[place * step]);
    for (int64_t offset = 1; offset <= radius; ++offset) {
      const float before = static_cast<float>(line[ClampIndex(place - offset, size) * step]);
      const float behind = static_cast<float>(line[ClampIndex(place + offset, size) * step]);
      sum = Plus(sum, Plus(before, behind));
    }
    out[row * width + col] = StorePixel<Out>(Divide(sum, pixels));
  });
}

template <typename T>
__device__ void Sobel(const T* src, T* dst, int64_t height, int64_t width) {
  ForEachPixel(height, width, [&](int64_t row, int64_t col) {
    float p[3][3];
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
      const T* line = src + ClampIndex(row + dy, height) * width;
#pragma unroll
      for (int dx = -1; dx <= 1; ++dx) {
        p[dy + 1][dx + 1] = static_cast<float>(line[ClampIndex(col + dx, width)]);
      }
    }
    dst[row * width + col] = SobelPixel<T>(p);
  });
}

template <typename T>
__device__ void Stencil(const T* src, T* dst, T alpha, int64_t height, int64_t width) {
  ForEachPixel(height, width, [&](int64_t row, int64_t col) {
    const T* here = src + row * width;
    dst[row * width + col] =
        StencilPoint(here[col], src[ClampIndex(row - 1, height) * width + col],
                     src[ClampIndex(row + 1, height) * width + col],
                     here[ClampIndex(col - 1, width)], here[ClampIndex(col + 1, width)], alpha);
  });
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                              \
  extern "C" __global__ void weft_gaussian_blur_##name##_rows(                            \
      const T* src, T* dst, double sigma, int64_t height, int64_t width, float* work) {   \
    Blur<Along::kRows>(src, work, sigma, height, width);                                  \
  }                                                                                       \
  extern "C" __global__ void weft_gaussian_blur_##name##_cols(                            \
      const T* src, T* dst, double sigma, int64_t height, int64_t width, float* work) {   \
    Blur<Along::kColumns>(work, dst, sigma, height, width);                               \
  }                                                                                       \
  extern "C" __global__ void weft_box_blur_##name##_rows(                                 \
      const T* src, T* dst, int64_t radius, int64_t height, int64_t width, float* work) { \
    BoxBlur<Along::kRows>(src, work, radius, height, width);                              \
  }                                                                                       \
  extern "C" __global__ void weft_box_blur_##name##_cols(                                 \
      const T* src, T* dst, int64_t radius, int64_t height, int64_t width, float* work) { \
    BoxBlur<Along::kColumns>(work, dst, radius, height, width);                           \
  }                                                                                       \
  extern "C" __global__ void weft_sobel_##name(const T* src, T* dst, int64_t height,      \
                                               int64_t width) {                           \
    Sobel(src, dst, height, width);                                                       \
  }
WEFT_DEFINE(u8, uint8_t)
WEFT_DEFINE(f32, float)
#undef WEFT_DEFINE

#define WEFT_DEFINE(name, T)                                                                     \
  extern "C" __global__ void weft_stencil5_##name(const T* src, T* dst, T alpha, int64_t height, \
                                                  int64_t width) {                               \
    Stencil(src, dst, alpha, height, width);                                                     \
  }
WEFT_DEFINE(f32, float)
WEFT_DEFINE(f64, double)
#undef WEFT_DEFINE

extern "C" __global__ void weft_rgb_to_gray_u8(const uint8_t* src, uint8_t* dst, int64_t n) {
  for (int64_t i = FirstIndex(); i < n; i += GridStride()) {
    dst[i] = Gray(src[3 * i], src[3 * i + 1], src[3 * i + 2]);
  }
}

}  // namespace weft::kernels
