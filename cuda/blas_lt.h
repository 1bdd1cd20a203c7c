// cuBLASLt, the matrix products of the CUDA Toolkit, loaded when first needed.
//
//   WEFT_ASSIGN_OR_RETURN(std::unique_ptr<const BlasLt> blas, BlasLt::Load(context));
//   WEFT_ASSIGN_OR_RETURN(std::shared_ptr<const LibraryCall> call, blas->Prepare(product));
//   WEFT_RETURN_IF_ERROR(call->Enqueue(stream));
//
// The library's matrices are column-major, those here row-major. A row-major matrix is its own
// transpose in column-major order, so d = op(a) op(b) is asked for as dᵀ = op(b)ᵀ op(a)ᵀ: operands
// and extents change places, and no element moves. The bias, one value a column of d, is then one a
// row, as the library takes it.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/library_call.h"

namespace weft::cuda {

// A batch of row-major matrices.
struct BatchedMatrix {
  CUdeviceptr address = 0;
  uint64_t rows = 0;  // as stored
  uint64_t columns = 0;
  uint64_t row_stride = 0;     // elements, at least `columns`
  uint64_t matrix_stride = 0;  // elements; 0: one matrix for the whole batch
};

struct MatrixProduct {
  enum class Type : uint8_t { kF32, kF16, kBF16 } type = Type::kF32;
  // Of f32 operands; the others are multiplied exactly and summed in f32.
  enum class Compute : uint8_t { kF32, kTF32 } compute = Compute::kF32;
  enum class Activation : uint8_t { kNone, kRelu, kGelu } activation = Activation::kNone;
  enum class Transpose : uint8_t { kNo, kYes } trans_a = Transpose::kNo, trans_b = Transpose::kNo;
  BatchedMatrix a;
  BatchedMatrix b;
  BatchedMatrix c;  // address 0: none; beta is 0
  BatchedMatrix d;
  CUdeviceptr bias = 0;  // 0: none
  uint32_t batch = 1;
  float alpha = 1;
  float beta = 0;
  CUdeviceptr workspace = 0;  // aligned to 256
  uint64_t workspace_bytes = 0;
};

// Thread safety: all members may be called from any thread. The context outlives it, and it outlives
// the calls made.
class BlasLt {
 public:
  // Looks for libcublasLt.so.13, then .12 (toolkit_library.h; the variable is WEFT_CUBLASLT).
  // Blocks for some tens of ms. Errors: NOT_FOUND; INTERNAL (it cannot be set up).
  static absl::StatusOr<std::unique_ptr<const BlasLt>> Load(const Context& context);
  ~BlasLt();

  // Asks the library's heuristic for the algorithm, within the workspace; some 10 µs.
  // Errors: UNIMPLEMENTED (it has no algorithm for this product), INTERNAL.
  absl::StatusOr<std::shared_ptr<const LibraryCall>> Prepare(const MatrixProduct& product) const;

 private:
  struct Library;
  explicit BlasLt(std::unique_ptr<const Library> library);
  const std::unique_ptr<const Library> library_;
};

}  // namespace weft::cuda
