// Time for durations and deadlines, behind an interface so that tests move it by hand
// (tests/testing/fake_clock.h).
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace weft {

// A clock that never goes back. Its values only compare with values of the same clock.
// Thread safety: all members may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  // Time since an arbitrary fixed start; monotonic.
  virtual absl::Duration Now() const = 0;
  // The system's monotonic clock.
  static const Clock& Real();
};

// A duration given by a user; what a duration cannot hold (292 million years) becomes the longest.
absl::Duration SaturatingMilliseconds(uint64_t milliseconds);

// For stamps that people read (creation time of a job), never for durations.
absl::Time WallTimeForDisplay();

}  // namespace weft
