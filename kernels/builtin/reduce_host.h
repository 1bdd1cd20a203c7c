// The reduction of one chunk on the CPU, in the order that reduce_math.h lays down.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/builtin/reduce_math.h"

namespace weft::kernels {

// Combines values[0 … kCount) as a tree into values[0]. REQUIRES: kCount is a power of two.
template <typename Op, int kCount, typename A>
void CombineTree(A* values) {
  for (int distance = kCount / 2; distance > 0; distance /= 2) {
    for (int i = 0; i < distance; ++i) values[i] = Op::Combine(values[i], values[i + distance]);
  }
}

// What the lanes of a chunk of T hold, in type A.
template <typename A, typename T>
using ReduceLanes = std::array<A, kReduceThreads * kPack<T>>;

template <typename Op, typename A, typename T>
A CombineLanes(const ReduceLanes<A, T>& lanes) {
  std::array<A, kReduceThreads> threads;
  for (int64_t thread = 0; thread < kReduceThreads; ++thread) {
    threads[thread] = lanes[thread * kPack<T>];
    for (int64_t j = 1; j < kPack<T>; ++j) {
      threads[thread] = Op::Combine(threads[thread], lanes[thread * kPack<T> + j]);
    }
  }
  std::array<A, kReduceWarps> warps;
  for (int64_t warp = 0; warp < kReduceWarps; ++warp) {
    CombineTree<Op, 32>(&threads[warp * 32]);
    warps[warp] = threads[warp * 32];
  }
  CombineTree<Op, kReduceWarps>(warps.data());
  return warps[0];
}

template <typename Op, typename A, typename T>
A ReduceChunk(const T* src, int64_t first, int64_t last) {
  ReduceLanes<A, T> lanes;
  constexpr auto kLanes = static_cast<int64_t>(lanes.size());
  lanes.fill(Op::template Identity<A>());
  bool any_nan = false;
  // A row of lanes at a time, so that the compiler makes vectors of them.
  for (int64_t row = first; row < last; row += kLanes) {
    const int64_t count = std::min(kLanes, last - row);
    uint32_t nans = 0;
    for (int64_t lane = 0; lane < count; ++lane) {
      const auto value = static_cast<A>(Load(src[row + lane]));
      if constexpr (Op::kWatchesNan) nans |= IsNan(value) ? 1u : 0u;
      lanes[lane] = Op::Combine(lanes[lane], value);
    }
    any_nan = any_nan || nans != 0;
  }
  return NanOr(any_nan, CombineLanes<Op, A, T>(lanes));
}

}  // namespace weft::kernels
