#include <algorithm>
#include <cmath>

#include "tests/kernels/kernel_cases.h"

namespace weft::kernels::testing {
namespace {

// A pixel of a rows × cols image; beyond the border, the nearest one inside.
class Image {
 public:
  Image(const Values& values, const Extents& extents)
      : values_(values),
        rows_(static_cast<int64_t>(extents.a)),
        cols_(static_cast<int64_t>(extents.b)) {}
  Value At(int64_t row, int64_t col) const {
    return values_[static_cast<size_t>(std::clamp<int64_t>(row, 0, rows_ - 1) * cols_ +
                                       std::clamp<int64_t>(col, 0, cols_ - 1))];
  }

 private:
  const Values& values_;
  int64_t rows_;
  int64_t cols_;
};

Value ToPixel(DType dtype, Value value) {
  if (IsFloat(dtype)) return value;
  return std::clamp<Value>(std::floor(value + 0.5L), 0, 255);
}

Values BlurLine(const std::vector<Value>& weights, const Image& image, const Extents& extents,
                bool along_rows) {
  const auto radius = static_cast<int64_t>(weights.size()) - 1;
  Values out;
  out.reserve(extents.a * extents.b);
  for (int64_t row = 0; row < static_cast<int64_t>(extents.a); ++row) {
    for (int64_t col = 0; col < static_cast<int64_t>(extents.b); ++col) {
      Value sum = 0;
      for (int64_t d = -radius; d <= radius; ++d) {
        sum += weights[static_cast<size_t>(std::abs(d))] *
               (along_rows ? image.At(row, col + d) : image.At(row + d, col));
      }
      out.push_back(sum);
    }
  }
  return out;
}

std::vector<Value> GaussianWeights(double sigma) {
  const int radius = std::min(64, static_cast<int>(std::ceil(3 * sigma)));
  std::vector<Value> weights;
  Value sum = 0;
  for (int d = 0; d <= radius; ++d) {
    weights.push_back(std::exp(-0.5L * d * d / (static_cast<Value>(sigma) * sigma)));
    sum += d == 0 ? weights[0] : 2 * weights.back();
  }
  for (Value& weight : weights) weight /= sum;
  return weights;
}

void GaussianBlur(Problem& p) {
  // Wide kernels on small images, so that most pixels have a border in reach.
  const double sigma = p.extents().a * p.extents().b > 100000 ? 1.25 : 5.5;
  p.Scalar("sigma", sigma);
  const std::vector<uint64_t> shape = {p.extents().a, p.extents().b};
  const Values src = p.Input("src", p.dtype(), shape);
  const std::vector<Value> weights = GaussianWeights(sigma);
  const Values rows = BlurLine(weights, Image(src, p.extents()), p.extents(), true);
  const Values both = BlurLine(weights, Image(rows, p.extents()), p.extents(), false);
  p.Output("dst", p.dtype(), shape);
  // f32: values are below 4. u8: one level, where the exact result is half-way between two.
  p.Expect({4, 1, 1}, [&](uint64_t i) { return Expected{ToPixel(p.dtype(), both[i]), 4}; });
}

void BoxBlur(Problem& p) {
  const int64_t radius = p.extents().a * p.extents().b > 100000 ? 1 : 7;
  p.Scalar("radius", radius);
  const std::vector<uint64_t> shape = {p.extents().a, p.extents().b};
  const Values src = p.Input("src", p.dtype(), shape);
  const std::vector<Value> weights(static_cast<size_t>(radius) + 1, 1);
  const Values rows = BlurLine(weights, Image(src, p.extents()), p.extents(), true);
  const Values sums = BlurLine(weights, Image(rows, p.extents()), p.extents(), false);
  const auto side = static_cast<Value>(2 * radius + 1);
  p.Output("dst", p.dtype(), shape);
  // f32: values are below 4. u8: exact, since a box has an odd number of pixels, so that no mean is half-way.
  p.Expect({8, 1, 0}, [&](uint64_t i) {
    return Expected{ToPixel(p.dtype(), sums[i] / (side * side)), 4};
  });
}

void Sobel(Problem& p) {
  const std::vector<uint64_t> shape = {p.extents().a, p.extents().b};
  const Values src = p.Input("src", p.dtype(), shape);
  const Image image(src, p.extents());
  p.Output("dst", p.dtype(), shape);
  p.Expect({8, 1, 0}, [&, cols = static_cast<int64_t>(shape[1])](uint64_t i) {
    const int64_t r = static_cast<int64_t>(i) / cols;
    const int64_t c = static_cast<int64_t>(i) % cols;
    const Value gx = image.At(r - 1, c + 1) + 2 * image.At(r, c + 1) + image.At(r + 1, c + 1) -
                     image.At(r - 1, c - 1) - 2 * image.At(r, c - 1) - image.At(r + 1, c - 1);
    const Value gy = image.At(r + 1, c - 1) + 2 * image.At(r + 1, c) + image.At(r + 1, c + 1) -
                     image.At(r - 1, c - 1) - 2 * image.At(r - 1, c) - image.At(r - 1, c + 1);
    return Expected{ToPixel(p.dtype(), std::sqrt(gx * gx + gy * gy)), 16};
  });
}

void RgbToGray(Problem& p) {
  const Values src = p.Input("src", p.dtype(), {p.extents().a, 3});
  p.Output("dst", p.dtype(), {p.extents().a});
  p.Expect({}, [&](uint64_t i) {
    return Expected{
        std::floor((77 * src[3 * i] + 150 * src[3 * i + 1] + 29 * src[3 * i + 2] + 128) / 256), 0};
  });
}

void Stencil5(Problem& p) {
  const double alpha = 0.15625;
  p.Scalar("alpha", alpha);
  const std::vector<uint64_t> shape = {p.extents().a, p.extents().b};
  const Values src = p.Input("src", p.dtype(), shape);
  const Image image(src, p.extents());
  p.Output("dst", p.dtype(), shape);
  p.Expect({2, 1}, [&, cols = static_cast<int64_t>(shape[1])](uint64_t i) {
    const int64_t r = static_cast<int64_t>(i) / cols;
    const int64_t c = static_cast<int64_t>(i) % cols;
    const Value around =
        image.At(r - 1, c) + image.At(r + 1, c) + image.At(r, c - 1) + image.At(r, c + 1);
    return Expected{src[i] + alpha * (around - 4 * src[i]), 10};
  });
}

constexpr KernelCase kImageCases[] = {
    {"gaussian_blur", Sizes::kMatrix, Twins::kWithinTolerance, GaussianBlur},
    {"box_blur", Sizes::kMatrix, Twins::kSameBits, BoxBlur},
    {"sobel", Sizes::kMatrix, Twins::kSameBits, Sobel},
    {"rgb_to_gray", Sizes::kVector, Twins::kSameBits, RgbToGray},
    {"stencil5", Sizes::kMatrix, Twins::kSameBits, Stencil5},
};

}  // namespace

absl::Span<const KernelCase> ImageCases() { return kImageCases; }

}  // namespace weft::kernels::testing
