#include "server/daemon/job_manager.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/error_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"
#include "server/daemon/host_outputs.h"
#include "server/daemon/id_text.h"
#include "weft/v1/job.pb.h"

namespace weft::daemon {
namespace {

// Up to so many bytes are copied on the thread at hand; more go to a worker, because the thread is
// one that others wait for. 64 KiB take some 5 µs, about what the hand-over costs.
constexpr uint64_t kInlineCopyBytes = uint64_t{64} * 1024;

// A job whose graph was being prepared when its executor was lost has not run and is started again,
// but not for ever: it may be what kills the executor.
constexpr int kMaxStarts = 3;

JobOutcome ErrorOutcome(JobState state, absl::Status error, std::string node = "") {
  JobOutcome outcome;
  outcome.state = state;
  outcome.error = std::move(error);
  outcome.error_node = std::move(node);
  return outcome;
}

// True when `staged` is just these bytes (the same object, not equal content).
bool IsStaged(const std::weak_ptr<const std::string>& staged, const UploadBytes& bytes) {
  return !staged.owner_before(bytes) && !bytes.owner_before(staged);
}

void StageUploads(const CompiledJob& compiled, const std::vector<UploadBytes>& uploads,
                  GraphInstance& instance) {
  for (size_t i = 0; i < uploads.size(); ++i) {
    if (IsStaged(instance.staged[i], uploads[i])) continue;
    const ByteRange range = compiled.uploads[i].staging;
    if (range.size > 0) {
      std::memcpy(instance.graph.staging.data() + range.offset, uploads[i]->data(), range.size);
    }
    instance.staged[i] = uploads[i];
  }
}

}  // namespace

// An accepted job. Its phase decides who may touch the rest: before kRunning whoever starts it
// (one thread at a time, handed on by the order, the scheduler and the cache), in kRunning whoever
// completes it. Moving the phase to kEnded gives the right and the duty to call Finish.
struct JobManager::Job {
  enum class Phase : uint8_t { kQueued, kRunning, kEnded };

  JobId id;
  JobRequest request;
  bool ordered = false;  // has a unit
  JobOrder::UnitId unit;
  TimerQueue::Timer deadline;
  int starts = 0;
  GraphLease lease;
  std::unique_ptr<HostOutputs> host_outputs;  // null: all outputs are delivered at the end
  std::atomic<bool> delivery_posted{false};
  std::atomic<Phase> phase{Phase::kQueued};

