// Calls of solver.* as cuSOLVER's wrapper takes them, whose matrices are column-major, with the
// transpositions that they need.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cuda/library_call.h"
#include "cuda/solver.h"
#include "graph/build/bindings.h"

namespace weft::executor {

// REQUIRES: a request of one of the calls solver.*.
cuda::DenseProblem ProblemOf(const build::LibraryRequest& request);

// The problem between its transpositions. Errors: those of `solver` and `resolver`.
absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> PrepareSolution(
    const build::LibraryRequest& request, const cuda::Solver& solver,
    build::FunctionResolver& resolver);

}  // namespace weft::executor
