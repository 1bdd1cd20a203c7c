// The threads of a device. A task never waits for another one: what cannot go on parks itself and
// is posted again by what it waits for, so that any number of waiting streams needs no thread.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "cuda/host/mutex.h"
#include "cuda/host/value_waits.h"

namespace weft::hostcuda {

class WorkerPool {
 public:
  using Task = std::function<void()>;
  // Priorities as CUDA numbers them: 0 is the least urgent, kGreatestPriority the most.
  static constexpr int kLeastPriority = 0;
  static constexpr int kGreatestPriority = -5;

  // Throws std::system_error when the system gives no threads.
  WorkerPool(int workers, ValueWaits& value_waits);
  ~WorkerPool();  // stops
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Ends the threads and joins them; what is queued is dropped, now and later. REQUIRES: not called
  // by one of the threads, nor by two threads at once.
  void Stop();
  // REQUIRES: priority is one of those above. Tasks of one priority start in the order posted.
  void Post(int priority, Task task);
  // Cheap; true when some task waits for a thread.
  bool HasBacklog() const { return queued_.load(std::memory_order_relaxed) > 0; }
  // Says that a wait on a value was added: an idle thread begins to look at the words.
  void WatchValues();

 private:
  static constexpr size_t kLevels = kLeastPriority - kGreatestPriority + 1;

  void Work();
  bool PopTask(Task* task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WaitForWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  ValueWaits& value_waits_;
  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool watching_ ABSL_GUARDED_BY(mu_) = false;  // an idle thread looks at the words
  std::chrono::nanoseconds interval_ ABSL_GUARDED_BY(mu_);
  std::array<std::deque<Task>, kLevels> tasks_ ABSL_GUARDED_BY(mu_);  // most urgent first
  std::atomic<size_t> queued_{0};
  std::vector<std::thread> threads_;
};

}  // namespace weft::hostcuda
