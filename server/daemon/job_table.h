// Jobs and their states, as clients see them.
//
//   QUEUED ──▶ RUNNING ──▶ SUCCEEDED | FAILED | ABORTED
//      └─────────────────▶ FAILED | CANCELLED | DEADLINE_EXCEEDED | ABORTED
//
// Each job gets exactly one terminal state: a second Finish is refused. Ended jobs are kept, with
// their results, until newer ones push them out (by count and by bytes of results).
//
// Thread safety: all members may be called from any thread. Waiters and watchers are called without
// a lock held, on the thread that changed the state.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/ids.h"
#include "server/daemon/caller.h"
#include "server/daemon/job_output.h"

namespace weft::daemon {

struct CompiledJob;  // compiled_job.h

enum class JobState : uint8_t {
  kQueued,
  kRunning,
  kSucceeded,
  kFailed,
  kCancelled,
  kDeadlineExceeded,
  kAborted,
};
constexpr bool IsTerminal(JobState state) { return state > JobState::kRunning; }
absl::string_view NameOf(JobState state);  // "QUEUED" …

struct NodeTime {
  std::string node;
  std::string kind;
  uint32_t lane = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  float occupancy = 0;  // 0: not known
};

// How a job ended. Immutable once it is in the table.
struct JobOutcome {
  JobState state = JobState::kSucceeded;
  absl::Status error;  // not OK in every state but kSucceeded
  std::string error_node;
  std::vector<JobOutputPtr> outputs;
  std::vector<NodeTime> timeline;
};

// What does not change over the life of a job.
struct JobSpec {
  std::string name;
  uid_t owner = 0;
  std::string request_id;  // empty: none
  uint32_t node_count = 0;
  uint32_t lane_count = 0;
  uint64_t scratch_bytes = 0;
  // What is delivered while it runs; null: nothing is.
  std::shared_ptr<OutputLog> delivered;
  // For the text of its plan; the graph cache decides how long it lives.
  std::weak_ptr<const CompiledJob> compiled;
};

// A job at one moment. A value; cheap to copy.
struct JobSnapshot {
  JobId id;
  std::shared_ptr<const JobSpec> spec;  // shared: snapshots outlive a job's place in the table
  JobState state = JobState::kQueued;
  std::shared_ptr<const JobOutcome> outcome;  // set in terminal states
  absl::Time created;
  absl::Duration queued;   // so far, while it is
  absl::Duration running;  // so far, while it does
  bool reused_graph = false;
};

// Told of every change. Changes may come in any order and from any thread: a snapshot whose state
// is not later than the last one seen is old news.
class JobWatcher {
 public:
  virtual ~JobWatcher() = default;
  virtual void OnChange(const JobSnapshot& job) = 0;
  // JobSpec::delivered has grown. Before the change to a terminal state it may have grown once more.
  virtual void OnOutput() = 0;
};

struct JobPage {
  std::vector<JobSnapshot> items;
  std::optional<JobId> next;  // the next page starts before this job; nullopt: the last page
};

struct JobLimits {
  uint32_t max_unfinished = 0;
  uint32_t max_kept = 0;
  uint64_t max_kept_result_bytes = 0;
};

class JobTable {
 public:
  using Waiter = absl::AnyInvocable<void(const JobSnapshot&) &&>;

  // REQUIRES: `clock` outlives the table.
  JobTable(const JobLimits& limits, const Clock& clock) : limits_(limits), clock_(clock) {}

  struct Added {
    JobId id;
    bool existed = false;  // an earlier job of the owner has the same request id
  };
  // UNAVAILABLE after Close; RESOURCE_EXHAUSTED.
  absl::StatusOr<Added> Add(JobSpec spec);
  // The job that has `request_id` of `owner`.
  std::optional<JobId> FindByRequestId(uid_t owner, absl::string_view request_id) const;

  void MarkRunning(JobId id, bool reused_graph);
  // Tells the watchers that JobSpec::delivered has grown.
  void TellOutput(JobId id);
  // False when the job is unknown or has a terminal state already; then nothing changed.
  bool Finish(JobId id, JobOutcome outcome);

  // NOT_FOUND, PERMISSION_DENIED.
  absl::StatusOr<JobSnapshot> Get(const Caller& caller, JobId id) const;
  // Newest first, from `before` (exclusive; nullopt: the newest); `states` empty: all.
  JobPage List(const Caller& caller, std::optional<JobId> before, uint32_t limit,
               const std::vector<JobState>& states) const;

  // Calls `waiter` once, when the job has a terminal state; at once when it has. The number is for
  // StopWaiting.
  absl::StatusOr<uint64_t> Wait(const Caller& caller, JobId id, Waiter waiter);
  // Drops a waiter; false when it was called or is being called.
  bool StopWaiting(JobId id, uint64_t number);
  // Tells `watcher` of every change from now on; returns the state now.
  absl::StatusOr<JobSnapshot> Watch(const Caller& caller, JobId id,
                                    std::shared_ptr<JobWatcher> watcher);
  void StopWatching(JobId id, const JobWatcher* watcher);

  // Refuses every further Add.
  void Close();
  // Blocks until no job is unfinished; false when `timeout` passed first (on the system's clock).
  bool AwaitIdle(absl::Duration timeout) const;

  struct Totals {
    uint64_t queued = 0;
    uint64_t running = 0;
    uint64_t ended = 0;  // since the start
    uint64_t kept = 0;
    uint64_t kept_result_bytes = 0;
  };
  Totals totals() const;

 private:
  struct Record {
    JobSnapshot snapshot;
    absl::Duration accepted_at;
    absl::Duration started_at;
    uint64_t result_bytes = 0;
    std::vector<std::pair<uint64_t, Waiter>> waiters;
    std::vector<std::shared_ptr<JobWatcher>> watchers;
  };
  using RequestKey = std::pair<uid_t, std::string>;

  // With the time that it has waited or run so far.
  static JobSnapshot SnapshotOf(const Record& record, absl::Duration now);
  absl::StatusOr<const Record*> FindLocked(const Caller& caller, JobId id) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // The kept jobs that newer ones push out; to be destroyed without the lock.
  std::vector<Record> EvictLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const JobLimits limits_;
  const Clock& clock_;
  mutable absl::Mutex mutex_;
  mutable absl::CondVar idle_;
  std::map<JobId, Record> records_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<RequestKey, JobId> request_ids_ ABSL_GUARDED_BY(mutex_);
  std::deque<JobId> ended_ ABSL_GUARDED_BY(mutex_);  // kept ones, the oldest end first
  Totals totals_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_waiter_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace weft::daemon
