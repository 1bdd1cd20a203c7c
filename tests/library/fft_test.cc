// fft.* against sums in double precision, and against each other.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/library/library_device.h"
#include "tests/testing/status_matchers.h"

namespace weft::testing {
namespace {

using kernels::DType;
using kernels::Number;
using Complex = std::complex<double>;

struct FftCase {
  DType dtype = DType::kF32;
  uint64_t batch = 1;
  std::vector<uint64_t> extents;

  uint64_t Elements() const {
    uint64_t count = 1;
    for (const uint64_t extent : extents) count *= extent;
    return count;
  }
  std::string Rank() const { return absl::StrCat(extents.size(), "d"); }
  std::vector<uint64_t> Shape(uint64_t innermost, bool is_complex) const {
    std::vector<uint64_t> shape = {batch};
    shape.insert(shape.end(), extents.begin(), extents.end());
    shape.back() = innermost;
    if (is_complex) shape.push_back(2);
    return shape;
  }
};

// The transform by its definition, one dimension after the other.
std::vector<Complex> Transform(const FftCase& c, std::vector<Complex> values, double sign) {
  uint64_t stride = 1;
  for (size_t dimension = c.extents.size(); dimension-- > 0;) {
    const uint64_t n = c.extents[dimension];
    std::vector<Complex> turned(n);
    for (uint64_t i = 0; i < n; ++i) {
      turned[i] =
          std::polar(1.0, sign * 2 * M_PI * static_cast<double>(i) / static_cast<double>(n));
    }
    std::vector<Complex> next(values.size());
    for (uint64_t i = 0; i < values.size(); ++i) {
      const uint64_t k = i / stride % n;
      const uint64_t first = i - k * stride;
      for (uint64_t j = 0; j < n; ++j) next[i] += values[first + j * stride] * turned[k * j % n];
    }
    values = std::move(next);
    stride *= n;
  }
  return values;
}

std::vector<double> Pairs(const std::vector<Complex>& values) {
  std::vector<double> pairs;
  for (const Complex& value : values) {
    pairs.push_back(value.real());
    pairs.push_back(value.imag());
  }
  return pairs;
}
std::vector<Complex> FromPairs(const std::vector<double>& pairs) {
  std::vector<Complex> values;
  for (size_t i = 0; i < pairs.size(); i += 2) values.emplace_back(pairs[i], pairs[i + 1]);
  return values;
}

// The first half of each row.
std::vector<Complex> Halves(const FftCase& c, const std::vector<Complex>& whole) {
  const uint64_t n = c.extents.back();
  std::vector<Complex> halves;
  for (uint64_t i = 0; i < whole.size(); ++i) {
    if (i % n <= n / 2) halves.push_back(whole[i]);
  }
  return halves;
}

class FftTest : public ::testing::TestWithParam<std::tuple<FftCase, Way>> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest());
    case_ = std::get<0>(GetParam());
  }
  Operand Reals(const char* name, std::vector<double> values) const {
    return {name, case_.dtype, case_.Shape(case_.extents.back(), false), std::move(values)};
  }
  Operand Complexes(const char* name, uint64_t innermost, std::vector<double> values) const {
    return {name, case_.dtype, case_.Shape(innermost, true), std::move(values)};
  }
  uint64_t half() const { return case_.extents.back() / 2 + 1; }
  uint64_t count() const { return case_.batch * case_.Elements(); }
  uint64_t half_count() const { return count() / case_.extents.back() * half(); }
  absl::StatusOr<std::vector<double>> Run(const LibraryProblem& problem) {
    return device_->Run(problem, "dst", std::get<1>(GetParam()));
  }

  void ExpectClose(const std::vector<double>& actual, const std::vector<double>& expected) const {
    ASSERT_EQ(actual.size(), expected.size());
    double squares = 0;
    for (const double value : expected) squares += value * value;
    const double mean = std::sqrt(squares / static_cast<double>(expected.size()));
    const double one = case_.dtype == DType::kF64 ? 1e-15 : 1e-6;
    const double allowed =
        one * (1 + std::log2(static_cast<double>(case_.Elements()))) * (mean + 1e-30) * 2;
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[i], allowed) << i;
    }
  }

  FftCase case_;
  LibraryDevice* device_ = nullptr;
};

