// prim.* against loops written here, on elements that doubles hold exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/library/library_device.h"
#include "tests/testing/status_matchers.h"

namespace weft::testing {
namespace {

using kernels::DType;
using kernels::Number;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// IEEE 754's total order of doubles that are not two NaN of one sign.
bool TotalLess(double a, double b) {
  const auto rank = [](double x) { return std::isnan(x) ? (std::signbit(x) ? -1 : 1) : 0; };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (rank(a) != 0) return false;
  if (a == b) return std::signbit(a) && !std::signbit(b);
  return a < b;
}

bool SameElement(double a, double b) { return !TotalLess(a, b) && !TotalLess(b, a); }

// Few different values, so that there are duplicates and runs, and sums are exact.
Values FewValues(DType dtype, uint64_t n, uint32_t seed, int range = 40) {
  std::mt19937 engine(seed);
  const bool is_unsigned = !kernels::IsSigned(dtype) && !kernels::IsFloat(dtype);
  std::uniform_int_distribution<int> between(is_unsigned ? 0 : -range, range);
  Values values(n);
  for (double& value : values) value = between(engine) / (kernels::IsFloat(dtype) ? 4.0 : 1.0);
  return values;
}

// From all over the type's range.
Values WideValues(DType dtype, uint64_t n, uint32_t seed) {
  std::mt19937_64 engine(seed);
  const int bits = 8 * static_cast<int>(kernels::SizeOf(dtype));
  Values values(n);
  for (double& value : values) {
    const double part = static_cast<double>(engine() >> 11) * 0x1p-53;  // [0, 1)
    if (kernels::IsFloat(dtype)) {
      value = std::ldexp(part - 0.5, static_cast<int>(engine() % 200) - 100);
    } else if (kernels::IsSigned(dtype)) {
      value = std::floor((part - 0.5) * 0x1p32) * std::ldexp(1, bits - 32);
    } else {
      value = std::floor(part * 0x1p32) * std::ldexp(1, bits - 32);
    }
  }
  return Rounded(dtype, values);
}

struct PrimCase {
  DType dtype = DType::kF32;
  uint64_t n = 0;
};

class PrimTest : public ::testing::TestWithParam<std::tuple<PrimCase, Way>> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest());
    case_ = std::get<0>(GetParam());
  }
  uint64_t n() const { return case_.n; }
  Operand In(const char* name, Values values) const { return {name, case_.dtype, {n()}, values}; }
  Operand Out(const char* name, DType dtype, uint64_t count) const {
    return {name, dtype, {count}, Values(count, 7)};
  }
  Operand Out(const char* name) const { return Out(name, case_.dtype, n()); }
  Operand Counter() const { return Out("count", DType::kI64, 1); }
  void Expect(const LibraryProblem& problem, const std::string& output, const Values& expected) {
    ASSERT_OK_AND_ASSIGN(const Values result,
                         device_->Run(problem, output, std::get<1>(GetParam())));
    ASSERT_EQ(result.size(), expected.size()) << output;
    for (size_t i = 0; i < result.size(); ++i) {
      ASSERT_TRUE(SameElement(result[i], expected[i]))
          << output << "[" << i << "] is " << result[i] << ", expected " << expected[i];
    }
  }
  // `values`, and 0 behind them.
  Values Filled(Values values) const {
    values.resize(n(), 0);
    return values;
  }

  PrimCase case_;
  LibraryDevice* device_ = nullptr;
};

std::vector<size_t> SortedPlaces(const Values& keys, bool descending) {
  std::vector<size_t> places(keys.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    return descending ? TotalLess(keys[b], keys[a]) : TotalLess(keys[a], keys[b]);
  });
  return places;
}
Values At(const Values& values, const std::vector<size_t>& places) {
  Values moved;
  for (const size_t place : places) moved.push_back(values[place]);
  return moved;
}

TEST_P(PrimTest, SortsBothWays) {
  for (const bool descending : {false, true}) {
    Values keys = WideValues(case_.dtype, n(), 1);
    if (kernels::IsFloat(case_.dtype) && n() > 10) {
      const Values special = {-kNan, kNan, kInfinity, -kInfinity, -0.0, 0.0, -0.0};
      std::copy(special.begin(), special.end(), keys.begin() + 2);
    }
    const LibraryProblem problem{"prim.sort",
                                 {In("src", keys), Out("dst")},
                                 {{"order", std::string(descending ? "descending" : "ascending")}}};
    Expect(problem, "dst", At(keys, SortedPlaces(keys, descending)));
  }
}

