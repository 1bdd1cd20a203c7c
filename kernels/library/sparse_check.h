// Which indices of a sparse matrix in CSR form are wrong, shared by both sides. Positions count the row
// offsets first, then the columns.
#pragma once

#include <cstdint>

#include "kernels/builtin/half_types.h"

namespace weft::kernels {

struct CsrExtents {
  int64_t rows;
  int64_t columns;
  int64_t nonzeros;

  WEFT_HOST_DEVICE int64_t index_count() const { return rows + 1 + nonzeros; }
};

// Offsets start at 0, never fall, and end at the number of nonzeros; columns are within the matrix.
WEFT_HOST_DEVICE bool IsBadIndex(const int32_t* offsets, const int32_t* columns,
                                 const CsrExtents& extents, int64_t position) {
  if (position > extents.rows) {
    const int64_t column = columns[position - extents.rows - 1];
    return column < 0 || column >= extents.columns;
  }
  const int64_t offset = offsets[position];
  if (offset < 0 || offset > extents.nonzeros) return true;
  if (position == 0 ? offset != 0 : offset < offsets[position - 1]) return true;
  return position == extents.rows && offset != extents.nonzeros;
}

// What `first_bad` is when no index is.
inline constexpr uint32_t kNoBadIndex = 0xffffffffu;

}  // namespace weft::kernels
