#include "tests/testing/fake_clock.h"

namespace weft::testing {

absl::Duration FakeClock::Now() const {
  absl::MutexLock lock(&mutex_);
  return now_;
}

void FakeClock::Advance(absl::Duration by) {
  absl::MutexLock lock(&mutex_);
  now_ += by;
}

}  // namespace weft::testing
