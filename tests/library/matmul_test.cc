// blas.matmul against sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/library/library_device.h"
#include "tests/testing/status_matchers.h"

namespace weft::testing {
namespace {

using kernels::DType;
using kernels::Number;

// A problem and how its operands are laid out.
struct MatmulCase {
  std::string name;
  DType dtype = DType::kF32;
  uint64_t m = 1, n = 1, k = 1, batch = 1;
  bool trans_a = false, trans_b = false;
  std::string epilogue = "none";
  std::string compute = "f32";
  double alpha = 1, beta = 0;
  uint64_t padding = 0;   // elements behind each row of every matrix
  bool shares_b = false;  // one b for the whole batch
  uint64_t shift_elements = 0;
};

// A matrix of a batch as the case stores it.
struct StoredMatrix {
  uint64_t rows, columns, row_stride, matrix_stride;
  uint64_t count;  // elements in all

  StoredMatrix(const MatmulCase& c, uint64_t r, uint64_t k, bool transposed, bool is_shared = false)
      : rows(transposed ? k : r),
        columns(transposed ? r : k),
        row_stride(columns + c.padding),
        matrix_stride(is_shared ? 0 : rows * row_stride),
        count((is_shared ? 1 : c.batch) * rows * row_stride) {}
  // Element (row, column) of the matrix as it is multiplied.
  uint64_t At(uint64_t batch, uint64_t row, uint64_t column, bool transposed) const {
    if (transposed) std::swap(row, column);
    return batch * matrix_stride + row * row_stride + column;
  }
};

double Gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

class MatmulTest : public ::testing::TestWithParam<std::tuple<MatmulCase, Way>> {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, LibraryDevice::UnderTest()); }
  LibraryDevice* device_ = nullptr;
};

