#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "kernels/library/schema_parts.h"
#include "kernels/library/solver_schemas.h"

namespace weft::kernels {
namespace {

// The library counts rows and columns in 64 bits, its older algorithms in 32.
constexpr int64_t kMaxSolverExtent = std::numeric_limits<int32_t>::max();

// Places parts of a workspace one behind the other.
class WorkspacePlacer {
 public:
  // Elements × bytes each, at a multiple of kWorkspaceAlignment.
  uint64_t Place(std::optional<uint64_t> elements, uint64_t element_bytes) {
    const uint64_t at = end_.value_or(0);
    const std::optional<uint64_t> bytes = TimesPlus(elements, element_bytes, 0);
    if (!bytes.has_value() || !end_.has_value() ||
        *bytes > UINT64_MAX / 2 - kWorkspaceAlignment - at) {
      end_ = std::nullopt;
    } else {
      end_ = AlignUp(at + *bytes, kWorkspaceAlignment);
    }
    return at;
  }
  std::optional<uint64_t> end() const { return end_; }

 private:
  std::optional<uint64_t> end_ = 0;
};

std::optional<uint64_t> TimesExtent(std::optional<uint64_t> a, uint64_t b) {
  return TimesPlus(a, b, 0);
}

uint64_t ExtentOf(const BoundCall& call, uint32_t argument) {
  return static_cast<uint64_t>(call.I64(argument));
}

std::optional<SolverWorkspace> Finished(const WorkspacePlacer& placer, SolverWorkspace parts) {
  if (!placer.end().has_value()) return std::nullopt;
  parts.bytes = *placer.end();
  return parts;
}

// The library's area: so many elements, an estimate, and a fixed part for what small calls round up
// to. A call that the library wants more for gets it outside of the plan (cuda/solver.h).
constexpr uint64_t kSolverFixedBytes = uint64_t{4} << 20;
std::optional<uint64_t> LibraryBytes(std::optional<uint64_t> elements, uint64_t element_bytes) {
  return TimesPlus(elements, element_bytes, kSolverFixedBytes);
}

std::optional<SolverWorkspace> CholeskyParts(const BoundCall& call) {
  using A = CholeskyArguments;
  const uint64_t n = ExtentOf(call, A::kN);
  WorkspacePlacer placer;
  SolverWorkspace parts;
  parts.library =
      placer.Place(LibraryBytes(TimesExtent(n, n), SizeOf(call.arguments[A::kA].dtype)), 1);
  return Finished(placer, parts);
}

std::optional<SolverWorkspace> LuSolveParts(const BoundCall& call) {
  using A = LuSolveArguments;
  const uint64_t element = SizeOf(call.arguments[A::kA].dtype);
  const uint64_t n = ExtentOf(call, A::kN);
  const uint64_t right_sides = ExtentOf(call, A::kRightSides);
  WorkspacePlacer placer;
  SolverWorkspace parts;
  parts.matrix = placer.Place(TimesExtent(n, n), element);
  // One right-hand side is a column already.
  parts.left = placer.Place(
      right_sides == 1 ? std::optional<uint64_t>(0) : TimesExtent(n, right_sides), element);
  parts.pivots = placer.Place(n + 1, 8);
  parts.library = placer.Place(LibraryBytes(TimesExtent(n, n), element), 1);
  return Finished(placer, parts);
}

std::optional<SolverWorkspace> EighParts(const BoundCall& call) {
  using A = EighArguments;
  const uint64_t n = ExtentOf(call, A::kN);
  WorkspacePlacer placer;
  SolverWorkspace parts;
  parts.library = placer.Place(
      LibraryBytes(TimesExtent(TimesExtent(n, n), 4), SizeOf(call.arguments[A::kA].dtype)), 1);
  return Finished(placer, parts);
}

std::optional<SolverWorkspace> SvdParts(const BoundCall& call) {
  using A = SvdArguments;
  const uint64_t element = SizeOf(call.arguments[A::kA].dtype);
  const uint64_t m = ExtentOf(call, A::kM);
  const uint64_t n = ExtentOf(call, A::kN);
  const uint64_t k = std::min(m, n);
  const bool is_tall = m > n;
  WorkspacePlacer placer;
  SolverWorkspace parts;
  parts.matrix = placer.Place(TimesExtent(m, n), element);
  parts.left = placer.Place(TimesExtent(is_tall ? m : 0, k), element);
  parts.right = placer.Place(TimesExtent(is_tall ? n : 0, k), element);
  parts.library = placer.Place(LibraryBytes(TimesExtent(TimesExtent(m, n), 4), element), 1);
  return Finished(placer, parts);
}

template <std::optional<SolverWorkspace> (*kParts)(const BoundCall&)>
std::optional<uint64_t> SolverBytes(const BoundCall& call) {
  const std::optional<SolverWorkspace> parts = kParts(call);
  if (!parts.has_value()) return std::nullopt;
  return parts->bytes;
}

ArgumentSchema SolverMatrix(std::string name, std::string doc, Access access, Product shape,
                            std::vector<uint32_t> in_place_with = {}) {
  const bool is_first = name == "a";
  return Buffer(std::move(name), std::move(doc), access,
                is_first ? OneOf({DType::kF32, DType::kF64}) : SameAs(0), std::move(shape),
                std::move(in_place_with));
}
ArgumentSchema InfoArgument(std::string doc) {
  return Buffer("info", std::move(doc), Access::kWrite, OneOf({DType::kI32}), {Constant(1)});
}
ArgumentSchema SolverExtent(std::string name, std::string doc, ScalarDefault value) {
  return BoundedInteger(std::move(name), std::move(doc), value, 1, kMaxSolverExtent);
}
ArgumentSchema UploArgument() {
  return Choice("uplo", "the triangle of a that is read, and with it the one of the result",
                {"lower", "upper"});
}

// What all of them have in common.
KernelSchema SolverSchema(std::string name, std::string stem, Product work) {
  KernelSchema schema;
  schema.name = std::move(name);
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {TwinPhase(std::move(stem), std::move(work))};
  schema.library = LibraryTraits{"cuSOLVER", LibraryTraits::Recording::kStreams};
  return schema;
}

constexpr char kSolverGpuDoc[] =
    " On a GPU outside of CUDA graphs, and the call blocks the thread that makes it.";

KernelSchema CholeskySchema() {
  using A = CholeskyArguments;
  KernelSchema schema = SolverSchema("solver.cholesky", "solver_cholesky", kernels::Of({A::kN}));
  schema.summary = "triangular factor of a symmetric positive definite matrix, by cuSOLVER.";
  schema.doc = absl::StrCat(
      "lower: a = L * transpose(L), upper: a = transpose(U) * U, of row-major matrices; the "
      "library, "
      "whose matrices are column-major, is given the other triangle, and nothing is copied for it. "
      "The triangle that is not chosen is not read, and has in factor what it has in a. info is 0, "
      "or i when the leading i x i part of a is not positive definite; factor is undefined then. "
      "Within 4 n roundings of the largest element of a. The workspace on a GPU is the bytes of a "
      "and 4 MiB.",
      kSolverGpuDoc);
  schema.arguments = {
      SolverMatrix("a", "n x n, symmetric", Access::kRead, kernels::Of({A::kN, A::kN})),
      SolverMatrix("factor", "n x n; may be a", Access::kWrite, kernels::Of({A::kN, A::kN}),
                   {A::kA}),
      InfoArgument("0, or the order of the part that is not positive definite"),
      UploArgument(),
      SolverExtent("n", "rows and columns", Dimension(A::kA, 0)),
  };
  schema.workspace.bytes = &SolverBytes<&CholeskyParts>;
  return schema;
}

KernelSchema LuSolveSchema() {
  using A = LuSolveArguments;
  KernelSchema schema =
      SolverSchema("solver.lu_solve", "solver_lu_solve", kernels::Of({A::kN, A::kRightSides}));
  schema.summary = "solution x of a * x = b, by LU with partial pivoting, by cuSOLVER.";
  schema.doc = absl::StrCat(
      "Row-major matrices. The library, whose matrices are column-major, factors transpose(a) and "
      "solves with its transpose; several right-hand sides are transposed into the workspace and "
      "back. info is 0, or i when the i-th pivot is exactly 0; x is undefined then. The residual "
      "is "
      "within 16 n roundings of |a| * |x| for a that does not make pivots grow. The workspace on a "
      "GPU is twice the bytes of a, those of b, 8 bytes a row and 4 MiB.",
      kSolverGpuDoc);
  schema.arguments = {
      SolverMatrix("a", "n x n", Access::kRead, kernels::Of({A::kN, A::kN})),
      SolverMatrix("b", "n x nrhs", Access::kRead, kernels::Of({A::kN, A::kRightSides})),
      SolverMatrix("x", "n x nrhs; may be b", Access::kWrite, kernels::Of({A::kN, A::kRightSides}),
                   {A::kB}),
      InfoArgument("0, or the number of the pivot that is 0"),
      Choice("trans", "n: a * x = b, t: transpose(a) * x = b", {"n", "t"}),
      SolverExtent("n", "rows and columns of a", Dimension(A::kA, 0)),
      SolverExtent("nrhs", "right-hand sides, the columns of b; 1 for a vector",
                   Dimension(A::kB, 0)),
  };
  schema.workspace.bytes = &SolverBytes<&LuSolveParts>;
  return schema;
}

KernelSchema EighSchema() {
  using A = EighArguments;
  KernelSchema schema = SolverSchema("solver.eigh", "solver_eigh", kernels::Of({A::kN}));
  schema.summary = "eigenvalues and eigenvectors of a symmetric matrix, by cuSOLVER.";
  schema.doc = absl::StrCat(
      "w is ascending. Row i of v is an eigenvector of w[i], of length 1: a = transpose(v) * "
      "diag(w) "
      "* v, the transpose of what NumPy returns; its sign, and the basis of equal eigenvalues, are "
      "the library's to choose. The triangle that is not chosen is not read. info is 0, or "
      "positive "
      "when the iteration does not converge; w and v are undefined then. Within 32 n roundings of "
      "the largest eigenvalue. The workspace on a GPU is four times the bytes of a and 4 MiB.",
      kSolverGpuDoc);
  schema.arguments = {
      SolverMatrix("a", "n x n, symmetric", Access::kRead, kernels::Of({A::kN, A::kN})),
      SolverMatrix("w", "n eigenvalues", Access::kWrite, kernels::Of({A::kN})),
      SolverMatrix("v", "n x n, a row an eigenvector; may be a", Access::kWrite,
                   kernels::Of({A::kN, A::kN}), {A::kA}),
      InfoArgument("0, or positive: no convergence"),
      Choice("uplo", "the triangle of a that is read", {"lower", "upper"}),
      SolverExtent("n", "rows and columns", Dimension(A::kA, 0)),
  };
  schema.workspace.bytes = &SolverBytes<&EighParts>;
  return schema;
}

std::vector<FieldViolation> CheckSvd(const KernelSchema&, const BoundCall& call) {
  using A = SvdArguments;
  const int64_t wanted = std::min(call.I64(A::kM), call.I64(A::kN));
  if (call.I64(A::kK) == wanted) return {};
  return {{"k", absl::StrCat(call.I64(A::kK), " is not ", wanted,
                             ", the smaller of m and n; give s that many elements")}};
}

KernelSchema SvdSchema() {
  using A = SvdArguments;
  KernelSchema schema = SolverSchema("solver.svd", "solver_svd", kernels::Of({A::kM, A::kN}));
  schema.summary = "singular values and vectors of a matrix, the reduced ones, by cuSOLVER.";
  schema.doc = absl::StrCat(
      "a = u * diag(s) * vt, of row-major matrices; s is descending and not negative. The signs of "
      "a pair of vectors, and the basis of equal values, are the library's to choose. It takes "
      "matrices of at least as many rows as columns, column-major: a wide one is that as it lies, "
      "and a tall one and its vectors are transposed in the workspace. info is 0, or positive when "
      "the iteration does not converge; the results are undefined then. Within 64 (m + n) "
      "roundings "
      "of the largest singular value. The workspace on a GPU is five times the bytes of a (of a "
      "tall one, and those of u and vt) and 4 MiB.",
      kSolverGpuDoc);
  schema.arguments = {
      SolverMatrix("a", "m x n", Access::kRead, kernels::Of({A::kM, A::kN})),
      SolverMatrix("s", "k singular values", Access::kWrite, kernels::Of({A::kK})),
      SolverMatrix("u", "m x k, a column a left vector", Access::kWrite,
                   kernels::Of({A::kM, A::kK})),
      SolverMatrix("vt", "k x n, a row a right vector", Access::kWrite,
                   kernels::Of({A::kK, A::kN})),
      InfoArgument("0, or positive: no convergence"),
      SolverExtent("m", "rows of a", Dimension(A::kA, 1)),
      SolverExtent("n", "columns of a", Dimension(A::kA, 0)),
      SolverExtent("k", "the smaller of m and n", Dimension(A::kS, 0)),
  };
  schema.workspace.bytes = &SolverBytes<&SvdParts>;
  schema.check = &CheckSvd;
  return schema;
}

}  // namespace

std::vector<KernelSchema> SolverSchemas() {
  return {CholeskySchema(), LuSolveSchema(), EighSchema(), SvdSchema()};
}

std::optional<SolverWorkspace> SolverWorkspaceOf(const KernelSchema& schema,
                                                 const BoundCall& call) {
  if (schema.name == "solver.cholesky") return CholeskyParts(call);
  if (schema.name == "solver.lu_solve") return LuSolveParts(call);
  if (schema.name == "solver.eigh") return EighParts(call);
  return SvdParts(call);
}

}  // namespace weft::kernels
