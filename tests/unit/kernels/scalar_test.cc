#include "kernels/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "kernels/dtype.h"

namespace weft::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::optional<uint64_t> Bits(const Number& number, DType dtype) {
  const std::optional<ScalarValue> value = ConvertNumber(number, dtype);
  if (!value.has_value()) return std::nullopt;
  return value->bits;
}

TEST(DTypeTest, NamesAndParsesEveryType) {
  for (const DType dtype : AllDTypes()) EXPECT_EQ(ParseDType(NameOf(dtype)), dtype);
  EXPECT_EQ(ParseDType("F32"), std::nullopt);
  EXPECT_EQ(ParseDType(""), std::nullopt);
}

TEST(ConvertNumberTest, TakesIntegersThatTheTypeHolds) {
  EXPECT_EQ(Bits(int64_t{255}, DType::kU8), 0xffu);
  EXPECT_EQ(Bits(int64_t{-128}, DType::kI8), 0x80u);
  EXPECT_EQ(Bits(int64_t{-1}, DType::kI32), 0xffffffffu);
  EXPECT_EQ(Bits(UINT64_MAX, DType::kU64), UINT64_MAX);
  EXPECT_EQ(Bits(INT64_MIN, DType::kI64), uint64_t{1} << 63);
  EXPECT_EQ(Bits(3.0, DType::kI16), 3u);
}

TEST(ConvertNumberTest, RefusesWhatAnIntegerTypeCannotHold) {
  EXPECT_EQ(Bits(int64_t{256}, DType::kU8), std::nullopt);
  EXPECT_EQ(Bits(int64_t{-1}, DType::kU64), std::nullopt);
  EXPECT_EQ(Bits(int64_t{-129}, DType::kI8), std::nullopt);
  EXPECT_EQ(Bits(UINT64_MAX, DType::kI64), std::nullopt);
  EXPECT_EQ(Bits(0.5, DType::kI32), std::nullopt);
  EXPECT_EQ(Bits(std::nan(""), DType::kI32), std::nullopt);
  EXPECT_EQ(Bits(kInf, DType::kI64), std::nullopt);
  EXPECT_EQ(Bits(0x1p64, DType::kU64), std::nullopt);
}

TEST(ConvertNumberTest, RoundsFloatsAndKeepsNanAndInfinity) {
  EXPECT_EQ(Bits(1.0, DType::kF16), 0x3c00u);
  EXPECT_EQ(Bits(int64_t{1}, DType::kBF16), 0x3f80u);
  EXPECT_EQ(Bits(1.0 + 0x1p-30, DType::kF32), 0x3f800000u);
  EXPECT_EQ(Bits(-kInf, DType::kF16), 0xfc00u);
  EXPECT_TRUE(std::isnan(ConvertNumber(std::nan(""), DType::kBF16)->AsDouble()));
  EXPECT_EQ(Bits(0x1p-24, DType::kF16), 1u);  // the smallest subnormal number
}

TEST(ConvertNumberTest, RefusesFiniteValuesBeyondAFloatType) {
  EXPECT_EQ(Bits(65505.0, DType::kF16), std::nullopt);
  EXPECT_EQ(Bits(1e39, DType::kF32), std::nullopt);
  EXPECT_EQ(Bits(3.4e38, DType::kBF16), std::nullopt);
  EXPECT_TRUE(Bits(65504.0, DType::kF16).has_value());
  EXPECT_TRUE(Bits(1e300, DType::kF64).has_value());
}

TEST(ScalarValueTest, ReadsBackAsDoubleAndExtent) {
  EXPECT_EQ(ConvertNumber(int64_t{-5}, DType::kI32)->AsDouble(), -5);
  EXPECT_EQ(ConvertNumber(int64_t{-5}, DType::kI64)->AsExtent(), 0u);
  EXPECT_EQ(ConvertNumber(UINT64_MAX, DType::kU64)->AsExtent(), UINT64_MAX);
  EXPECT_EQ(ConvertNumber(0.5, DType::kF16)->AsDouble(), 0.5);
}

TEST(LessTest, ComparesExactlyAcrossTypes) {
  EXPECT_TRUE(Less(int64_t{-1}, UINT64_MAX));
  EXPECT_FALSE(Less(UINT64_MAX, int64_t{-1}));
  EXPECT_TRUE(Less(UINT64_MAX - 1, UINT64_MAX));
  EXPECT_TRUE(Less(-2.5, int64_t{-2}));
  EXPECT_FALSE(Less(-0.0, int64_t{0}));
  EXPECT_FALSE(Less(int64_t{0}, -0.0));
  EXPECT_FALSE(Less(std::nan(""), int64_t{0}));
  EXPECT_TRUE(Less(int64_t{5}, kInf));
}

}  // namespace
}  // namespace weft::kernels
