// The primary context of a device: its threads, its streams, and whether a fault has ended it.
//
// As on a GPU, the error of a kernel (or of a copy whose memory is gone) is the context's: work
// that has not run is dropped, waiting threads wake up, and every later call returns the error. The
// device stays lost until the process ends.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/host/action.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/mutex.h"
#include "cuda/host/stream_queue.h"
#include "cuda/host/value_waits.h"
#include "cuda/host/worker_pool.h"

namespace weft::hostcuda {

class Context : public std::enable_shared_from_this<Context> {
 public:
  struct Options {
    int device = 0;
    int workers = 1;
    // Where a fault is kept; it outlives the context, and a new context of the device finds it.
    std::atomic<CUresult>& fault;
    RegionMap& regions;
    FaultPlan& faults;
  };
  static std::shared_ptr<Context> Create(const Options& options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int device() const { return device_; }
  // In one order with what others note before they look (PrioritizedOperation).
  CUresult fault() const { return fault_.load(std::memory_order_seq_cst); }
  WorkerPool& pool() { return pool_; }
  ValueWaits& value_waits() { return value_waits_; }
  const ActionEnvironment& environment() const { return environment_; }

  // Sets the fault (the first one stays) and cancels all work.
  void Fail(CUresult error);

  std::shared_ptr<Stream> CreateStream(Stream::Kind kind, int priority);
  // The stream's handle has ended; its work goes on.
  void Retire(const std::shared_ptr<Stream>& stream);
  // Null after Shutdown.
  std::shared_ptr<Stream> legacy_stream() const;

  // True when the legacy stream, and all that it waits for, has nothing to do.
  bool BlockingStreamsIdle() const;

  // Puts the operation behind the stream's others, and behind what the legacy stream's rule puts
  // before it. Errors: CONTEXT_IS_DESTROYED after Shutdown.
  CUresult Submit(const std::shared_ptr<Stream>& stream, std::unique_ptr<Operation> operation);
  // Submit, and wait until it is over; then the fault, if there is one.
  CUresult SubmitAndWait(const std::shared_ptr<Stream>& stream,
                         std::unique_ptr<Operation> operation);
  // Blocks until all work that was submitted before the call is over; then the fault, if any.
  CUresult Synchronize();

  // Waits for all work, then ends the threads. Further work is refused. Once.
  void Shutdown();

 private:
  explicit Context(const Options& options);
  void Join(Stream& earlier, Stream& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetIdleRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::shared_ptr<Stream>> AllStreams() const;

  const int device_;
  std::atomic<CUresult>& fault_;
  const ActionEnvironment environment_;
  ValueWaits value_waits_;
  WorkerPool pool_;

  mutable Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<Stream> legacy_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<Stream>> streams_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<Stream>> retired_ ABSL_GUARDED_BY(mu_);  // destroyed, maybe not idle
};

}  // namespace weft::hostcuda
