#include "cuda/host/stream_queue.h"

#include <utility>

#include "cuda/host/context.h"

namespace weft::hostcuda {

void Stream::Enqueue(std::unique_ptr<Operation> operation) {
  {
    MutexLock lock(mu_);
    queue_.push_back(std::move(operation));
    ++submitted_;
    if (state_ != State::kIdle) return;
    state_ = State::kScheduled;
  }
  Schedule();
}

void Stream::Schedule() {
  context_->pool().Post(priority_, [self = shared_from_this()] { self->Drain(); });
}

Operation* Stream::Begin(uint64_t* ticket) {
  MutexLock lock(mu_);
  if (queue_.empty()) {
    state_ = State::kIdle;
    return nullptr;
  }
  state_ = State::kRunning;
  resumed_ = false;
  *ticket = finished_;
  return queue_.front().get();
}

void Stream::Drain() {
  uint64_t ticket = 0;
  while (Operation* operation = Begin(&ticket)) {
    Operation::Progress progress;
    if (context_->fault() != CUDA_SUCCESS) {
      progress = operation->Cancel();
    } else {
      // Weak: a waiter's list must not keep a stream, and with it the context, alive.
      auto resume = [weak = weak_from_this(), ticket] {
        if (std::shared_ptr<Stream> self = weak.lock()) self->Resume(ticket);
      };
      progress = operation->Run(*context_, std::move(resume));
    }
    if (!Settle(progress)) {
      // Set between Run and now: the canceller found this stream running, and left it to us.
      if (context_->fault() != CUDA_SUCCESS) CancelParked();
      return;
    }
    if (context_->pool().HasBacklog()) return Yield();
  }
}

void Stream::Yield() {
  {
    MutexLock lock(mu_);
    state_ = queue_.empty() ? State::kIdle : State::kScheduled;
    if (queue_.empty()) return;
  }
  Schedule();
}

bool Stream::Settle(Operation::Progress progress) {
  std::unique_ptr<Operation> over;  // dies after the lock is released
  MutexLock lock(mu_);
  if (progress == Operation::Progress::kParked && !resumed_) {
    state_ = State::kParked;
    return false;
  }
  over = std::move(queue_.front());
  queue_.pop_front();
  ++finished_;
  changed_.NotifyAll();
  return true;
}

void Stream::Resume(uint64_t ticket) {
  std::unique_ptr<Operation> over;
  {
    MutexLock lock(mu_);
    if (ticket != finished_) return;  // a late call for an operation that was cancelled
    if (state_ == State::kRunning) {
      resumed_ = true;
      return;
    }
    if (state_ != State::kParked) return;
    over = std::move(queue_.front());
    queue_.pop_front();
    ++finished_;
    changed_.NotifyAll();
    state_ = State::kScheduled;
  }
  Schedule();
}

void Stream::CancelParked() {
  Operation* operation;
  {
    MutexLock lock(mu_);
    if (state_ != State::kParked) return;
    state_ = State::kRunning;  // ours: a Resume from now on is noted and settled below
    resumed_ = false;
    operation = queue_.front().get();
  }
  if (Settle(operation->Cancel())) Yield();
}

bool Stream::Idle() const {
  MutexLock lock(mu_);
  return finished_ == submitted_;
}

void Stream::Synchronize() const {
  MutexLock lock(mu_);
  const uint64_t target = submitted_;
  while (finished_ < target) changed_.Wait(mu_);
}

std::shared_ptr<Capture> Stream::capture() const {
  MutexLock lock(mu_);
  return capture_;
}

bool Stream::EnterCapture(std::shared_ptr<Capture> capture) {
  MutexLock lock(mu_);
  if (capture_ != nullptr) return false;
  capture_ = std::move(capture);
  return true;
}

void Stream::LeaveCapture(const Capture& capture) {
  std::shared_ptr<Capture> left;  // ends outside of the lock
  MutexLock lock(mu_);
  if (capture_.get() == &capture) left = std::move(capture_);
}

}  // namespace weft::hostcuda
