// A job from acceptance to its end.
//
//   Submit ─▶ received, taken apart ─▶ equal job cached? ──no──▶ compiled on a worker thread
//                                          │ yes                         │
//                                          ▼                             ▼
//   accepted: buffers in use, in the table ─▶ order between jobs ─▶ queue of the device
//                                                                        │ its turn
//                            ended ◀─ completion ◀─ launched ◀─ instance of its graph leased
//
// A repeated job that conflicts with nothing goes from Submit to its launch on the calling thread,
// and from the completion to the waiting call on the executor's completion thread: no hand-over
// between threads but those two.
//
// Outputs that are delivered while the job runs (host_outputs.h) are looked for on the completion thread
// at each notice of the executor, put into the job's log, and told to its watchers.
//
// Who ends a job: whoever moves its phase to kEnded (job.h in job_manager.cc), exactly one. What a
// job holds is given back before its end is told, so that a client that saw the end can, for
// example, delete the job's buffers.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/ids.h"
#include "server/daemon/buffer_manager.h"
#include "server/daemon/caller.h"
#include "server/daemon/compiled_job.h"
#include "server/daemon/executor_client.h"
#include "server/daemon/executor_directory.h"
#include "server/daemon/graph_cache.h"
#include "server/daemon/job_compiler.h"
#include "server/daemon/job_order.h"
#include "server/daemon/job_table.h"
#include "server/daemon/scheduler.h"
#include "server/daemon/timer_queue.h"
#include "server/daemon/worker_pool.h"

namespace weft::daemon {

// A run of a compiled job that a client asks for.
struct JobRequest {
  Caller caller;
  std::string request_id;  // empty: none
  JobRequestOptions options;
  std::shared_ptr<const CompiledJob> compiled;
  std::vector<UploadBytes> uploads;  // as many as compiled->uploads, each of its slot's size
};

// What the manager works with. REQUIRES: all outlive it.
struct JobParts {
  JobCompiler& compiler;
  JobTable& table;
  JobOrder& order;
  Scheduler& scheduler;
  GraphCache& cache;
  BufferManager& buffers;
  ExecutorDirectory& executors;
  TimerQueue& timers;
  WorkerPool& workers;
};

class JobManager {
 public:
  using Accepted = absl::AnyInvocable<void(absl::StatusOr<JobId>) &&>;
  using Compiled =
      absl::AnyInvocable<void(absl::StatusOr<std::shared_ptr<const CompiledJob>>, ReceivedJob) &&>;

  explicit JobManager(const JobParts& parts) : p_(parts) {}
  // REQUIRES: no job is unfinished (AbortAll).
  ~JobManager() = default;
  JobManager(const JobManager&) = delete;
  JobManager& operator=(const JobManager&) = delete;

  // Accepts a job, or finds the one that has its request id already. `accepted` is called before
  // this returns when an equal job is cached, otherwise on a worker thread.
  // Errors: JobCompiler::Compile's; UNAVAILABLE (draining, executor not serving);
  // RESOURCE_EXHAUSTED (queue).
  void Submit(const Caller& caller, v1::Job job, std::string request_id, Accepted accepted);
  // Only compiles it (found in the cache or made), without accepting anything.
  void Compile(const Caller& caller, v1::Job job, Compiled compiled);
  // Accepts a run of a job that is compiled already.
  absl::StatusOr<JobId> Accept(JobRequest request);

  // CANCELLED at once when it is queued; without effect when it runs; FAILED_PRECONDITION when it
  // has ended. Returns the job as it is then.
  absl::StatusOr<JobSnapshot> Cancel(const Caller& caller, JobId id);

  // Ends every job that has not ended as ABORTED: weftd is shutting down.
  void AbortAll();

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;

  // UNAVAILABLE unless the device's executor serves.
  absl::Status CheckServing(uint32_t device) const;
  // Into the table and among the live ones, with its deadline.
  absl::StatusOr<JobTable::Added> MakeKnown(const JobPtr& job);
  static JobOutcome FailedOutcome(const Job& job, const absl::Status& error, std::string node = "");
  void Enter(const JobPtr& job);    // into the order between jobs
  void Enqueue(const JobPtr& job);  // into the device's queue
  Scheduler::Started Start(const JobPtr& job);
  void OnLease(const JobPtr& job, absl::StatusOr<GraphLease> lease);
  void Retry(const JobPtr& job, const absl::Status& error);
  void Launch(const JobPtr& job);
  void OnNotice(const JobPtr& job);
  void Deliver(const JobPtr& job);
  static std::vector<JobOutputPtr> TakeOutputs(const Job& job);
  void OnLaunched(const JobPtr& job, const LaunchResult& result);
  void Complete(const JobPtr& job, const LaunchResult& result);
  void CompleteWithReport(const JobPtr& job, absl::StatusCode code);
  void Succeed(const JobPtr& job, std::vector<NodeTime> timeline);
  void EndRun(const JobPtr& job, JobOutcome outcome);     // of a running job
  bool EndQueued(const JobPtr& job, JobOutcome outcome);  // false when it is not queued any more
  void Finish(const JobPtr& job, JobOutcome outcome);
  void CancelDeadline(const Job& job);
  JobPtr FindLive(JobId id);

  JobParts p_;
  absl::Mutex mutex_;
  absl::flat_hash_map<JobId, JobPtr> live_ ABSL_GUARDED_BY(mutex_);  // accepted and not ended
};

}  // namespace weft::daemon
