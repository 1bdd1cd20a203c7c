#include "server/executor/launch_loop.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cuda/status.h"
#include "server/executor/graph_store.h"
#include "server/executor/prepared_graph.h"
#include "transport/spin_budget.h"
#include "transport/wait_strategy.h"

namespace weft::executor {
namespace {

// Events queried between two looks at the ring: a query takes about 0.2 µs, so that many launches in
// flight do not keep a new one waiting.
constexpr size_t kPollsPerStep = 4;
// Steps without progress between two readings of the clock.
constexpr int kStepsPerClockRead = 16;

// On a thread of the driver; may not call the driver.
void CUDA_CB RingDoorbell(void* doorbell) {
  static_cast<const transport::Doorbell*>(doorbell)->Ring();
}

// Whether the loop has spun long enough since the last progress, without reading the clock at each
// step.
class IdleTimer {
 public:
  // spin: the longest.
  explicit IdleTimer(absl::Duration spin) : budget_(spin) {}

  void Restart() {
    if (expired_) budget_.Record(Clock::Real().Now() - since_);
    expired_ = false;
    steps_ = -1;
  }
  // REQUIRES: a step has just passed without progress.
  bool Expired() {
    if (expired_) return true;
    if (steps_ < 0) {
      steps_ = 0;
      since_ = Clock::Real().Now();
      expired_ = budget_.current() <= absl::ZeroDuration();
    } else if (++steps_ % kStepsPerClockRead == 0) {
      expired_ = Clock::Real().Now() - since_ >= budget_.current();
    }
    return expired_;
  }

 private:
  transport::SpinBudget budget_;
  absl::Duration since_;
  int64_t steps_ = -1;
  bool expired_ = false;
};

}  // namespace

LaunchLoop::LaunchLoop(const cuda::Context& context, GraphStore& graphs,
                       std::unique_ptr<transport::RingServer> ring, LaunchLoopOptions options)
    : context_(context),
      graphs_(graphs),
      ring_(std::move(ring)),
      options_(std::move(options)),
      poller_(context) {}

LaunchLoop::~LaunchLoop() {
  if (state_ == State::kLost) return;
  // A host function still to come would ring the doorbell of a ring that is gone.
  const absl::Status read = poller_.Synchronize();
  if (!read.ok()) log::Warning("semaphore stream", {{"error", read.ToString()}});
  for (const auto* lanes : {&idle_, &busy_, &waiting_}) {
    for (const std::unique_ptr<Lane>& lane : *lanes) {
      const absl::Status status = lane->stream.ref().Synchronize();
      if (!status.ok()) log::Warning("launch stream", {{"error", status.ToString()}});
    }
  }
}

LaunchLoop::Outcome LaunchLoop::Run() {
  const cuda::ScopedContext current(context_);
  if (!current.status().ok()) LoseContext(current.status());
  IdleTimer idle(options_.spin);
  while (state_ == State::kRunning) {
    if (Step()) {
      idle.Restart();
    } else if (stopping_.load(std::memory_order_seq_cst) && busy_.empty() && poller_.IsSettled()) {
      if (waiting_.empty()) return Outcome::kStopped;
      AbandonWaiting(StoppedWaitError());
    } else if (idle.Expired()) {
      Sleep();
    } else {
      transport::CpuRelax();
    }
  }
  return Outcome::kContextLost;
}

void LaunchLoop::Stop() {
  stopping_.store(true, std::memory_order_seq_cst);
  ring_->doorbell().Ring();
}

void LaunchLoop::ReportContextLost(const absl::Status& cause) {
  {
    const absl::MutexLock lock(&mutex_);
    if (reported_loss_.ok()) reported_loss_ = cause;
  }
  loss_reported_.store(true, std::memory_order_seq_cst);
  ring_->doorbell().Ring();
}

absl::Status LaunchLoop::reported_loss() const {
  const absl::MutexLock lock(&mutex_);
  return reported_loss_;
}

// True when something was started or has ended.
bool LaunchLoop::Step() {
  if (loss_reported_.load(std::memory_order_relaxed)) {
    LoseContext(reported_loss());
    return true;
  }
  const bool taken = TakeOne();
  const bool ended = PollSome();
  return LookAtSemaphores() || ended || taken;
}

bool LaunchLoop::CanTake() const {
  return busy_.size() < options_.max_in_flight && !stopping_.load(std::memory_order_seq_cst);
}

bool LaunchLoop::TakeOne() {
  if (state_ != State::kRunning || !CanTake()) return false;
  const std::optional<transport::Submission> submission = ring_->Take();
  if (!submission.has_value()) return false;
  Start(*submission);
  return true;
}

absl::StatusOr<std::unique_ptr<LaunchLoop::Lane>> LaunchLoop::IdleLane() {
  if (!idle_.empty()) {
    std::unique_ptr<Lane> lane = std::move(idle_.back());
    idle_.pop_back();
    return lane;
  }
  WEFT_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create(context_, {}));
  WEFT_ASSIGN_OR_RETURN(cuda::Event done,
                        cuda::Event::Create(context_, cuda::EventTiming::kDisabled));
  return std::make_unique<Lane>(std::move(stream), std::move(done));
}

