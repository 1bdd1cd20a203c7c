#include "cuda/host/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace weft::hostcuda {
namespace {

// How often an idle thread looks at words that streams wait on: soon after a wait began (a peer
// that answers at once is answered at once), ever less often until a wait costs next to nothing.
constexpr std::chrono::microseconds kFirstInterval{20};
constexpr std::chrono::microseconds kLastInterval{1000};

// While it lives, threads that this thread starts take no signals: those are the program's to handle.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

WorkerPool::WorkerPool(int workers, ValueWaits& value_waits)
    : value_waits_(value_waits), interval_(kFirstInterval) {
  threads_.reserve(static_cast<size_t>(workers));
  const BlockSignals block;
  try {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { Work(); });
  } catch (...) {
    Stop();  // the system gave fewer threads than asked for; those there are must be joined
    throw;
  }
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Stop() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::array<std::deque<Task>, kLevels> dropped;  // dies after the lock is released
  MutexLock lock(mu_);
  dropped.swap(tasks_);
  queued_.store(0, std::memory_order_relaxed);
}

void WorkerPool::Post(int priority, Task task) {
  {
    MutexLock lock(mu_);
    if (stopping_) return;
    tasks_[static_cast<size_t>(priority - kGreatestPriority)].push_back(std::move(task));
    queued_.fetch_add(1, std::memory_order_relaxed);
  }
  changed_.NotifyOne();
}

void WorkerPool::WatchValues() {
  {
    MutexLock lock(mu_);
    interval_ = kFirstInterval;
  }
  changed_.NotifyOne();
}

bool WorkerPool::PopTask(Task* task) {
  for (std::deque<Task>& level : tasks_) {
    if (level.empty()) continue;
    *task = std::move(level.front());
    level.pop_front();
    queued_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void WorkerPool::WaitForWork() {
  if (!value_waits_.pending() || watching_) {
    changed_.Wait(mu_);
    return;
  }
  watching_ = true;
  changed_.WaitFor(mu_, interval_);
  watching_ = false;
  interval_ = std::min<std::chrono::nanoseconds>(interval_ * 2, kLastInterval);
}

void WorkerPool::Work() {
  mu_.Lock();
  while (!stopping_) {
    Task task;
    if (PopTask(&task)) {
      // This thread may have been the one that looked at the words; another idle one takes over.
      if (value_waits_.pending() && !watching_) changed_.NotifyOne();
      mu_.Unlock();
      task();
      task = nullptr;  // what it holds must not die under the lock
    } else {
      WaitForWork();
      mu_.Unlock();
    }
    // Also after each task: it may have written what a stream waits for.
    if (value_waits_.pending()) value_waits_.Look();
    mu_.Lock();
  }
  mu_.Unlock();
}

}  // namespace weft::hostcuda
