// Calls of sparse.*: a check of the indices in a copy, the library's product, and zeros where the check
// found a bad one.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cuda/library_call.h"
#include "cuda/sparse.h"
#include "graph/build/bindings.h"

namespace weft::executor {

// Reads the copies of the indices. REQUIRES: a request of one of the calls sparse.*.
cuda::SparseProduct SparseProductOf(const build::LibraryRequest& request);

// Errors: those of `sparse` and `resolver`.
absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> PrepareSparseProduct(
    const build::LibraryRequest& request, const cuda::Sparse& sparse,
    build::FunctionResolver& resolver);

}  // namespace weft::executor
