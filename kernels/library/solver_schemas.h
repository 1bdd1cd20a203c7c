// The schemas of solver.*, and what their calls need on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bind.h"
#include "kernels/schema.h"

namespace weft::kernels {

// solver.{cholesky,lu_solve,eigh,svd}.
std::vector<KernelSchema> SolverSchemas();

// Positions of their arguments.
struct CholeskyArguments {
  enum : uint32_t { kA, kFactor, kInfo, kUplo, kN };
};
struct LuSolveArguments {
  enum : uint32_t { kA, kB, kX, kInfo, kTrans, kN, kRightSides };
};
struct EighArguments {
  enum : uint32_t { kA, kW, kV, kInfo, kUplo, kN };
};
struct SvdArguments {
  enum : uint32_t { kA, kS, kU, kVt, kInfo, kM, kN, kK };
};
// Of kUplo.
enum class Triangle : uint32_t { kLower, kUpper };

// Where a call on a GPU keeps what, in bytes from the start of its workspace; the library's own area
// is the last. A part that a call does not need is empty.
struct SolverWorkspace {
  uint64_t matrix = 0;  // a copy of `a`, which the library overwrites
  uint64_t left = 0;    // lu_solve: the right-hand sides; svd: U; as columns
  uint64_t right = 0;   // svd: Vt, as columns
  uint64_t pivots = 0;  // lu_solve: one of 8 bytes a row, and the status of the solution
  uint64_t library = 0;
  uint64_t bytes = 0;  // of all of it
};
// What they are for a call of `schema`; nullopt: more than 64 bits count.
// REQUIRES: `schema` is one of SolverSchemas().
std::optional<SolverWorkspace> SolverWorkspaceOf(const KernelSchema& schema, const BoundCall& call);

}  // namespace weft::kernels
