// Ctrl-C while a job runs: the first time something is done about it, the second time the program
// ends.
//
// Thread safety: made and destroyed by the main thread, before other threads are started (they
// inherit its signal mask).
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/unique_fd.h"

namespace weft::cli {

class InterruptWatcher {
 public:
  // From here on SIGINT and SIGTERM no longer end the process; a thread waits for them.
  static absl::StatusOr<std::unique_ptr<InterruptWatcher>> Create();
  // Gives the signals their usual effect back.
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

  // Called on the watcher's thread at the first signal; at once when that has come already. May be
  // empty: nothing is done.
  void OnInterrupt(std::function<void()> action);
  bool interrupted() const;

 private:
  InterruptWatcher(UniqueFd signals, UniqueFd stop, const sigset_t& old_mask);
  void Loop();
  void Handle();

  const UniqueFd signals_;
  const UniqueFd stop_;
  const sigset_t old_mask_;
  mutable absl::Mutex mutex_;
  std::function<void()> action_ ABSL_GUARDED_BY(mutex_);
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace weft::cli
