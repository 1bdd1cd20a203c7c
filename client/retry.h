// How long to wait before a call is tried again (internal to the library).
//
// Thread safety: none; one call owns it.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "absl/time/time.h"
#include "base/clock.h"
#include "client/connection.h"

namespace weft::client {

// The waits of one call: doubling, each shortened at random by up to half, so that clients that
// lost one server do not come back at the same moment.
class Backoff {
 public:
  // Counts RetryOptions.total from now. `seed` chooses the random part.
  Backoff(const RetryOptions& options, const Clock& clock, uint32_t seed);

  // The time to wait before the next try; nullopt when that would start too late: give up.
  std::optional<absl::Duration> Next();
  // Starts anew, after a success.
  void Reset();

 private:
  RetryOptions options_;
  const Clock& clock_;
  std::minstd_rand random_;
  absl::Duration give_up_at_;
  absl::Duration next_;
};

}  // namespace weft::client
