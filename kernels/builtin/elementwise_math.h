// What one element becomes, for the kernels that treat each element alone: the same text on both sides.
#pragma once

#include "kernels/builtin/numbers.h"

namespace weft::kernels {

template <typename T>
WEFT_HOST_DEVICE T IotaElement(Compute<T> start, Compute<T> step, int64_t index) {
  return Store<T>(Plus(start, Times(static_cast<Compute<T>>(index), step)));
}
template <typename T>
WEFT_HOST_DEVICE T AxpyElement(T x, T y, Compute<T> a) {
  return Store<T>(Plus(Times(a, Load(x)), Load(y)));
}
template <typename T>
WEFT_HOST_DEVICE T ScaleElement(T x, Compute<T> a) {
  return Store<T>(Times(a, Load(x)));
}
template <typename T>
WEFT_HOST_DEVICE T AddElement(T a, T b) {
  return Store<T>(Plus(Load(a), Load(b)));
}
template <typename T>
WEFT_HOST_DEVICE T MulElement(T a, T b) {
  return Store<T>(Times(Load(a), Load(b)));
}
template <typename T>
WEFT_HOST_DEVICE T ClampElement(T x, Compute<T> low, Compute<T> high) {
  return Store<T>(Clamp(Load(x), low, high));
}

// Float to integer: truncated, clamped to the range, NaN to 0. Integer to integer: low bits. To a float: rounded once
// (f64 → f16 and bf16 go through f32).
template <typename From, typename To>
WEFT_HOST_DEVICE To CastElement(From from) {
  using C = Compute<From>;
  const C value = Load(from);
  if constexpr (std::is_same_v<To, F16> || std::is_same_v<To, BF16>) {
    return Store<To>(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<C>) {
    if (IsNan(value)) return 0;
    constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<To>::max());
    const double wide = static_cast<double>(value);
    return static_cast<To>(wide <= kLow ? kLow : wide >= kHigh ? kHigh : wide);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace weft::kernels