void LaunchLoop::Start(const transport::Submission& submission) {
  std::shared_ptr<PreparedGraph> graph = graphs_.Find(submission.graph);
  absl::Status status = graph == nullptr ? UnknownGraphError(submission.graph) : graph->Begin();
  if (!status.ok()) {
    ring_->Complete(submission.sequence, status.code());
    return;
  }
  absl::StatusOr<std::unique_ptr<Lane>> lane = IdleLane();
  if (!lane.ok()) {
    status = lane.status();
    graph->End(status);
    ring_->Complete(submission.sequence, status.code());
    if (cuda::IsContextFatal(status)) LoseContext(status);
    return;
  }
  (*lane)->graph = std::move(graph);
  (*lane)->sequence = submission.sequence;
  (*lane)->wake = Lane::Wake::kNone;
  busy_.push_back(*std::move(lane));
  status = Launch(*busy_.back());
  if (!status.ok()) LoseContext(status);
}

// A launch of which a part could not be added ends, with its error, when the part that was added
// has. Not OK: there is no way to tell when that is.
absl::Status LaunchLoop::Launch(Lane& lane) {
  const cuda::StreamRef stream = lane.stream.ref();
  lane.enqueue_status = lane.graph->Enqueue(stream);
  if (cuda::IsContextFatal(lane.enqueue_status)) return lane.enqueue_status;
  const build::SegmentTable* const segments = lane.graph->segments();
  if (segments != nullptr && lane.enqueue_status.ok()) {
    lane.progress = std::make_unique<SegmentProgress>(*segments);
    WEFT_RETURN_IF_ERROR(Advance(lane));
  }
  return stream.Record(lane.done.ref());
}

// Starts what may start. Not OK: as Launch.
absl::Status LaunchLoop::Advance(Lane& lane) {
  while (const std::optional<uint32_t> segment = lane.progress->Take()) {
    const absl::Status status = lane.graph->EnqueueSegment(*segment, lane.stream.ref());
    if (!status.ok()) return GiveUp(lane, status);
  }
  return absl::OkStatus();
}

// The launch ends with `status` when what is on the device has ended. Not OK: as Launch.
absl::Status LaunchLoop::GiveUp(Lane& lane, absl::Status status) {
  if (cuda::IsContextFatal(status)) return status;
  lane.enqueue_status = std::move(status);
  lane.progress.reset();
  return poller_.Remove(&lane, lane.stream.ref());
}

absl::Status LaunchLoop::BeginWait(Lane& lane, uint32_t segment) {
  WEFT_RETURN_IF_ERROR(lane.graph->MarkWait(segment, build::WaitMark::kBegins, lane.stream.ref()));
  const build::SegmentTable::Entry& entry = lane.graph->segments()->entries[segment];
  return poller_.Add({&lane, segment, entry.address, entry.value});
}

// What a launch had on the device has ended, and it is not over: its waits begin.
void LaunchLoop::PartEnded(size_t index) {
  std::unique_ptr<Lane> lane = std::move(busy_[index]);
  busy_[index] = std::move(busy_.back());
  busy_.pop_back();
  absl::Status status;
  while (status.ok()) {
    const std::optional<uint32_t> wait = lane->progress->TakeWait();
    if (!wait.has_value()) break;
    status = BeginWait(*lane, *wait);
  }
  if (status.ok()) {
    waiting_.push_back(std::move(lane));
    return;
  }
  status = GiveUp(*lane, std::move(status));
  if (status.ok()) status = lane->stream.ref().Record(lane->done.ref());
  busy_.push_back(std::move(lane));
  if (!status.ok()) LoseContext(status);
}

