#include "graph/build/textures.h"

#include "base/status_macros.h"

namespace weft::build {
namespace {

CUarray_format FormatOf(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::kU8:
      return CU_AD_FORMAT_UNSIGNED_INT8;
    case kernels::DType::kI8:
      return CU_AD_FORMAT_SIGNED_INT8;
    case kernels::DType::kU16:
      return CU_AD_FORMAT_UNSIGNED_INT16;
    case kernels::DType::kI16:
      return CU_AD_FORMAT_SIGNED_INT16;
    case kernels::DType::kU32:
      return CU_AD_FORMAT_UNSIGNED_INT32;
    case kernels::DType::kI32:
      return CU_AD_FORMAT_SIGNED_INT32;
    case kernels::DType::kF16:
      return CU_AD_FORMAT_HALF;
    default:
      return CU_AD_FORMAT_FLOAT;  // the reader lets no other type through
  }
}

CUaddress_mode ModeOf(ir::Texture::Address address) {
  switch (address) {
    case ir::Texture::Address::kClamp:
      return CU_TR_ADDRESS_MODE_CLAMP;
    case ir::Texture::Address::kWrap:
      return CU_TR_ADDRESS_MODE_WRAP;
    case ir::Texture::Address::kMirror:
      return CU_TR_ADDRESS_MODE_MIRROR;
    case ir::Texture::Address::kBorder:
      return CU_TR_ADDRESS_MODE_BORDER;
  }
  return CU_TR_ADDRESS_MODE_CLAMP;
}

}  // namespace

absl::StatusOr<cuda::Texture> MakeTexture(const BuildInput& input, const ir::View& view,
                                          const ir::Texture& texture) {
  cuda::TextureDescription description;
  WEFT_ASSIGN_OR_RETURN(description.address, AddressOf(input, view));
  description.format = FormatOf(texture.dtype);
  description.channels = texture.channels;
  description.width = texture.width;
  description.height = texture.height;
  description.pitch_bytes = texture.pitch_bytes;
  description.address_mode = ModeOf(texture.address);
  description.filter_mode = texture.filter == ir::Texture::Filter::kLinear
                                ? CU_TR_FILTER_MODE_LINEAR
                                : CU_TR_FILTER_MODE_POINT;
  description.normalized_coordinates = texture.normalized_coordinates;
  description.normalized_values = texture.normalized_values;
  return cuda::Texture::Create(input.context, description);
}

}  // namespace weft::build
