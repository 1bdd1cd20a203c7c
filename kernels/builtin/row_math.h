// How kernels over the rows of a matrix share a row among threads, for both sides: a warp takes a short row, a block a long
// one; element i is thread (i mod threads)'s. Values are combined over a warp as a tree (distances 16, 8, 4, 2, 1), then
// over the warps in order.
#pragma once

#include "kernels/builtin/numbers.h"

namespace weft::kernels {

inline constexpr int kRowWarps = 8;  // of a block
inline constexpr int64_t kWarpRowLimit = 1024;

WEFT_HOST_DEVICE int RowThreads(int64_t cols) {
  return cols <= kWarpRowLimit ? 32 : 32 * kRowWarps;
}

// layernorm: what is taken off every element of a row, and what the rest is multiplied with.
template <typename C>
struct RowScaling {
  C mean;
  C factor;
};
template <typename C>
WEFT_HOST_DEVICE C RowMean(C sum, int64_t cols) {
  return Divide(sum, static_cast<C>(cols));
}
template <typename T>
WEFT_HOST_DEVICE Compute<T> SquaredDeviation(T x, Compute<T> mean) {
  const Compute<T> deviation = Plus(Load(x), -mean);
  return Times(deviation, deviation);
}
template <typename C>
WEFT_HOST_DEVICE RowScaling<C> ScalingOf(C mean, C squares, int64_t cols, C epsilon) {
  return {mean, Divide(C{1}, SquareRoot(Plus(RowMean(squares, cols), epsilon)))};
}
template <typename T>
WEFT_HOST_DEVICE T ScaledElement(T x, T gamma, T beta, const RowScaling<Compute<T>>& scaling) {
  const Compute<T> normal = Times(Plus(Load(x), -scaling.mean), scaling.factor);
  return Store<T>(Plus(Times(normal, Load(gamma)), Load(beta)));
}

}  // namespace weft::kernels
