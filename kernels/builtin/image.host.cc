// CPU twins of image.cu.
#include <array>
#include <iterator>

#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/image_math.h"

namespace weft::kernels {
namespace {

std::array<float, kMaxBlurRadius + 1> MakeWeights(int radius, double sigma) {
  std::array<float, kMaxBlurRadius + 1> weights{};
  for (int i = 0; i <= radius; ++i) weights[i] = BlurWeight(i, sigma);
  float sum = weights[0];
  for (int i = 1; i <= radius; ++i) sum += 2 * weights[i];
  for (int i = 0; i <= radius; ++i) weights[i] /= sum;
  return weights;
}

template <bool kAlongRows, typename In, typename Out>
void Blur(const In* in, Out* out, double sigma, int64_t height, int64_t width) {
  const int radius = BlurRadius(sigma);
  const auto weights = MakeWeights(radius, sigma);
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t col = 0; col < width; ++col) {
      const auto at = [&](int offset) {
        return static_cast<float>(kAlongRows ? in[row * width + ClampIndex(col + offset, width)]
                                             : in[ClampIndex(row + offset, height) * width + col]);
      };
      float sum = weights[0] * at(0);
      for (int offset = 1; offset <= radius; ++offset)
        sum += weights[offset] * (at(-offset) + at(offset));
      out[row * width + col] = StorePixel<Out>(sum);
    }
  }
}

template <typename T>
void BlurRows(const T* src, T*, double sigma, int64_t height, int64_t width, float* work) {
  Blur<true>(src, work, sigma, height, width);
}
template <typename T>
void BlurCols(const T*, T* dst, double sigma, int64_t height, int64_t width, float* work) {
  Blur<false>(work, dst, sigma, height, width);
}

template <typename T>
void Sobel(const T* src, T* dst, int64_t height, int64_t width) {
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t col = 0; col < width; ++col) {
      float p[3][3];
      for (int dy = -1; dy <= 1; ++dy) {
        const T* line = src + ClampIndex(row + dy, height) * width;
        for (int dx = -1; dx <= 1; ++dx)
          p[dy + 1][dx + 1] = static_cast<float>(line[ClampIndex(col + dx, width)]);
      }
      dst[row * width + col] = SobelPixel<T>(p);
    }
  }
}

template <typename T>
void Stencil(const T* src, T* dst, T alpha, int64_t height, int64_t width) {
  for (int64_t row = 0; row < height; ++row) {
    const T* up = src + ClampIndex(row - 1, height) * width;
    const T* here = src + row * width;
    const T* down = src + ClampIndex(row + 1, height) * width;
    for (int64_t col = 0; col < width; ++col) {
      dst[row * width + col] =
          StencilPoint(here[col], up[col], down[col], here[ClampIndex(col - 1, width)],
                       here[ClampIndex(col + 1, width)], alpha);
    }
  }
}

void RgbToGray(const uint8_t* src, uint8_t* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = Gray(src[3 * i], src[3 * i + 1], src[3 * i + 2]);
}

#define WEFT_ENTRY(name, T)                                         \
  HostEntry<&BlurRows<T>>("weft_gaussian_blur_" #name "_rows"),     \
      HostEntry<&BlurCols<T>>("weft_gaussian_blur_" #name "_cols"), \
      HostEntry<&Sobel<T>>("weft_sobel_" #name)

constexpr weft_host_kernel kEntries[] = {
    WEFT_ENTRY(u8, uint8_t),
    WEFT_ENTRY(f32, float),
    HostEntry<&Stencil<float>>("weft_stencil5_f32"),
    HostEntry<&Stencil<double>>("weft_stencil5_f64"),
    HostEntry<&RgbToGray>("weft_rgb_to_gray_u8"),
};

}  // namespace

HostEntries ImageEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
