// An event: the latest place in a stream, or in a graph, at which it was recorded.
#pragma once

#include <memory>
#include <utility>

#include "cuda/host/completion.h"
#include "cuda/host/context.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/mutex.h"

namespace weft::hostcuda {

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
  // A new record, which is the latest from now on. The caller sees to it that it is finished.
  std::shared_ptr<Completion> BeginRecord() {
    auto record = std::make_shared<Completion>();
    MutexLock lock(mu_);
    latest_ = record;
    return record;
  }

 private:
  const std::shared_ptr<Context> context_;
  const unsigned int flags_;
  mutable Mutex mu_;
  std::shared_ptr<Completion> latest_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
