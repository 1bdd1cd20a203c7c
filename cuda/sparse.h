// cuSPARSE, the products with sparse matrices of the CUDA Toolkit, loaded when first needed.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/library_call.h"

namespace weft::cuda {

// result = alpha × matrix × dense, of a matrix in CSR form with 32-bit indices, and row-major dense
// ones. The library follows the indices wherever they point: they must have been checked.
struct SparseProduct {
  enum class Precision : uint8_t { kF32, kF64 } precision = Precision::kF32;
  enum class Shape : uint8_t { kVector, kMatrix } shape = Shape::kVector;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t nonzeros = 1;         // not 0
  int64_t width = 1;            // of kMatrix: columns of the dense ones
  CUdeviceptr row_offsets = 0;  // all addresses are multiples of 16
  CUdeviceptr column_indices = 0;
  CUdeviceptr values = 0;
  CUdeviceptr dense = 0;
  CUdeviceptr result = 0;  // holds zeros before: they are multiplied by 0
  double alpha = 1;
  CUdeviceptr workspace = 0;  // aligned to 256
  uint64_t workspace_bytes = 0;
};

// Thread safety: all members may be called from any thread. The context outlives it, and it outlives
// the calls made.
class Sparse {
 public:
  // Looks for libcusparse.so.12 (toolkit_library.h; the variable is WEFT_CUSPARSE).
  // Errors: NOT_FOUND.
  static absl::StatusOr<std::unique_ptr<const Sparse>> Load(const Context& context);
  ~Sparse();

  // Makes a handle of the library for this call alone: some ms. Where the call needs more than the
  // workspace has, it gets memory of its own for its life. May be captured.
  // Errors: RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL.
  absl::StatusOr<std::shared_ptr<const LibraryCall>> Prepare(const SparseProduct& product) const;

 private:
  struct Library;
  explicit Sparse(std::unique_ptr<const Library> library);
  const std::unique_ptr<const Library> library_;
};

}  // namespace weft::cuda
