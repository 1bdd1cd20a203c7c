// Rules of gather and scatter, shared by both sides.
#pragma once

#include <cstdint>

#include "kernels/builtin/half_types.h"

namespace weft::kernels {

// Whether `index` names one of `size` elements: a negative one never does.
template <typename I>
WEFT_HOST_DEVICE bool InRange(I index, int64_t size) {
  return static_cast<uint64_t>(static_cast<int64_t>(index)) < static_cast<uint64_t>(size);
}

// scatter goes by what is written: for each element of dst the workspace holds the place in src of the element that it
// gets, plus 1, or kKept. Of several the highest place wins, so that the result does not depend on the order of
// threads.
inline constexpr unsigned long long kKept = 0;

}  // namespace weft::kernels
