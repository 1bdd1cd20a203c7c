// cuSOLVER, the dense solvers of the CUDA Toolkit, loaded when first needed.
//
// Matrices here are column-major and packed, as the library has them: a row-major matrix is its
// transpose. server/executor/solver_arguments turns one into the other.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/library_call.h"

namespace weft::cuda {

struct DenseProblem {
  enum class Kind : uint8_t {
    kCholesky,  // `matrix` becomes its factor (potrf)
    kLuSolve,   // `left`: the right-hand sides, which become the solution (getrf, getrs)
    kEigen,     // `matrix` becomes the eigenvectors, its columns; `values` (syevd)
    kSvd,  // `values`; `left`: rows × columns; `right`: columns × columns, transposed (gesvd)
  } kind = Kind::kCholesky;
  enum class Precision : uint8_t { kF32, kF64 } precision = Precision::kF32;
  enum class Triangle : uint8_t { kLower, kUpper } triangle = Triangle::kLower;
  enum class Transpose : uint8_t { kNo, kYes } transpose = Transpose::kNo;  // of kLuSolve
  int64_t rows = 1;
  int64_t columns = 1;  // of kSvd: at most `rows`; else `rows`
  int64_t right_sides = 1;
  CUdeviceptr source = 0;       // copied to `matrix` first; the same address: it is there already
  CUdeviceptr left_source = 0;  // of kLuSolve, likewise
  CUdeviceptr matrix = 0;
  CUdeviceptr values = 0;
  CUdeviceptr left = 0;
  CUdeviceptr right = 0;
  CUdeviceptr pivots = 0;     // of kLuSolve: 8 bytes a row, and 8 more
  CUdeviceptr info = 0;       // one i32
  CUdeviceptr workspace = 0;  // aligned to 256
  uint64_t workspace_bytes = 0;
};

// Thread safety: all members may be called from any thread. The context outlives it, and it outlives
// the calls made.
class Solver {
 public:
  // Looks for libcusolver.so.12, then .11 (toolkit_library.h; the variable is WEFT_CUSOLVER).
  // Errors: NOT_FOUND.
  static absl::StatusOr<std::unique_ptr<const Solver>> Load(const Context& context);
  ~Solver();

  // Makes a handle of the library for this call alone (its state on the device is no other's; some
  // MiB of device memory, some ms), and asks what memory the call needs. Where that is more than the
  // workspace has, the call gets memory of its own, on the device or the host, for its life.
  // A call must not be put into two streams whose work overlaps: they would share that memory. Putting
  // it into a stream is not for capture, and may block until all work before it in the stream, and its
  // own, is done.
  // Errors: RESOURCE_EXHAUSTED (its memory does not fit), UNIMPLEMENTED, INTERNAL.
  absl::StatusOr<std::shared_ptr<const LibraryCall>> Prepare(const DenseProblem& problem) const;

 private:
  struct Library;
  explicit Solver(std::unique_ptr<const Library> library);
  const std::unique_ptr<const Library> library_;
};

}  // namespace weft::cuda
