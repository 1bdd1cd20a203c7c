// solver.* by what their results satisfy, computed in double precision.
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

// A row-major matrix of doubles.
struct DenseMatrix {
  uint64_t rows = 0, columns = 0;
  std::vector<double> values;

  DenseMatrix(uint64_t r, uint64_t c) : rows(r), columns(c), values(r * c) {}
  DenseMatrix(uint64_t r, uint64_t c, std::vector<double> v)
      : rows(r), columns(c), values(std::move(v)) {}
  double& At(uint64_t row, uint64_t column) { return values[row * columns + column]; }
  double At(uint64_t row, uint64_t column) const { return values[row * columns + column]; }
  DenseMatrix Transposed() const {
    DenseMatrix out(columns, rows);
    for (uint64_t i = 0; i < rows; ++i) {
      for (uint64_t j = 0; j < columns; ++j) out.At(j, i) = At(i, j);
    }
    return out;
  }
};

DenseMatrix Times(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix out(a.rows, b.columns);
  for (uint64_t i = 0; i < a.rows; ++i) {
    for (uint64_t t = 0; t < a.columns; ++t) {
      for (uint64_t j = 0; j < b.columns; ++j) out.At(i, j) += a.At(i, t) * b.At(t, j);
    }
  }
  return out;
}

DenseMatrix Scaled(DenseMatrix a, const std::vector<double>& by_row) {
  for (uint64_t i = 0; i < a.rows; ++i) {
    for (uint64_t j = 0; j < a.columns; ++j) a.At(i, j) *= by_row[i];
  }
  return a;
}

DenseMatrix Identity(uint64_t n) {
  DenseMatrix out(n, n);
  for (uint64_t i = 0; i < n; ++i) out.At(i, i) = 1;
  return out;
}

void ExpectNear(const DenseMatrix& actual, const DenseMatrix& expected, double allowed) {
  ASSERT_EQ(actual.values.size(), expected.values.size());
  for (size_t i = 0; i < actual.values.size(); ++i) {
    ASSERT_NEAR(actual.values[i], expected.values[i], allowed) << "element " << i;
  }
}

struct SolverCase {
  DType dtype = DType::kF32;
  uint64_t m = 1;
  uint64_t n = 1;  // columns; right-hand sides
  Way way = Way::kStream;
};

class SolverTest : public ::testing::TestWithParam<SolverCase> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest());
    if (case_.way == Way::kCaptured && !device_->CanCapture("solver.svd")) {
      GTEST_SKIP() << "made anew at every run";
    }
  }
  double one() const { return case_.dtype == DType::kF64 ? 0x1p-53 : 0x1p-24; }
  DenseMatrix Random(uint64_t rows, uint64_t columns, uint32_t seed) const {
    return {rows, columns, RandomValues(case_.dtype, rows * columns, seed)};
  }
  // Symmetric; every leading part of it is positive definite where `shift` is at least n.
  DenseMatrix Symmetric(uint64_t n, double shift) const {
    DenseMatrix a = Random(n, n, 11);
    for (uint64_t i = 0; i < n; ++i) {
      for (uint64_t j = 0; j < i; ++j) a.At(i, j) = a.At(j, i);
      a.At(i, i) += shift;
    }
    a.values = Rounded(case_.dtype, a.values);
    return a;
  }
  // With another triangle than the one to be read, which must not matter.
  DenseMatrix Spoilt(DenseMatrix a, bool is_upper) const {
    for (uint64_t i = 0; i < a.rows; ++i) {
      for (uint64_t j = 0; j < a.columns; ++j) {
        if (is_upper ? j < i : j > i) a.At(i, j) = 77;
      }
    }
    return a;
  }
  Operand In(const char* name, const DenseMatrix& matrix) const {
    return {name, case_.dtype, {matrix.rows, matrix.columns}, matrix.values};
  }
  Operand Out(const char* name, std::vector<uint64_t> shape) const {
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    return {name, case_.dtype, std::move(shape), std::vector<double>(count, 7)};
  }
  static Operand Info() { return {"info", DType::kI32, {1}, {7}}; }

  const SolverCase case_ = GetParam();
  LibraryDevice* device_ = nullptr;
};

TEST_P(SolverTest, FactorsByCholesky) {
  const uint64_t n = case_.m;
  const DenseMatrix a = Symmetric(n, static_cast<double>(n) + 1);
  for (const bool is_upper : {false, true}) {
    const DenseMatrix given = Spoilt(a, is_upper);
    const LibraryProblem problem{"solver.cholesky",
                                 {In("a", given), Out("factor", {n, n}), Info()},
                                 {{"uplo", std::string(is_upper ? "upper" : "lower")}}};
    ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, case_.way));
    EXPECT_EQ(results[0], given.values);
    EXPECT_EQ(results[2][0], 0);
    DenseMatrix factor(n, n, results[1]);
    for (uint64_t i = 0; i < n; ++i) {
      for (uint64_t j = 0; j < n; ++j) {
        if (is_upper ? j >= i : j <= i) continue;
        EXPECT_EQ(factor.At(i, j), 77);
        factor.At(i, j) = 0;
      }
    }
    const DenseMatrix product =
        is_upper ? Times(factor.Transposed(), factor) : Times(factor, factor.Transposed());
    ExpectNear(product, a, 4 * static_cast<double>(n) * one() * static_cast<double>(n + 2));
  }
}

