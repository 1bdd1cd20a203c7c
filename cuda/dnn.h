// cuDNN, the convolutions for neural networks, loaded when first needed. It is not a part of the CUDA
// Toolkit; a build without its headers has no convolution on GPUs.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/library_call.h"

namespace weft::cuda {

// destination = activation(images correlated with filters + bias), all packed, NCHW.
struct Convolution {
  enum class Type : uint8_t { kF32, kF16 } type = Type::kF32;
  enum class Activation : uint8_t { kNone, kRelu } activation = Activation::kNone;
  int32_t images = 1, channels = 1, height = 1, width = 1;
  int32_t filters = 1, filter_height = 1, filter_width = 1;
  int32_t out_height = 1, out_width = 1;
  int32_t pad_h = 0, pad_w = 0, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  CUdeviceptr source = 0;
  CUdeviceptr filter = 0;
  CUdeviceptr bias = 0;
  CUdeviceptr destination = 0;
  CUdeviceptr workspace = 0;  // aligned to 256
  uint64_t workspace_bytes = 0;
};

// Thread safety: all members may be called from any thread. The context outlives it, and it outlives
// the calls made.
class Dnn {
 public:
  // Looks for libcudnn.so.9 (toolkit_library.h; the variable is WEFT_CUDNN). Errors: NOT_FOUND.
  static absl::StatusOr<std::unique_ptr<const Dnn>> Load(const Context& context);
  ~Dnn();

  // Makes a handle of the library for this call alone: up to some 100 ms, and some MiB of device
  // memory. Where the call needs more than the workspace has, it gets memory of its own for its life.
  // Putting it into a stream is not for capture (the library may load code then), and may block; not
  // into two streams whose work overlaps.
  // Errors: RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL.
  absl::StatusOr<std::shared_ptr<const LibraryCall>> Prepare(const Convolution& convolution) const;

 private:
  struct Library;
  explicit Dnn(std::unique_ptr<const Library> library);
  const std::unique_ptr<const Library> library_;
};

}  // namespace weft::cuda
