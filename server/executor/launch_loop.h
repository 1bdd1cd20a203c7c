// The launch path of the executor: takes launches from the ring, starts them on the device, sees
// them end, publishes their completions. One thread does all of it.
//
//        ring ──Take──▶ lane (stream + event) ──event done──▶ ring.Complete
//                         ▲       │ segments are left
//                         └───────┴─▶ waiting: nothing on the device, words to look at
//
// A launch whose plan is cut into segments is started as far as it can go. Where it can go on only
// when a semaphore has a value, the loop looks at the word itself (semaphore_poller.h) and starts what
// comes behind; the device waits for nothing. A launch of which nothing is on the device does not count
// as in flight, and holds nobody up.
//
// While there is work, and for up to `spin` after the last, the loop spins over the ring and the events
// in flight: between a client that spins and this loop a launch makes no system call. Then it
// sleeps on the ring's doorbell, which three ring: the client after a submission, a host function
// that the loop put behind each launch in flight, and Stop. A fault calls no host function, so with
// launches in flight the sleep is short, and each time the events are queried again. With launches
// that wait it is as long as the poller's pause.
//
//   running ──Stop──▶ draining ──nothing in flight, and nothing that will go on──▶ stopped
//      └──context lost──▶ lost
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "cuda/context.h"
#include "cuda/stream.h"
#include "server/executor/errors.h"
#include "server/executor/segment_progress.h"
#include "server/executor/semaphore_poller.h"
#include "transport/ring_server.h"

namespace weft::executor {

class GraphStore;
class PreparedGraph;

// Why the context is lost, and whose fault it was.
struct ContextLoss {
  absl::Status status;  // with job and node in its text, where known
  GraphId graph;        // 0: not known
  std::string node;     // empty: not known
};

struct LaunchLoopOptions {
  absl::Duration spin = absl::Microseconds(500);  // longest; SpinBudget finds how long pays
  // Longest sleep with launches in flight: bounds how late a fault is seen by a sleeping loop.
  absl::Duration in_flight_sleep = absl::Milliseconds(100);
  // Longest sleep without: bounds what a wake-up lost to a hostile ring costs.
  absl::Duration idle_sleep = absl::Seconds(1);
  // Launches on the device at once; more wait in the ring. Those that went on after a wait come on top.
  // 128 is how many grids today's GPUs have
  // resident (cuda::MaxConcurrentKernels).
  size_t max_in_flight = 128;
  // Called once, on the loop's thread, before the completions of the launches that died are
  // published. May be empty.
  std::function<void(const ContextLoss&)> on_context_lost;
};

// Thread safety: Run by one thread, once; Stop and ReportContextLost from any thread.
// Cost: lanes (streams and events) are made when first needed and kept.
class LaunchLoop {
 public:
  enum class Outcome { kStopped, kContextLost };

  // References outlive it.
  LaunchLoop(const cuda::Context& context, GraphStore& graphs,
             std::unique_ptr<transport::RingServer> ring, LaunchLoopOptions options);
  LaunchLoop(const LaunchLoop&) = delete;
  LaunchLoop& operator=(const LaunchLoop&) = delete;
  // REQUIRES: Run is not running. Blocks until the streams are empty, unless the context is lost.
  ~LaunchLoop();

  // Serves the ring until Stop, or until the context is lost.
  Outcome Run();

  // Takes no more launches; Run returns when those in flight have ended. Launches that wait for what
  // none in flight signals end with ABORTED.
  void Stop();

  // A context-fatal error was seen elsewhere: the loop ends as if it had seen it itself.
  void ReportContextLost(const absl::Status& cause);

 private:
  // One stream, and the launch in flight on it.
  struct Lane {
    Lane(cuda::Stream its_stream, cuda::Event its_event)
        : stream(std::move(its_stream)), done(std::move(its_event)) {}
    cuda::Stream stream;
    cuda::Event done;
    std::shared_ptr<PreparedGraph> graph;
    uint64_t sequence = 0;
    absl::Status enqueue_status;
    // Of a cut plan; null: nothing is left to be started.
    std::unique_ptr<SegmentProgress> progress;
    enum class Wake { kNone, kArmed } wake = Wake::kNone;  // a host function is behind the launch
  };

  bool Step();
  bool TakeOne();
  bool CanTake() const;
  void Start(const transport::Submission& submission);
  absl::StatusOr<std::unique_ptr<Lane>> IdleLane();
  absl::Status Launch(Lane& lane);
  absl::Status Advance(Lane& lane);
  absl::Status BeginWait(Lane& lane, uint32_t segment);
  absl::Status GiveUp(Lane& lane, absl::Status status);
  bool LookAtSemaphores();
  absl::Status GoOn(const SemaphoreWait& wait);
  void PartEnded(size_t index);
  void AbandonWaiting(const absl::Status& status);
  bool PollSome();
  bool PollOne(size_t index);
  void Finish(size_t index, absl::Status status);
  void Sleep();
  void ArmWakes();
  bool HasWork();
  void LoseContext(const absl::Status& cause);
  Lane* Culprit() const;
  absl::Status reported_loss() const;

  const cuda::Context& context_;
  GraphStore& graphs_;
  const std::unique_ptr<transport::RingServer> ring_;
  const LaunchLoopOptions options_;

  // Of the loop's thread alone.
  std::vector<std::unique_ptr<Lane>> idle_;
  std::vector<std::unique_ptr<Lane>> busy_;     // something of them is on the device
  std::vector<std::unique_ptr<Lane>> waiting_;  // nothing is; they wait for semaphores
  SemaphorePoller poller_;
  std::vector<SemaphoreWait> over_;  // of the present step
  size_t next_poll_ = 0;
  enum class State { kRunning, kLost } state_ = State::kRunning;

  std::atomic<bool> stopping_{false};
  std::atomic<bool> loss_reported_{false};
  mutable absl::Mutex mutex_;
  absl::Status reported_loss_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::executor