TEST_P(FftTest, OfComplexNumbersForward) {
  const std::vector<double> values = RandomValues(case_.dtype, 2 * count(), 1);
  const LibraryProblem problem{
      absl::StrCat("fft.c2c_", case_.Rank()),
      {Complexes("src", case_.extents.back(), values),
       Complexes("dst", case_.extents.back(), std::vector<double>(2 * count(), 7))},
      {}};
  ASSERT_OK_AND_ASSIGN(const std::vector<double> result, Run(problem));
  ExpectClose(result, Pairs(Transform(case_, FromPairs(values), -1)));
}

TEST_P(FftTest, OfComplexNumbersInverse) {
  const std::vector<double> values = RandomValues(case_.dtype, 2 * count(), 2);
  const LibraryProblem problem{
      absl::StrCat("fft.c2c_", case_.Rank()),
      {Complexes("src", case_.extents.back(), values),
       Complexes("dst", case_.extents.back(), std::vector<double>(2 * count(), 7))},
      {{"direction", std::string("inverse")}}};
  ASSERT_OK_AND_ASSIGN(const std::vector<double> result, Run(problem));
  ExpectClose(result, Pairs(Transform(case_, FromPairs(values), 1)));
}

TEST_P(FftTest, OfReals) {
  const std::vector<double> values = RandomValues(case_.dtype, count(), 3);
  const LibraryProblem problem{
      absl::StrCat("fft.r2c_", case_.Rank()),
      {Reals("src", values), Complexes("dst", half(), std::vector<double>(2 * half_count(), 7))},
      {}};
  ASSERT_OK_AND_ASSIGN(const std::vector<double> result, Run(problem));
  const std::vector<Complex> whole = Transform(case_, {values.begin(), values.end()}, -1);
  ExpectClose(result, Pairs(Halves(case_, whole)));
}

TEST_P(FftTest, ToReals) {
  const std::vector<double> values = RandomValues(case_.dtype, count(), 4);
  const std::vector<Complex> whole = Transform(case_, {values.begin(), values.end()}, -1);
  const LibraryProblem problem{absl::StrCat("fft.c2r_", case_.Rank()),
                               {Complexes("src", half(), Pairs(Halves(case_, whole))),
                                Reals("dst", std::vector<double>(count(), 7))},
                               {}};
  ASSERT_OK_AND_ASSIGN(std::vector<double> result, Run(problem));
  for (double& value : result) value /= static_cast<double>(case_.Elements());
  ExpectClose(result, values);
}

std::vector<FftCase> FftCases() {
  std::vector<FftCase> cases;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const std::vector<uint64_t>& extents : {std::vector<uint64_t>{1},
                                                 {2},
                                                 {64},
                                                 {105},
                                                 {251},
                                                 {6, 8},
                                                 {5, 7},
                                                 {4, 3, 6},
                                                 {3, 4, 5}}) {
      cases.push_back({dtype, 3, extents});
    }
    cases.push_back({dtype, 1, {1024}});
  }
  return cases;
}

std::string NameOfCase(const ::testing::TestParamInfo<std::tuple<FftCase, Way>>& test) {
  const FftCase& c = std::get<0>(test.param);
  std::string name(kernels::NameOf(c.dtype));
  for (const uint64_t extent : c.extents) absl::StrAppend(&name, "_", extent);
  return absl::StrCat(name, std::get<1>(test.param) == Way::kStream ? "_stream" : "_captured");
}

INSTANTIATE_TEST_SUITE_P(Fft, FftTest,
                         ::testing::Combine(::testing::ValuesIn(FftCases()),
                                            ::testing::Values(Way::kStream, Way::kCaptured)),
                         NameOfCase);

}  // namespace
}  // namespace weft::testing
