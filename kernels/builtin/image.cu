// gaussian_blur, sobel, rgb_to_gray, stencil5. Pixels beyond the border are the nearest ones inside.
#include "kernels/builtin/device_index.cuh"
#include "kernels/builtin/image_math.h"

namespace weft::kernels {
namespace {

// Weights by distance, divided by their sum (both sides of the centre counted). REQUIRES: all threads of the block call.
__device__ void MakeWeights(float* weights, int radius, double sigma) {
  for (int i = threadIdx.x; i <= radius; i += blockDim.x) weights[i] = BlurWeight(i, sigma);
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = weights[0];
    for (int i = 1; i <= radius; ++i) sum += 2 * weights[i];
    for (int i = 0; i <= radius; ++i) weights[i] /= sum;
  }
  __syncthreads();
}

// Along rows into the workspace (kAlongRows), then along columns into dst.
template <bool kAlongRows, typename In, typename Out>
__device__ void Blur(const In* in, Out* out, double sigma, int64_t height, int64_t width) {
  __shared__ float weights[kMaxBlurRadius + 1];
  const int radius = BlurRadius(sigma);
  MakeWeights(weights, radius, sigma);
  for (int64_t i = FirstIndex(); i < height * width; i += GridStride()) {
    const int64_t row = i / width;
    const int64_t col = i % width;
    const auto at = [&](int offset) {
      return static_cast<float>(kAlongRows ? in[row * width + ClampIndex(col + offset, width)]
                                           : in[ClampIndex(row + offset, height) * width + col]);
    };
    float sum = weights[0] * at(0);
    for (int offset = 1; offset <= radius; ++offset) {
      sum += weights[offset] * (at(-offset) + at(offset));
    }
    out[i] = StorePixel<Out>(sum);
  }
}

template <typename T>
__device__ void Sobel(const T* src, T* dst, int64_t height, int64_t width) {
  for (int64_t i = FirstIndex(); i < height * width; i += GridStride()) {
    const int64_t row = i / width;
    const int64_t col = i % width;
    float p[3][3];
    for (int dy = -1; dy <= 1; ++dy) {
      const T* line = src + ClampIndex(row + dy, height) * width;
      for (int dx = -1; dx <= 1; ++dx) {
        p[dy + 1][dx + 1] = static_cast<float>(line[ClampIndex(col + dx, width)]);
      }
    }
    dst[i] = SobelPixel<T>(p);
  }
}

template <typename T>
__device__ void Stencil(const T* src, T* dst, T alpha, int64_t height, int64_t width) {
  for (int64_t i = FirstIndex(); i < height * width; i += GridStride()) {
    const int64_t row = i / width;
    const int64_t col = i % width;
    dst[i] = StencilPoint(src[i], src[ClampIndex(row - 1, height) * width + col],
                          src[ClampIndex(row + 1, height) * width + col],
                          src[row * width + ClampIndex(col - 1, width)],
                          src[row * width + ClampIndex(col + 1, width)], alpha);
  }
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                            \
  extern "C" __global__ void weft_gaussian_blur_##name##_rows(                          \
      const T* src, T* dst, double sigma, int64_t height, int64_t width, float* work) { \
    Blur<true, T, float>(src, work, sigma, height, width);                              \
  }                                                                                     \
  extern "C" __global__ void weft_gaussian_blur_##name##_cols(                          \
      const T* src, T* dst, double sigma, int64_t height, int64_t width, float* work) { \
    Blur<false, float, T>(work, dst, sigma, height, width);                             \
  }                                                                                     \
  extern "C" __global__ void weft_sobel_##name(const T* src, T* dst, int64_t height,    \
                                               int64_t width) {                         \
    Sobel(src, dst, height, width);                                                     \
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
