#include "cuda/host/operations.h"

#include <optional>

#include "cuda/host/context.h"

namespace weft::hostcuda {

Operation::Progress ActionOperation::Run(Context& context, std::function<void()> /*resume*/) {
  const Outcome outcome = action_->Run(context.environment());
  if (outcome.never_ends) return Progress::kParked;
  if (outcome.error != CUDA_SUCCESS) context.Fail(outcome.error);
  return Progress::kDone;
}

// Between the task and Cancel: each writes (never_ends, the fault) before it reads what the other
// writes, so that at least one of them sees to it that the stream goes on. A second call of `resume`
// is ignored. All of it in the one order of sequentially consistent operations.
Operation::Progress PrioritizedOperation::Run(Context& context, std::function<void()> resume) {
  started_ = true;
  context.pool().Post(priority_, [&context, action = action_, never_ends = never_ends_,
                                  resume = std::move(resume)] {
    if (context.fault() == CUDA_SUCCESS) {
      const Outcome outcome = action->Run(context.environment());
      if (outcome.never_ends) {
        never_ends->store(true);
        if (context.fault() == CUDA_SUCCESS) return;
      } else if (outcome.error != CUDA_SUCCESS) {
        context.Fail(outcome.error);
      }
    }
    resume();
  });
  return Progress::kParked;
}

Operation::Progress PrioritizedOperation::Cancel() {
  return started_ && !never_ends_->load() ? Progress::kParked : Progress::kDone;
}

Operation::Progress SignalOperation::Run(Context& /*context*/, std::function<void()> /*resume*/) {
  completion_->Finish();
  return Progress::kDone;
}

Operation::Progress SignalOperation::Cancel() {
  completion_->Finish();
  return Progress::kDone;
}

Operation::Progress AwaitOperation::Run(Context& /*context*/, std::function<void()> resume) {
  if (completion_->done()) return Progress::kDone;
  completion_->OnDone(std::move(resume));
  return Progress::kParked;
}

Operation::Progress ValueWaitOperation::Run(Context& context, std::function<void()> resume) {
  const std::optional<uint64_t> word = context.environment().regions.Load64(condition_.address);
  if (!word.has_value()) {
    context.Fail(CUDA_ERROR_ILLEGAL_ADDRESS);
    return Progress::kDone;
  }
  if (condition_.HoldsFor(*word)) return Progress::kDone;
  // The context's own threads call back, so it is there when they do.
  context.value_waits().Add(condition_, [&context, resume = std::move(resume)](bool holds) {
    if (!holds) context.Fail(CUDA_ERROR_ILLEGAL_ADDRESS);
    resume();
  });
  context.pool().WatchValues();
  return Progress::kParked;
}

}  // namespace weft::hostcuda
