// rand.* against their definition, written here anew, and against their distributions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

constexpr uint64_t kSeed = 0x0123456789abcdef;

// Salmon et al., SC'11: ten rounds on the counter (number of the block, subsequence).
std::array<uint32_t, 4> PhiloxWords(uint64_t number, uint64_t subsequence) {
  std::array<uint64_t, 4> c = {number & 0xffffffff, number >> 32, subsequence, 0};
  uint64_t key0 = kSeed & 0xffffffff;
  uint64_t key1 = kSeed >> 32;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xD2511F53 * c[0];
    const uint64_t b = 0xCD9E8D57 * c[2];
    c = {(b >> 32) ^ c[1] ^ key0, b & 0xffffffff, (a >> 32) ^ c[3] ^ key1, a & 0xffffffff};
    key0 = (key0 + 0x9E3779B9) & 0xffffffff;
    key1 = (key1 + 0xBB67AE85) & 0xffffffff;
  }
  return {static_cast<uint32_t>(c[0]), static_cast<uint32_t>(c[1]), static_cast<uint32_t>(c[2]),
          static_cast<uint32_t>(c[3])};
}

// Number `at` of the sequence of uniform numbers that starts at offset 0.
double UniformAt(DType dtype, uint64_t at) {
  const uint64_t subsequence = at / 4 % 65536;
  const uint64_t turn = at / 4 / 65536;
  if (dtype == DType::kF32) {
    const double word = PhiloxWords(turn, subsequence)[at % 4];
    return Rounded(DType::kF32, {Rounded(DType::kF32, {word})[0] * 0x1p-32 + 0x1p-33})[0];
  }
  const auto words = PhiloxWords(2 * turn + at % 4 / 2, subsequence);
  const uint64_t bits = words[at % 2 * 2] ^ (uint64_t{words[at % 2 * 2 + 1]} << 21);
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

double NormalAt(DType dtype, uint64_t at) {
  const uint64_t pair = at - at % 2;
  const double radius = std::sqrt(-2 * std::log(UniformAt(dtype, pair)));
  const double angle = 2 * M_PI * UniformAt(dtype, pair + 1);
  return radius * (at % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

class RandTest : public ::testing::TestWithParam<std::tuple<DType, Way>> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest());
    if (way_ == Way::kCaptured && !device_->CanCapture("rand.uniform")) {
      GTEST_SKIP() << "made anew at every run";
    }
  }
  absl::StatusOr<std::vector<double>> Fill(const char* call, uint64_t count, int64_t offset,
                                           std::vector<std::pair<std::string, double>> rest = {}) {
    LibraryProblem problem{call,
                           {{"dst", dtype_, {count}, std::vector<double>(count, 7)}},
                           {{"seed", Number(kSeed)}, {"offset", Number(offset)}}};
    for (const auto& [name, value] : rest) problem.rest.push_back({name, Number(value)});
    return device_->Run(problem, "dst", way_);
  }
  // Where devices may differ: sines and logarithms.
  double tolerance() const { return dtype_ == DType::kF32 ? 1e-4 : 1e-12; }

  const DType dtype_ = std::get<0>(GetParam());
  const Way way_ = std::get<1>(GetParam());
  LibraryDevice* device_ = nullptr;
};

// The largest distance between the distribution of the values and that of their model.
template <typename Cumulative>
double KolmogorovDistance(std::vector<double> values, Cumulative cumulative) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double distance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = cumulative(values[i]);
    distance = std::max({distance, std::fabs(expected - static_cast<double>(i) / count),
                         std::fabs(expected - static_cast<double>(i + 1) / count)});
  }
  return distance;
}

TEST_P(RandTest, UniformNumbersAreThoseOfTheSequence) {
  // Past the first turn of all subsequences.
  ASSERT_OK_AND_ASSIGN(const auto numbers, Fill("rand.uniform", 65536 * 4 + 1003, 0));
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    if (i > 2000 && i < 65536 * 4 - 10) continue;
    ASSERT_EQ(numbers[i], UniformAt(dtype_, i)) << i;
  }
}

TEST_P(RandTest, AnOffsetSkipsTheNumbersBeforeIt) {
  for (const int64_t offset : {1, 2, 3, 4, 1002}) {
    ASSERT_OK_AND_ASSIGN(const auto numbers, Fill("rand.uniform", 500, offset));
    for (uint64_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(numbers[i], UniformAt(dtype_, i + static_cast<uint64_t>(offset))) << i;
    }
  }
}

TEST_P(RandTest, EveryRunMakesTheSameNumbers) {
  ASSERT_OK_AND_ASSIGN(const auto first, Fill("rand.normal", 1000, 5));
  ASSERT_OK_AND_ASSIGN(const auto second, Fill("rand.normal", 1000, 5));
  EXPECT_EQ(first, second);
}

TEST_P(RandTest, NormalNumbersArePairsOfUniformOnes) {
  ASSERT_OK_AND_ASSIGN(const auto numbers,
                       Fill("rand.normal", 2000, 0, {{"mean", 3}, {"stddev", 2}}));
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    ASSERT_NEAR(numbers[i], 3 + 2 * NormalAt(dtype_, i), 2 * tolerance()) << i;
  }
}

TEST_P(RandTest, LogarithmsOfLogNormalNumbersAreNormal) {
  ASSERT_OK_AND_ASSIGN(const auto numbers,
                       Fill("rand.log_normal", 2000, 0, {{"mean", 0.5}, {"stddev", 0.25}}));
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    const double expected = std::exp(0.5 + 0.25 * NormalAt(dtype_, i));
    ASSERT_NEAR(numbers[i], expected, expected * tolerance()) << i;
  }
}

TEST_P(RandTest, ManyNumbersHaveTheirDistribution) {
  constexpr uint64_t kCount = 100000;
  const double allowed = 1.95 / std::sqrt(kCount);  // one in a thousand
  ASSERT_OK_AND_ASSIGN(const auto uniform, Fill("rand.uniform", kCount, 0));
  EXPECT_LE(KolmogorovDistance(uniform, [](double x) { return x; }), allowed);
  ASSERT_OK_AND_ASSIGN(const auto normal, Fill("rand.normal", kCount, 0));
  EXPECT_LE(
      KolmogorovDistance(normal, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }),
      allowed);
  ASSERT_OK_AND_ASSIGN(const auto log_normal, Fill("rand.log_normal", kCount, 0));
  EXPECT_LE(
      KolmogorovDistance(log_normal,
                         [](double x) { return 0.5 * std::erfc(-std::log(x) / std::sqrt(2.0)); }),
      allowed);
}

INSTANTIATE_TEST_SUITE_P(Rand, RandTest,
                         ::testing::Combine(::testing::Values(DType::kF32, DType::kF64),
                                            ::testing::Values(Way::kStream, Way::kCaptured)),
                         [](const auto& test) {
                           return absl::StrCat(
                               kernels::NameOf(std::get<0>(test.param)),
                               std::get<1>(test.param) == Way::kStream ? "_stream" : "_captured");
                         });

}  // namespace
}  // namespace weft::testing
