// Votes, shuffles, matches and reductions of the lanes of a warp.
#pragma once

#include <string.h>

#include "kernels/compile/host/threads.h"

namespace weft_on_host {

inline constexpr unsigned kAllLanes = 0xffffffffu;

inline unsigned Vote(unsigned mask, int predicate) {
  const weft_host_thread* self = current;
  const unsigned result = self->runtime->vote(self, mask, predicate);
  current = self;
  return result;
}

// The value of lane `source`, or one's own when it is beyond the lanes `first` to `last`.
template <typename T>
T Shuffle(unsigned mask, T value, int source, int first, int last) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves values of at most 64 bits");
  const weft_host_thread* self = current;
  if (source < first || source > last) source = static_cast<int>(self->lane);
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = self->runtime->shuffle(self, mask, bits, static_cast<uint32_t>(source));
  current = self;
  memcpy(&value, &bits, sizeof(T));
  return value;
}

inline int Lane() { return static_cast<int>(current->lane); }
// The first lane of one's group of `width` lanes.
inline int FirstLane(int width) { return Lane() & ~(width - 1); }

// operation(a, b) over the values of all lanes of the mask, in the order of the lanes.
template <typename T, typename Operation>
T Reduce(unsigned mask, T value, Operation operation) {
  unsigned lanes = Vote(mask, 1);
  T result = Shuffle(mask, value, __builtin_ctz(lanes), 0, 31);
  while ((lanes &= lanes - 1) != 0) {
    result = operation(result, Shuffle(mask, value, __builtin_ctz(lanes), 0, 31));
  }
  return result;
}

}  // namespace weft_on_host

inline void __syncwarp(unsigned mask = weft_on_host::kAllLanes) { weft_on_host::Vote(mask, 0); }
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return weft_on_host::Vote(mask, predicate);
}
inline int __any_sync(unsigned mask, int predicate) {
  return weft_on_host::Vote(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return weft_on_host::Vote(mask, !predicate) == 0;
}
// Those that come to the same call before all of the block wait.
__attribute__((always_inline)) inline unsigned __activemask() {
  const weft_host_thread* self = weft_on_host::current;
  const unsigned result = self->runtime->active_mask(self);
  weft_on_host::current = self;
  return result;
}

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const int first = weft_on_host::FirstLane(width);
  return weft_on_host::Shuffle(mask, value, first | (source & (width - 1)), 0, 31);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int source = weft_on_host::Lane() - static_cast<int>(delta);
  return weft_on_host::Shuffle(mask, value, source, weft_on_host::FirstLane(width), 31);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int source = weft_on_host::Lane() + static_cast<int>(delta);
  const int last = weft_on_host::FirstLane(width) + width - 1;
  return weft_on_host::Shuffle(mask, value, source, 0, last);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  const int source = weft_on_host::Lane() ^ lane_mask;
  const int last = weft_on_host::FirstLane(width) + width - 1;
  return weft_on_host::Shuffle(mask, value, source, 0, last);
}

template <typename T>
unsigned __match_any_sync(unsigned mask, T value) {
  unsigned same = 0;
  for (unsigned lanes = weft_on_host::Vote(mask, 1); lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const T other = weft_on_host::Shuffle(mask, value, lane, 0, 31);
    if (memcmp(&other, &value, sizeof(T)) == 0) same |= 1u << lane;
  }
  return same;
}
template <typename T>
unsigned __match_all_sync(unsigned mask, T value, int* all) {
  const unsigned lanes = weft_on_host::Vote(mask, 1);
  const T first = weft_on_host::Shuffle(mask, value, __builtin_ctz(lanes), 0, 31);
  *all = __all_sync(mask, memcmp(&first, &value, sizeof(T)) == 0);
  return *all ? lanes : 0;
}

#define WEFT_ON_HOST_REDUCE(name, T, expression)                                   \
  inline T __reduce_##name##_sync(unsigned mask, T value) {                        \
    return weft_on_host::Reduce(mask, value, [](T a, T b) { return expression; }); \
  }
WEFT_ON_HOST_REDUCE(add, unsigned, a + b)
WEFT_ON_HOST_REDUCE(min, unsigned, a < b ? a : b)
WEFT_ON_HOST_REDUCE(max, unsigned, a > b ? a : b)
WEFT_ON_HOST_REDUCE(add, int, int(unsigned(a) + unsigned(b)))
WEFT_ON_HOST_REDUCE(min, int, a < b ? a : b)
WEFT_ON_HOST_REDUCE(max, int, a > b ? a : b)
WEFT_ON_HOST_REDUCE(and, unsigned, a& b)
WEFT_ON_HOST_REDUCE(or, unsigned, a | b)
WEFT_ON_HOST_REDUCE(xor, unsigned, a ^ b)
#undef WEFT_ON_HOST_REDUCE
