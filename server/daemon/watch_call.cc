#include "server/daemon/watch_call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "server/daemon/request_context.h"
#include "server/daemon/to_proto.h"

namespace weft::daemon {

std::shared_ptr<WatchCall> WatchCall::Create(JobTable& table) {
  std::shared_ptr<WatchCall> call(new WatchCall(table));
  call->self_ = call;
  return call;
}

void WatchCall::Start(const Caller& caller, JobId job) {
  {
    absl::MutexLock lock(&mutex_);
    job_ = job;
  }
  const absl::StatusOr<JobSnapshot> now = table_.Watch(caller, job, shared_from_this());
  if (!now.ok()) return Fail(now.status());
  OnChange(*now);
}

void WatchCall::Fail(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  End(status);
}

void WatchCall::OnChange(const JobSnapshot& job) {
  absl::MutexLock lock(&mutex_);
  // States only go forward, so a change that comes late is known by its state.
  if (ended_ || (last_.has_value() && job.state <= *last_)) return;
  last_ = job.state;
  newest_ = job;
  delivered_ = job.spec->delivered;
  WriteNext();
}

void WatchCall::WriteNext() {
  if (writing_ || ended_ || !FillNext()) return;
  if (response_.has_info() && IsTerminal(*last_)) {
    ended_ = true;
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    writing_ = true;
    StartWrite(&response_);
  }
}

// The next message: a state, then what was delivered in it; the terminal state behind all outputs.
bool WatchCall::FillNext() {
  response_.Clear();
  const bool is_over = newest_.has_value() && IsTerminal(newest_->state);
  if (!newest_.has_value() || is_over) {
    const JobOutputPtr output = delivered_ == nullptr ? nullptr : delivered_->At(outputs_sent_);
    if (output != nullptr) {
      ++outputs_sent_;
      ToProto(*output, *response_.mutable_output());
      return true;
    }
  }
  if (!newest_.has_value()) return false;
  ToProto(*std::exchange(newest_, std::nullopt), *response_.mutable_info());
  return true;
}

void WatchCall::OnOutput() {
  absl::MutexLock lock(&mutex_);
  WriteNext();
}

void WatchCall::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (!ok) return End(absl::CancelledError("the caller went away"));
  WriteNext();
}

void WatchCall::OnCancel() {
  absl::MutexLock lock(&mutex_);
  // A write in progress fails by itself, and ends the call then.
  if (!writing_) End(absl::CancelledError("the caller went away"));
}

void WatchCall::End(const absl::Status& status) {
  if (std::exchange(ended_, true)) return;
  Finish(ToGrpc(status));
}

void WatchCall::OnDone() {
  JobId job;
  {
    absl::MutexLock lock(&mutex_);
    job = job_;
  }
  table_.StopWatching(job, this);
  self_.reset();
}

}  // namespace weft::daemon