TEST_P(MatmulTest, IsTheExactResultWithinItsTolerance) {
  const auto& [c, way] = GetParam();
  const StoredMatrix a(c, c.m, c.k, c.trans_a), b(c, c.k, c.n, c.trans_b, c.shares_b),
      d(c, c.m, c.n, false);
  const auto operand = [&](const char* name, uint64_t count, uint32_t seed) {
    return Operand{name, c.dtype, {count}, RandomValues(c.dtype, count, seed), c.shift_elements};
  };
  LibraryProblem problem;
  problem.call = "blas.matmul";
  problem.operands = {operand("a", a.count, 1), operand("b", b.count, 2), operand("d", d.count, 3)};
  const bool has_bias = absl::EndsWith(c.epilogue, "bias");
  if (c.beta != 0) problem.operands.push_back(operand("c", d.count, 4));
  if (has_bias) problem.operands.push_back(operand("bias", c.n, 5));
  const auto integer = [](uint64_t value) { return Number(static_cast<int64_t>(value)); };
  problem.rest = {{"m", integer(c.m)},
                  {"n", integer(c.n)},
                  {"k", integer(c.k)},
                  {"batch", integer(c.batch)},
                  {"alpha", Number(c.alpha)},
                  {"beta", Number(c.beta)},
                  {"trans_a", std::string(c.trans_a ? "t" : "n")},
                  {"trans_b", std::string(c.trans_b ? "t" : "n")},
                  {"epilogue", c.epilogue},
                  {"compute", c.compute}};
  if (c.padding != 0) {
    problem.rest.push_back({"lda", integer(a.row_stride)});
    problem.rest.push_back({"ldb", integer(b.row_stride)});
    problem.rest.push_back({"ldc", integer(d.row_stride)});
    problem.rest.push_back({"ldd", integer(d.row_stride)});
  }
  if (c.shares_b) problem.rest.push_back({"stride_b", integer(0)});
  const absl::StatusOr<std::vector<double>> run = device_->Run(problem, "d", way);
  if (absl::IsUnimplemented(run.status()) && !device_->is_cpu()) GTEST_SKIP() << run.status();
  ASSERT_OK_AND_ASSIGN(const std::vector<double> result, run);

  const std::vector<double>& before = problem.operands[2].values;
  const double one = c.dtype == DType::kF32 ? 0x1p-24 : c.dtype == DType::kF16 ? 0x1p-11 : 0x1p-8;
  const double operand_error = c.compute == "tf32" ? 0x1p-9 : 0;
  std::vector<bool> written(result.size(), false);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < c.batch; ++i) {
    for (uint64_t row = 0; row < c.m; ++row) {
      for (uint64_t column = 0; column < c.n; ++column) {
        double sum = 0;
        double terms = 0;
        for (uint64_t t = 0; t < c.k; ++t) {
          const double term = problem.operands[0].values[a.At(i, row, t, c.trans_a)] *
                              problem.operands[1].values[b.At(i, t, column, c.trans_b)];
          sum += term;
          terms += std::fabs(term);
        }
        const uint64_t at = d.At(i, row, column, false);
        sum *= c.alpha;
        terms *= std::fabs(c.alpha);
        if (c.beta != 0) sum += c.beta * problem.operands[3].values[at];
        if (has_bias) sum += problem.operands.back().values[column];
        terms += std::fabs(c.beta) + (has_bias ? 1 : 0);
        if (absl::StartsWith(c.epilogue, "relu")) sum = std::max(sum, 0.0);
        if (absl::StartsWith(c.epilogue, "gelu")) sum = Gelu(sum);
        // gelu multiplies errors by at most 1.13; the libraries' tanh is an approximation.
        const double tanh_error =
            absl::StartsWith(c.epilogue, "gelu") ? 0x1p-11 * (1 + std::fabs(sum)) : 0;
        const double allowed =
            1.2 * terms * (static_cast<double>(c.k + 8) * 0x1p-24 + operand_error) +
            std::fabs(sum) * one + 0x1p-25 + tanh_error;
        written[at] = true;
        if (std::fabs(result[at] - sum) > allowed && ++wrong < 4) {
          ADD_FAILURE() << "(" << i << ", " << row << ", " << column << "): " << result[at]
                        << ", exact " << sum << ", allowed " << allowed;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
  for (size_t i = 0; i < result.size(); ++i) {
    if (written[i]) continue;
    ASSERT_EQ(result[i], before[i]) << "padding at " << i;
  }
}

std::vector<MatmulCase> Cases() {
  std::vector<MatmulCase> cases;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const std::string type(kernels::NameOf(dtype));
    cases.push_back({type + "_one", dtype});
    cases.push_back({type + "_odd", dtype, 33, 17, 65});
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        cases.push_back({absl::StrCat(type, "_", trans_a ? "t" : "n", trans_b ? "t" : "n"), dtype,
                         64, 48, 80, 1, trans_a, trans_b});
      }
    }
    cases.push_back({type + "_row", dtype, 1, 64, 64});
    cases.push_back({type + "_column", dtype, 64, 1, 64});
    for (const char* epilogue : {"relu", "gelu", "bias", "relu_bias", "gelu_bias"}) {
      cases.push_back({absl::StrCat(type, "_", epilogue), dtype, 40, 24, 16, 1, false, false,
                       epilogue, "f32", 0.5});
    }
    MatmulCase batched{type + "_batch", dtype, 24, 40, 32, 5, false, true, "none", "f32", -2, 0.5};
    cases.push_back(batched);
    batched.name = type + "_batch_of_one_b";
    batched.shares_b = true;
    cases.push_back(batched);
    MatmulCase padded{type + "_padded", dtype, 24, 40, 32, 2, true, false, "none", "f32", 1, 2};
    padded.padding = 8;
    cases.push_back(padded);
    MatmulCase shifted{type + "_misaligned", dtype, 24, 40, 32, 1};
    shifted.shift_elements = 1;
    cases.push_back(shifted);
  }
  cases.push_back({"tf32", DType::kF32, 64, 64, 128, 1, false, false, "none", "tf32"});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Matmul, MatmulTest,
                         ::testing::Combine(::testing::ValuesIn(Cases()),
                                            ::testing::Values(Way::kStream, Way::kCaptured)),
                         NameOfTest<MatmulCase>);

}  // namespace
}  // namespace weft::testing
