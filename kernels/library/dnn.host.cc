// CPU twins of dnn.*.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "kernels/builtin/numbers.h"
#include "kernels/library/dnn_schemas.h"
#include "kernels/library/host_call.h"

namespace weft::kernels {
namespace {

// Images of so many channels, rows and columns, as floats.
struct ConvShape {
  int64_t channels, height, width;
  int64_t filter_count, filter_height, filter_width;
  int64_t out_height, out_width;
  int64_t pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
};

template <typename T>
std::vector<float> ReadAll(const T* from, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = Load(from[i]);
  return values;
}

// Adds what one element of a filter gives to one plane of sums.
void AddElement(const ConvShape& shape, const float* plane, float factor, int64_t top, int64_t left,
                float* sums) {
  for (int64_t p = 0; p < shape.out_height; ++p) {
    const int64_t row = p * shape.stride_h + top;
    if (row < 0 || row >= shape.height) continue;
    for (int64_t q = 0; q < shape.out_width; ++q) {
      const int64_t column = q * shape.stride_w + left;
      if (column < 0 || column >= shape.width) continue;
      sums[p * shape.out_width + q] += factor * plane[row * shape.width + column];
    }
  }
}

// One image under one filter.
void Correlate(const ConvShape& shape, const float* image, const float* filter, float* sums) {
  for (int64_t c = 0; c < shape.channels; ++c) {
    const float* const plane = image + c * shape.height * shape.width;
    for (int64_t r = 0; r < shape.filter_height; ++r) {
      for (int64_t s = 0; s < shape.filter_width; ++s) {
        const float factor = filter[(c * shape.filter_height + r) * shape.filter_width + s];
        AddElement(shape, plane, factor, r * shape.dilation_h - shape.pad_h,
                   s * shape.dilation_w - shape.pad_w, sums);
      }
    }
  }
}

// The parameters are those of the schema, which fixes their number.
template <typename T>  // NOLINTNEXTLINE(readability-function-size)
void DnnConv2dForward(const T* x, const T* filters, const T* bias, T* y, int32_t activation,
                      int64_t pad_h, int64_t pad_w, int64_t stride_h, int64_t stride_w,
                      int64_t dilation_h, int64_t dilation_w, int64_t n, int64_t c, int64_t h,
                      int64_t w, int64_t k, int64_t r, int64_t s, int64_t p, int64_t q,
                      void* /*workspace*/) {
  const ConvShape shape = {c, h,     w,     k,        r,        s,          p,
                           q, pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w};
  const std::vector<float> all_filters = ReadAll(filters, k * c * r * s);
  const bool relu =
      static_cast<Conv2dArguments::Activation>(activation) == Conv2dArguments::Activation::kRelu;
  std::vector<float> sums(static_cast<size_t>(p * q));
  for (int64_t i = 0; i < n; ++i) {
    const std::vector<float> image = ReadAll(x + i * c * h * w, c * h * w);
    for (int64_t filter = 0; filter < k; ++filter) {
      std::fill(sums.begin(), sums.end(), 0.0F);
      Correlate(shape, image.data(), all_filters.data() + filter * c * r * s, sums.data());
      T* const out = y + (i * k + filter) * p * q;
      for (int64_t at = 0; at < p * q; ++at) {
        const float sum = sums[static_cast<size_t>(at)] + Load(bias[filter]);
        out[at] = Store<T>(relu ? Max(sum, 0.0F) : sum);
      }
    }
  }
}

constexpr weft_host_kernel kDnnEntries[] = {
    HostCall<&DnnConv2dForward<float>>("weft_dnn_conv2d_forward_f32"),
    HostCall<&DnnConv2dForward<F16>>("weft_dnn_conv2d_forward_f16"),
};

}  // namespace

HostEntries DnnEntries() { return {kDnnEntries, std::size(kDnnEntries)}; }

}  // namespace weft::kernels