// True when a launch has gone on.
bool LaunchLoop::LookAtSemaphores() {
  if (poller_.empty() || state_ != State::kRunning) return false;
  over_.clear();
  const absl::StatusOr<bool> any = poller_.Step(over_);
  if (!any.ok()) {
    // The driver refuses to read: nobody can tell for whom the value would have come.
    if (cuda::IsContextFatal(any.status())) {
      LoseContext(any.status());
    } else {
      AbandonWaiting(any.status());
    }
    return true;
  }
  for (const SemaphoreWait& wait : over_) {
    const absl::Status status = GoOn(wait);
    if (status.ok()) continue;
    LoseContext(status);
    break;
  }
  return *any;
}

// Starts what comes behind a wait that is over. Not OK: as Launch.
absl::Status LaunchLoop::GoOn(const SemaphoreWait& wait) {
  const auto is_of_wait = [&wait](const std::unique_ptr<Lane>& lane) {
    return lane.get() == wait.launch;
  };
  auto found = std::find_if(waiting_.begin(), waiting_.end(), is_of_wait);
  if (found != waiting_.end()) {
    busy_.push_back(std::move(*found));
    *found = std::move(waiting_.back());
    waiting_.pop_back();
  }
  found = std::find_if(busy_.begin(), busy_.end(), is_of_wait);
  Lane& lane = **found;
  // An earlier wait of this step went wrong, and took this one with it.
  if (lane.progress == nullptr) return absl::OkStatus();
  const cuda::StreamRef stream = lane.stream.ref();
  lane.progress->Reached(wait.segment);
  const absl::Status marked = lane.graph->MarkWait(wait.segment, build::WaitMark::kIsOver, stream);
  WEFT_RETURN_IF_ERROR(marked.ok() ? Advance(lane) : GiveUp(lane, marked));
  lane.wake = Lane::Wake::kNone;
  return stream.Record(lane.done.ref());
}

// All launches that wait end with `status`; those that have something on the device, when it has ended.
void LaunchLoop::AbandonWaiting(const absl::Status& status) {
  for (std::unique_ptr<Lane>& lane : waiting_) busy_.push_back(std::move(lane));
  waiting_.clear();
  for (const std::unique_ptr<Lane>& lane : busy_) {
    if (lane->progress == nullptr || !lane->progress->IsWaiting()) continue;
    absl::Status given_up = GiveUp(*lane, status);
    lane->wake = Lane::Wake::kNone;
    if (given_up.ok()) given_up = lane->stream.ref().Record(lane->done.ref());
    if (given_up.ok()) continue;
    LoseContext(given_up);
    return;
  }
}

bool LaunchLoop::PollSome() {
  bool progress = false;
  const size_t polls = std::min(kPollsPerStep, busy_.size());
  for (size_t i = 0; i < polls && !busy_.empty() && state_ == State::kRunning; ++i) {
    if (next_poll_ >= busy_.size()) next_poll_ = 0;
    // Finish puts another lane into the place of one that has ended.
    if (PollOne(next_poll_)) {
      progress = true;
    } else {
      ++next_poll_;
    }
  }
  return progress;
}

bool LaunchLoop::PollOne(size_t index) {
  const absl::StatusOr<bool> done = busy_[index]->done.ref().Query();
  if (!done.ok() && cuda::IsContextFatal(done.status())) {
    LoseContext(done.status());
    return true;
  }
  if (done.ok() && !*done) return false;
  Lane& lane = *busy_[index];
  if (lane.graph->facts().has_signals) poller_.Hurry();
  if (done.ok() && lane.progress != nullptr) {
    lane.progress->Ended();
    if (!lane.progress->IsAllTaken()) {
      PartEnded(index);
      return true;
    }
  }
  Finish(index, done.ok() ? busy_[index]->enqueue_status : done.status());
  return true;
}

