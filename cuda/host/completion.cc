#include "cuda/host/completion.h"

#include <utility>

#include "absl/time/time.h"
#include "base/clock.h"

namespace weft::hostcuda {

void Completion::Finish() {
  std::vector<std::function<void()>> callbacks;
  {
    MutexLock lock(mu_);
    if (done_) return;
    done_ = true;
    time_ns_ = absl::ToInt64Nanoseconds(Clock::Real().Now());
    callbacks.swap(callbacks_);
    changed_.NotifyAll();
  }
  for (const std::function<void()>& callback : callbacks) callback();
}

bool Completion::done() const {
  MutexLock lock(mu_);
  return done_;
}

void Completion::Wait() const {
  MutexLock lock(mu_);
  while (!done_) changed_.Wait(mu_);
}

void Completion::OnDone(std::function<void()> callback) {
  {
    MutexLock lock(mu_);
    if (!done_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

int64_t Completion::time_ns() const {
  MutexLock lock(mu_);
  return time_ns_;
}

}  // namespace weft::hostcuda
