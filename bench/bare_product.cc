#include "bench/bare_product.h"

#include <utility>

#include "base/status_macros.h"
#include "bench/bare_graph.h"
#include "kernels/library/library_schemas.h"

namespace weft::bench {
namespace {

cuda::BatchedMatrix SquareAt(CUdeviceptr address, uint64_t extent) {
  cuda::BatchedMatrix matrix;
  matrix.address = address;
  matrix.rows = matrix.columns = matrix.row_stride = extent;
  matrix.matrix_stride = extent * extent;
  return matrix;
}

}  // namespace

absl::Status BareProduct::FindGpu() { return LoadDriverByName("cuda").status(); }

absl::StatusOr<std::unique_ptr<BareProduct>> BareProduct::Create(
    uint64_t extent, std::span<const std::byte> elements) {
  std::unique_ptr<BareProduct> bare(new BareProduct);
  WEFT_ASSIGN_OR_RETURN(bare->driver_, LoadDriverByName("cuda"));
  WEFT_ASSIGN_OR_RETURN(bare->context_, cuda::Context::Create(*bare->driver_, 0));
  WEFT_RETURN_IF_ERROR(bare->Prepare(extent, elements));
  return bare;
}

absl::StatusOr<CUdeviceptr> BareProduct::Allocate(size_t size_bytes) {
  WEFT_ASSIGN_OR_RETURN(const size_t granularity, cuda::AllocationGranularity(*context_));
  const size_t rounded = (size_bytes + granularity - 1) / granularity * granularity;
  WEFT_ASSIGN_OR_RETURN(cuda::Allocation memory, cuda::Allocation::Create(*context_, rounded));
  WEFT_ASSIGN_OR_RETURN(cuda::AddressRange range, cuda::AddressRange::Reserve(*context_, rounded));
  WEFT_ASSIGN_OR_RETURN(cuda::Mapping mapping,
                        cuda::Mapping::Create(*context_, range.address(), memory));
  placed_.push_back({std::move(memory), std::move(range), std::move(mapping)});
  return placed_.back().mapping.address();
}

absl::Status BareProduct::Prepare(uint64_t extent, std::span<const std::byte> elements) {
  cuda::MatrixProduct product;
  product.type = cuda::MatrixProduct::Type::kBF16;
  for (cuda::BatchedMatrix* matrix : {&product.a, &product.b, &product.d}) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr address, Allocate(elements.size()));
    WEFT_RETURN_IF_ERROR(cuda::CopyToDevice(*context_, address, elements.data(), elements.size()));
    *matrix = SquareAt(address, extent);
  }
  WEFT_ASSIGN_OR_RETURN(product.workspace, Allocate(kernels::kMatmulWorkspaceBytes));
  product.workspace_bytes = kernels::kMatmulWorkspaceBytes;
  WEFT_ASSIGN_OR_RETURN(stream_, cuda::Stream::Create(*context_, {}));
  WEFT_ASSIGN_OR_RETURN(blas_, cuda::BlasLt::Load(*context_));
  WEFT_ASSIGN_OR_RETURN(call_, blas_->Prepare(product));
  return absl::OkStatus();
}

absl::Status BareProduct::MultiplyAndWait(int count) {
  for (int i = 0; i < count; ++i) WEFT_RETURN_IF_ERROR(call_->Enqueue(stream_->ref()));
  return stream_->ref().Synchronize();
}

}  // namespace weft::bench
