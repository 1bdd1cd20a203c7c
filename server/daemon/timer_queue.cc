#include "server/daemon/timer_queue.h"

namespace weft::daemon {

TimerQueue::Timer TimerQueue::Add(absl::Duration after, Callback callback) {
  absl::MutexLock lock(&mutex_);
  const Timer timer{clock_.Now() + after, ++last_sequence_};
  const auto added = timers_.emplace(std::make_pair(timer.at, timer.sequence), std::move(callback));
  if (added.first == timers_.begin()) changed_.Signal();
  return timer;
}

bool TimerQueue::Cancel(const Timer& timer) {
  Callback dropped;  // ends after the lock: what it captured may call back into this queue
  absl::MutexLock lock(&mutex_);
  const auto it = timers_.find({timer.at, timer.sequence});
  if (it == timers_.end()) return false;
  dropped = std::move(it->second);
  timers_.erase(it);
  return true;
}

bool TimerQueue::Take(Callback& callback) {
  absl::MutexLock lock(&mutex_);
  if (timers_.empty() || timers_.begin()->first.first > clock_.Now()) return false;
  callback = std::move(timers_.begin()->second);
  timers_.erase(timers_.begin());
  return true;
}

void TimerQueue::RunDue() {
  for (Callback callback; Take(callback);) std::move(callback)();
}

bool TimerQueue::AwaitDue() {
  absl::MutexLock lock(&mutex_);
  while (!stopping_) {
    if (timers_.empty()) {
      changed_.Wait(&mutex_);
      continue;
    }
    const absl::Duration left = timers_.begin()->first.first - clock_.Now();
    if (left <= absl::ZeroDuration()) return true;
    changed_.WaitWithTimeout(&mutex_, left);
  }
  return false;
}

void TimerQueue::Stop() {
  absl::MutexLock lock(&mutex_);
  stopping_ = true;
  changed_.SignalAll();
}

TimerThread::TimerThread(TimerQueue& queue) : queue_(queue) {
  thread_ = std::thread([this] {
    while (queue_.AwaitDue()) queue_.RunDue();
  });
}

TimerThread::~TimerThread() {
  queue_.Stop();
  thread_.join();
}

}  // namespace weft::daemon
