#include "server/executor/sparse_arguments.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "cuda/call_sequence.h"
#include "kernels/library/sparse_schemas.h"

namespace weft::executor {
namespace {

using S = kernels::SparseArguments;
using Steps = std::vector<cuda::CallSequence::Step>;

// A kernel of sparse_check.cu, which strides by its grid over `elements`.
absl::Status AddStriding(const std::string& symbol, uint64_t elements, std::vector<uint64_t> words,
                         build::FunctionResolver& resolver, Steps& steps) {
  constexpr uint64_t kBlock = 256;
  constexpr uint64_t kMaxBlocks = 4096;
  const uint64_t blocks = std::clamp<uint64_t>((elements + kBlock - 1) / kBlock, 1, kMaxBlocks);
  WEFT_ASSIGN_OR_RETURN(const cuda::Function function, resolver.Resolve(symbol));
  steps.emplace_back(cuda::CallSequence::Kernel{function,
                                                {static_cast<uint32_t>(blocks), 1, 1},
                                                {static_cast<uint32_t>(kBlock), 1, 1},
                                                0,
                                                std::move(words)});
  return absl::OkStatus();
}

// Copies the indices, checks the copies, and makes them safe when one is bad.
absl::Status AddCheck(const build::LibraryRequest& request, const cuda::SparseProduct& product,
                      CUdeviceptr first_bad, build::FunctionResolver& resolver, Steps& steps) {
  const auto rows = static_cast<uint64_t>(product.rows);
  const auto columns = static_cast<uint64_t>(product.columns);
  const auto nonzeros = static_cast<uint64_t>(product.nonzeros);
  const uint64_t indices = rows + 1 + nonzeros;
  steps.emplace_back(cuda::CallSequence::Copy{product.row_offsets, request.addresses[S::kOffsets],
                                              (rows + 1) * sizeof(int32_t)});
  steps.emplace_back(cuda::CallSequence::Copy{
      product.column_indices, request.addresses[S::kColumns], nonzeros * sizeof(int32_t)});
  steps.emplace_back(cuda::CallSequence::Fill{first_bad, {0xffffffff, sizeof(uint32_t)}, 1});
  WEFT_RETURN_IF_ERROR(
      AddStriding("weft_csr_check", indices,
                  {product.row_offsets, product.column_indices, first_bad, rows, columns, nonzeros},
                  resolver, steps));
  return AddStriding("weft_csr_repair", indices,
                     {product.row_offsets, product.column_indices, first_bad, rows, nonzeros},
                     resolver, steps);
}

}  // namespace

cuda::SparseProduct SparseProductOf(const build::LibraryRequest& request) {
  const kernels::BoundCall& call = request.call;
  const kernels::SparseWorkspace parts = kernels::SparseWorkspaceOf(call);
  cuda::SparseProduct product;
  if (call.arguments[S::kValues].dtype == kernels::DType::kF64) {
    product.precision = cuda::SparseProduct::Precision::kF64;
  }
  if (request.schema.name == "sparse.spmm") {
    product.shape = cuda::SparseProduct::Shape::kMatrix;
    product.width = call.I64(S::kWidth);
  }
  product.rows = call.I64(S::kRows);
  product.columns = call.I64(S::kColumnCount);
  product.nonzeros = call.I64(S::kNonzeros);
  product.row_offsets = request.workspace + parts.offsets;
  product.column_indices = request.workspace + parts.columns;
  product.values = request.addresses[S::kValues];
  product.dense = request.addresses[S::kDense];
  product.result = request.addresses[S::kResult];
  product.alpha = call.arguments[S::kAlpha].scalar.AsDouble();
  product.workspace = request.workspace + parts.library;
  product.workspace_bytes =
      request.workspace_bytes - std::min(request.workspace_bytes, parts.library);
  return product;
}

absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> PrepareSparseProduct(
    const build::LibraryRequest& request, const cuda::Sparse& sparse,
    build::FunctionResolver& resolver) {
  const cuda::SparseProduct product = SparseProductOf(request);
  const CUdeviceptr first_bad =
      request.workspace + kernels::SparseWorkspaceOf(request.call).first_bad;
  // The schema has checked that it is within the buffer.
  const uint64_t words = request.call.arguments[S::kResult].touched_bytes / sizeof(uint32_t);
  Steps steps;
  WEFT_RETURN_IF_ERROR(AddCheck(request, product, first_bad, resolver, steps));
  steps.emplace_back(cuda::CallSequence::Fill{product.result, {0, sizeof(uint32_t)}, words});
  if (product.nonzeros != 0) {  // else zeros are the product
    WEFT_ASSIGN_OR_RETURN(std::shared_ptr<const cuda::LibraryCall> call, sparse.Prepare(product));
    steps.emplace_back(std::move(call));
  }
  WEFT_RETURN_IF_ERROR(AddStriding("weft_csr_finish", words,
                                   {product.result, first_bad, request.addresses[S::kInfo], words},
                                   resolver, steps));
  return std::make_shared<cuda::CallSequence>(std::move(steps));
}

}  // namespace weft::executor
