// CPU twins of matrix.cu.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/numbers.h"

namespace weft::kernels {
namespace {

template <typename T>
void Transpose(const T* src, T* dst, int64_t rows, int64_t cols) {
  constexpr int64_t kTile = 32;  // keeps both sides' lines in the first cache
  for (int64_t row0 = 0; row0 < rows; row0 += kTile) {
    for (int64_t col0 = 0; col0 < cols; col0 += kTile) {
      for (int64_t row = row0; row < rows && row < row0 + kTile; ++row) {
        for (int64_t col = col0; col < cols && col < col0 + kTile; ++col) {
          dst[col * rows + row] = src[row * cols + col];
        }
      }
    }
  }
}

// sums[col] += factor * row[col]
template <typename C>
void AddScaledRow(C* sums, const C* row, C factor, int64_t n) {
  for (int64_t col = 0; col < n; ++col) sums[col] = Plus(sums[col], Times(factor, row[col]));
}

// A few rows of c at a time, and a row of b for all of them, so that the inner loop runs along memory and b is read and
// converted once for those rows. Every sum is in order of k.
template <typename T>
void Matmul(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {
  using C = Compute<T>;
  constexpr int64_t kRows = 8;
  std::vector<C> row_of_b(static_cast<size_t>(n));
  std::vector<C> sums(static_cast<size_t>(n * kRows));
  for (int64_t row0 = 0; row0 < m; row0 += kRows) {
    const int64_t rows = std::min(kRows, m - row0);
    std::fill(sums.begin(), sums.end(), C{0});
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t col = 0; col < n; ++col) row_of_b[col] = Load(b[i * n + col]);
      for (int64_t row = 0; row < rows; ++row) {
        AddScaledRow(&sums[row * n], row_of_b.data(), Load(a[(row0 + row) * k + i]), n);
      }
    }
    for (int64_t i = 0; i < rows * n; ++i) c[row0 * n + i] = Store<T>(sums[i]);
  }
}

template <typename T>
void AddRows(const T* x, const T* row, T* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = Store<T>(Plus(Load(x[r * cols + c]), Load(row[c])));
  }
}

template <typename T>
void Softmax(const T* x, T* y, int64_t rows, int64_t cols) {
  using C = Compute<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T* in = x + r * cols;
    C largest = -std::numeric_limits<C>::infinity();
    for (int64_t i = 0; i < cols; ++i) largest = Max(largest, Load(in[i]));
    CompensatedSum<C> sum;
    for (int64_t i = 0; i < cols; ++i) sum.Add(std::exp(Load(in[i]) - largest));
    for (int64_t i = 0; i < cols; ++i)
      y[r * cols + i] = Store<T>(std::exp(Load(in[i]) - largest) / sum.value());
  }
}

#define WEFT_ENTRY(name, T)                                                                    \
  HostEntry<&Matmul<T>>("weft_matmul_" #name), HostEntry<&AddRows<T>>("weft_add_rows_" #name), \
      HostEntry<&Softmax<T>>("weft_softmax_" #name),
#define WEFT_TRANSPOSE_ENTRY(name, T) HostEntry<&Transpose<T>>("weft_transpose_" #name),

constexpr weft_host_kernel kEntries[] = {WEFT_FLOAT_TYPES(WEFT_ENTRY)
                                             WEFT_WIDTHS(WEFT_TRANSPOSE_ENTRY)};

}  // namespace

HostEntries MatrixEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
