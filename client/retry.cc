#include "client/retry.h"

#include <algorithm>

namespace weft::client {

Backoff::Backoff(const RetryOptions& options, const Clock& clock, uint32_t seed)
    : options_(options), clock_(clock), random_(seed) {
  Reset();
}

void Backoff::Reset() {
  give_up_at_ = clock_.Now() + options_.total;
  next_ = options_.initial_backoff;
}

std::optional<absl::Duration> Backoff::Next() {
  const double share = std::uniform_real_distribution<double>(0.5, 1.0)(random_);
  const absl::Duration delay = next_ * share;
  if (clock_.Now() + delay >= give_up_at_) return std::nullopt;
  next_ = std::min(next_ * 2, options_.max_backoff);
  return delay;
}

}  // namespace weft::client