TEST_P(PrimTest, SortsPairsAndKeepsTheOrderOfEqualKeys) {
  for (const bool descending : {false, true}) {
    for (const DType value_type : {DType::kI32, DType::kF64}) {
      const Values keys = FewValues(case_.dtype, n(), 2);
      Values values(n());
      std::iota(values.begin(), values.end(), 0);
      const LibraryProblem problem{
          "prim.sort_by_key",
          {In("keys", keys),
           {"values", value_type, {n()}, values},
           Out("sorted_keys"),
           Out("sorted_values", value_type, n())},
          {{"order", std::string(descending ? "descending" : "ascending")}}};
      const std::vector<size_t> places = SortedPlaces(keys, descending);
      Expect(problem, "sorted_keys", At(keys, places));
      Expect(problem, "sorted_values", At(values, places));
    }
  }
}

double Combined(const std::string& operation, double a, double b) {
  if (operation == "sum") return a + b;
  return operation == "min" ? std::min(a, b) : std::max(a, b);
}
// Of no elements.
double NoneOf(const std::string& operation, DType dtype) {
  if (operation == "sum") return 0;
  const double sign = operation == "min" ? 1 : -1;
  if (kernels::IsFloat(dtype)) return sign * kInfinity;
  const int bits = 8 * static_cast<int>(kernels::SizeOf(dtype));
  if (!kernels::IsSigned(dtype)) return sign > 0 ? std::ldexp(1, bits) - (bits == 32 ? 1 : 0) : 0;
  return sign > 0 ? std::ldexp(1, bits - 1) - (bits == 32 ? 1 : 0) : -std::ldexp(1, bits - 1);
}

TEST_P(PrimTest, Reduces) {
  for (const std::string operation : {"sum", "min", "max"}) {
    const Values values = FewValues(case_.dtype, n(), 3);
    double expected = NoneOf(operation, case_.dtype);
    for (const double value : values) expected = Combined(operation, expected, value);
    Expect({"prim.reduce",
            {In("src", values), Out("dst", case_.dtype, 1)},
            {{"operation", operation}}},
           "dst", {expected});
  }
}

TEST_P(PrimTest, ReducesRunsOfKeys) {
  for (const std::string operation : {"sum", "min", "max"}) {
    for (const DType value_type : {DType::kF32, DType::kI64}) {
      const Values keys = FewValues(case_.dtype, n(), 4, 1);
      const Values values = FewValues(value_type, n(), 5);
      Values runs, results;
      for (uint64_t i = 0; i < n(); ++i) {
        if (i == 0 || keys[i] != keys[i - 1]) {
          runs.push_back(keys[i]);
          results.push_back(values[i]);
        } else {
          results.back() = Combined(operation, results.back(), values[i]);
        }
      }
      const LibraryProblem problem{"prim.reduce_by_key",
                                   {In("keys", keys),
                                    {"values", value_type, {n()}, values},
                                    Out("runs"),
                                    Out("results", value_type, n()),
                                    Counter()},
                                   {{"operation", operation}}};
      Expect(problem, "count", {static_cast<double>(runs.size())});
      Expect(problem, "runs", Filled(runs));
      Expect(problem, "results", Filled(results));
    }
  }
}

TEST_P(PrimTest, Scans) {
  for (const std::string operation : {"sum", "min", "max"}) {
    for (const bool exclusive : {false, true}) {
      const Values values = FewValues(case_.dtype, n(), 6);
      Values expected;
      double so_far = NoneOf(operation, case_.dtype);
      for (const double value : values) {
        if (exclusive) expected.push_back(so_far);
        so_far = Combined(operation, so_far, value);
        if (!exclusive) expected.push_back(so_far);
      }
      Expect({"prim.scan",
              {In("src", values), Out("dst")},
              {{"operation", operation},
               {"mode", std::string(exclusive ? "exclusive" : "inclusive")}}},
             "dst", expected);
    }
  }
}

TEST_P(PrimTest, SelectsByFlags) {
  const Values values = WideValues(case_.dtype, n(), 7);
  const Values flags = FewValues(DType::kU8, n(), 8, 2);
  Values kept;
  for (uint64_t i = 0; i < n(); ++i) {
    if (flags[i] != 0) kept.push_back(values[i]);
  }
  const LibraryProblem problem{
      "prim.select",
      {In("src", values), {"flags", DType::kU8, {n()}, flags}, Out("dst"), Counter()},
      {}};
  Expect(problem, "count", {static_cast<double>(kept.size())});
  Expect(problem, "dst", Filled(kept));
}

