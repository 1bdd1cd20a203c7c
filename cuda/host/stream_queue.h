// A stream: operations that run one after the other, on the threads of its device.
//
// States of a stream (under mu_):
//
//   idle ──Enqueue──▶ scheduled ──worker──▶ running ──queue empty──▶ idle
//                         ▲                    │ operation parked
//                         └──Resume/Cancel── parked
//
// A parked operation (an event that is not recorded yet, a word that has not its value) holds no
// thread: what it waits for calls Resume. When the context is lost to a fault, every operation that
// has not run is cancelled instead, so that each ends and nothing waits for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "cuda/host/cuda_api.h"
#include "cuda/host/mutex.h"
#include "cuda/host/worker_pool.h"

namespace weft::hostcuda {

class Capture;
class Context;

// One element of a stream's queue. Used by one thread at a time.
class Operation {
 public:
  enum class Progress {
    kDone,
    kParked,  // `resume` is called when it is done (from any thread, even before Run returns)
  };
  virtual ~Operation() = default;
  // Runs it. REQUIRES: called once.
  virtual Progress Run(Context& context, std::function<void()> resume) = 0;
  // The context is lost. Called instead of Run, or while parked; what waits for this operation must
  // be told. kParked: `resume` will still be called, soon, and the operation must live until then.
  virtual Progress Cancel() { return Progress::kDone; }
};

// Thread safety: all members may be called from any thread. Shared between its handle, the
// context's list and the tasks that drain it.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // kLegacy: handle 0, which waits for all blocking streams, and they for it.
  enum class Kind { kLegacy, kBlocking, kNonBlocking };

  Stream(std::shared_ptr<Context> context, Kind kind, int priority)
      : context_(std::move(context)), kind_(kind), priority_(priority) {}

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  Kind kind() const { return kind_; }
  int priority() const { return priority_; }

  // Called by Context::Submit only, which orders the streams of a context among each other.
  void Enqueue(std::unique_ptr<Operation> operation);
  // True when all that was enqueued is over.
  bool Idle() const;
  // Blocks until all that was enqueued before the call is over.
  void Synchronize() const;
  // The capture that the stream takes part in; null: it runs what it is given.
  std::shared_ptr<Capture> capture() const;
  // False when it takes part in one already.
  bool EnterCapture(std::shared_ptr<Capture> capture);
  void LeaveCapture(const Capture& capture);

  // After the context's fault was set: cancels a parked operation, and those behind it.
  void CancelParked();

 private:
  enum class State { kIdle, kScheduled, kRunning, kParked };

  void Schedule();
  // Runs operations until the queue is empty, one parks, or others should have the thread.
  void Drain();
  // Gives the thread up between two operations.
  void Yield();
  // Takes the first operation to run; null: the queue is empty, and the stream idle.
  Operation* Begin(uint64_t* ticket);
  // Settles what Run or Cancel said. True when the operation is over and gone.
  bool Settle(Operation::Progress progress);
  void Resume(uint64_t ticket);

  const std::shared_ptr<Context> context_;
  const Kind kind_;
  const int priority_;

  mutable Mutex mu_;
  mutable CondVar changed_;
  State state_ ABSL_GUARDED_BY(mu_) = State::kIdle;
  bool resumed_ ABSL_GUARDED_BY(mu_) = false;  // Resume came while running
  uint64_t submitted_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t finished_ ABSL_GUARDED_BY(mu_) = 0;  // also the ticket of the first operation
  std::deque<std::unique_ptr<Operation>> queue_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<Capture> capture_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
