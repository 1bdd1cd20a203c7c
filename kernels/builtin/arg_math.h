// Rules of argmax and argmin, shared by both sides.
//
// Candidates are totally ordered: a NaN comes before every number, then the more extreme value, then the lower place.
// So the winner does not depend on the order in which candidates meet, and is the first of equals.
#pragma once

#include "kernels/builtin/reduce_math.h"

namespace weft::kernels {

enum class Wanted { kLargest, kSmallest };

// The place of nothing; the result where there are no elements.
inline constexpr int64_t kNoPlace = -1;

template <typename C>
struct Candidate {
  C value = 0;
  int64_t place = kNoPlace;
};

template <Wanted kWanted, typename C>
WEFT_HOST_DEVICE bool Beats(const Candidate<C>& one, const Candidate<C>& other) {
  if (one.place == kNoPlace) return false;
  if (other.place == kNoPlace) return true;
  if (IsNan(one.value) != IsNan(other.value)) return IsNan(one.value);
  const bool less = one.value < other.value;
  const bool greater = other.value < one.value;
  if (less || greater) return kWanted == Wanted::kLargest ? greater : less;
  return one.place < other.place;
}

template <Wanted kWanted, typename C>
WEFT_HOST_DEVICE Candidate<C> Better(const Candidate<C>& one, const Candidate<C>& other) {
  return Beats<kWanted>(other, one) ? other : one;
}

}  // namespace weft::kernels