void LaunchLoop::Finish(size_t index, absl::Status status) {
  std::unique_ptr<Lane> lane = std::move(busy_[index]);
  busy_[index] = std::move(busy_.back());
  busy_.pop_back();
  const absl::StatusCode code = status.code();
  lane->progress.reset();
  lane->graph->End(std::move(status));
  lane->graph.reset();
  // Last: the client may launch the graph again as soon as it sees this.
  ring_->Complete(lane->sequence, code);
  idle_.push_back(std::move(lane));
}

void LaunchLoop::ArmWakes() {
  for (const std::unique_ptr<Lane>& lane : busy_) {
    if (lane->wake == Lane::Wake::kArmed) continue;
    // A failure shows at the next query; until then the sleep is bounded.
    const absl::Status status = lane->stream.ref().LaunchHostFunc(
        &RingDoorbell, const_cast<transport::Doorbell*>(&ring_->doorbell()));
    if (status.ok()) lane->wake = Lane::Wake::kArmed;
  }
}

bool LaunchLoop::HasWork() {
  if (loss_reported_.load(std::memory_order_seq_cst)) return true;
  if (stopping_.load(std::memory_order_seq_cst) && busy_.empty()) return true;
  if (!poller_.empty() && poller_.IsDue()) return true;
  if (CanTake() && ring_->HasSubmission()) return true;
  return std::any_of(busy_.begin(), busy_.end(), [](const std::unique_ptr<Lane>& lane) {
    const absl::StatusOr<bool> done = lane->done.ref().Query();
    return !done.ok() || *done;
  });
}

// The protocol of wait_strategy.h. A host function that ran before Arm found nobody asleep; its
// event was done by then, and HasWork sees it.
void LaunchLoop::Sleep() {
  ArmWakes();
  const transport::Doorbell& doorbell = ring_->doorbell();
  doorbell.Arm();
  if (HasWork()) {
    doorbell.Disarm();
    return;
  }
  const absl::Duration longest = busy_.empty() ? options_.idle_sleep : options_.in_flight_sleep;
  doorbell.Sleep(poller_.empty() ? longest : std::min(longest, poller_.Pause()));
}

// The one launch in flight that has kernels: copies and fills do not fault, their ranges were
// checked. Null when there are several, or none.
LaunchLoop::Lane* LaunchLoop::Culprit() const {
  Lane* culprit = nullptr;
  for (const std::unique_ptr<Lane>& lane : busy_) {
    if (lane->graph->facts().kernel_node_count == 0) continue;
    if (culprit != nullptr) return nullptr;
    culprit = lane.get();
  }
  return culprit == nullptr && busy_.size() == 1 ? busy_.front().get() : culprit;
}

void LaunchLoop::LoseContext(const absl::Status& cause) {
  if (state_ == State::kLost) return;
  state_ = State::kLost;
  const Lane* culprit = Culprit();
  ContextLoss loss;
  FaultSuspects suspects{.launches_in_flight = busy_.size()};
  if (culprit != nullptr) {
    const GraphFacts& facts = culprit->graph->facts();
    suspects.job = facts.job;
    suspects.kernel_nodes = facts.kernel_nodes;
    suspects.kernel_node_count = facts.kernel_node_count;
    loss.graph = culprit->graph->id();
    if (facts.kernel_node_count == 1) loss.node = facts.kernel_nodes.front();
  }
  loss.status = KernelFaultError(cause, suspects);
  // Those that wait have nothing on the device: it is the fault of none of them.
  for (std::unique_ptr<Lane>& lane : waiting_) busy_.push_back(std::move(lane));
  waiting_.clear();
  for (const std::unique_ptr<Lane>& lane : busy_) {
    const bool guilty = lane.get() == culprit;
    lane->graph->End(guilty ? loss.status : ContextLostError(loss.status),
                     guilty ? loss.node : std::string());
  }
  if (options_.on_context_lost) options_.on_context_lost(loss);
  for (const std::unique_ptr<Lane>& lane : busy_) {
    const absl::StatusCode code =
        lane.get() == culprit ? loss.status.code() : absl::StatusCode::kAborted;
    ring_->Complete(lane->sequence, code, transport::kCompletionContextLost);
  }
}

}  // namespace weft::executor
