// Threads for work that would hold up others where it arises: compiling a large job on a gRPC
// thread, copying megabytes on a completion thread.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace weft::daemon {

class WorkerPool {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  explicit WorkerPool(int threads);
  // Runs what is queued, then ends the threads.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `task` on one of the threads, in the order of posting. After Stop: on the caller's.
  void Post(Task task);
  // Runs what is queued, and what that posts; then ends the threads. A second call does nothing.
  void Stop();

 private:
  void Run();

  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  int busy_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that run a task, which may post another
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // of the owner's thread
};

}  // namespace weft::daemon
