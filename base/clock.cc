#include "base/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace weft {
namespace {

class RealClock final : public Clock {
 public:
  absl::Duration Now() const override {
    return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

const Clock& Clock::Real() {
  static const RealClock clock;
  return clock;
}

absl::Time WallTimeForDisplay() { return absl::Now(); }

}  // namespace weft
