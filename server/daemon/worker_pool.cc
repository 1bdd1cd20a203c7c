#include "server/daemon/worker_pool.h"

#include <utility>

namespace weft::daemon {

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Post(Task task) {
  {
    absl::MutexLock lock(&mutex_);
    if (!stopped_) {
      tasks_.push_back(std::move(task));
      changed_.Signal();
      return;
    }
  }
  std::move(task)();
}

void WorkerPool::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::deque<Task> late;  // posted by other threads after the last worker had ended
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    late.swap(tasks_);
  }
  for (Task& task : late) std::move(task)();
}

void WorkerPool::Run() {
  for (;;) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      // While one runs, it may still post another.
      while (tasks_.empty() && !(stopping_ && busy_ == 0)) changed_.Wait(&mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      ++busy_;
    }
    std::move(task)();
    task = nullptr;  // what it captured ends here, not at the next task
    absl::MutexLock lock(&mutex_);
    if (--busy_ == 0 && stopping_) changed_.SignalAll();
  }
}

}  // namespace weft::daemon
