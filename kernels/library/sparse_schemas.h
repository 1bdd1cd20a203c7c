// The schemas of sparse.*, and what their calls need on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bind.h"
#include "kernels/schema.h"

namespace weft::kernels {

// sparse.{spmv,spmm}.
std::vector<KernelSchema> SparseSchemas();

// Positions of their arguments; spmv has no kWidth.
struct SparseArguments {
  enum : uint32_t {
    kOffsets,
    kColumns,
    kValues,
    kDense,
    kResult,
    kInfo,
    kAlpha,
    kRows,
    kColumnCount,
    kNonzeros,
    kWidth,
  };
};

// Where a call on a GPU keeps what, in bytes from the start of its workspace: the checked copies of the
// indices, the position of the first bad one, and the library's own area.
struct SparseWorkspace {
  uint64_t offsets = 0;
  uint64_t columns = 0;
  uint64_t first_bad = 0;
  uint64_t library = 0;
  uint64_t bytes = 0;  // of all of it
};
SparseWorkspace SparseWorkspaceOf(const BoundCall& call);

}  // namespace weft::kernels
