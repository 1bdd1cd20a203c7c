// Texture objects: tex1Dfetch<T> of linear memory and tex2D<T> of pitch-linear memory, as the appendix "Texture Fetching"
// of the CUDA C++ Programming Guide has them. T: float, or float2 and float4, for what is read as floats; else the
// integer type, or the vector type, of the texels.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cuda/host/texture_abi.h"
#include "kernels/compile/host/vector_types.h"

typedef unsigned long long cudaTextureObject_t;

namespace weft_on_host {

// Of T: the type of an element, and how many there are.
template <typename T, typename = void>
struct TexelType {
  using Element = T;
  static constexpr unsigned kCount = 1;
};
template <typename T>
struct TexelType<T, decltype(void(T::x))> {
  using Element = decltype(T::x);
  static constexpr unsigned kCount = sizeof(T) / sizeof(Element);
};

template <typename T>
T LoadTexelPart(const unsigned char* at) {
  T value;
  memcpy(&value, at, sizeof(T));
  return value;
}

inline float HalfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  float value = ldexpf(static_cast<float>(fraction), -24);  // subnormal, or zero
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  if (exponent > 0 && exponent < 31) {
    value = ldexpf(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

// One channel as a float: integers as 0 … 1 and -1 … 1 where the texture says so.
inline float ChannelAsFloat(const weft_host_texture& texture, const unsigned char* at) {
  const bool scaled = texture.normalized_values != 0;
  const auto in_range = [](float value) { return value < -1.0f ? -1.0f : value; };
  switch (texture.format) {
    case WEFT_HOST_TEXEL_U8:
      return static_cast<float>(*at) / (scaled ? 255.0f : 1.0f);
    case WEFT_HOST_TEXEL_I8: {
      const auto value = static_cast<float>(LoadTexelPart<int8_t>(at));
      return scaled ? in_range(value / 127.0f) : value;
    }
    case WEFT_HOST_TEXEL_U16:
      return static_cast<float>(LoadTexelPart<uint16_t>(at)) / (scaled ? 65535.0f : 1.0f);
    case WEFT_HOST_TEXEL_I16: {
      const auto value = static_cast<float>(LoadTexelPart<int16_t>(at));
      return scaled ? in_range(value / 32767.0f) : value;
    }
    case WEFT_HOST_TEXEL_F16:
      return HalfToFloat(LoadTexelPart<uint16_t>(at));
    case WEFT_HOST_TEXEL_F32:
      return LoadTexelPart<float>(at);
    case WEFT_HOST_TEXEL_U32:
      return static_cast<float>(LoadTexelPart<uint32_t>(at));
    default:
      return static_cast<float>(LoadTexelPart<int32_t>(at));
  }
}

inline int64_t ChannelAsInteger(const weft_host_texture& texture, const unsigned char* at) {
  switch (texture.format) {
    case WEFT_HOST_TEXEL_U8:
      return *at;
    case WEFT_HOST_TEXEL_I8:
      return LoadTexelPart<int8_t>(at);
    case WEFT_HOST_TEXEL_U16:
      return LoadTexelPart<uint16_t>(at);
    case WEFT_HOST_TEXEL_I16:
      return LoadTexelPart<int16_t>(at);
    case WEFT_HOST_TEXEL_U32:
      return LoadTexelPart<uint32_t>(at);
    default:
      return LoadTexelPart<int32_t>(at);
  }
}

inline bool IsFloat(float) { return true; }
template <typename T>
bool IsFloat(T) {
  return false;
}

// The texel at `at`; null: one outside, of zeros. Channels that the texture has not are zero.
template <typename T>
T LoadTexel(const weft_host_texture& texture, const unsigned char* at) {
  using Type = TexelType<T>;
  typename Type::Element elements[Type::kCount] = {};
  const unsigned channel_bytes = texture.texel_bytes / texture.channels;
  for (unsigned c = 0; at != nullptr && c < Type::kCount && c < texture.channels; ++c) {
    const unsigned char* const channel = at + c * channel_bytes;
    elements[c] = IsFloat(elements[c])
                      ? static_cast<typename Type::Element>(ChannelAsFloat(texture, channel))
                      : static_cast<typename Type::Element>(ChannelAsInteger(texture, channel));
  }
  T texel;
  memcpy(&texel, elements, sizeof(T));
  return texel;
}

// The index in 0 … size - 1 that `index` stands for; -1: outside.
inline int64_t AddressedIndex(int64_t index, int64_t size, uint32_t mode) {
  switch (mode) {
    case WEFT_HOST_ADDRESS_WRAP:
      return (index % size + size) % size;
    case WEFT_HOST_ADDRESS_MIRROR: {
      const int64_t in_pair = (index % (2 * size) + 2 * size) % (2 * size);
      return in_pair < size ? in_pair : 2 * size - 1 - in_pair;
    }
    case WEFT_HOST_ADDRESS_BORDER:
      return index < 0 || index >= size ? -1 : index;
    default:
      return index < 0 ? 0 : index >= size ? size - 1 : index;
  }
}

// floor(x) within what the indices below can hold; NaN is 0.
inline int64_t FloorIndex(float x) {
  const float whole = floorf(x);
  if (!(whole == whole)) return 0;
  return static_cast<int64_t>(fminf(fmaxf(whole, -1e9f), 1e9f));
}

inline const unsigned char* TexelAt(const weft_host_texture& texture, int64_t x, int64_t y) {
  const int64_t column = AddressedIndex(x, static_cast<int64_t>(texture.width), texture.address_x);
  const int64_t row = AddressedIndex(y, static_cast<int64_t>(texture.height), texture.address_y);
  if (column < 0 || row < 0) return nullptr;
  return texture.texels + row * static_cast<int64_t>(texture.pitch_bytes) +
         column * static_cast<int64_t>(texture.texel_bytes);
}

// The part of x - 0.5 behind the point, with 8 bits.
inline float LinearWeight(float x) {
  const float before = x - 0.5f;
  return floorf((before - floorf(before)) * 256.0f + 0.5f) / 256.0f;
}

template <typename T>
T FilteredTexel(const weft_host_texture& texture, float x, float y) {
  using Type = TexelType<T>;
  const int64_t i = FloorIndex(x - 0.5f);
  const int64_t j = FloorIndex(y - 0.5f);
  const float a = LinearWeight(x);
  const float b = LinearWeight(y);
  const float weights[4] = {(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b};
  typename Type::Element sums[Type::kCount] = {};
  for (int corner = 0; corner < 4; ++corner) {
    const T texel = LoadTexel<T>(texture, TexelAt(texture, i + corner % 2, j + corner / 2));
    typename Type::Element parts[Type::kCount];
    memcpy(parts, &texel, sizeof(T));
    for (unsigned c = 0; c < Type::kCount; ++c) {
      sums[c] = static_cast<typename Type::Element>(static_cast<float>(sums[c]) +
                                                    weights[corner] * static_cast<float>(parts[c]));
    }
  }
  T texel;
  memcpy(&texel, sums, sizeof(T));
  return texel;
}

inline const weft_host_texture& TextureOf(cudaTextureObject_t object) {
  return *reinterpret_cast<const weft_host_texture*>(object);
}

}  // namespace weft_on_host

template <typename T>
T tex1Dfetch(cudaTextureObject_t object, int x) {
  const weft_host_texture& texture = weft_on_host::TextureOf(object);
  const bool inside = x >= 0 && static_cast<uint64_t>(x) < texture.width;
  return weft_on_host::LoadTexel<T>(
      texture, inside ? texture.texels + static_cast<size_t>(x) * texture.texel_bytes : nullptr);
}

template <typename T>
T tex2D(cudaTextureObject_t object, float x, float y) {
  const weft_host_texture& texture = weft_on_host::TextureOf(object);
  if (texture.normalized_coordinates != 0) {
    x *= static_cast<float>(texture.width);
    y *= static_cast<float>(texture.height);
  }
  if (texture.linear != 0) return weft_on_host::FilteredTexel<T>(texture, x, y);
  return weft_on_host::LoadTexel<T>(
      texture,
      weft_on_host::TexelAt(texture, weft_on_host::FloorIndex(x), weft_on_host::FloorIndex(y)));
}
