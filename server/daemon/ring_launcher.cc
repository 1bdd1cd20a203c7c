#include "server/daemon/ring_launcher.h"

#include <utility>

#include "base/status_macros.h"

namespace weft::daemon {
namespace {

// How long one wait for a completion may last. Wake-ups come from the executor; the limit is for
// one that was lost with a wake-up (wait_strategy.h).
constexpr absl::Duration kWaitAtMost = absl::Milliseconds(500);

}  // namespace

RingLauncher::RingLauncher(std::unique_ptr<transport::RingClient> ring)
    : ring_(std::move(ring)), thread_([this] { ReadCompletions(); }) {}

RingLauncher::~RingLauncher() {
  if (thread_.joinable()) Stop(absl::CancelledError("the launcher ends"), GraphId(0), nullptr);
}

absl::Status RingLauncher::Launch(GraphId graph, ExecutorClient::LaunchCalls calls) {
  {
    // The lock is held over Submit so that the completion, which may be read before Submit returns,
    // finds its callback.
    absl::MutexLock lock(&mutex_);
    WEFT_RETURN_IF_ERROR(stopped_);
    WEFT_ASSIGN_OR_RETURN(const uint64_t sequence, ring_->Submit(graph));
    pending_.emplace(sequence, Pending{graph, std::move(calls)});
  }
  // Wakes the completion thread now, while the executor is at work: it then spins when the
  // completion comes, and nobody waits for a sleeper to wake. One load when it is awake.
  ring_->Interrupt();
  return absl::OkStatus();
}

void RingLauncher::ReadCompletions() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    const auto completion = ring_->Wait(kWaitAtMost);
    // First, so that an output is delivered before the end of its job.
    if (ring_->TakeNotice()) OnNotice();
    if (completion.has_value()) OnCompletion(*completion);
  }
}

// A notice does not say of which launch it is.
void RingLauncher::OnNotice() {
  std::vector<std::shared_ptr<const ExecutorClient::LaunchNotice>> calls;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [sequence, pending] : pending_) {
      if (pending.calls.on_notice != nullptr) calls.push_back(pending.calls.on_notice);
    }
  }
  for (const auto& call : calls) (*call)();
}

void RingLauncher::OnCompletion(const transport::Completion& completion) {
  // The executor is about to end; Stop answers, when it is known what happened.
  if (completion.context_lost) return;
  Pending pending;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = pending_.find(completion.sequence);
    if (it == pending_.end()) return;  // a second completion of one launch: the executor is broken
    pending = std::move(it->second);
    pending_.erase(it);
  }
  LaunchResult result;
  result.code = completion.code;
  std::move(pending.calls.done)(result);
}

void RingLauncher::Stop(const absl::Status& why, GraphId graph,
                        const std::shared_ptr<const LaunchReport>& report) {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = why;
  }
  stopping_.store(true, std::memory_order_relaxed);  // Interrupt orders it before the wake-up
  ring_->Interrupt();
  if (thread_.joinable()) thread_.join();
  absl::flat_hash_map<uint64_t, Pending> pending;
  {
    absl::MutexLock lock(&mutex_);
    pending.swap(pending_);
  }
  for (auto& [sequence, launch] : pending) {
    LaunchResult result;
    result.code = absl::StatusCode::kAborted;
    result.executor_lost = true;
    if (report != nullptr && launch.graph == graph) result.report = report;
    std::move(launch.calls.done)(result);
  }
}

}  // namespace weft::daemon
