#include "server/daemon/job_table.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"
#include "server/daemon/id_text.h"

namespace weft::daemon {

absl::string_view NameOf(JobState state) {
  constexpr absl::string_view kNames[] = {"QUEUED",    "RUNNING",           "SUCCEEDED", "FAILED",
                                          "CANCELLED", "DEADLINE_EXCEEDED", "ABORTED"};
  return kNames[static_cast<size_t>(state)];
}

absl::StatusOr<JobTable::Added> JobTable::Add(JobSpec spec) {
  const absl::Duration now = clock_.Now();
  auto shared = std::make_shared<const JobSpec>(std::move(spec));
  absl::MutexLock lock(&mutex_);
  if (closed_) return DrainingError();
  RequestKey key(shared->owner, shared->request_id);
  if (!shared->request_id.empty()) {
    const auto it = request_ids_.find(key);
    if (it != request_ids_.end()) return Added{it->second, true};
  }
  if (totals_.queued + totals_.running >= limits_.max_unfinished) {
    return QueueFullError(limits_.max_unfinished);
  }
  const JobId id(++last_id_);
  if (!shared->request_id.empty()) request_ids_.emplace(std::move(key), id);
  Record& record = records_[id];
  record.snapshot.id = id;
  record.snapshot.spec = std::move(shared);
  record.snapshot.created = WallTimeForDisplay();
  record.accepted_at = now;
  ++totals_.queued;
  return Added{id, false};
}

std::optional<JobId> JobTable::FindByRequestId(uid_t owner, absl::string_view request_id) const {
  if (request_id.empty()) return std::nullopt;
  absl::MutexLock lock(&mutex_);
  const auto it = request_ids_.find(RequestKey(owner, std::string(request_id)));
  if (it == request_ids_.end()) return std::nullopt;
  return it->second;
}

void JobTable::MarkRunning(JobId id, bool reused_graph) {
  JobSnapshot now;
  std::vector<std::shared_ptr<JobWatcher>> watchers;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = records_.find(id);
    if (it == records_.end() || it->second.snapshot.state != JobState::kQueued) return;
    Record& record = it->second;
    record.started_at = clock_.Now();
    record.snapshot.state = JobState::kRunning;
    record.snapshot.queued = record.started_at - record.accepted_at;
    record.snapshot.reused_graph = reused_graph;
    --totals_.queued;
    ++totals_.running;
    if (record.watchers.empty()) return;
    now = record.snapshot;
    watchers = record.watchers;
  }
  for (const auto& watcher : watchers) watcher->OnChange(now);
}

void JobTable::TellOutput(JobId id) {
  std::vector<std::shared_ptr<JobWatcher>> watchers;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = records_.find(id);
    if (it != records_.end()) watchers = it->second.watchers;
  }
  for (const auto& watcher : watchers) watcher->OnOutput();
}

bool JobTable::Finish(JobId id, JobOutcome outcome) {
  uint64_t bytes = 0;
  for (const JobOutputPtr& output : outcome.outputs) bytes += output->data.size();
  auto shared = std::make_shared<const JobOutcome>(std::move(outcome));
  JobSnapshot now;
  std::vector<std::pair<uint64_t, Waiter>> waiters;
  std::vector<std::shared_ptr<JobWatcher>> watchers;
  std::vector<Record> evicted;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = records_.find(id);
    if (it == records_.end() || IsTerminal(it->second.snapshot.state)) return false;
    Record& record = it->second;
    JobSnapshot& snapshot = record.snapshot;
    if (snapshot.state == JobState::kQueued) {
      snapshot.queued = clock_.Now() - record.accepted_at;
      --totals_.queued;
    } else {
      snapshot.running = clock_.Now() - record.started_at;
      --totals_.running;
    }
    snapshot.state = shared->state;
    snapshot.outcome = std::move(shared);
    // Of another job than a SUCCEEDED one what was delivered is kept without a result.
    const std::shared_ptr<OutputLog>& delivered = snapshot.spec->delivered;
    if (snapshot.state != JobState::kSucceeded && delivered != nullptr) bytes = delivered->bytes();
    record.result_bytes = bytes;
    ++totals_.ended;
    ++totals_.kept;
    totals_.kept_result_bytes += bytes;
    ended_.push_back(id);
    now = snapshot;
    waiters.swap(record.waiters);
    watchers.swap(record.watchers);
    evicted = EvictLocked();
    if (totals_.queued + totals_.running == 0) idle_.SignalAll();
  }
  for (auto& [number, waiter] : waiters) std::move(waiter)(now);
  for (const auto& watcher : watchers) watcher->OnChange(now);
  return true;
}

