// sparse.* against sums in double precision, and what bad indices do.
#include <gtest/gtest.h>

#include <cmath>
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

struct SparseCase {
  std::string name;
  DType dtype = DType::kF32;
  uint64_t rows = 1, columns = 1;
  double filled = 0.2;  // the part of all elements that is given
  uint64_t width = 1;
  double alpha = 1;
};

struct CsrMatrix {
  std::vector<double> offsets = {0};
  std::vector<double> columns;
  std::vector<double> values;
};

CsrMatrix RandomCsr(const SparseCase& c) {
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> chance(0, 1);
  CsrMatrix matrix;
  for (uint64_t row = 0; row < c.rows; ++row) {
    // One row in eight is empty; columns are in falling order, those of the first row twice where
    // the matrix has room for them.
    for (uint64_t column = c.columns; row % 8 != 7 && column-- > 0;) {
      if (chance(engine) >= c.filled) continue;
      matrix.columns.push_back(static_cast<double>(column));
      if (row == 0 && c.rows > 2) matrix.columns.push_back(static_cast<double>(column));
    }
    matrix.offsets.push_back(static_cast<double>(matrix.columns.size()));
  }
  matrix.values = RandomValues(c.dtype, matrix.columns.size(), 6);
  return matrix;
}

class SparseTest : public ::testing::TestWithParam<std::tuple<SparseCase, Way>> {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest()); }
  const SparseCase& c() const { return std::get<0>(GetParam()); }

  LibraryProblem Problem(bool is_vector, const CsrMatrix& matrix) const {
    const uint64_t width = is_vector ? 1 : c().width;
    std::vector<uint64_t> dense = {c().columns};
    std::vector<uint64_t> result = {c().rows};
    if (!is_vector) {
      dense.push_back(width);
      result.push_back(width);
    }
    return {
        is_vector ? "sparse.spmv" : "sparse.spmm",
        {{"row_offsets", DType::kI32, {c().rows + 1}, matrix.offsets},
         {"columns", DType::kI32, {matrix.columns.size()}, matrix.columns},
         {"values", c().dtype, {matrix.values.size()}, matrix.values},
         {is_vector ? "x" : "b", c().dtype, dense, RandomValues(c().dtype, c().columns * width, 7)},
         {is_vector ? "y" : "c", c().dtype, result,
          std::vector<double>(c().rows * width, std::nan(""))},
         {"info", DType::kI32, {1}, {7}}},
        {{"alpha", Number(c().alpha)}}};
  }

  void ExpectProduct(bool is_vector) {
    const CsrMatrix matrix = RandomCsr(c());
    const LibraryProblem problem = Problem(is_vector, matrix);
    ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, std::get<1>(GetParam())));
    EXPECT_EQ(results[5][0], 0);
    const uint64_t width = is_vector ? 1 : c().width;
    const double one = c().dtype == DType::kF64 ? 0x1p-53 : 0x1p-24;
    for (uint64_t row = 0; row < c().rows; ++row) {
      const auto begin = static_cast<size_t>(matrix.offsets[row]);
      const auto end = static_cast<size_t>(matrix.offsets[row + 1]);
      for (uint64_t j = 0; j < width; ++j) {
        double sum = 0;
        double terms = 0;
        for (size_t i = begin; i < end; ++i) {
          const auto column = static_cast<uint64_t>(matrix.columns[i]);
          const double term =
              c().alpha * matrix.values[i] * problem.operands[3].values[column * width + j];
          sum += term;
          terms += std::fabs(term);
        }
        ASSERT_NEAR(results[4][row * width + j], sum,
                    terms * one * static_cast<double>(end - begin + 2))
            << row << ", " << j;
      }
    }
  }

  // The result is zeros, and `place` is reported.
  void ExpectRefused(const CsrMatrix& matrix, uint64_t place) {
    for (const bool is_vector : {true, false}) {
      const LibraryProblem problem = Problem(is_vector, matrix);
      ASSERT_OK_AND_ASSIGN(const auto results, device_->RunAll(problem, std::get<1>(GetParam())));
      EXPECT_EQ(results[5][0], static_cast<double>(place));
      EXPECT_EQ(results[4], std::vector<double>(results[4].size(), 0));
      EXPECT_EQ(results[0], matrix.offsets);
      EXPECT_EQ(results[1], matrix.columns);
    }
  }

  LibraryDevice* device_ = nullptr;
};

TEST_P(SparseTest, MultipliesAVector) { ExpectProduct(true); }
TEST_P(SparseTest, MultipliesAMatrix) { ExpectProduct(false); }

TEST_P(SparseTest, AColumnOutsideIsReported) {
  for (const double column : {-1.0, static_cast<double>(c().columns), 2147483647.0}) {
    CsrMatrix matrix = RandomCsr(c());
    if (matrix.columns.empty()) GTEST_SKIP() << "too small for that";
    matrix.columns.back() = column;
    ExpectRefused(matrix, matrix.offsets.size() + matrix.columns.size());
  }
}

TEST_P(SparseTest, AnOffsetOutsideIsReported) {
  for (const double offset : {-5.0, 1e9}) {
    CsrMatrix matrix = RandomCsr(c());
    matrix.offsets.back() = offset;
    ExpectRefused(matrix, matrix.offsets.size());
  }
}

TEST_P(SparseTest, OffsetsThatDoNotStartAtZeroOrFallAreReported) {
  CsrMatrix matrix = RandomCsr(c());
  if (c().rows < 3 || matrix.columns.size() < 2) GTEST_SKIP() << "too small for that";
  matrix.offsets[0] = 1;
  ExpectRefused(matrix, 1);
  matrix.offsets[0] = 0;
  matrix.offsets[1] = static_cast<double>(matrix.columns.size());
  matrix.offsets[2] = 1;
  ExpectRefused(matrix, 3);
}

TEST_P(SparseTest, ValuesThatAreNotNumbersDoNotSpoilARefusal) {
  CsrMatrix matrix = RandomCsr(c());
  if (matrix.columns.empty()) GTEST_SKIP() << "too small for that";
  for (double& value : matrix.values) value = std::nan("");
  matrix.columns[0] = -1;
  ExpectRefused(matrix, matrix.offsets.size() + 1);
}

std::vector<SparseCase> SparseCases() {
  std::vector<SparseCase> cases;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const std::string type(kernels::NameOf(dtype));
    cases.push_back({type + "_one", dtype, 1, 1, 1});
    cases.push_back({type + "_wide", dtype, 17, 300, 0.1, 5});
    cases.push_back({type + "_tall", dtype, 300, 19, 0.3, 32, -2.5});
    cases.push_back({type + "_empty", dtype, 9, 7, 0, 3});
    cases.push_back({type + "_large", dtype, 700, 600, 0.05, 8});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Sparse, SparseTest,
                         ::testing::Combine(::testing::ValuesIn(SparseCases()),
                                            ::testing::Values(Way::kStream, Way::kCaptured)),
                         NameOfTest<SparseCase>);

}  // namespace
}  // namespace weft::testing
