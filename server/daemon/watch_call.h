// A Watch: the state of a job now, then its changes, and the outputs that it delivers while it runs. A
// reader that is slower than the job misses states in between, only the newest one that was not sent
// being kept, and no output: those lie in the job's log.
//
// Thread safety: all members may be called from any thread. gRPC and the job table keep it alive.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/daemon/job_table.h"
#include "weft/v1/service.pb.h"

namespace weft::daemon {

class WatchCall final : public grpc::ServerWriteReactor<v1::WatchResponse>,
                        public JobWatcher,
                        public std::enable_shared_from_this<WatchCall> {
 public:
  static std::shared_ptr<WatchCall> Create(JobTable& table);

  void Start(const Caller& caller, JobId job);
  void Fail(const absl::Status& status);
  void OnChange(const JobSnapshot& job) override;
  void OnOutput() override;

 private:
  explicit WatchCall(JobTable& table) : table_(table) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  bool FillNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  JobTable& table_;
  std::shared_ptr<WatchCall> self_;  // until gRPC is done with it
  absl::Mutex mutex_;
  JobId job_ ABSL_GUARDED_BY(mutex_);
  std::optional<JobSnapshot> newest_ ABSL_GUARDED_BY(mutex_);           // not sent yet
  std::optional<JobState> last_ ABSL_GUARDED_BY(mutex_);                // sent, or in newest_
  std::shared_ptr<const OutputLog> delivered_ ABSL_GUARDED_BY(mutex_);  // null: there is none
  size_t outputs_sent_ ABSL_GUARDED_BY(mutex_) = 0;
  v1::WatchResponse response_;  // of the write in progress
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace weft::daemon
