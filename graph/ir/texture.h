// The bytes of a view as a texture: what a job says, with its defaults filled in.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

#include "kernels/dtype.h"

namespace weft::ir {

// Addresses of textures are multiples of this (CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT of every GPU so
// far), and pitches of kTexturePitchBytes (CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT). A driver that
// asks for more refuses at preparation.
inline constexpr uint64_t kTextureAlignmentBytes = 512;
inline constexpr uint64_t kTexturePitchBytes = 32;

struct Texture {
  enum class Address : uint8_t { kClamp, kWrap, kMirror, kBorder };
  enum class Filter : uint8_t { kPoint, kLinear };

  kernels::DType dtype = kernels::DType::kF32;  // of a channel
  uint32_t channels = 1;                        // 1, 2 or 4
  uint64_t width = 0;                           // texels
  uint64_t height = 0;                          // rows; 0: one dimension, fetched by index
  uint64_t pitch_bytes = 0;                     // from row to row; 0 in one dimension
  Address address = Address::kClamp;
  Filter filter = Filter::kPoint;
  bool normalized_coordinates = false;
  bool normalized_values = false;
  friend bool operator==(const Texture&, const Texture&) = default;
};

}  // namespace weft::ir
