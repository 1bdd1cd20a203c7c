// How the thread of a blocking call waits for its answer: it spins while that is likely to pay, then
// sleeps. A sleeper takes 10 to 50 µs to wake, as long as a small job takes in all.
#pragma once

#include <grpcpp/completion_queue.h>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "transport/spin_budget.h"

namespace weft::client {

// `limit`, or 0 where there are so few processors that a spinning caller takes the one on which its
// answer is to be made. processors: those that this process may run on; 0 when it is not known.
absl::Duration SpinLimit(absl::Duration limit, unsigned processors);

// Thread safety: all members may be called from any thread.
class CallWaiter {
 public:
  // limit: the longest spin; 0 never spins. How long pays is learnt (transport/spin_budget.h).
  explicit CallWaiter(absl::Duration limit) : budget_(limit) {}

  // Blocks until `queue` has its event, and takes it. REQUIRES: exactly one is to come.
  void Wait(grpc::CompletionQueue& queue);

 private:
  absl::Duration budget() const;
  void Record(absl::Duration waited);

  mutable absl::Mutex mutex_;
  transport::SpinBudget budget_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::client
