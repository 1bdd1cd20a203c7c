#include "cuda/host/texture.h"

#include <utility>

#include "cuda/host/device_attributes.h"

namespace weft::hostcuda {
namespace {

// Of compute capability 9.0 (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr uint64_t kMaxLinearTexels = uint64_t{1} << 28;
constexpr uint64_t kMaxPitchWidth = 131072;
constexpr uint64_t kMaxPitchHeight = 65000;
constexpr uint64_t kMaxPitchBytes = 2097120;

struct TexelFormat {
  CUarray_format format;
  uint32_t kind;
  uint32_t bytes;
};
constexpr TexelFormat kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, WEFT_HOST_TEXEL_U8, 1},
    {CU_AD_FORMAT_SIGNED_INT8, WEFT_HOST_TEXEL_I8, 1},
    {CU_AD_FORMAT_UNSIGNED_INT16, WEFT_HOST_TEXEL_U16, 2},
    {CU_AD_FORMAT_SIGNED_INT16, WEFT_HOST_TEXEL_I16, 2},
    {CU_AD_FORMAT_UNSIGNED_INT32, WEFT_HOST_TEXEL_U32, 4},
    {CU_AD_FORMAT_SIGNED_INT32, WEFT_HOST_TEXEL_I32, 4},
    {CU_AD_FORMAT_HALF, WEFT_HOST_TEXEL_F16, 2},
    {CU_AD_FORMAT_FLOAT, WEFT_HOST_TEXEL_F32, 4},
};

bool SetFormat(CUarray_format format, unsigned int channels, weft_host_texture* texture) {
  if (channels != 1 && channels != 2 && channels != 4) return false;
  for (const TexelFormat& row : kFormats) {
    if (row.format != format) continue;
    texture->format = row.kind;
    texture->channels = channels;
    texture->texel_bytes = row.bytes * channels;
    return true;
  }
  return false;
}

bool SetAddress(CUdeviceptr address, weft_host_texture* texture) {
  texture->texels = reinterpret_cast<const unsigned char*>(address);
  return address != 0 && address % kTextureAlignment == 0;
}

bool SetLinear(const CUDA_RESOURCE_DESC& resource, weft_host_texture* texture) {
  const auto& linear = resource.res.linear;
  if (!SetFormat(linear.format, linear.numChannels, texture)) return false;
  texture->width = linear.sizeInBytes / texture->texel_bytes;
  return SetAddress(linear.devPtr, texture) && texture->width > 0 &&
         texture->width <= kMaxLinearTexels;
}

bool SetPitched(const CUDA_RESOURCE_DESC& resource, weft_host_texture* texture) {
  const auto& pitched = resource.res.pitch2D;
  if (!SetFormat(pitched.format, pitched.numChannels, texture)) return false;
  texture->width = pitched.width;
  texture->height = pitched.height;
  texture->pitch_bytes = pitched.pitchInBytes;
  return SetAddress(pitched.devPtr, texture) && pitched.width > 0 && pitched.height > 0 &&
         pitched.width <= kMaxPitchWidth && pitched.height <= kMaxPitchHeight &&
         pitched.pitchInBytes <= kMaxPitchBytes &&
         pitched.pitchInBytes % kTexturePitchAlignment == 0 &&
         pitched.pitchInBytes >= pitched.width * texture->texel_bytes;
}

bool SetMode(CUaddress_mode mode, uint32_t* out) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      *out = WEFT_HOST_ADDRESS_WRAP;
      return true;
    case CU_TR_ADDRESS_MODE_CLAMP:
      *out = WEFT_HOST_ADDRESS_CLAMP;
      return true;
    case CU_TR_ADDRESS_MODE_MIRROR:
      *out = WEFT_HOST_ADDRESS_MIRROR;
      return true;
    case CU_TR_ADDRESS_MODE_BORDER:
      *out = WEFT_HOST_ADDRESS_BORDER;
      return true;
  }
  return false;
}

CUresult SetSampler(const CUDA_TEXTURE_DESC& sampler, weft_host_texture* texture) {
  constexpr unsigned int kKnown = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES;
  if ((sampler.flags & ~kKnown) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (!SetMode(sampler.addressMode[0], &texture->address_x) ||
      !SetMode(sampler.addressMode[1], &texture->address_y)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (sampler.filterMode != CU_TR_FILTER_MODE_POINT &&
      sampler.filterMode != CU_TR_FILTER_MODE_LINEAR) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  texture->linear = sampler.filterMode == CU_TR_FILTER_MODE_LINEAR;
  texture->normalized_coordinates = (sampler.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  const bool integers =
      texture->format != WEFT_HOST_TEXEL_F16 && texture->format != WEFT_HOST_TEXEL_F32;
  const bool as_integer = (sampler.flags & CU_TRSF_READ_AS_INTEGER) != 0;
  const bool wide =
      texture->format == WEFT_HOST_TEXEL_U32 || texture->format == WEFT_HOST_TEXEL_I32;
  texture->normalized_values = integers && !wide && !as_integer;
  // Only what is read as floats can be filtered.
  if (texture->linear && integers && !texture->normalized_values) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult DescribeTexture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampler,
                         weft_host_texture* texture) {
  *texture = {};
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_LINEAR:
      if (!SetLinear(resource, texture)) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      if (!SetPitched(resource, texture)) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_RESOURCE_TYPE_ARRAY:
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return SetSampler(sampler, texture);
}

CUtexObject TextureTable::Insert(const Context* context,
                                 std::unique_ptr<const weft_host_texture> texture) {
  const auto object = static_cast<CUtexObject>(reinterpret_cast<uintptr_t>(texture.get()));
  MutexLock lock(mu_);
  textures_[object] = {context, std::move(texture)};
  return object;
}

bool TextureTable::Remove(CUtexObject object) {
  MutexLock lock(mu_);
  return textures_.erase(object) == 1;
}

void TextureTable::RemoveOf(const Context* context) {
  MutexLock lock(mu_);
  std::erase_if(textures_, [=](const auto& entry) { return entry.second.context == context; });
}

}  // namespace weft::hostcuda
