// The operations of the reductions, and how their work is split; shared by both sides, so that both combine the same
// elements in the same order and give the same bits.
//
// n elements are cut into chunks, one a block and partial result. Inside a chunk element i belongs to lane
// i mod (kReduceThreads * kPack), where kPack elements are what a thread reads at once; a lane takes its elements in
// order. Then the lanes of a thread are combined in order, the threads of a warp as a tree (distances 16, 8, 4, 2, 1),
// and the warps as a tree (4, 2, 1).
#pragma once

#include "kernels/builtin/numbers.h"

namespace weft::kernels {

inline constexpr int kReduceThreads = 256;
inline constexpr int kReduceWarps = kReduceThreads / 32;
template <typename T>
inline constexpr int kPack = 16 / static_cast<int>(sizeof(T));

// As the schemas' workspace and grid rules have it (schema_parts.h).
inline constexpr int64_t kReduceTile = 4096;
inline constexpr int64_t kReduceMaxPartials = 1024;
static_assert(kReduceTile % (kReduceThreads * kPack<uint8_t>) == 0);

WEFT_HOST_DEVICE int64_t PartialCount(int64_t n) {
  const int64_t tiles = (n + kReduceTile - 1) / kReduceTile;
  return tiles < kReduceMaxPartials ? tiles : kReduceMaxPartials;
}
// Elements of every chunk but the last ones, which may have fewer or none. REQUIRES: n > 0.
WEFT_HOST_DEVICE int64_t ChunkSize(int64_t n) {
  const int64_t tiles = (n + kReduceTile - 1) / kReduceTile;
  const int64_t partials = PartialCount(n);
  return (tiles + partials - 1) / partials * kReduceTile;
}

// The largest (sign > 0) or smallest value of A, infinite for floats.
template <typename A>
WEFT_HOST_DEVICE A Extreme(int sign) {
  if constexpr (std::is_floating_point_v<A>) {
    return sign > 0 ? std::numeric_limits<A>::infinity() : -std::numeric_limits<A>::infinity();
  } else {
    return sign > 0 ? std::numeric_limits<A>::max() : std::numeric_limits<A>::min();
  }
}

// An operation: the types for elements of type T, the identity, and how two values combine. Where kWatchesNan is set
// Combine need not get NaN right: the reduction looks for NaN by itself, and has one as its result if there is any.
struct SumOp {
  static constexpr bool kWatchesNan = false;
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

struct ExtremeOp {
  static constexpr bool kWatchesNan = true;
  template <typename T>
  using Accumulator = std::conditional_t<std::is_integral_v<T>, T, Compute<T>>;
  template <typename T>
  using Result = T;
  template <typename T>
  static WEFT_HOST_DEVICE T Finish(Accumulator<T> value) {
    return Store<T>(value);
  }
};

struct MinOp : ExtremeOp {
  template <typename A>
  static WEFT_HOST_DEVICE A Identity() {
    return Extreme<A>(1);
  }
  template <typename A>
  static WEFT_HOST_DEVICE A Combine(A a, A b) {
    return b < a ? b : a;
  }
};

struct MaxOp : ExtremeOp {
  template <typename A>
  static WEFT_HOST_DEVICE A Identity() {
    return Extreme<A>(-1);
  }
  template <typename A>
  static WEFT_HOST_DEVICE A Combine(A a, A b) {
    return a < b ? b : a;
  }
};

template <typename Op, typename T>
using AccumulatorOf = typename Op::template Accumulator<T>;
template <typename Op, typename T>
using ResultOf = typename Op::template Result<T>;

// What the reduction gives where it has seen a NaN.
template <typename A>
WEFT_HOST_DEVICE A NanOr(bool any_nan, A value) {
  if constexpr (std::is_floating_point_v<A>) {
    return any_nan ? std::numeric_limits<A>::quiet_NaN() : value;
  } else {
    return value;
  }
}

}  // namespace weft::kernels
