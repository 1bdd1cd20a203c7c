#include "base/clock.h"

#include <algorithm>
#include <chrono>
#include <limits>

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

absl::Duration SaturatingMilliseconds(uint64_t milliseconds) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return absl::Milliseconds(static_cast<int64_t>(std::min(milliseconds, kMost)));
}

absl::Time WallTimeForDisplay() { return absl::Now(); }

}  // namespace weft
