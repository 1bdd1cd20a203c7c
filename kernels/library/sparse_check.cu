// Before and behind a product with a sparse matrix, whose indices come from a client: the library reads a copy of them,
// which is made safe when one is wrong. No job names these kernels.
#include <cstdint>

#include "kernels/library/sparse_check.h"

namespace weft::kernels {
namespace {

__device__ __forceinline__ int64_t SparseFirst() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t SparseStride() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace

// *first_bad = the position of the first bad index, counted from 0; it is kNoBadIndex before.
extern "C" __global__ void weft_csr_check(const int32_t* offsets, const int32_t* columns,
                                          uint32_t* first_bad, int64_t rows, int64_t column_count,
                                          int64_t nonzeros) {
  const CsrExtents extents = {rows, column_count, nonzeros};
  for (int64_t i = SparseFirst(); i < extents.index_count(); i += SparseStride()) {
    if (IsBadIndex(offsets, columns, extents, i)) atomicMin(first_bad, static_cast<uint32_t>(i));
  }
}

// With a bad index: all nonzeros in the first row and column, which lie within any matrix.
extern "C" __global__ void weft_csr_repair(int32_t* offsets, int32_t* columns,
                                           const uint32_t* first_bad, int64_t rows,
                                           int64_t nonzeros) {
  if (*first_bad == kNoBadIndex) return;
  for (int64_t i = SparseFirst(); i < rows + 1 + nonzeros; i += SparseStride()) {
    if (i > rows) {
      columns[i - rows - 1] = 0;
    } else {
      offsets[i] = i == 0 ? 0 : static_cast<int32_t>(nonzeros);
    }
  }
}

// With a bad index, the result is zeros. *info = 0, or the position counted from 1.
extern "C" __global__ void weft_csr_finish(uint32_t* result, const uint32_t* first_bad,
                                           int32_t* info, int64_t words) {
  const uint32_t bad = *first_bad;
  if (SparseFirst() == 0) *info = bad == kNoBadIndex ? 0 : static_cast<int32_t>(bad + 1);
  if (bad == kNoBadIndex) return;
  for (int64_t i = SparseFirst(); i < words; i += SparseStride()) result[i] = 0;
}

}  // namespace weft::kernels
