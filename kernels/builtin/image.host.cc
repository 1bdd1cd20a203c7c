// CPU twins of image.cu. Inner loops run along a line of floats with a margin, without a test for the border, so that the
// compiler makes vectors of them; the operations on a pixel and their order are those of the CUDA code.
#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/image_math.h"

namespace weft::kernels {
namespace {

// A line as floats with `margin` more on either side, copies of the first and the last pixel.
class PaddedLine {
 public:
  PaddedLine(int64_t width, int64_t margin)
      : width_(width), margin_(margin), values_(static_cast<size_t>(width + 2 * margin)) {}

  template <typename T>
  void Set(const T* line) {
    float* first = values_.data() + margin_;
    for (int64_t i = 0; i < width_; ++i) first[i] = static_cast<float>(line[i]);
    std::fill(values_.data(), first, first[0]);
    std::fill(first + width_, first + width_ + margin_, first[width_ - 1]);
  }
  // at()[i] is pixel i; i may be from -margin to width + margin - 1.
  const float* at() const { return values_.data() + margin_; }

 private:
  int64_t width_;
  int64_t margin_;
  std::vector<float> values_;
};

std::array<float, kMaxBlurRadius + 1> MakeWeights(int radius, double sigma) {
  std::array<float, kMaxBlurRadius + 1> weights{};
  for (int i = 0; i <= radius; ++i) weights[i] = BlurWeight(i, sigma);
  float sum = weights[0];
  for (int i = 1; i <= radius; ++i) sum += 2 * weights[i];
  for (int i = 0; i <= radius; ++i) weights[i] /= sum;
  return weights;
}

// sums[i] += weight * (before[i] + behind[i])
void AddPair(float* sums, const float* before, const float* behind, float weight, int64_t width) {
  for (int64_t i = 0; i < width; ++i) sums[i] += weight * (before[i] + behind[i]);
}

void StartSums(float* sums, const float* centre, float weight, int64_t width) {
  for (int64_t i = 0; i < width; ++i) sums[i] = weight * centre[i];
}

template <typename T>
void BlurRows(const T* src, T*, double sigma, int64_t height, int64_t width, float* work) {
  if (height == 0 || width == 0) return;
  const int radius = BlurRadius(sigma);
  const auto weights = MakeWeights(radius, sigma);
  PaddedLine line(width, radius);
  for (int64_t row = 0; row < height; ++row) {
    line.Set(src + row * width);
    float* sums = work + row * width;
    StartSums(sums, line.at(), weights[0], width);
    for (int offset = 1; offset <= radius; ++offset) {
      AddPair(sums, line.at() - offset, line.at() + offset, weights[offset], width);
    }
  }
}

template <typename T>
void BlurCols(const T*, T* dst, double sigma, int64_t height, int64_t width, float* work) {
  const int radius = BlurRadius(sigma);
  const auto weights = MakeWeights(radius, sigma);
  std::vector<float> sums(static_cast<size_t>(width));
  for (int64_t row = 0; row < height; ++row) {
    StartSums(sums.data(), work + row * width, weights[0], width);
    for (int offset = 1; offset <= radius; ++offset) {
      AddPair(sums.data(), work + ClampIndex(row - offset, height) * width,
              work + ClampIndex(row + offset, height) * width, weights[offset], width);
    }
    for (int64_t i = 0; i < width; ++i) dst[row * width + i] = StorePixel<T>(sums[i]);
  }
}

// sums[i] += before[i] + behind[i]
void AddPair(float* sums, const float* before, const float* behind, int64_t width) {
  for (int64_t i = 0; i < width; ++i) sums[i] = Plus(sums[i], Plus(before[i], behind[i]));
}

template <typename T>
void BoxRows(const T* src, T*, int64_t radius, int64_t height, int64_t width, float* work) {
  if (height == 0 || width == 0) return;
  PaddedLine line(width, radius);
  for (int64_t row = 0; row < height; ++row) {
    line.Set(src + row * width);
    float* sums = work + row * width;
    std::copy(line.at(), line.at() + width, sums);
    for (int64_t offset = 1; offset <= radius; ++offset) {
      AddPair(sums, line.at() - offset, line.at() + offset, width);
    }
  }
}

template <typename T>
void BoxCols(const T*, T* dst, int64_t radius, int64_t height, int64_t width, float* work) {
  const float pixels = BoxPixels(radius);
  std::vector<float> sums(static_cast<size_t>(width));
  for (int64_t row = 0; row < height; ++row) {
    std::copy(work + row * width, work + (row + 1) * width, sums.data());
    for (int64_t offset = 1; offset <= radius; ++offset) {
      AddPair(sums.data(), work + ClampIndex(row - offset, height) * width,
              work + ClampIndex(row + offset, height) * width, width);
    }
    for (int64_t i = 0; i < width; ++i) {
      dst[row * width + i] = StorePixel<T>(Divide(sums[i], pixels));
    }
  }
}

template <typename T>
void Sobel(const T* src, T* dst, int64_t height, int64_t width) {
  if (height == 0 || width == 0) return;
  std::array<PaddedLine, 3> lines = {PaddedLine(width, 1), PaddedLine(width, 1),
                                     PaddedLine(width, 1)};
  // Row r is in lines[(r + 1) % 3]; three rows are there at any time.
  lines[0].Set(src);
  lines[1].Set(src);
  for (int64_t row = 0; row < height; ++row) {
    lines[(row + 2) % 3].Set(src + ClampIndex(row + 1, height) * width);
    const float* up = lines[row % 3].at();
    const float* here = lines[(row + 1) % 3].at();
    const float* down = lines[(row + 2) % 3].at();
    T* out = dst + row * width;
    for (int64_t i = 0; i < width; ++i) {
      const float p[3][3] = {{up[i - 1], up[i], up[i + 1]},
                             {here[i - 1], here[i], here[i + 1]},
                             {down[i - 1], down[i], down[i + 1]}};
      out[i] = SobelPixel<T>(p);
    }
  }
}

template <typename T>
void Stencil(const T* src, T* dst, T alpha, int64_t height, int64_t width) {
  for (int64_t row = 0; row < height; ++row) {
    const T* up = src + ClampIndex(row - 1, height) * width;
    const T* here = src + row * width;
    const T* down = src + ClampIndex(row + 1, height) * width;
    T* out = dst + row * width;
    const auto at_border = [&](int64_t i) {
      out[i] = StencilPoint(here[i], up[i], down[i], here[ClampIndex(i - 1, width)],
                            here[ClampIndex(i + 1, width)], alpha);
    };
    if (width > 0) at_border(0);
    for (int64_t i = 1; i < width - 1; ++i) {
      out[i] = StencilPoint(here[i], up[i], down[i], here[i - 1], here[i + 1], alpha);
    }
    if (width > 1) at_border(width - 1);
  }
}

void RgbToGray(const uint8_t* src, uint8_t* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = Gray(src[3 * i], src[3 * i + 1], src[3 * i + 2]);
}

#define WEFT_ENTRY(name, T)                                         \
  HostEntry<&BlurRows<T>>("weft_gaussian_blur_" #name "_rows"),     \
      HostEntry<&BlurCols<T>>("weft_gaussian_blur_" #name "_cols"), \
      HostEntry<&BoxRows<T>>("weft_box_blur_" #name "_rows"),       \
      HostEntry<&BoxCols<T>>("weft_box_blur_" #name "_cols"),       \
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
