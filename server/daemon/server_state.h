// What all services read of the daemon as a whole.
#pragma once

#include <atomic>

#include "absl/time/time.h"
#include "base/clock.h"

namespace weft::daemon {

// Thread safety: `draining` may be read and set from any thread; the rest does not change.
struct ServerState {
  explicit ServerState(const Clock& clock_in) : clock(clock_in), started(clock_in.Now()) {}

  const Clock& clock;
  const absl::Duration started;
  // No new work is taken: running and queued jobs end, then the daemon does.
  std::atomic<bool> draining{false};
};

}  // namespace weft::daemon