  const CompiledJob& compiled() const { return *request.compiled; }
  bool Move(Phase from, Phase to) { return phase.compare_exchange_strong(from, to); }
};

// The executor does not know the job's name: equal jobs of other names share its graph.
JobOutcome JobManager::FailedOutcome(const Job& job, const absl::Status& error, std::string node) {
  return ErrorOutcome(JobState::kFailed, WithContext(error, {.job = job.request.options.name}),
                      std::move(node));
}

void JobManager::Submit(const Caller& caller, v1::Job job, std::string request_id,
                        Accepted accepted) {
  if (const auto earlier = p_.table.FindByRequestId(caller.uid, request_id)) {
    return std::move(accepted)(*earlier);
  }
  Compile(caller, std::move(job),
          [this, request_id = std::move(request_id), accepted = std::move(accepted)](
              absl::StatusOr<std::shared_ptr<const CompiledJob>> compiled,
              ReceivedJob received) mutable {
            if (!compiled.ok()) return std::move(accepted)(compiled.status());
            JobRequest request{.caller = received.caller,
                               .request_id = std::move(request_id),
                               .options = JobCompiler::OptionsOf(received),
                               .compiled = *std::move(compiled),
                               .uploads = {}};
            for (std::string& bytes : received.uploads) {
              request.uploads.push_back(std::make_shared<const std::string>(std::move(bytes)));
            }
            std::move(accepted)(Accept(std::move(request)));
          });
}

void JobManager::Compile(const Caller& caller, v1::Job job, Compiled compiled) {
  if (const absl::Status allowed = p_.compiler.CheckAllowed(caller, job); !allowed.ok()) {
    return std::move(compiled)(allowed, ReceivedJob());
  }
  ReceivedJob received = p_.compiler.Receive(caller, std::move(job));
  if (std::shared_ptr<const CompiledJob> cached = p_.compiler.Find(received)) {
    return std::move(compiled)(std::move(cached), std::move(received));
  }
  p_.workers.Post([this, received = std::move(received), compiled = std::move(compiled)]() mutable {
    auto result = p_.compiler.Compile(received);
    std::move(compiled)(std::move(result), std::move(received));
  });
}

absl::StatusOr<JobId> JobManager::Accept(JobRequest request) {
  WEFT_RETURN_IF_ERROR(CheckServing(request.compiled->device));
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  const CompiledJob& compiled = job->compiled();
  WEFT_RETURN_IF_ERROR(p_.buffers.AddUses(compiled.buffers));
  if (!compiled.uses.empty()) {
    job->ordered = true;
    job->unit = p_.order.Add(compiled.uses, [this, job] { Enqueue(job); });
  }
  const absl::StatusOr<JobTable::Added> added = MakeKnown(job);
  if (!added.ok() || added->existed) {
    p_.buffers.ReleaseUses(compiled.buffers);
    if (job->ordered) p_.order.End(job->unit);
    if (!added.ok()) return added.status();
    return added->id;
  }
  Enter(job);
  return added->id;
}

// Under the lock as a whole: who sees the job in the table may cancel it.
absl::StatusOr<JobTable::Added> JobManager::MakeKnown(const JobPtr& job) {
  const CompiledJob& compiled = job->compiled();
  std::shared_ptr<OutputLog> delivered;
  if (compiled.has_host_outputs) {
    delivered = std::make_shared<OutputLog>();
    job->host_outputs = std::make_unique<HostOutputs>(job->request.compiled, delivered);
  }
  absl::MutexLock lock(&mutex_);
  WEFT_ASSIGN_OR_RETURN(const JobTable::Added added,
                        p_.table.Add({.name = job->request.options.name,
                                      .owner = job->request.caller.uid,
                                      .request_id = job->request.request_id,
                                      .node_count = compiled.node_count,
                                      .lane_count = compiled.lane_count,
                                      .scratch_bytes = compiled.scratch_bytes,
                                      .delivered = std::move(delivered),
                                      .compiled = job->request.compiled}));
  if (added.existed) return added;
  job->id = added.id;
  live_.emplace(job->id, job);
  if (const uint64_t deadline_ms = job->request.options.deadline_ms; deadline_ms > 0) {
    job->deadline = p_.timers.Add(SaturatingMilliseconds(deadline_ms), [this, job, deadline_ms] {
      EndQueued(job, ErrorOutcome(JobState::kDeadlineExceeded, JobDeadlineError(deadline_ms)));
    });
  }
  return added;
}

absl::Status JobManager::CheckServing(uint32_t device) const {
  return p_.executors.Find(device).status();
}

void JobManager::Enter(const JobPtr& job) {
  if (job->ordered) {
    p_.order.Open(job->unit);
  } else {
    Enqueue(job);
  }
}

void JobManager::Enqueue(const JobPtr& job) {
  p_.scheduler.Enqueue(job->compiled().device, {.job = job->id,
                                                .session = job->request.caller.session,
                                                .start = [this, job] { return Start(job); }});
}

Scheduler::Started JobManager::Start(const JobPtr& job) {
  if (job->phase != Job::Phase::kQueued) return Scheduler::Started::kNothing;
  auto client = p_.executors.Find(job->compiled().device);
  if (!client.ok()) {
    // The device was paused before its executor was withdrawn, so this waits and does not spin.
    p_.scheduler.EnqueueFirst(job->compiled().device,
                              {.job = job->id,
                               .session = job->request.caller.session,
                               .start = [this, job] { return Start(job); }});
    return Scheduler::Started::kNothing;
  }
  ++job->starts;
  p_.cache.Acquire(
      job->request.compiled, *std::move(client),
      [this, job](absl::StatusOr<GraphLease> lease) { OnLease(job, std::move(lease)); });
  return Scheduler::Started::kRunning;
}

void JobManager::OnLease(const JobPtr& job, absl::StatusOr<GraphLease> lease) {
  if (!lease.ok()) return Retry(job, lease.status());
  if (!job->Move(Job::Phase::kQueued, Job::Phase::kRunning)) {
    lease->Return();
    // Not from here: this may run inside the scheduler's own start of the job.
    p_.workers.Post([this, device = job->compiled().device] { p_.scheduler.Done(device); });
    return;
  }
  job->lease = *std::move(lease);
  CancelDeadline(*job);
  p_.table.MarkRunning(job->id, job->lease->launched);
  job->lease->launched = true;
  if (job->compiled().upload_bytes <= kInlineCopyBytes) {
    Launch(job);
  } else {
    p_.workers.Post([this, job] { Launch(job); });
  }
}

// No instance could be had; the job has not run.
void JobManager::Retry(const JobPtr& job, const absl::Status& error) {
  const uint32_t device = job->compiled().device;
  if (absl::IsUnavailable(error) && job->starts < kMaxStarts) {
    p_.scheduler.EnqueueFirst(device, {.job = job->id,
                                       .session = job->request.caller.session,
                                       .start = [this, job] { return Start(job); }});
  } else {
    EndQueued(job, absl::IsUnavailable(error)
                       ? ErrorOutcome(JobState::kAborted, JobLostError(error))
                       : FailedOutcome(*job, error));
  }
  p_.scheduler.Done(device);
}

void JobManager::Launch(const JobPtr& job) {
  StageUploads(job->compiled(), job->request.uploads, *job->lease.get());
  job->request.uploads.clear();
  ExecutorClient::LaunchCalls calls;
  calls.done = [this, job](const LaunchResult& result) { OnLaunched(job, result); };
  if (job->host_outputs != nullptr) {
    job->host_outputs->Begin(job->lease->graph.staging);
    calls.on_notice =
        std::make_shared<const ExecutorClient::LaunchNotice>([this, job] { OnNotice(job); });
  }
  const absl::Status launched = job->lease->client->Launch(job->lease->id, std::move(calls));
  if (launched.ok()) return;
  // Not from here: see OnLease.
  p_.workers.Post([this, job, launched] {
    EndRun(job, absl::IsUnavailable(launched)
                    ? ErrorOutcome(JobState::kAborted, JobLostError(launched))
                    : FailedOutcome(*job, launched));
  });
}

// A job of large outputs has at most one task of this waiting: it looks at all of them.
void JobManager::OnNotice(const JobPtr& job) {
  if (job->compiled().output_bytes <= kInlineCopyBytes) return Deliver(job);
  if (job->delivery_posted.exchange(true)) return;
  p_.workers.Post([this, job] {
    job->delivery_posted = false;  // first: what becomes ready from now on has another task
    Deliver(job);
  });
}

void JobManager::Deliver(const JobPtr& job) {
  if (job->host_outputs->Take()) p_.table.TellOutput(job->id);
}

// REQUIRES: the job has succeeded.
std::vector<JobOutputPtr> JobManager::TakeOutputs(const Job& job) {
  if (job.host_outputs != nullptr) job.host_outputs->End(HostOutputs::Rest::kAll);
  std::vector<JobOutputPtr> outputs;
  outputs.reserve(job.compiled().outputs.size());
  for (size_t i = 0; i < job.compiled().outputs.size(); ++i) {
    const OutputSlot& slot = job.compiled().outputs[i];
    outputs.push_back(slot.ready.empty() ? CopyOutput(slot, job.lease.get()->graph.staging)
                                         : job.host_outputs->Delivered(i));
  }
  return outputs;
}

void JobManager::OnLaunched(const JobPtr& job, const LaunchResult& result) {
  if (job->compiled().output_bytes <= kInlineCopyBytes) {
    Complete(job, result);
  } else {
    p_.workers.Post([this, job, result] { Complete(job, result); });
  }
}

void JobManager::Complete(const JobPtr& job, const LaunchResult& result) {
  if (result.report != nullptr) {
    EndRun(job, FailedOutcome(*job, result.report->status, result.report->error_node));
  } else if (result.executor_lost) {
    EndRun(job, ErrorOutcome(JobState::kAborted, JobLostError(job->lease->client->health())));
  } else if (result.code == absl::StatusCode::kOk && !job->compiled().collect_timeline) {
    Succeed(job, {});
  } else {
    CompleteWithReport(job, result.code);
  }
}

void JobManager::CompleteWithReport(const JobPtr& job, absl::StatusCode code) {
  job->lease->client->GetLaunchReport(
      job->lease->id, [this, job, code](absl::StatusOr<LaunchReport> report) {
        if (code == absl::StatusCode::kOk) {
          return Succeed(job, report.ok() ? std::move(report->timeline) : std::vector<NodeTime>());
        }
        if (!report.ok() || report->status.ok()) {
          const absl::Status bare(code, "the launch failed; the executor knows no more.");
          return EndRun(job, FailedOutcome(*job, bare));
        }
        EndRun(job, FailedOutcome(*job, report->status, report->error_node));
      });
}

void JobManager::Succeed(const JobPtr& job, std::vector<NodeTime> timeline) {
  JobOutcome outcome;
  outcome.outputs = TakeOutputs(*job);
  outcome.timeline = std::move(timeline);
  EndRun(job, std::move(outcome));
}

void JobManager::EndRun(const JobPtr& job, JobOutcome outcome) {
  // What was ready when a job failed is delivered with its end.
  if (job->host_outputs != nullptr) job->host_outputs->End(HostOutputs::Rest::kReady);
  job->lease.Return();
  if (job->Move(Job::Phase::kRunning, Job::Phase::kEnded)) Finish(job, std::move(outcome));
  p_.scheduler.Done(job->compiled().device);
}

bool JobManager::EndQueued(const JobPtr& job, JobOutcome outcome) {
  if (!job->Move(Job::Phase::kQueued, Job::Phase::kEnded)) return false;
  p_.scheduler.Remove(job->compiled().device, job->request.caller.session, job->id);
  CancelDeadline(*job);
  Finish(job, std::move(outcome));
  return true;
}

void JobManager::Finish(const JobPtr& job, JobOutcome outcome) {
  p_.buffers.ReleaseUses(job->compiled().buffers);
  if (job->ordered) p_.order.End(job->unit);
  {
    absl::MutexLock lock(&mutex_);
    live_.erase(job->id);
  }
  if (!outcome.error.ok()) {
    log::Info("job ended", {{"job", FormatJobId(job->id)},
                            {"state", std::string(NameOf(outcome.state))},
                            {"error", std::string(outcome.error.message())}});
  }
  p_.table.Finish(job->id, std::move(outcome));
}

void JobManager::CancelDeadline(const Job& job) {
  if (job.request.options.deadline_ms == 0) return;
  TimerQueue::Timer timer;
  {
    // Accept may be setting it right now.
    absl::MutexLock lock(&mutex_);
    timer = job.deadline;
  }
  p_.timers.Cancel(timer);
}

JobManager::JobPtr JobManager::FindLive(JobId id) {
  absl::MutexLock lock(&mutex_);
  const auto it = live_.find(id);
  return it == live_.end() ? nullptr : it->second;
}

absl::StatusOr<JobSnapshot> JobManager::Cancel(const Caller& caller, JobId id) {
  WEFT_ASSIGN_OR_RETURN(const JobSnapshot now, p_.table.Get(caller, id));
  if (IsTerminal(now.state)) return JobEndedError(FormatJobId(id), NameOf(now.state));
  if (const JobPtr job = FindLive(id)) {
    EndQueued(job, ErrorOutcome(JobState::kCancelled, JobCancelledError()));
  }
  return p_.table.Get(caller, id);
}

void JobManager::AbortAll() {
  std::vector<JobPtr> jobs;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, job] : live_) jobs.push_back(job);
  }
  for (const JobPtr& job : jobs) {
    const Job::Phase before = job->phase.exchange(Job::Phase::kEnded);
    if (before == Job::Phase::kEnded) continue;
    // A running one keeps its lease until its launch is over or its executor is lost.
    Finish(job, ErrorOutcome(JobState::kAborted, ShutdownJobError()));
  }
}

}  // namespace weft::daemon
