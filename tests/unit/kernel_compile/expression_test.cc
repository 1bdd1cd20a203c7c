// Kernels made of expressions, run by the CPU driver.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/expression/expression_source.h"
#include "tests/unit/kernel_compile/cuda_launch.h"

namespace weft::kernels {
namespace {

template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kU64;
  return DType::kU8;
}

class ExpressionRunTest : public CudaLaunchTest {
 protected:
  // The expression of elements `a` and `b`, which it names in this order, for a result of type T.
  template <typename T, typename A>
  std::vector<T> Computed(const std::string& text, std::vector<A> a, std::vector<A> b) {
    const absl::StatusOr<Expression> parsed = ParseExpression(text);
    EXPECT_OK(parsed);
    const ExpressionOperand elements = {ExpressionOperand::Kind::kElements, DTypeOf<A>()};
    const absl::StatusOr<std::string> body =
        ExpressionSource(*parsed, DTypeOf<T>(), {elements, elements});
    EXPECT_OK(body);
    CudaSource source = Source("extern \"C\" __global__ void k" + body.value_or(""), {"k"});
    source.options = {"--fmad=false"};
    Load(source);
    std::vector<T> result(a.size());
    EXPECT_EQ(Launch({.grid_x = 2, .block_x = 4}, result.data(), a.data(), b.data(),
                     static_cast<int64_t>(a.size())),
              CUDA_SUCCESS);
    return result;
  }
};

TEST_F(ExpressionRunTest, FloatFunctionsAreThoseOfC) {
  const std::vector<double> a = {0.25, 0.5, 0.75, 0.125, 0.9, 0.3}, b = {2, 0.7, 1, 0.2, 0.4, 3};
  const std::vector<double> result = Computed<double>(
      "y = sqrt(a) + exp(b) + exp2(a) + expm1(a) + log(a) + log2(b) + log10(a) + log1p(a) + sin(a)"
      " + cos(b) + tan(a) + asin(a) + acos(a) + atan(b) + atan2(a, b) + sinh(a) + cosh(b)"
      " + tanh(a) + erf(a) + pow(a, b) + hypot(a, b) + fma(a, b, a) + floor(b) + ceil(a)"
      " + trunc(-b) + round(b) + abs(-a) + a % b",
      a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], z = b[i];
    const double expected = std::sqrt(x) + std::exp(z) + std::exp2(x) + std::expm1(x) +
                            std::log(x) + std::log2(z) + std::log10(x) + std::log1p(x) +
                            std::sin(x) + std::cos(z) + std::tan(x) + std::asin(x) + std::acos(x) +
                            std::atan(z) + std::atan2(x, z) + std::sinh(x) + std::cosh(z) +
                            std::tanh(x) + std::erf(x) + std::pow(x, z) + std::hypot(x, z) +
                            (x * z + x) + std::floor(z) + std::ceil(x) + std::trunc(-z) +
                            std::round(z) + std::fabs(-x) + std::fmod(x, z);
    EXPECT_NEAR(result[i], expected, 1e-12) << i;
  }
}

TEST_F(ExpressionRunTest, ProductsAreRoundedBeforeTheyAreAdded) {
  const float a = 1 + 0x1p-12F;
  const std::vector<float> result =
      Computed<float>("y = a * a + b", std::vector<float>{a}, std::vector<float>{-1 - 0x1p-11F});
  EXPECT_EQ(result[0], 0.0F);
}

TEST_F(ExpressionRunTest, NanIsTheMinimumAndMaximumOfWhateverItMeets) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> result = Computed<float>(
      "y = min(a, b) + max(a, b)", std::vector<float>{nan, 1, 2}, std::vector<float>{1, nan, 3});
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_TRUE(std::isnan(result[1]));
  EXPECT_EQ(result[2], 5.0F);
}

constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();

TEST_F(ExpressionRunTest, IntegersDivideWithoutFaults) {
  const std::vector<int32_t> a = {7, -7, 7, kLowest, kLowest, 0}, b = {2, 2, 0, -1, 0, 0};
  EXPECT_EQ(Computed<int32_t>("y = a / b", a, b), (std::vector<int32_t>{3, -3, 0, kLowest, 0, 0}));
  EXPECT_EQ(Computed<int32_t>("y = a % b", a, b), (std::vector<int32_t>{1, -1, 0, 0, 0, 0}));
}

TEST_F(ExpressionRunTest, IntegersWrap) {
  const std::vector<int32_t> a = {kHighest, kLowest, 65536}, b = {1, -1, 65536};
  EXPECT_EQ(Computed<int32_t>("y = a + b", a, b),
            (std::vector<int32_t>{kLowest, kHighest, 131072}));
  EXPECT_EQ(Computed<int32_t>("y = a * b", a, b), (std::vector<int32_t>{kHighest, kLowest, 0}));
  EXPECT_EQ(Computed<int32_t>("y = abs(a) - b", a, b),
            (std::vector<int32_t>{kHighest - 1, kLowest + 1, 0}));
}

TEST_F(ExpressionRunTest, UnsignedNumbersOf64BitsStayWhole) {
  const uint64_t big = (uint64_t{1} << 63) + 1;
  EXPECT_EQ(Computed<uint64_t>("y = max(a, b) + 9007199254740993", std::vector<uint64_t>{big},
                               std::vector<uint64_t>{5}),
            std::vector<uint64_t>{big + 9007199254740993});
  EXPECT_EQ(Computed<uint64_t>("y = a / b % 100", std::vector<uint64_t>{big, 7},
                               std::vector<uint64_t>{3, 0}),
            (std::vector<uint64_t>{big / 3 % 100, 0}));
}

TEST_F(ExpressionRunTest, BytesAreComputedAsI32AndKeepTheirLowBits) {
  EXPECT_EQ(Computed<uint8_t>("y = (a + b) / 2", std::vector<uint8_t>{250, 3},
                              std::vector<uint8_t>{254, 4}),
            (std::vector<uint8_t>{252, 3}));
  EXPECT_EQ(Computed<uint8_t>("y = a - b", std::vector<uint8_t>{1}, std::vector<uint8_t>{2}),
            std::vector<uint8_t>{255});
}

TEST_F(ExpressionRunTest, ConditionsChooseAndClampBounds) {
  const std::vector<float> a = {-5, 0, 2, 9}, b = {1, 1, 1, 1};
  EXPECT_EQ(Computed<float>("y = where(a >= b, clamp(a, 0, 3), -1) + (a == 0)", a, b),
            (std::vector<float>{-1, 0, 2, 3}));
}

}  // namespace
}  // namespace weft::kernels
