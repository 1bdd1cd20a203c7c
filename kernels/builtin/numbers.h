// Arithmetic rules that the CUDA kernels and their CPU twins share, as one text.
//
// Compute type: f16 and bf16 are computed as float and rounded once when stored; u8 as int32; the others as themselves.
// Integers wrap: they are added and multiplied as unsigned. NaN: Min, Max and Clamp return NaN when an operand is NaN.
// A product and a sum are rounded separately (no contraction to fused multiply-add), so that both sides agree bit for
// bit on elementwise kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/builtin/half_types.h"

namespace weft::kernels {

template <typename T>
struct TypeRules {
  using Compute = T;
  using Sum = T;
};
template <>
struct TypeRules<F16> {
  using Compute = float;
  using Sum = float;
};
template <>
struct TypeRules<BF16> {
  using Compute = float;
  using Sum = float;
};
template <>
struct TypeRules<uint8_t> {
  using Compute = int32_t;
  using Sum = uint64_t;
};
template <>
struct TypeRules<int32_t> {
  using Compute = int32_t;
  using Sum = int64_t;
};
template <typename T>
using Compute = typename TypeRules<T>::Compute;
template <typename T>
using Sum = typename TypeRules<T>::Sum;

template <typename T>
WEFT_HOST_DEVICE Compute<T> Load(T value) {
  if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, BF16>) {
    return ToFloat(value);
  } else {
    return static_cast<Compute<T>>(value);
  }
}

// Rounds once to T; an integer keeps its low bits.
template <typename T>
WEFT_HOST_DEVICE T Store(Compute<T> value) {
  if constexpr (std::is_same_v<T, F16>) {
    return ToF16(value);
  } else if constexpr (std::is_same_v<T, BF16>) {
    return ToBF16(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename C>
WEFT_HOST_DEVICE C Plus(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    using U = std::make_unsigned_t<C>;
    return static_cast<C>(static_cast<U>(a) + static_cast<U>(b));
  } else {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(C) == 8) {
      return __dadd_rn(a, b);
    } else {
      return __fadd_rn(a, b);
    }
#else
    return a + b;
#endif
  }
}

template <typename C>
WEFT_HOST_DEVICE C Times(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    using U = std::make_unsigned_t<C>;
    return static_cast<C>(static_cast<U>(a) * static_cast<U>(b));
  } else {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(C) == 8) {
      return __dmul_rn(a, b);
    } else {
      return __fmul_rn(a, b);
    }
#else
    return a * b;
#endif
  }
}

// Floats, rounded to nearest.
template <typename C>
WEFT_HOST_DEVICE C Divide(C a, C b) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(C) == 8) {
    return __ddiv_rn(a, b);
  } else {
    return __fdiv_rn(a, b);
  }
#else
  return a / b;
#endif
}

// Of a float, rounded to nearest.
template <typename C>
WEFT_HOST_DEVICE C SquareRoot(C value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(C) == 8) {
    return __dsqrt_rn(value);
  } else {
    return __fsqrt_rn(value);
  }
#else
  return std::sqrt(value);
#endif
}

template <typename C>
WEFT_HOST_DEVICE bool IsNan(C value) {
  return value != value;
}

template <typename C>
WEFT_HOST_DEVICE C Min(C a, C b) {
  if (IsNan(a)) return a;
  if (IsNan(b)) return b;
  return b < a ? b : a;
}

template <typename C>
WEFT_HOST_DEVICE C Max(C a, C b) {
  if (IsNan(a)) return a;
  if (IsNan(b)) return b;
  return a < b ? b : a;
}

// As std::clamp where low <= high; `high` where it is below `low`.
template <typename C>
WEFT_HOST_DEVICE C Clamp(C value, C low, C high) {
  return Min(Max(value, low), high);
}

// A sum whose error does not grow with the number of terms (Kahan 1965): what each addition rounds off is carried into
// the next one. REQUIRES: terms of one sign, or NaN.
template <typename C>
class CompensatedSum {
 public:
  WEFT_HOST_DEVICE void Add(C term) {
    const C corrected = term - lost_;
    const C next = Plus(sum_, corrected);
    lost_ = Plus(Plus(next, -sum_), -corrected);
    sum_ = next;
  }
  WEFT_HOST_DEVICE C value() const { return sum_; }

 private:
  C sum_ = 0;
  C lost_ = 0;
};

}  // namespace weft::kernels
