// The operations of the reductions, and how their work is split; shared by both sides.
#pragma once

#include "kernels/builtin/numbers.h"

namespace weft::kernels {

// As the schemas' workspace and grid rules have it: a partial result for 1024 elements, at most 1024 of them.
inline constexpr int64_t kReduceElementsPerBlock = 1024;
inline constexpr int64_t kReduceMaxBlocks = 1024;
WEFT_HOST_DEVICE int64_t PartialCount(int64_t n) {
  const int64_t blocks = (n + kReduceElementsPerBlock - 1) / kReduceElementsPerBlock;
  return blocks < kReduceMaxBlocks ? blocks : kReduceMaxBlocks;
}

struct SumOp {
  template <typename T>
  using Accumulator = Sum<T>;
  template <typename T>
  using Result = Sum<T>;
  template <typename A>
  static WEFT_HOST_DEVICE A Identity() {
    return A{0};
  }
  template <typename A>
  static WEFT_HOST_DEVICE A Combine(A a, A b) {
    return Plus(a, b);
  }
  template <typename T>
  static WEFT_HOST_DEVICE Result<T> Finish(Accumulator<T> value) {
    return value;
  }
};

// The largest (kSign > 0) or smallest value of A, infinite for floats.
template <typename A>
WEFT_HOST_DEVICE A Extreme(int sign) {
  if constexpr (std::is_floating_point_v<A>) {
    return sign > 0 ? std::numeric_limits<A>::infinity() : -std::numeric_limits<A>::infinity();
  } else {
    return sign > 0 ? std::numeric_limits<A>::max() : std::numeric_limits<A>::min();
  }
}

struct MinOp {
  template <typename T>
  using Accumulator = std::conditional_t<std::is_integral_v<T>, T, Compute<T>>;
  template <typename T>
  using Result = T;
  template <typename A>
  static WEFT_HOST_DEVICE A Identity() {
    return Extreme<A>(1);
  }
  template <typename A>
  static WEFT_HOST_DEVICE A Combine(A a, A b) {
    return Min(a, b);
  }
  template <typename T>
  static WEFT_HOST_DEVICE T Finish(Accumulator<T> value) {
    return Store<T>(value);
  }
};

struct MaxOp {
  template <typename T>
  using Accumulator = std::conditional_t<std::is_integral_v<T>, T, Compute<T>>;
  template <typename T>
  using Result = T;
  template <typename A>
  static WEFT_HOST_DEVICE A Identity() {
    return Extreme<A>(-1);
  }
  template <typename A>
  static WEFT_HOST_DEVICE A Combine(A a, A b) {
    return Max(a, b);
  }
  template <typename T>
  static WEFT_HOST_DEVICE T Finish(Accumulator<T> value) {
    return Store<T>(value);
  }
};

}  // namespace weft::kernels
