#include "server/executor/solver_arguments.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "cuda/call_sequence.h"
#include "kernels/library/solver_schemas.h"
#include "server/executor/library_steps.h"

namespace weft::executor {
namespace {

using cuda::DenseProblem;
using kernels::CholeskyArguments;
using kernels::EighArguments;
using kernels::LuSolveArguments;
using kernels::SvdArguments;

// A row-major triangle is the other one of the column-major matrix.
DenseProblem::Triangle TriangleOf(const kernels::BoundCall& call, uint32_t argument) {
  return static_cast<kernels::Triangle>(call.Choice(argument)) == kernels::Triangle::kLower
             ? DenseProblem::Triangle::kUpper
             : DenseProblem::Triangle::kLower;
}

// What the parts of the workspace are, whose sum the schema has checked.
kernels::SolverWorkspace PartsOf(const build::LibraryRequest& request) {
  return kernels::SolverWorkspaceOf(request.schema, request.call)
      .value_or(kernels::SolverWorkspace{});
}

void FillCholesky(const build::LibraryRequest& request, DenseProblem& problem) {
  using A = CholeskyArguments;
  problem.kind = DenseProblem::Kind::kCholesky;
  problem.triangle = TriangleOf(request.call, A::kUplo);
  problem.rows = problem.columns = request.call.I64(A::kN);
  problem.source = request.addresses[A::kA];
  problem.matrix = request.addresses[A::kFactor];
  problem.info = request.addresses[A::kInfo];
}

void FillLuSolve(const build::LibraryRequest& request, DenseProblem& problem) {
  using A = LuSolveArguments;
  const kernels::SolverWorkspace parts = PartsOf(request);
  problem.kind = DenseProblem::Kind::kLuSolve;
  problem.transpose = request.call.Choice(A::kTrans) != 0 ? DenseProblem::Transpose::kNo
                                                          : DenseProblem::Transpose::kYes;
  problem.rows = problem.columns = request.call.I64(A::kN);
  problem.right_sides = request.call.I64(A::kRightSides);
  problem.source = request.addresses[A::kA];
  problem.matrix = request.workspace + parts.matrix;
  if (problem.right_sides == 1) {
    problem.left_source = request.addresses[A::kB];
    problem.left = request.addresses[A::kX];
  } else {
    problem.left = request.workspace + parts.left;
  }
  problem.pivots = request.workspace + parts.pivots;
  problem.info = request.addresses[A::kInfo];
}

void FillEigh(const build::LibraryRequest& request, DenseProblem& problem) {
  using A = EighArguments;
  problem.kind = DenseProblem::Kind::kEigen;
  problem.triangle = TriangleOf(request.call, A::kUplo);
  problem.rows = problem.columns = request.call.I64(A::kN);
  problem.source = request.addresses[A::kA];
  problem.matrix = request.addresses[A::kV];
  problem.values = request.addresses[A::kW];
  problem.info = request.addresses[A::kInfo];
}

bool IsTall(const kernels::BoundCall& call) {
  return call.I64(SvdArguments::kM) > call.I64(SvdArguments::kN);
}

// A wide matrix is, column-major, its tall transpose v s uᵀ: what the library calls left is v, and
// lies as vt does; what it calls right is uᵀ, and lies as u does.
void FillSvd(const build::LibraryRequest& request, DenseProblem& problem) {
  using A = SvdArguments;
  const kernels::SolverWorkspace parts = PartsOf(request);
  problem.kind = DenseProblem::Kind::kSvd;
  problem.rows = std::max(request.call.I64(A::kM), request.call.I64(A::kN));
  problem.columns = std::min(request.call.I64(A::kM), request.call.I64(A::kN));
  problem.matrix = request.workspace + parts.matrix;
  problem.values = request.addresses[A::kS];
  problem.info = request.addresses[A::kInfo];
  if (IsTall(request.call)) {
    problem.source = problem.matrix;
    problem.left = request.workspace + parts.left;
    problem.right = request.workspace + parts.right;
  } else {
    problem.source = request.addresses[A::kA];
    problem.left = request.addresses[A::kVt];
    problem.right = request.addresses[A::kU];
  }
}

// What is transposed before the library's part and behind it.
struct Transpositions {
  std::vector<Transposition> before;
  std::vector<Transposition> behind;
};

Transpositions TranspositionsOf(const build::LibraryRequest& request, const DenseProblem& problem) {
  Transpositions all;
  const kernels::DType dtype = request.call.arguments[0].dtype;
  const auto rows = static_cast<uint64_t>(problem.rows);
  const auto columns = static_cast<uint64_t>(problem.columns);
  if (problem.kind == DenseProblem::Kind::kLuSolve && problem.right_sides != 1) {
    using A = LuSolveArguments;
    const auto sides = static_cast<uint64_t>(problem.right_sides);
    all.before = {{dtype, rows, sides, request.addresses[A::kB], problem.left}};
    all.behind = {{dtype, sides, rows, problem.left, request.addresses[A::kX]}};
  }
  if (problem.kind == DenseProblem::Kind::kSvd && IsTall(request.call)) {
    using A = SvdArguments;
    all.before = {{dtype, rows, columns, request.addresses[A::kA], problem.matrix}};
    all.behind = {{dtype, columns, rows, problem.left, request.addresses[A::kU]},
                  {dtype, columns, columns, problem.right, request.addresses[A::kVt]}};
  }
  return all;
}

}  // namespace

DenseProblem ProblemOf(const build::LibraryRequest& request) {
  DenseProblem problem;
  if (request.call.arguments[0].dtype == kernels::DType::kF64) {
    problem.precision = DenseProblem::Precision::kF64;
  }
  const kernels::SolverWorkspace parts = PartsOf(request);
  problem.workspace = request.workspace + parts.library;
  problem.workspace_bytes =
      request.workspace_bytes - std::min(request.workspace_bytes, parts.library);
  const std::pair<absl::string_view, void (*)(const build::LibraryRequest&, DenseProblem&)>
      kinds[] = {{"solver.cholesky", &FillCholesky},
                 {"solver.lu_solve", &FillLuSolve},
                 {"solver.eigh", &FillEigh},
                 {"solver.svd", &FillSvd}};
  for (const auto& [name, fill] : kinds) {
    if (request.schema.name == name) fill(request, problem);
  }
  return problem;
}

absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> PrepareSolution(
    const build::LibraryRequest& request, const cuda::Solver& solver,
    build::FunctionResolver& resolver) {
  const DenseProblem problem = ProblemOf(request);
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<const cuda::LibraryCall> call, solver.Prepare(problem));
  const Transpositions transpositions = TranspositionsOf(request, problem);
  if (transpositions.before.empty()) return call;
  std::vector<cuda::CallSequence::Step> steps;
  for (const Transposition& one : transpositions.before) {
    WEFT_RETURN_IF_ERROR(AddTransposition(one, resolver, steps));
  }
  steps.emplace_back(std::move(call));
  for (const Transposition& one : transpositions.behind) {
    WEFT_RETURN_IF_ERROR(AddTransposition(one, resolver, steps));
  }
  return std::make_shared<cuda::CallSequence>(std::move(steps));
}

}  // namespace weft::executor
