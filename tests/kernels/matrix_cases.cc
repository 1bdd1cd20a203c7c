#include <cmath>

#include "tests/kernels/kernel_cases.h"

namespace weft::kernels::testing {
namespace {

void Transpose(Problem& p) {
  const auto [rows, cols, unused] = p.extents();
  const Values src = p.Input("src", p.dtype(), {rows, cols});
  p.Output("dst", p.dtype(), {cols, rows});
  p.Expect({0, 0}, [&, r = rows, c = cols](uint64_t i) {
    return Expected{src[i % r * c + i / r], 0};
  });
}

void Matmul(Problem& p) {
  const auto [m, n, k] = p.extents();
  const Values a = p.Input("a", p.dtype(), {m, k});
  const Values b = p.Input("b", p.dtype(), {k, n});
  p.Output("c", p.dtype(), {m, n});
  // A chain of k roundings of partial sums, which are mostly far below the sum of magnitudes.
  p.Expect({8, 0.5}, [&, columns = n, depth = k](uint64_t i) {
    Value sum = 0;
    Value magnitude = 0;
    for (uint64_t j = 0; j < depth; ++j) {
      const Value product = a[i / columns * depth + j] * b[j * columns + i % columns];
      sum += product;
      magnitude += std::fabs(product);
    }
    const bool overflows = p.dtype() == DType::kF16 && std::fabs(sum) >= 65520;
    return Expected{overflows ? std::copysign(INFINITY, sum) : sum, static_cast<double>(magnitude)};
  });
}

void AddRows(Problem& p) {
  const auto [rows, cols, unused] = p.extents();
  const Values x = p.Input("x", p.dtype(), {rows, cols});
  const Values row = p.Input("row", p.dtype(), {cols});
  p.Output("y", p.dtype(), {rows, cols});
  p.Expect({0.5, 0.5}, [&, columns = cols](uint64_t i) {
    const Value sum = x[i] + row[i % columns];
    return Expected{sum, static_cast<double>(std::fabs(sum))};
  });
}

void Softmax(Problem& p) {
  const auto [rows, cols, unused] = p.extents();
  const Values x = p.Input("x", p.dtype(), {rows, cols});
  Values sums(rows);
  Values largest(rows, -INFINITY);
  for (uint64_t i = 0; i < x.size(); ++i) {
    largest[i / cols] = std::fmax(largest[i / cols], x[i]);
  }
  // double is far finer than what is tested but for f64 itself.
  const auto power = [&](uint64_t i) {
    const Value exponent = x[i] - largest[i / cols];
    return p.dtype() == DType::kF64 ? std::exp(exponent)
                                    : static_cast<Value>(std::exp(static_cast<double>(exponent)));
  };
  for (uint64_t i = 0; i < x.size(); ++i) sums[i / cols] += power(i);
  p.Output("y", p.dtype(), {rows, cols});
  p.Expect({16, 0.5}, [&, columns = cols](uint64_t i) {
    const Value value = power(i) / sums[i / columns];
    return Expected{value, static_cast<double>(value)};
  });
}

// Mean and standard deviation (with epsilon) of a row, and the largest magnitude in it.
struct RowFacts {
  Value mean = 0;
  Value deviation = 0;
  Value largest = 0;
};

std::vector<RowFacts> FactsOfRows(const Values& x, const Extents& extents, double epsilon) {
  std::vector<RowFacts> facts(extents.a);
  for (uint64_t i = 0; i < x.size(); ++i) {
    RowFacts& row = facts[i / extents.b];
    row.mean += x[i] / extents.b;
    row.largest = std::fmax(row.largest, std::fabs(x[i]));
  }
  for (uint64_t i = 0; i < x.size(); ++i) {
    RowFacts& row = facts[i / extents.b];
    row.deviation += (x[i] - row.mean) * (x[i] - row.mean) / extents.b;
  }
  for (RowFacts& row : facts) row.deviation = std::sqrt(row.deviation + epsilon);
  return facts;
}

void Layernorm(Problem& p) {
  const auto [rows, cols, unused] = p.extents();
  const double epsilon = 0.001953125;
  p.Scalar("epsilon", epsilon);
  const Values x = p.Input("x", p.dtype(), {rows, cols});
  const Values gamma = p.Input("gamma", p.dtype(), {cols});
  const Values beta = p.Input("beta", p.dtype(), {cols});
  const std::vector<RowFacts> facts = FactsOfRows(x, p.extents(), epsilon);
  p.Output("y", p.dtype(), {rows, cols});
  // A mean is off by ε of the largest element, which a small deviation magnifies.
  p.Expect({8, 0.5}, [&, columns = cols](uint64_t i) {
    const RowFacts& row = facts[i / columns];
    const Value factor = gamma[i % columns] / row.deviation;
    const Value value = (x[i] - row.mean) * factor + beta[i % columns];
    const Value scale = 2 * row.largest * std::fabs(factor) + std::fabs(beta[i % columns]);
    return Expected{value, static_cast<double>(scale)};
  });
}

constexpr KernelCase kMatrixCases[] = {
    {"transpose", Sizes::kMatrix, Twins::kSameBits, Transpose},
    {"matmul", Sizes::kMatmul, Twins::kWithinTolerance, Matmul},
    {"add_rows", Sizes::kMatrix, Twins::kSameBits, AddRows},
    {"softmax", Sizes::kMatrix, Twins::kWithinTolerance, Softmax},
    {"layernorm", Sizes::kMatrix, Twins::kSameBits, Layernorm},
};

}  // namespace

absl::Span<const KernelCase> MatrixCases() { return kMatrixCases; }

}  // namespace weft::kernels::testing
