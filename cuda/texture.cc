#include "cuda/texture.h"

#include <algorithm>
#include <iterator>

#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace internal {

void DestroyTexture(const ContextRef& context, CUtexObject texture) {
  const ScopedContext current(context);
  ReportReleaseError(*context.driver, context.driver->cuTexObjectDestroy(texture),
                     "cuTexObjectDestroy");
}

}  // namespace internal

namespace {

size_t ChannelBytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    default:
      return 4;
  }
}

CUDA_RESOURCE_DESC ResourceOf(const TextureDescription& texture) {
  CUDA_RESOURCE_DESC resource = {};
  if (texture.height == 0) {
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = texture.address;
    resource.res.linear.format = texture.format;
    resource.res.linear.numChannels = texture.channels;
    resource.res.linear.sizeInBytes =
        texture.width * texture.channels * ChannelBytes(texture.format);
  } else {
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = texture.address;
    resource.res.pitch2D.format = texture.format;
    resource.res.pitch2D.numChannels = texture.channels;
    resource.res.pitch2D.width = texture.width;
    resource.res.pitch2D.height = texture.height;
    resource.res.pitch2D.pitchInBytes = texture.pitch_bytes;
  }
  return resource;
}

CUDA_TEXTURE_DESC SamplerOf(const TextureDescription& texture) {
  CUDA_TEXTURE_DESC sampler = {};
  std::fill(std::begin(sampler.addressMode), std::end(sampler.addressMode), texture.address_mode);
  sampler.filterMode = texture.filter_mode;
  if (texture.normalized_coordinates) sampler.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  const bool integers = texture.format != CU_AD_FORMAT_FLOAT && texture.format != CU_AD_FORMAT_HALF;
  if (integers && !texture.normalized_values) sampler.flags |= CU_TRSF_READ_AS_INTEGER;
  return sampler;
}

}  // namespace

absl::StatusOr<Texture> Texture::Create(const Context& context,
                                        const TextureDescription& description) {
  if (context.driver().cuTexObjectCreate == nullptr ||
      context.driver().cuTexObjectDestroy == nullptr) {
    return absl::UnimplementedError("the driver has no texture objects (cuTexObjectCreate)");
  }
  WEFT_MAKE_CURRENT(context.ref());
  const CUDA_RESOURCE_DESC resource = ResourceOf(description);
  const CUDA_TEXTURE_DESC sampler = SamplerOf(description);
  CUtexObject handle = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuTexObjectCreate, &handle, &resource,
                                        &sampler, /*pResViewDesc=*/nullptr));
  return Texture(Owned(context.ref(), handle));
}

}  // namespace weft::cuda
