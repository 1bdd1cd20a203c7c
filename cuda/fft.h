// cuFFT, the Fourier transforms of the CUDA Toolkit, loaded when first needed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/library_call.h"

namespace weft::cuda {

// A batch of packed transforms, one behind the other.
struct FourierTransform {
  enum class Kind : uint8_t { kC2C, kR2C, kC2R } kind = Kind::kC2C;
  enum class Precision : uint8_t { kF32, kF64 } precision = Precision::kF32;
  enum class Direction : uint8_t { kForward, kInverse } direction = Direction::kForward;  // of C2C
  std::vector<uint64_t> extents;  // 1 to 3, outermost first; of the reals where there are some
  uint64_t batch = 1;
  CUdeviceptr source = 0;
  CUdeviceptr destination = 0;
  CUdeviceptr workspace = 0;  // aligned to 256
  uint64_t workspace_bytes = 0;
};

// Thread safety: all members may be called from any thread. The context outlives it, and it outlives
// the calls made.
class Fft {
 public:
  // Looks for libcufft.so.12, then .11 (toolkit_library.h; the variable is WEFT_CUFFT).
  // Errors: NOT_FOUND.
  static absl::StatusOr<std::unique_ptr<const Fft>> Load(const Context& context);
  ~Fft();

  // Makes the plan: 0.1 to some 100 ms, and device memory for its tables.
  // Errors: RESOURCE_EXHAUSTED (its tables do not fit the device; or the plan needs more than the
  // workspace has, with both figures), UNIMPLEMENTED, INTERNAL.
  absl::StatusOr<std::shared_ptr<const LibraryCall>> Prepare(
      const FourierTransform& transform) const;

 private:
  struct Library;
  explicit Fft(std::unique_ptr<const Library> library);
  const std::unique_ptr<const Library> library_;
};

}  // namespace weft::cuda
