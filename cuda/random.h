// cuRAND, the random numbers of the CUDA Toolkit, loaded when first needed.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/library_call.h"

namespace weft::cuda {

// Philox4x32-10 in the library's legacy order.
struct RandomNumbers {
  enum class Kind : uint8_t { kUniform, kNormal, kLogNormal } kind = Kind::kUniform;
  enum class Precision : uint8_t { kF32, kF64 } precision = Precision::kF32;
  uint64_t seed = 0;
  uint64_t offset = 0;
  uint64_t count = 0;  // even but for kUniform
  double mean = 0;
  double deviation = 1;
  CUdeviceptr destination = 0;  // aligned to four numbers
};

// Thread safety: all members may be called from any thread. The context outlives it, and it outlives
// the calls made.
class RandomGenerator {
 public:
  // Looks for libcurand.so.10 (toolkit_library.h; the variable is WEFT_CURAND). Errors: NOT_FOUND.
  static absl::StatusOr<std::unique_ptr<const RandomGenerator>> Load(const Context& context);
  ~RandomGenerator();

  // Makes a generator for this call alone: some ms, and some MiB of device memory for its states. Each
  // time that the call is put into a stream it starts at the offset again. That is not for capture,
  // and may block; not into two streams whose work overlaps, which would share the states.
  // Errors: RESOURCE_EXHAUSTED (its states do not fit the device), INTERNAL.
  absl::StatusOr<std::shared_ptr<const LibraryCall>> Prepare(const RandomNumbers& numbers) const;

 private:
  struct Library;
  explicit RandomGenerator(std::unique_ptr<const Library> library);
  const std::unique_ptr<const Library> library_;
};

}  // namespace weft::cuda
