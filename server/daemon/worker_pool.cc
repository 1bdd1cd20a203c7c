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
      return;
    }
  }
  std::move(task)();
}

void WorkerPool::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
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
  const auto ready = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return !tasks_.empty() || (stopping_ && busy_ == 0);
  };
  for (;;) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      ++busy_;
    }
    std::move(task)();
    task = nullptr;  // what it captured ends here, not at the next task
    absl::MutexLock lock(&mutex_);
    --busy_;
  }
}

}  // namespace weft::daemon
