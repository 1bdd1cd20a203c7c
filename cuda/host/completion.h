// Something that happens once: the record of an event, the end of a launch.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/host/mutex.h"

namespace weft::hostcuda {

class Completion {
 public:
  // Marks it done, now, and calls what waits for it, on this thread and without a lock. Only the
  // first call counts.
  void Finish();
  bool done() const;
  // Blocks until done.
  void Wait() const;
  // Calls `callback` once, when done: at once if it is done already, else on the thread that
  // finishes it. The callback must not block, nor run work of the device itself: it posts it.
  void OnDone(std::function<void()> callback);
  // When Finish was called, on the monotonic clock. 0: not done.
  int64_t time_ns() const;

 private:
  mutable Mutex mu_;
  mutable CondVar changed_;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  int64_t time_ns_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::function<void()>> callbacks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
