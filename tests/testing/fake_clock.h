// A clock that tests move by hand.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace weft::testing {

class FakeClock final : public Clock {
 public:
  // Starts at an hour, so that code may subtract without going below zero.
  FakeClock() = default;

  absl::Duration Now() const override;
  // REQUIRES: by >= 0.
  void Advance(absl::Duration by);

 private:
  mutable absl::Mutex mutex_;
  absl::Duration now_ ABSL_GUARDED_BY(mutex_) = absl::Hours(1);
};

}  // namespace weft::testing
