// Rules of the image kernels, shared by both sides.
#pragma once

#include <cmath>

#include "kernels/builtin/numbers.h"

namespace weft::kernels {

// Beyond the border the nearest pixel counts ("clamp to edge").
WEFT_HOST_DEVICE int64_t ClampIndex(int64_t index, int64_t size) {
  return index < 0 ? 0 : index >= size ? size - 1 : index;
}

// A filtered value as a pixel: u8 is rounded to nearest (halves up) and saturated, floats are kept.
template <typename T>
WEFT_HOST_DEVICE T StorePixel(float value) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return value <= 0.0f ? 0 : value >= 255.0f ? 255 : static_cast<uint8_t>(value + 0.5f);
  } else {
    return value;
  }
}

// The integer form of ITU-R BT.601 luma: weights 77, 150 and 29 of 256, rounded to nearest.
WEFT_HOST_DEVICE uint8_t Gray(uint8_t red, uint8_t green, uint8_t blue) {
  return static_cast<uint8_t>((77u * red + 150u * green + 29u * blue + 128u) >> 8);
}

inline constexpr int kMaxBlurRadius = 64;
// Three standard deviations hold 99.7 % of the weight.
WEFT_HOST_DEVICE int BlurRadius(double sigma) {
  const int radius = static_cast<int>(ceil(3.0 * sigma));
  return radius < kMaxBlurRadius ? radius : kMaxBlurRadius;
}
// Weight of distance `offset`, before the weights are divided by their sum.
WEFT_HOST_DEVICE float BlurWeight(int offset, double sigma) {
  return static_cast<float>(exp(-0.5 * offset * offset / (sigma * sigma)));
}

// Number of pixels of a box with `radius` of them on either side of its centre. REQUIRES: radius <= kMaxBlurRadius, for
// which sums of u8 pixels are exact in a float too.
WEFT_HOST_DEVICE float BoxPixels(int64_t radius) {
  const int64_t side = 2 * radius + 1;
  return static_cast<float>(side * side);
}

// Magnitude of the gradient from the eight neighbours p[row][column].
template <typename T>
WEFT_HOST_DEVICE T SobelPixel(const float (&p)[3][3]) {
  const float gx = (p[0][2] + 2 * p[1][2] + p[2][2]) - (p[0][0] + 2 * p[1][0] + p[2][0]);
  const float gy = (p[2][0] + 2 * p[2][1] + p[2][2]) - (p[0][0] + 2 * p[0][1] + p[0][2]);
  return StorePixel<T>(sqrtf(gx * gx + gy * gy));
}

// One step of diffusion: centre + alpha * (up + down + left + right - 4 * centre), in this order of additions.
template <typename T>
WEFT_HOST_DEVICE T StencilPoint(T centre, T up, T down, T left, T right, T alpha) {
  const T around = Plus(Plus(up, down), Plus(left, right));
  return Plus(centre, Times(alpha, Plus(around, Times(T{-4}, centre))));
}

}  // namespace weft::kernels
