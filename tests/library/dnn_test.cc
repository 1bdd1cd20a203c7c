// dnn.conv2d_forward against sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/library/library_device.h"
#include "tests/testing/status_matchers.h"

namespace weft::testing {
namespace {

using kernels::DType;
using kernels::Number;

// One dimension of an image and its filters.
struct ConvExtent {
  int64_t in = 1, filter = 1, pad = 0, stride = 1, dilation = 1;
  int64_t out() const { return (in + 2 * pad - (filter - 1) * dilation - 1) / stride + 1; }
  // Where element `f` of the filter lies at place `o`; -1: on the padding.
  int64_t At(int64_t o, int64_t f) const {
    const int64_t at = o * stride + f * dilation - pad;
    return at < 0 || at >= in ? -1 : at;
  }
};

struct ConvCase {
  std::string name;
  DType dtype = DType::kF32;
  int64_t images = 1, channels = 1, filters = 1;
  ConvExtent vertical, horizontal;
  std::string activation = "none";
};

class ConvTest : public ::testing::TestWithParam<std::tuple<ConvCase, Way>> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest());
    if (way_ == Way::kCaptured && !device_->CanCapture("dnn.conv2d_forward")) {
      GTEST_SKIP() << "made anew at every run";
    }
  }
  Operand Tensor(const char* name, std::vector<int64_t> shape, uint32_t seed) const {
    Operand operand{name, c_.dtype, {}, {}};
    uint64_t count = 1;
    for (const int64_t extent : shape) {
      operand.shape.push_back(static_cast<uint64_t>(extent));
      count *= static_cast<uint64_t>(extent);
    }
    operand.values = RandomValues(c_.dtype, count, seed);
    return operand;
  }
  LibraryProblem Problem() const {
    const ConvExtent& v = c_.vertical;
    const ConvExtent& h = c_.horizontal;
    return {"dnn.conv2d_forward",
            {Tensor("x", {c_.images, c_.channels, v.in, h.in}, 1),
             Tensor("filters", {c_.filters, c_.channels, v.filter, h.filter}, 2),
             Tensor("bias", {c_.filters}, 3),
             Tensor("y", {c_.images, c_.filters, v.out(), h.out()}, 4)},
            {{"activation", c_.activation},
             {"pad_h", Number(v.pad)},
             {"pad_w", Number(h.pad)},
             {"stride_h", Number(v.stride)},
             {"stride_w", Number(h.stride)},
             {"dilation_h", Number(v.dilation)},
             {"dilation_w", Number(h.dilation)}}};
  }

  // The sum of the terms of one result, and of their absolute values.
  std::pair<double, double> SumOf(const LibraryProblem& problem, int64_t image, int64_t filter,
                                  int64_t p, int64_t q) const {
    const ConvExtent& v = c_.vertical;
    const ConvExtent& h = c_.horizontal;
    double sum = problem.operands[2].values[static_cast<size_t>(filter)];
    double terms = std::fabs(sum);
    for (int64_t channel = 0; channel < c_.channels; ++channel) {
      for (int64_t r = 0; r < v.filter; ++r) {
        for (int64_t s = 0; s < h.filter; ++s) {
          const int64_t row = v.At(p, r);
          const int64_t column = h.At(q, s);
          if (row < 0 || column < 0) continue;
          const int64_t at = ((image * c_.channels + channel) * v.in + row) * h.in + column;
          const int64_t weight = ((filter * c_.channels + channel) * v.filter + r) * h.filter + s;
          const double term = problem.operands[0].values[static_cast<size_t>(at)] *
                              problem.operands[1].values[static_cast<size_t>(weight)];
          sum += term;
          terms += std::fabs(term);
        }
      }
    }
    return {sum, terms};
  }

  const ConvCase c_ = std::get<0>(GetParam());
  const Way way_ = std::get<1>(GetParam());
  LibraryDevice* device_ = nullptr;
};

TEST_P(ConvTest, IsTheExactResultWithinItsTolerance) {
  const LibraryProblem problem = Problem();
  const absl::StatusOr<std::vector<double>> run = device_->Run(problem, "y", way_);
  if (absl::IsUnimplemented(run.status()) && !device_->is_cpu()) GTEST_SKIP() << run.status();
  ASSERT_OK_AND_ASSIGN(const std::vector<double> result, run);
  const double one = c_.dtype == DType::kF32 ? 0x1p-24 : 0x1p-11;
  const auto count =
      static_cast<double>(c_.channels * c_.vertical.filter * c_.horizontal.filter + 8);
  size_t at = 0;
  for (int64_t image = 0; image < c_.images; ++image) {
    for (int64_t filter = 0; filter < c_.filters; ++filter) {
      for (int64_t p = 0; p < c_.vertical.out(); ++p) {
        for (int64_t q = 0; q < c_.horizontal.out(); ++q, ++at) {
          auto [sum, terms] = SumOf(problem, image, filter, p, q);
          if (c_.activation == "relu") sum = std::max(sum, 0.0);
          ASSERT_NEAR(result[at], sum, terms * count * 0x1p-24 + std::fabs(sum) * one + 0x1p-25)
              << at;
        }
      }
    }
  }
  EXPECT_EQ(at, result.size());
}

std::vector<ConvCase> ConvCases() {
  std::vector<ConvCase> cases;
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    const std::string type(kernels::NameOf(dtype));
    cases.push_back({type + "_one", dtype});
    cases.push_back({type + "_same", dtype, 2, 8, 16, {14, 3, 1}, {12, 3, 1}, "relu"});
    cases.push_back({type + "_odd", dtype, 3, 3, 5, {17, 5, 2}, {9, 3, 0}, "none"});
    cases.push_back({type + "_strided", dtype, 1, 16, 8, {33, 7, 3, 2}, {20, 7, 3, 2}, "relu"});
    cases.push_back({type + "_dilated", dtype, 1, 8, 8, {21, 3, 2, 1, 2}, {20, 3, 3, 1, 3}});
    cases.push_back({type + "_pointwise", dtype, 2, 32, 64, {8, 1}, {8, 1}, "relu"});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Conv, ConvTest,
                         ::testing::Combine(::testing::ValuesIn(ConvCases()),
                                            ::testing::Values(Way::kStream, Way::kCaptured)),
                         NameOfTest<ConvCase>);

}  // namespace
}  // namespace weft::testing