TEST_P(PrimTest, FindsRuns) {
  const Values values = FewValues(case_.dtype, n(), 9, 1);
  Values runs, lengths;
  for (uint64_t i = 0; i < n(); ++i) {
    if (i == 0 || values[i] != values[i - 1]) {
      runs.push_back(values[i]);
      lengths.push_back(0);
    }
    ++lengths.back();
  }
  const LibraryProblem unique{"prim.unique", {In("src", values), Out("dst"), Counter()}, {}};
  Expect(unique, "count", {static_cast<double>(runs.size())});
  Expect(unique, "dst", Filled(runs));
  const LibraryProblem encode{
      "prim.run_length_encode",
      {In("src", values), Out("runs"), Out("lengths", DType::kI32, n()), Counter()},
      {}};
  Expect(encode, "count", {static_cast<double>(runs.size())});
  Expect(encode, "runs", Filled(runs));
  Expect(encode, "lengths", Filled(lengths));
}

TEST_P(PrimTest, CountsSamplesInEvenBins) {
  for (const uint64_t bins : {uint64_t{1}, uint64_t{20}, uint64_t{2000}}) {
    Values samples = FewValues(case_.dtype, n(), 10, 80);
    if (kernels::IsFloat(case_.dtype) && n() > 10) {
      samples[1] = kNan;
      samples[2] = kInfinity;
      samples[3] = -kInfinity;
      samples[4] = -0.0;
    }
    constexpr double kLower = -10, kUpper = 10;
    Values counts(bins, 0);
    for (const double sample : samples) {
      const bool inside = sample >= kLower && sample < kUpper;
      const double bin = (sample - kLower) * (static_cast<double>(bins) / 20);
      if (inside) ++counts[static_cast<size_t>(bin)];
    }
    Expect({"prim.histogram",
            {In("src", samples), Out("counts", DType::kU32, bins)},
            {{"lower", Number(kLower)}, {"upper", Number(kUpper)}}},
           "counts", counts);
  }
}

std::vector<PrimCase> PrimCases() {
  std::vector<PrimCase> cases;
  for (const DType dtype :
       {DType::kI32, DType::kU32, DType::kF32, DType::kI64, DType::kU64, DType::kF64}) {
    for (const uint64_t n : {0, 1, 255, 257, 4096, 40009}) cases.push_back({dtype, n});
  }
  return cases;
}

std::string NameOfPrimCase(const ::testing::TestParamInfo<std::tuple<PrimCase, Way>>& test) {
  const PrimCase& c = std::get<0>(test.param);
  return absl::StrCat(kernels::NameOf(c.dtype), "_", c.n,
                      std::get<1>(test.param) == Way::kStream ? "_stream" : "_captured");
}

INSTANTIATE_TEST_SUITE_P(Prim, PrimTest,
                         ::testing::Combine(::testing::ValuesIn(PrimCases()),
                                            ::testing::Values(Way::kStream, Way::kCaptured)),
                         NameOfPrimCase);

class PrimRulesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest()); }
  absl::StatusOr<Values> Run(const LibraryProblem& problem, const std::string& output) {
    return device_->Run(problem, output, Way::kCaptured);
  }
  LibraryDevice* device_ = nullptr;
};

TEST_F(PrimRulesTest, IntegersWrap) {
  const LibraryProblem problem{
      "prim.reduce",
      {{"src", DType::kI32, {2}, {0x7fffffff, 1}}, {"dst", DType::kI32, {1}, {7}}},
      {}};
  EXPECT_THAT(Run(problem, "dst"), IsOkAndHolds(ElementsAre(-0x1p31)));
}

TEST_F(PrimRulesTest, AMinimumWithNanIsNan) {
  const LibraryProblem problem{
      "prim.reduce",
      {{"src", DType::kF32, {3}, {2, kNan, -kInfinity}}, {"dst", DType::kF32, {1}, {7}}},
      {{"operation", std::string("min")}}};
  ASSERT_OK_AND_ASSIGN(const Values result, Run(problem, "dst"));
  EXPECT_TRUE(std::isnan(result[0])) << result[0];
}

