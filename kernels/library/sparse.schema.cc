#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "kernels/library/schema_parts.h"
#include "kernels/library/sparse_schemas.h"

namespace weft::kernels {
namespace {

using S = SparseArguments;

// Positions of indices are reported in an i32.
constexpr int64_t kMaxSparseExtent = std::numeric_limits<int32_t>::max() - 1;

constexpr char kSparseDoc[] =
    " The matrix is in CSR form: of row r the nonzeros row_offsets[r] to row_offsets[r+1]. Offsets "
    "start at 0, never fall and end at nnz (at most rows * cols); columns, in any order in a row, "
    "are 0 to cols-1; equal ones add up. All of them are checked on the device, in a copy that the "
    "library then reads: "
    "info "
    "is 0, or the place of the first one that is wrong, counted from 1, offsets before columns; "
    "the "
    "result is zeros then. Within (nnz of the row + 2) roundings of the sum of the absolute terms. "
    "The "
    "workspace on a GPU is a copy of the indices, 8 bytes a row and a nonzero, and 1 MiB.";

std::vector<FieldViolation> CheckSparse(const KernelSchema&, const BoundCall& call) {
  const int64_t nonzeros = call.I64(S::kNonzeros);
  const int64_t rows = call.I64(S::kRows);
  if (rows + nonzeros >= kMaxSparseExtent) {
    return {{"nnz",
             absl::StrCat(nonzeros, " and ", rows, " rows are more indices than an i32 counts")}};
  }
  // cuSPARSE takes no more, even where equal indices would make sense of them. Both are below 2^31.
  const int64_t elements = rows * call.I64(S::kColumnCount);
  if (nonzeros <= elements) return {};
  return {{"nnz", absl::StrCat(nonzeros, " are more than the ", elements,
                               " elements of the matrix; add up those with equal indices")}};
}

std::optional<uint64_t> SparseBytes(const BoundCall& call) { return SparseWorkspaceOf(call).bytes; }

KernelSchema SparseSchema(std::string name, std::string stem, std::string summary,
                          const std::string& doc) {
  KernelSchema schema;
  schema.name = std::move(name);
  schema.summary = std::move(summary);
  schema.doc = absl::StrCat(doc, kSparseDoc);
  schema.key = {SymbolKey::Kind::kDType, {S::kValues}};
  schema.phases = {TwinPhase(std::move(stem), kernels::Of({S::kRows}))};
  schema.workspace.bytes = &SparseBytes;
  schema.library = LibraryTraits{"cuSPARSE", LibraryTraits::Recording::kCaptured};
  schema.check = &CheckSparse;
  return schema;
}

// The library moves 16 bytes at once.
ArgumentSchema SparseBuffer(std::string name, std::string doc, Access access, DTypeRule dtype,
                            Product shape) {
  ArgumentSchema argument =
      Buffer(std::move(name), std::move(doc), access, std::move(dtype), std::move(shape));
  std::get<BufferSchema>(argument.kind).alignment = 4;
  return argument;
}

// Those before the dense operand.
std::vector<ArgumentSchema> CsrArguments() {
  Product offsets = {{S::kRows, 1, Factor::Take::kPlusOne}};
  return {
      Buffer("row_offsets", "where each row starts, and where the last ends", Access::kRead,
             OneOf({DType::kI32}), std::move(offsets)),
      Buffer("columns", "of each nonzero", Access::kRead, OneOf({DType::kI32}),
             kernels::Of({S::kNonzeros})),
      SparseBuffer("values", "of each nonzero", Access::kRead, OneOf({DType::kF32, DType::kF64}),
                   kernels::Of({S::kNonzeros})),
  };
}

ArgumentSchema SparseExtent(std::string name, std::string doc, ScalarDefault value, int64_t min) {
  return BoundedInteger(std::move(name), std::move(doc), value, min, kMaxSparseExtent);
}

ArgumentSchema SparseInfo() {
  return Buffer("info", "0, or the place of the first bad index", Access::kWrite,
                OneOf({DType::kI32}), {Constant(1)});
}

KernelSchema SpmvSchema() {
  KernelSchema schema = SparseSchema("sparse.spmv", "sparse_spmv",
                                     "y = alpha * a * x of a sparse matrix, by cuSPARSE.",
                                     "The product with a vector.");
  schema.arguments = CsrArguments();
  schema.arguments.push_back(SparseBuffer("x", "cols elements", Access::kRead, SameAs(S::kValues),
                                          kernels::Of({S::kColumnCount})));
  schema.arguments.push_back(SparseBuffer("y", "rows elements", Access::kWrite, SameAs(S::kValues),
                                          kernels::Of({S::kRows})));
  schema.arguments.push_back(SparseInfo());
  schema.arguments.push_back(Scalar("alpha", "factor", SameAs(S::kValues), Default(1.0)));
  schema.arguments.push_back(SparseExtent("rows", "of the matrix", Count(S::kResult), 1));
  schema.arguments.push_back(SparseExtent("cols", "of the matrix", Count(S::kDense), 1));
  schema.arguments.push_back(SparseExtent("nnz", "nonzeros", Count(S::kValues), 0));
  return schema;
}

KernelSchema SpmmSchema() {
  KernelSchema schema = SparseSchema(
      "sparse.spmm", "sparse_spmm",
      "c = alpha * a * b of a sparse and a dense matrix, by cuSPARSE.", "b and c are row-major.");
  schema.arguments = CsrArguments();
  schema.arguments.push_back(SparseBuffer("b", "cols x n", Access::kRead, SameAs(S::kValues),
                                          kernels::Of({S::kColumnCount, S::kWidth})));
  schema.arguments.push_back(SparseBuffer("c", "rows x n", Access::kWrite, SameAs(S::kValues),
                                          kernels::Of({S::kRows, S::kWidth})));
  schema.arguments.push_back(SparseInfo());
  schema.arguments.push_back(Scalar("alpha", "factor", SameAs(S::kValues), Default(1.0)));
  schema.arguments.push_back(SparseExtent("rows", "of the matrix", Dimension(S::kResult, 1), 1));
  schema.arguments.push_back(SparseExtent("cols", "of the matrix", Dimension(S::kDense, 1), 1));
  schema.arguments.push_back(SparseExtent("nnz", "nonzeros", Count(S::kValues), 0));
  schema.arguments.push_back(SparseExtent("n", "columns of b and c", Dimension(S::kDense, 0), 1));
  return schema;
}

}  // namespace

std::vector<KernelSchema> SparseSchemas() { return {SpmvSchema(), SpmmSchema()}; }

SparseWorkspace SparseWorkspaceOf(const BoundCall& call) {
  constexpr uint64_t kFixedBytes = uint64_t{1} << 20;
  // Both below 2^31: no sum overflows.
  const auto rows = static_cast<uint64_t>(call.I64(S::kRows));
  const auto nonzeros = static_cast<uint64_t>(call.I64(S::kNonzeros));
  SparseWorkspace parts;
  parts.columns = AlignUp((rows + 1) * sizeof(int32_t), kWorkspaceAlignment);
  parts.first_bad = parts.columns + AlignUp(nonzeros * sizeof(int32_t), kWorkspaceAlignment);
  parts.library = parts.first_bad + kWorkspaceAlignment;
  parts.bytes = parts.library + AlignUp(8 * (rows + nonzeros), kWorkspaceAlignment) + kFixedBytes;
  return parts;
}

}  // namespace weft::kernels
