#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kernels/bind.h"
#include "kernels/library/library_schemas.h"
#include "kernels/library/schema_parts.h"

namespace weft::kernels {
namespace {

using M = MatmulArguments;

// The library counts batches in 32 bits, and its kernels index rows and columns so.
constexpr int64_t kMaxMatmulExtent = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxStride = int64_t{1} << 40;
constexpr int64_t kPacked = -1;

struct OperandArguments {
  uint32_t rows;
  uint32_t columns;
  std::optional<uint32_t> transposed_by;
  uint32_t leading;
  uint32_t stride;
};

OperandArguments ArgumentsOf(MatmulOperand operand) {
  switch (operand) {
    case MatmulOperand::kA:
      return {M::kM, M::kK, M::kTransA, M::kLda, M::kStrideA};
    case MatmulOperand::kB:
      return {M::kK, M::kN, M::kTransB, M::kLdb, M::kStrideB};
    case MatmulOperand::kC:
      return {M::kM, M::kN, std::nullopt, M::kLdc, M::kStrideC};
    case MatmulOperand::kD:
      break;
  }
  return {M::kM, M::kN, std::nullopt, M::kLdd, M::kStrideD};
}

// Elements from the first to the last of one matrix.
std::optional<uint64_t> MatrixSpanOf(const MatrixLayout& layout) {
  return TimesPlus(layout.rows - 1, layout.row_stride, layout.columns);
}

template <MatmulOperand kOperand>
std::optional<uint64_t> ElementsOf(const BoundCall& call) {
  const std::optional<MatrixLayout> layout = MatmulLayout(call, kOperand);
  if (!layout.has_value()) return std::nullopt;
  const uint64_t batch = static_cast<uint64_t>(call.I64(M::kBatch));
  if (batch == 0 || layout->rows == 0 || layout->columns == 0) return 0;
  const std::optional<uint64_t> span = MatrixSpanOf(*layout);
  if (!span.has_value()) return std::nullopt;
  return TimesPlus(batch - 1, layout->matrix_stride, *span);
}

template <MatmulOperand kOperand>
ArgumentSchema Matrix(std::string name, std::string doc, Access access, DTypeRule dtype) {
  const OperandArguments arguments = ArgumentsOf(kOperand);
  ArgumentSchema argument = Buffer(std::move(name), std::move(doc), access, std::move(dtype),
                                   kernels::Of({M::kBatch, arguments.rows, arguments.columns}));
  BufferSchema& buffer = std::get<BufferSchema>(argument.kind);
  buffer.transposed_by = arguments.transposed_by;
  buffer.elements = &ElementsOf<kOperand>;
  return argument;
}

ScalarDefault SwappedDimension(uint32_t buffer, uint32_t dimension, uint32_t transposed_by) {
  ScalarDefault value = Dimension(buffer, dimension);
  value.transposed_by = transposed_by;
  return value;
}

ArgumentSchema RowStride(const char* name, const char* matrix) {
  return BoundedInteger(
      name, absl::StrCat("elements of ", matrix, " from row to row, as stored; 0: packed"),
      Default(int64_t{0}), 0, kMaxStride);
}
ArgumentSchema MatrixStride(const char* name, const char* matrix) {
  return BoundedInteger(
      name, absl::StrCat("elements from one ", matrix, " of the batch to the next; -1: packed"),
      Default(kPacked), kPacked, kMaxStride);
}

using MatmulViolations = std::vector<FieldViolation>;

void CheckBias(const BoundCall& call, MatmulViolations& violations) {
  const auto epilogue = static_cast<M::Epilogue>(call.Choice(M::kEpilogue));
  const bool wanted = epilogue >= M::Epilogue::kBias;
  if (wanted && !call.IsGiven(M::kBias)) {
    violations.push_back({"bias", "is missing; the epilogue adds it"});
  } else if (!wanted && call.IsGiven(M::kBias)) {
    violations.push_back(
        {"bias",
         "is given, but the epilogue does not add it; choose bias, relu_bias or gelu_bias"});
  }
}

// Names of the arguments of one operand.
struct OperandNames {
  MatmulOperand operand;
  const char* leading;
  const char* stride;
};

void CheckLayout(const BoundCall& call, const OperandNames& names, MatmulViolations& violations) {
  const std::optional<MatrixLayout> layout = MatmulLayout(call, names.operand);
  if (!layout.has_value()) {
    violations.push_back({names.leading, "makes a matrix of more elements than 64 bits count"});
    return;
  }
  if (layout->row_stride < layout->columns) {
    violations.push_back(
        {names.leading, absl::StrCat(layout->row_stride, " is below the ", layout->columns,
                                     " elements of a row; leave it out for packed rows")});
    return;
  }
  const bool may_overlap = names.operand != MatmulOperand::kD || call.I64(M::kBatch) <= 1;
  const std::optional<uint64_t> span = layout->rows == 0 ? 0 : MatrixSpanOf(*layout);
  if (may_overlap || !span.has_value() || layout->matrix_stride >= *span) return;
  violations.push_back({names.stride, absl::StrCat(layout->matrix_stride,
                                                   " makes the results of the batch overlap; "
                                                   "each has ",
                                                   *span, " elements")});
}

MatmulViolations CheckMatmul(const KernelSchema&, const BoundCall& call) {
  MatmulViolations violations;
  CheckBias(call, violations);
  if (call.arguments[M::kBeta].scalar.AsDouble() != 0 && !call.IsGiven(M::kC)) {
    violations.push_back({"c", "is missing; beta is not 0"});
  }
  const bool tf32 = static_cast<M::Compute>(call.Choice(M::kCompute)) == M::Compute::kTF32;
  if (tf32 && call.arguments[M::kA].dtype != DType::kF32) {
    violations.push_back(
        {"compute", absl::StrCat("tf32 rounds f32 operands, but a is ",
                                 NameOf(call.arguments[M::kA].dtype), "; leave it out")});
  }
  for (const OperandNames& names : {OperandNames{MatmulOperand::kA, "lda", "stride_a"},
                                    {MatmulOperand::kB, "ldb", "stride_b"},
                                    {MatmulOperand::kC, "ldc", "stride_c"},
                                    {MatmulOperand::kD, "ldd", "stride_d"}}) {
    CheckLayout(call, names, violations);
  }
  return violations;
}

std::optional<uint64_t> MatmulWorkspace(const BoundCall&) { return kMatmulWorkspaceBytes; }

ArgumentSchema MatmulSize(const char* name, const char* doc, ScalarDefault value, int64_t min) {
  return BoundedInteger(name, doc, value, min, kMaxMatmulExtent);
}

std::vector<ArgumentSchema> MatmulArgumentSchemas() {
  const DTypeRule types = OneOf({DType::kF32, DType::kF16, DType::kBF16});
  return {
      Matrix<MatmulOperand::kA>("a", "m x k; k x m when trans_a is t", Access::kRead, types),
      Matrix<MatmulOperand::kB>("b", "k x n; n x k when trans_b is t", Access::kRead,
                                SameAs(M::kA)),
      Optional(Matrix<MatmulOperand::kC>("c", "m x n; needed when beta is not 0", Access::kRead,
                                         SameAs(M::kA))),
      Optional(Buffer("bias", "n elements, one a column of d", Access::kRead, SameAs(M::kA),
                      kernels::Of({M::kN}))),
      [] {
        ArgumentSchema d =
            Matrix<MatmulOperand::kD>("d", "m x n; may be c", Access::kWrite, SameAs(M::kA));
        std::get<BufferSchema>(d.kind).in_place_with = {M::kC};
        return d;
      }(),
      Choice("trans_a", "n: as it is, t: transposed", {"n", "t"}),
      Choice("trans_b", "n: as it is, t: transposed", {"n", "t"}),
      MatmulSize("m", "rows of d", SwappedDimension(M::kA, 1, M::kTransA), 0),
      MatmulSize("n", "columns of d", SwappedDimension(M::kB, 0, M::kTransB), 0),
      MatmulSize("k", "terms of each sum", SwappedDimension(M::kA, 0, M::kTransA), 1),
      MatmulSize("batch", "products, one behind the other", kernels::Leading(M::kA, 2), 0),
      Scalar("alpha", "factor of a * b", OneOf({DType::kF32}), Default(1.0)),
      Scalar("beta", "factor of c; 0: c is not read", OneOf({DType::kF32}), Default(0.0)),
      Choice("epilogue", "what is done to the sums before they are rounded",
             {"none", "relu", "gelu", "bias", "relu_bias", "gelu_bias"}),
      Choice("compute", "of f32: f32, or tf32, which rounds the operands to 10 bits",
             {"f32", "tf32"}),
      RowStride("lda", "a"),
      RowStride("ldb", "b"),
      RowStride("ldc", "c"),
      RowStride("ldd", "d"),
      MatrixStride("stride_a", "a"),
      MatrixStride("stride_b", "b"),
      MatrixStride("stride_c", "c"),
      MatrixStride("stride_d", "d"),
  };
}

}  // namespace

std::optional<MatrixLayout> MatmulLayout(const BoundCall& call, MatmulOperand operand) {
  const OperandArguments arguments = ArgumentsOf(operand);
  const auto extent = [&call](uint32_t argument) {
    return static_cast<uint64_t>(std::max<int64_t>(call.I64(argument), 0));
  };
  MatrixLayout layout;
  layout.rows = extent(arguments.rows);
  layout.columns = extent(arguments.columns);
  const bool transposed =
      arguments.transposed_by.has_value() && call.Choice(*arguments.transposed_by) != 0;
  if (transposed) std::swap(layout.rows, layout.columns);
  layout.row_stride = extent(arguments.leading);
  if (layout.row_stride == 0) layout.row_stride = layout.columns;
  layout.matrix_stride = extent(arguments.stride);
  if (call.I64(arguments.stride) != kPacked) return layout;
  const std::optional<uint64_t> packed = TimesPlus(layout.rows, layout.row_stride, 0);
  if (!packed.has_value()) return std::nullopt;
  layout.matrix_stride = *packed;
  return layout;
}

KernelSchema BlasMatmulSchema() {
  KernelSchema schema;
  schema.name = "blas.matmul";
  schema.summary = "d = epilogue(alpha * a * b + beta * c), by cuBLASLt.";
  schema.doc =
      "Matrices are row-major; a batch is one behind the other. Sums in f32, in an order that the "
      "library chooses, rounded once to the type of d; gelu is the one with tanh, to 5e-4. Within "
      "(k + 8) roundings of f32 on the sum of the absolute terms of the exact result, and one "
      "rounding to the type of d; tf32 keeps 10 bits of a and b. A stride of 0 uses one matrix for "
      "the whole batch. On a GPU it takes 32 MiB of workspace.";
  schema.arguments = MatmulArgumentSchemas();
  schema.key = {SymbolKey::Kind::kDType, {M::kA}};
  schema.workspace.bytes = &MatmulWorkspace;
  schema.phases = {TwinPhase("blas_matmul", kernels::Of({M::kBatch, M::kM, M::kN}))};
  schema.library = LibraryTraits{"cuBLASLt", LibraryTraits::Recording::kCaptured};
  schema.check = &CheckMatmul;
  return schema;
}

}  // namespace weft::kernels
