// Texture objects over device memory: bytes that kernels read as texels, by index or filtered.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/unique_handle.h"

namespace weft::cuda {

namespace internal {
void DestroyTexture(const ContextRef& context, CUtexObject texture);
}  // namespace internal

struct TextureDescription {
  CUdeviceptr address = 0;  // a multiple of CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  uint32_t channels = 1;  // 1, 2 or 4
  size_t width = 0;       // texels
  size_t height = 0;      // rows; 0: one dimension, fetched by index
  size_t pitch_bytes =
      0;  // from row to row; a multiple of CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT
  CUaddress_mode address_mode = CU_TR_ADDRESS_MODE_CLAMP;
  CUfilter_mode filter_mode = CU_TR_FILTER_MODE_POINT;
  bool normalized_coordinates = false;
  bool normalized_values = false;  // integers are read as floats
};

// A value that a kernel takes as cudaTextureObject_t. The memory outlives it; launches that use it end
// before it does. Thread safety: immutable.
class Texture {
 public:
  // Errors: INVALID_ARGUMENT (what the driver refuses: misaligned, too large).
  static absl::StatusOr<Texture> Create(const Context& context,
                                        const TextureDescription& description);

  CUtexObject handle() const { return owned_.get(); }

 private:
  using Owned = UniqueHandle<CUtexObject, internal::DestroyTexture>;
  explicit Texture(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

}  // namespace weft::cuda
