#include "server/daemon/waiting_call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "base/clock.h"
#include "server/daemon/errors.h"
#include "server/daemon/id_text.h"
#include "server/daemon/request_context.h"

namespace weft::daemon {

std::shared_ptr<WaitingCall> WaitingCall::Create(JobTable& table, TimerQueue& timers, Fill fill) {
  std::shared_ptr<WaitingCall> call(new WaitingCall(table, timers, std::move(fill)));
  call->self_ = call;
  return call;
}

void WaitingCall::AnswerNow(const Caller& caller, JobId job) {
  const absl::StatusOr<JobSnapshot> snapshot = table_.Get(caller, job);
  if (!snapshot.ok()) return Fail(snapshot.status());
  Answer(*snapshot);
}

void WaitingCall::AnswerAtEnd(const Caller& caller, JobId job, uint64_t timeout_ms) {
  const std::shared_ptr<WaitingCall> self = shared_from_this();
  const absl::StatusOr<uint64_t> waiter =
      table_.Wait(caller, job, [self](const JobSnapshot& ended) { self->Answer(ended); });
  if (!waiter.ok()) return Fail(waiter.status());
  {
    absl::MutexLock lock(&mutex_);
    job_ = job;
    waiter_ = *waiter;
    if (timeout_ms > 0) {
      timer_ = timers_.Add(SaturatingMilliseconds(timeout_ms), [self, job, timeout_ms] {
        self->GiveUp(WaitTimeoutError(FormatJobId(job), timeout_ms));
      });
    }
  }
  if (answered_) Undo();
}

void WaitingCall::Answer(const JobSnapshot& job) {
  if (!Claim()) return;
  Undo();
  fill_(job);
  Finish(grpc::Status::OK);
}

void WaitingCall::Fail(const absl::Status& status) {
  if (Claim()) Finish(ToGrpc(status));
}

void WaitingCall::GiveUp(const absl::Status& status) {
  if (!Claim()) return;
  Undo();
  Finish(ToGrpc(status));
}

void WaitingCall::OnCancel() { GiveUp(absl::CancelledError("the caller went away")); }

void WaitingCall::Undo() {
  JobId job;
  uint64_t waiter = 0;
  TimerQueue::Timer timer;
  {
    absl::MutexLock lock(&mutex_);
    job = job_;
    waiter = std::exchange(waiter_, 0);
    timer = std::exchange(timer_, {});
  }
  if (waiter != 0) table_.StopWaiting(job, waiter);
  if (timer.sequence != 0) timers_.Cancel(timer);
}

}  // namespace weft::daemon
