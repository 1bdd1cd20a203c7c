// How long a waiter should spin before it sleeps, learnt from how long it had to wait lately.
//
// Where work comes more often than the limit, spinning bridges the gaps and nobody waits for a
// sleeper to wake (10 to 50 µs); where it comes less often, spinning is heat, and the budget falls
// until the waiter sleeps nearly at once. The rule is that of KVM's halt polling (Linux,
// Documentation/virt/kvm/halt-polling.rst): grow when a longer spin would have met the event, shrink
// when even the longest would not have.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace weft::transport {

// Thread safety: for one thread.
class SpinBudget {
 public:
  // limit: the longest spin; 0 never spins. Starts at the limit: whoever makes a ring is about to
  // use it.
  explicit SpinBudget(absl::Duration limit) : limit_(limit), current_(limit) {}

  absl::Duration current() const { return current_; }

  // The wait that has just ended took `waited`, spinning and sleeping together.
  void Record(absl::Duration waited) {
    if (waited <= current_) return;
    if (waited <= limit_) {
      current_ = std::min(limit_, std::max(2 * waited, kStart));
    } else {
      current_ = current_ / 2 < kStart ? absl::ZeroDuration() : current_ / 2;
    }
  }

 private:
  // Below this a spin is not worth its start: a sleeper wakes in about this time.
  static constexpr absl::Duration kStart = absl::Microseconds(10);

  absl::Duration limit_;
  absl::Duration current_;
};

}  // namespace weft::transport