std::vector<JobTable::Record> JobTable::EvictLocked() {
  std::vector<Record> evicted;
  // Never the one that has just ended: somebody may be on the way to its result.
  while (ended_.size() > 1 && (totals_.kept > limits_.max_kept ||
                               totals_.kept_result_bytes > limits_.max_kept_result_bytes)) {
    const auto it = records_.find(ended_.front());
    ended_.pop_front();
    const JobSpec& spec = *it->second.snapshot.spec;
    if (!spec.request_id.empty()) request_ids_.erase(RequestKey(spec.owner, spec.request_id));
    --totals_.kept;
    totals_.kept_result_bytes -= it->second.result_bytes;
    evicted.push_back(std::move(it->second));
    records_.erase(it);
  }
  return evicted;
}

absl::StatusOr<const JobTable::Record*> JobTable::FindLocked(const Caller& caller, JobId id) const {
  const auto it = records_.find(id);
  if (it == records_.end()) return UnknownJobError(FormatJobId(id));
  if (!caller.MayUse(it->second.snapshot.spec->owner)) return NotYourJobError(FormatJobId(id));
  return &it->second;
}

JobSnapshot JobTable::SnapshotOf(const Record& record, absl::Duration now) {
  JobSnapshot snapshot = record.snapshot;
  if (snapshot.state == JobState::kQueued) snapshot.queued = now - record.accepted_at;
  if (snapshot.state == JobState::kRunning) snapshot.running = now - record.started_at;
  return snapshot;
}

absl::StatusOr<JobSnapshot> JobTable::Get(const Caller& caller, JobId id) const {
  absl::MutexLock lock(&mutex_);
  WEFT_ASSIGN_OR_RETURN(const Record* record, FindLocked(caller, id));
  return SnapshotOf(*record, clock_.Now());
}

JobPage JobTable::List(const Caller& caller, std::optional<JobId> before, uint32_t limit,
                       const std::vector<JobState>& states) const {
  JobPage page;
  const absl::Duration now = clock_.Now();
  absl::MutexLock lock(&mutex_);
  auto it = before.has_value() ? records_.lower_bound(*before) : records_.end();
  while (it != records_.begin()) {
    const Record& record = (--it)->second;
    const JobSnapshot& job = record.snapshot;
    if (!caller.MayUse(job.spec->owner)) continue;
    if (!states.empty() && std::find(states.begin(), states.end(), job.state) == states.end()) {
      continue;
    }
    if (page.items.size() == limit) {
      page.next = page.items.back().id;
      break;
    }
    page.items.push_back(SnapshotOf(record, now));
  }
  return page;
}

absl::StatusOr<uint64_t> JobTable::Wait(const Caller& caller, JobId id, Waiter waiter) {
  JobSnapshot now;
  {
    absl::MutexLock lock(&mutex_);
    WEFT_RETURN_IF_ERROR(FindLocked(caller, id).status());
    Record& record = records_.find(id)->second;
    const uint64_t number = ++last_waiter_;
    if (!IsTerminal(record.snapshot.state)) {
      record.waiters.emplace_back(number, std::move(waiter));
      return number;
    }
    now = record.snapshot;
  }
  std::move(waiter)(now);
  return uint64_t{0};
}

bool JobTable::StopWaiting(JobId id, uint64_t number) {
  Waiter dropped;  // ends after the lock
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  if (it == records_.end()) return false;
  auto& waiters = it->second.waiters;
  const auto found = std::find_if(waiters.begin(), waiters.end(),
                                  [number](const auto& w) { return w.first == number; });
  if (found == waiters.end()) return false;
  dropped = std::move(found->second);
  waiters.erase(found);
  return true;
}

absl::StatusOr<JobSnapshot> JobTable::Watch(const Caller& caller, JobId id,
                                            std::shared_ptr<JobWatcher> watcher) {
  absl::MutexLock lock(&mutex_);
  WEFT_RETURN_IF_ERROR(FindLocked(caller, id).status());
  Record& record = records_.find(id)->second;
  if (!IsTerminal(record.snapshot.state)) record.watchers.push_back(std::move(watcher));
  return SnapshotOf(record, clock_.Now());
}

void JobTable::StopWatching(JobId id, const JobWatcher* watcher) {
  std::shared_ptr<JobWatcher> dropped;  // ends after the lock
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  if (it == records_.end()) return;
  auto& watchers = it->second.watchers;
  const auto found = std::find_if(watchers.begin(), watchers.end(),
                                  [watcher](const auto& w) { return w.get() == watcher; });
  if (found == watchers.end()) return;
  dropped = std::move(*found);
  watchers.erase(found);
}

void JobTable::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool JobTable::AwaitIdle(absl::Duration timeout) const {
  const absl::Duration deadline = Clock::Real().Now() + timeout;
  absl::MutexLock lock(&mutex_);
  while (totals_.queued + totals_.running > 0) {
    const absl::Duration left = deadline - Clock::Real().Now();
    if (left <= absl::ZeroDuration()) return false;
    idle_.WaitWithTimeout(&mutex_, left);
  }
  return true;
}

JobTable::Totals JobTable::totals() const {
  absl::MutexLock lock(&mutex_);
  return totals_;
}

}  // namespace weft::daemon