TEST_P(SolverTest, SaysWhichPartIsNotPositiveDefinite) {
  const uint64_t n = case_.m;
  DenseMatrix a = Identity(n);
  a.At(n / 2, n / 2) = -1;
  const LibraryProblem problem{"solver.cholesky", {In("a", a), Out("factor", {n, n}), Info()}, {}};
  ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, case_.way));
  EXPECT_EQ(results[2][0], static_cast<double>(n / 2 + 1));
}

TEST_P(SolverTest, SolvesSystems) {
  const uint64_t n = case_.m;
  const uint64_t sides = case_.n;
  DenseMatrix a = Random(n, n, 1);
  for (uint64_t i = 0; i < n; ++i) a.At(i, n - 1 - i) += 4;  // needs its rows exchanged
  a.values = Rounded(case_.dtype, a.values);
  const DenseMatrix b = Random(n, sides, 2);
  for (const bool is_transposed : {false, true}) {
    const LibraryProblem problem{"solver.lu_solve",
                                 {In("a", a), In("b", b), Out("x", {n, sides}), Info()},
                                 {{"trans", std::string(is_transposed ? "t" : "n")}}};
    ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, case_.way));
    EXPECT_EQ(results[0], a.values);
    EXPECT_EQ(results[1], b.values);
    EXPECT_EQ(results[3][0], 0);
    const DenseMatrix x(n, sides, results[2]);
    double largest = 1;
    for (const double value : x.values) largest = std::max(largest, std::fabs(value));
    ExpectNear(Times(is_transposed ? a.Transposed() : a, x), b,
               16 * static_cast<double>(n) * one() * 5 * static_cast<double>(n) * largest);
  }
}

TEST_P(SolverTest, SaysWhichPivotIsZero) {
  const uint64_t n = case_.m;
  DenseMatrix a = Identity(n);
  a.At(n / 2, n / 2) = 0;
  const LibraryProblem problem{
      "solver.lu_solve", {In("a", a), In("b", Random(n, 1, 3)), Out("x", {n, 1}), Info()}, {}};
  ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, case_.way));
  EXPECT_EQ(results[3][0], static_cast<double>(n / 2 + 1));
}

TEST_P(SolverTest, FindsEigenvectors) {
  const uint64_t n = case_.m;
  const DenseMatrix a = Symmetric(n, 0);
  for (const bool is_upper : {false, true}) {
    const LibraryProblem problem{
        "solver.eigh",
        {In("a", Spoilt(a, is_upper)), Out("w", {n}), Out("v", {n, n}), Info()},
        {{"uplo", std::string(is_upper ? "upper" : "lower")}}};
    ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, case_.way));
    EXPECT_EQ(results[3][0], 0);
    const std::vector<double>& w = results[1];
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
    const DenseMatrix v(n, n, results[2]);
    const double allowed = 32 * static_cast<double>(n) * one();
    ExpectNear(Times(v, v.Transposed()), Identity(n), allowed);
    ExpectNear(Times(v.Transposed(), Scaled(v, w)), a,
               allowed * std::max(std::fabs(w.front()), std::fabs(w.back())));
  }
}

TEST_P(SolverTest, FindsSingularVectors) {
  for (const bool is_wide : {false, true}) {
    const uint64_t m = is_wide ? std::min(case_.m, case_.n) : std::max(case_.m, case_.n);
    const uint64_t n = is_wide ? std::max(case_.m, case_.n) : std::min(case_.m, case_.n);
    const uint64_t k = std::min(m, n);
    const DenseMatrix a = Random(m, n, 5);
    const LibraryProblem problem{
        "solver.svd", {In("a", a), Out("s", {k}), Out("u", {m, k}), Out("vt", {k, n}), Info()}, {}};
    ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, case_.way));
    EXPECT_EQ(results[0], a.values);
    EXPECT_EQ(results[4][0], 0);
    const std::vector<double>& s = results[1];
    EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()));
    EXPECT_GE(s.back(), 0);
    const DenseMatrix u(m, k, results[2]);
    const DenseMatrix vt(k, n, results[3]);
    const double allowed = 64 * static_cast<double>(m + n) * one();
    ExpectNear(Times(u.Transposed(), u), Identity(k), allowed);
    ExpectNear(Times(vt, vt.Transposed()), Identity(k), allowed);
    ExpectNear(Times(u, Scaled(vt, s)), a, allowed * s.front());
  }
}

std::vector<SolverCase> SolverCases() {
  std::vector<SolverCase> cases;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const Way way : {Way::kStream, Way::kCaptured}) {
      cases.push_back({dtype, 1, 1, way});
      cases.push_back({dtype, 2, 3, way});
      cases.push_back({dtype, 33, 17, way});
      cases.push_back({dtype, 64, 1, way});
      cases.push_back({dtype, 100, 130, way});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Solver, SolverTest, ::testing::ValuesIn(SolverCases()),
                         [](const auto& test) {
                           const SolverCase& c = test.param;
                           return absl::StrCat(kernels::NameOf(c.dtype), "_", c.m, "_", c.n,
                                               c.way == Way::kStream ? "_stream" : "_captured");
                         });

}  // namespace
}  // namespace weft::testing
