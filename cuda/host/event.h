// An event: the latest place in a stream, or in a graph, at which it was recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/host/completion.h"
#include "cuda/host/context.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/mutex.h"

namespace weft::hostcuda {

class Capture;

// Thread safety: all members may be called from any thread.
class Event {
 public:
  Event(std::shared_ptr<Context> context, unsigned int flags)
      : context_(std::move(context)), flags_(flags) {}

  const Context& context() const { return *context_; }
  bool has_timing() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }

  // Null: never recorded.
  std::shared_ptr<Completion> latest() const {
    MutexLock lock(mu_);
    return latest_;
  }
  // In a captured stream: the event stands for these nodes of the capture from now on.
  struct Captured {
    std::shared_ptr<Capture> capture;
    std::vector<uint32_t> tail;
  };
  void SetCaptured(Captured captured) {
    MutexLock lock(mu_);
    captured_ = std::move(captured);
  }
  // nullopt: it was recorded last in a stream that runs.
  std::optional<Captured> captured() const {
    MutexLock lock(mu_);
    return captured_;
  }
  // A new record, which is the latest from now on. The caller sees to it that it is finished.
  std::shared_ptr<Completion> BeginRecord() {
    auto record = std::make_shared<Completion>();
    MutexLock lock(mu_);
    latest_ = record;
    captured_.reset();
    return record;
  }

 private:
  const std::shared_ptr<Context> context_;
  const unsigned int flags_;
  mutable Mutex mu_;
  std::shared_ptr<Completion> latest_ ABSL_GUARDED_BY(mu_);
  std::optional<Captured> captured_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
