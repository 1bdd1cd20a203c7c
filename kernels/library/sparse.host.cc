// CPU twins of sparse.*.
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "kernels/library/host_call.h"
#include "kernels/library/sparse_check.h"

namespace weft::kernels {
namespace {

struct CsrIndices {
  const int32_t* offsets;
  const int32_t* columns;
  CsrExtents extents;

  // 0, or the place of the first bad one, counted from 1.
  int32_t FirstBad() const {
    for (int64_t i = 0; i < extents.index_count(); ++i) {
      if (IsBadIndex(offsets, columns, extents, i)) return static_cast<int32_t>(i + 1);
    }
    return 0;
  }
};

// result = alpha × matrix × dense; both dense ones have rows of `width` elements.
template <typename T>
void MultiplySparse(const CsrIndices& matrix, const T* values, const T* dense, T* result, T alpha,
                    int64_t width) {
  for (int64_t row = 0; row < matrix.extents.rows; ++row) {
    T* const sums = result + row * width;
    for (int64_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      const T* const from = dense + matrix.columns[i] * width;
      for (int64_t j = 0; j < width; ++j) sums[j] += values[i] * from[j];
    }
    for (int64_t j = 0; j < width; ++j) sums[j] *= alpha;
  }
}

template <typename T>  // NOLINTNEXTLINE(readability-function-size)
void SparseSpmm(const int32_t* offsets, const int32_t* columns, const T* values, const T* dense,
                T* result, int32_t* info, T alpha, int64_t rows, int64_t column_count,
                int64_t nonzeros, int64_t width, void*) {
  const CsrIndices matrix = {offsets, columns, {rows, column_count, nonzeros}};
  *info = matrix.FirstBad();
  std::fill_n(result, rows * width, T{0});
  if (*info == 0) MultiplySparse(matrix, values, dense, result, alpha, width);
}

template <typename T>  // NOLINTNEXTLINE(readability-function-size)
void SparseSpmv(const int32_t* offsets, const int32_t* columns, const T* values, const T* x, T* y,
                int32_t* info, T alpha, int64_t rows, int64_t column_count, int64_t nonzeros,
                void* workspace) {
  SparseSpmm(offsets, columns, values, x, y, info, alpha, rows, column_count, nonzeros, 1,
             workspace);
}

constexpr weft_host_kernel kSparseEntries[] = {
    HostCall<&SparseSpmv<float>>("weft_sparse_spmv_f32"),
    HostCall<&SparseSpmv<double>>("weft_sparse_spmv_f64"),
    HostCall<&SparseSpmm<float>>("weft_sparse_spmm_f32"),
    HostCall<&SparseSpmm<double>>("weft_sparse_spmm_f64"),
};

}  // namespace

HostEntries SparseEntries() { return {kSparseEntries, std::size(kSparseEntries)}; }

}  // namespace weft::kernels