TEST_F(PrimRulesTest, EqualElementsHaveTheSameBits) {
  const LibraryProblem problem{"prim.unique",
                               {{"src", DType::kF64, {5}, {0.0, -0.0, kNan, kNan, 1}},
                                {"dst", DType::kF64, {5}, Values(5, 7)},
                                {"count", DType::kI64, {1}, {7}}},
                               {}};
  EXPECT_THAT(Run(problem, "count"), IsOkAndHolds(ElementsAre(4)));
}

TEST_F(PrimRulesTest, ASampleRoundedUpToTheEndIsInTheLastBin) {
  const double below = std::nextafter(0.7, 0.0);
  const LibraryProblem problem{"prim.histogram",
                               {{"src", DType::kF64, {4}, {below, 0.7, 0.1, 0.0999}},
                                {"counts", DType::kU32, {3}, Values(3, 7)}},
                               {{"lower", Number(0.1)}, {"upper", Number(0.7)}}};
  EXPECT_THAT(Run(problem, "counts"), IsOkAndHolds(ElementsAre(1, 0, 1)));
}

TEST_F(PrimRulesTest, ByteSamplesAreCounted) {
  Values samples = FewValues(DType::kU8, 70001, 11, 255);
  Values counts(256, 0);
  for (const double sample : samples) ++counts[static_cast<size_t>(sample)];
  const LibraryProblem problem{"prim.histogram",
                               {{"src", DType::kU8, {samples.size()}, samples},
                                {"counts", DType::kU32, {256}, Values(256, 7)}},
                               {{"lower", Number(0.0)}, {"upper", Number(256.0)}}};
  EXPECT_THAT(Run(problem, "counts"), IsOkAndHolds(counts));
}

TEST_F(PrimRulesTest, FloatSumsAreWithinTheirTolerance) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    constexpr uint64_t kCount = 100003;
    const Values values = RandomValues(dtype, kCount, 12);
    double sum = 0, absolute = 0;
    for (const double value : values) {
      sum += value;
      absolute += std::fabs(value);
    }
    const double rounding = dtype == DType::kF32 ? 0x1p-24 : 0x1p-52;
    const double allowed = static_cast<double>(kCount) * rounding * absolute;
    const Operand src = {"src", dtype, {kCount}, values};
    ASSERT_OK_AND_ASSIGN(const Values reduced,
                         Run({"prim.reduce", {src, {"dst", dtype, {1}, {7}}}, {}}, "dst"));
    EXPECT_NEAR(reduced[0], sum, allowed);
    ASSERT_OK_AND_ASSIGN(
        const Values scanned,
        Run({"prim.scan", {src, {"dst", dtype, {kCount}, Values(kCount, 7)}}, {}}, "dst"));
    EXPECT_NEAR(scanned.back(), sum, allowed);
  }
}

TEST_F(PrimRulesTest, BuffersMayStartAnywhereAmongTheirElements) {
  Operand src = {"src", DType::kI32, {1001}, FewValues(DType::kI32, 1001, 13)};
  Operand dst = {"dst", DType::kI32, {1001}, Values(1001, 7)};
  Values expected = src.values;
  std::sort(expected.begin(), expected.end());
  src.shift_elements = 1;
  dst.shift_elements = 3;
  EXPECT_THAT(Run({"prim.sort", {src, dst}, {}}, "dst"), IsOkAndHolds(expected));
  src.shift_elements = 3;
  dst.shift_elements = 1;
  std::partial_sum(src.values.begin(), src.values.end(), expected.begin());
  EXPECT_THAT(Run({"prim.scan", {src, dst}, {}}, "dst"), IsOkAndHolds(expected));
}

TEST_F(PrimRulesTest, BinsMustHaveAWidth) {
  const auto refused = [&](double lower, double upper) {
    return Run({"prim.histogram",
                {{"src", DType::kF32, {1}, {0}}, {"counts", DType::kU32, {4}, Values(4, 7)}},
                {{"lower", Number(lower)}, {"upper", Number(upper)}}},
               "counts")
        .status();
  };
  EXPECT_THAT(refused(1, 1).message(), HasSubstr("upper"));
  EXPECT_THAT(refused(2, 1).message(), HasSubstr("upper"));
  EXPECT_THAT(refused(kNan, 1).message(), HasSubstr("lower"));
  EXPECT_THAT(refused(0, kInfinity).message(), HasSubstr("upper"));
  EXPECT_THAT(refused(0, 5e-324).message(), HasSubstr("too near"));
  EXPECT_THAT(refused(-1.7e308, 1.7e308).message(), HasSubstr("too far"));
}

}  // namespace
}  // namespace weft::testing
