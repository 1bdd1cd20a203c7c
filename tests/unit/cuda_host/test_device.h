// A context of the CPU driver without its C functions, and small actions to put into it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "cuda/host/action.h"
#include "cuda/host/context.h"
#include "cuda/host/mutex.h"
#include "cuda/host/operations.h"

namespace weft::hostcuda {

class TestDevice {
 public:
  explicit TestDevice(int workers = 4)
      : context(Context::Create({0, workers, fault, regions, faults})) {}
  ~TestDevice() { context->Shutdown(); }

  std::shared_ptr<Stream> NonBlockingStream() {
    return context->CreateStream(Stream::Kind::kNonBlocking, 0);
  }

  std::atomic<CUresult> fault{CUDA_SUCCESS};
  RegionMap regions;
  FaultPlan faults;
  const std::shared_ptr<Context> context;
};

// Runs a function of the test.
class FunctionAction : public Action {
 public:
  explicit FunctionAction(std::function<Outcome()> function) : function_(std::move(function)) {}
  Outcome Run(const ActionEnvironment& /*environment*/) const override { return function_(); }

 private:
  const std::function<Outcome()> function_;
};

inline ActionPtr Do(std::function<void()> function) {
  return std::make_shared<FunctionAction>([function = std::move(function)] {
    function();
    return Outcome{};
  });
}
inline ActionPtr FailWith(CUresult error) {
  return std::make_shared<FunctionAction>([error] { return Outcome{error, false}; });
}
inline ActionPtr NeverEnd() {
  return std::make_shared<FunctionAction>([] { return Outcome{CUDA_SUCCESS, true}; });
}

inline CUresult Submit(const std::shared_ptr<Stream>& stream, ActionPtr action) {
  return stream->context().Submit(stream, std::make_unique<ActionOperation>(std::move(action)));
}
inline std::shared_ptr<Completion> Record(const std::shared_ptr<Stream>& stream) {
  auto record = std::make_shared<Completion>();
  static_cast<void>(stream->context().Submit(stream, std::make_unique<SignalOperation>(record)));
  return record;
}
inline CUresult Await(const std::shared_ptr<Stream>& stream, std::shared_ptr<Completion> record) {
  return stream->context().Submit(stream, std::make_unique<AwaitOperation>(std::move(record)));
}

// A door that actions wait at until the test opens it.
class Gate {
 public:
  void Open() {
    MutexLock lock(mu_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Pass() {
    MutexLock lock(mu_);
    while (!open_) changed_.Wait(mu_);
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
};

// Lets nobody through before `count` have come: passing it proves that they were there together.
class Rendezvous {
 public:
  explicit Rendezvous(int count) : missing_(count) {}
  void Meet() {
    MutexLock lock(mu_);
    if (--missing_ == 0) changed_.NotifyAll();
    while (missing_ > 0) changed_.Wait(mu_);
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int missing_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
