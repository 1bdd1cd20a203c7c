// A unary call that answers later: when a job is accepted, when it has ended, or when somebody gives
// up. Holds no thread meanwhile.
//
// Whatever happens first answers: the job's end, an error, the caller's going away, a timeout.
//
// Thread safety: all members may be called from any thread. gRPC, and whoever will answer, keep the
// call alive.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/daemon/job_table.h"
#include "server/daemon/timer_queue.h"

namespace weft::daemon {

class WaitingCall final : public grpc::ServerUnaryReactor,
                          public std::enable_shared_from_this<WaitingCall> {
 public:
  // Writes a job into the response of the call.
  using Fill = std::function<void(const JobSnapshot&)>;

  // The call returned is handed to gRPC as `get()`. REQUIRES: `table` and `timers` outlive it.
  static std::shared_ptr<WaitingCall> Create(JobTable& table, TimerQueue& timers, Fill fill);

  // Answers with the job as it is now.
  void AnswerNow(const Caller& caller, JobId job);
  // Answers when the job has ended; DEADLINE_EXCEEDED when `timeout_ms` (not 0) passes first.
  void AnswerAtEnd(const Caller& caller, JobId job, uint64_t timeout_ms);
  // Answers with an error.
  void Fail(const absl::Status& status);

 private:
  WaitingCall(JobTable& table, TimerQueue& timers, Fill fill)
      : table_(table), timers_(timers), fill_(std::move(fill)) {}

  void OnCancel() override;
  void OnDone() override { self_.reset(); }

  void Answer(const JobSnapshot& job);
  bool Claim() { return !answered_.exchange(true); }
  void GiveUp(const absl::Status& status);
  void Undo();

  JobTable& table_;
  TimerQueue& timers_;
  const Fill fill_;
  std::shared_ptr<WaitingCall> self_;  // until gRPC is done with it
  std::atomic<bool> answered_{false};
  // What is to be undone when the call is answered otherwise. Set after the fact: whoever sets one
  // looks at answered_ afterwards, and whoever answers looks at them afterwards, so one of both
  // sees the other.
  absl::Mutex mutex_;
  JobId job_ ABSL_GUARDED_BY(mutex_);
  uint64_t waiter_ ABSL_GUARDED_BY(mutex_) = 0;
  TimerQueue::Timer timer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::daemon
