// Calls back when a Clock reaches a time: deadlines of jobs and of waiting calls.
//
// TimerQueue holds the times and is moved by RunDue, which tests call by hand after they moved
// their clock; TimerThread is what calls it in weftd.
#pragma once

#include <cstdint>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace weft::daemon {

// Thread safety: all members may be called from any thread. Callbacks run on the thread of RunDue,
// without a lock held, so they may add and cancel timers.
// Cost: O(log n) for each.
class TimerQueue {
 public:
  using Callback = absl::AnyInvocable<void() &&>;

  // Names a timer until it has fired or was cancelled; a default-made one names none.
  struct Timer {
    absl::Duration at;
    uint64_t sequence = 0;
  };

  explicit TimerQueue(const Clock& clock) : clock_(clock) {}

  // Fires when clock.Now() + `after` is reached.
  Timer Add(absl::Duration after, Callback callback);
  // False when it has fired (perhaps is running now), was cancelled, or names none.
  bool Cancel(const Timer& timer);

  // Runs the callbacks of all due timers, earliest first.
  void RunDue();

 private:
  friend class TimerThread;
  // Blocks until a timer is due or Stop was called; false then.
  bool AwaitDue();
  void Stop();

  bool Take(Callback& callback);

  const Clock& clock_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::map<std::pair<absl::Duration, uint64_t>, Callback> timers_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

// Runs a queue's timers on a thread of its own. REQUIRES: the queue's clock is the real one.
class TimerThread {
 public:
  explicit TimerThread(TimerQueue& queue);
  ~TimerThread();
  TimerThread(const TimerThread&) = delete;
  TimerThread& operator=(const TimerThread&) = delete;

 private:
  TimerQueue& queue_;
  std::thread thread_;
};

}  // namespace weft::daemon
