// f16 and bf16 as stored, and their conversions, for host and device. Neither has arithmetic of
// its own: kernels convert to float, compute there, and round once when they store.
//
// Conversions to float are exact. Conversions from float round to nearest, ties to even; overflow
// gives infinity; NaN stays NaN (its payload is not kept).
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define WEFT_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define WEFT_HOST_DEVICE inline
#endif

namespace weft::kernels {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

WEFT_HOST_DEVICE uint32_t FloatBits(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(value);
#else
  return __builtin_bit_cast(uint32_t, value);
#endif
}

WEFT_HOST_DEVICE float FloatFromBits(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}

WEFT_HOST_DEVICE float ToFloat(BF16 value) {
  return FloatFromBits(static_cast<uint32_t>(value.bits) << 16);
}

WEFT_HOST_DEVICE BF16 ToBF16(float value) {
  const uint32_t bits = FloatBits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return BF16{static_cast<uint16_t>(is_nan ? 0x7fffu : rounded)};
}

WEFT_HOST_DEVICE float ToFloat(F16 value) {
#ifdef __CUDA_ARCH__
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#else
  // The exponent is moved by a multiplication, which also normalises subnormals; infinity and NaN
  // end up with exponent 2^16 and get the rest of the exponent bits.
  const uint32_t shifted = (value.bits & 0x7fffu) << 13;
  const uint32_t scaled = FloatBits(FloatFromBits(shifted) * 0x1p112f);
  const uint32_t special = scaled >= 0x47800000u ? 0x7f800000u : 0u;
  return FloatFromBits((scaled | special) | (static_cast<uint32_t>(value.bits & 0x8000u) << 16));
#endif
}

WEFT_HOST_DEVICE F16 ToF16(float value) {
#ifdef __CUDA_ARCH__
  F16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#else
  const uint32_t bits = FloatBits(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Normal results: rebias the exponent (127 - 15 = 112) and round the 13 dropped bits.
  const uint32_t normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal results: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits.
  const uint32_t subnormal = FloatBits(FloatFromBits(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? 0x7c00u : result;  // 2^16 and above: infinity
  result = magnitude > 0x7f800000u ? 0x7fffu : result;
  return F16{static_cast<uint16_t>(result | ((bits >> 16) & 0x8000u))};
#endif
}

}  // namespace weft::kernels
