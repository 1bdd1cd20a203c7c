// The kinds of operation that a stream's queue holds, but for graph launches (graph_run.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "cuda/host/action.h"
#include "cuda/host/completion.h"
#include "cuda/host/stream_queue.h"
#include "cuda/host/value_waits.h"

namespace weft::hostcuda {

// Runs an action. One that never ends stays parked until the context is lost.
class ActionOperation : public Operation {
 public:
  explicit ActionOperation(ActionPtr action) : action_(std::move(action)) {}
  Progress Run(Context& context, std::function<void()> resume) override;

 private:
  const ActionPtr action_;
};

// Runs an action with a priority of its own.
class PrioritizedOperation : public Operation {
 public:
  PrioritizedOperation(int priority, ActionPtr action)
      : priority_(priority), action_(std::move(action)) {}
  Progress Run(Context& context, std::function<void()> resume) override;
  // An action that is under way is waited for.
  Progress Cancel() override;

 private:
  const int priority_;
  const ActionPtr action_;
  bool started_ = false;
  // Shared with the task that runs it, which may outlive this.
  const std::shared_ptr<std::atomic<bool>> never_ends_ = std::make_shared<std::atomic<bool>>(false);
};

// Finishes a completion: the record of an event.
class SignalOperation : public Operation {
 public:
  explicit SignalOperation(std::shared_ptr<Completion> completion)
      : completion_(std::move(completion)) {}
  Progress Run(Context& context, std::function<void()> resume) override;
  Progress Cancel() override;

 private:
  const std::shared_ptr<Completion> completion_;
};

// Waits for a completion.
class AwaitOperation : public Operation {
 public:
  explicit AwaitOperation(std::shared_ptr<Completion> completion)
      : completion_(std::move(completion)) {}
  Progress Run(Context& context, std::function<void()> resume) override;

 private:
  const std::shared_ptr<Completion> completion_;
};

// Waits for a word of memory.
class ValueWaitOperation : public Operation {
 public:
  explicit ValueWaitOperation(const ValueCondition& condition) : condition_(condition) {}
  Progress Run(Context& context, std::function<void()> resume) override;

 private:
  const ValueCondition condition_;
};

}  // namespace weft::hostcuda
