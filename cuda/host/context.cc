#include "cuda/host/context.h"

#include <algorithm>
#include <utility>

#include "cuda/host/operations.h"

namespace weft::hostcuda {

std::shared_ptr<Context> Context::Create(const Options& options) {
  std::shared_ptr<Context> context(new Context(options));
  MutexLock lock(context->mu_);
  context->legacy_ =
      std::make_shared<Stream>(context, Stream::Kind::kLegacy, WorkerPool::kLeastPriority);
  return context;
}

Context::Context(const Options& options)
    : device_(options.device),
      fault_(options.fault),
      environment_{options.regions, options.faults},
      value_waits_(options.regions),
      pool_(options.workers, value_waits_) {}

void Context::Fail(CUresult error) {
  CUresult none = CUDA_SUCCESS;
  fault_.compare_exchange_strong(none, error, std::memory_order_seq_cst);
  value_waits_.Clear();
  for (const std::shared_ptr<Stream>& stream : AllStreams()) stream->CancelParked();
}

std::vector<std::shared_ptr<Stream>> Context::AllStreams() const {
  MutexLock lock(mu_);
  std::vector<std::shared_ptr<Stream>> all = streams_;
  all.insert(all.end(), retired_.begin(), retired_.end());
  if (legacy_ != nullptr) all.push_back(legacy_);
  return all;
}

std::shared_ptr<Stream> Context::CreateStream(Stream::Kind kind, int priority) {
  auto stream = std::make_shared<Stream>(shared_from_this(), kind, priority);
  MutexLock lock(mu_);
  ForgetIdleRetired();
  if (closed_) return nullptr;
  streams_.push_back(stream);
  return stream;
}

void Context::Retire(const std::shared_ptr<Stream>& stream) {
  MutexLock lock(mu_);
  const auto found = std::find(streams_.begin(), streams_.end(), stream);
  if (found == streams_.end()) return;
  *found = std::move(streams_.back());
  streams_.pop_back();
  retired_.push_back(stream);
  ForgetIdleRetired();
}

void Context::ForgetIdleRetired() {
  retired_.erase(std::remove_if(retired_.begin(), retired_.end(),
                                [](const std::shared_ptr<Stream>& s) { return s->Idle(); }),
                 retired_.end());
}

std::shared_ptr<Stream> Context::legacy_stream() const {
  MutexLock lock(mu_);
  return legacy_;
}

bool Context::BlockingStreamsIdle() const {
  for (const std::shared_ptr<Stream>& stream : AllStreams()) {
    if (stream->kind() != Stream::Kind::kNonBlocking && !stream->Idle()) return false;
  }
  return true;
}

void Context::Join(Stream& earlier, Stream& later) {
  if (earlier.Idle()) return;
  auto reached = std::make_shared<Completion>();
  earlier.Enqueue(std::make_unique<SignalOperation>(reached));
  later.Enqueue(std::make_unique<AwaitOperation>(reached));
}

CUresult Context::Submit(const std::shared_ptr<Stream>& stream,
                         std::unique_ptr<Operation> operation) {
  MutexLock lock(mu_);
  if (closed_) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (stream->kind() == Stream::Kind::kLegacy) {
    for (const std::shared_ptr<Stream>& other : streams_) {
      if (other->kind() == Stream::Kind::kBlocking) Join(*other, *stream);
    }
    for (const std::shared_ptr<Stream>& other : retired_) {
      if (other->kind() == Stream::Kind::kBlocking) Join(*other, *stream);
    }
  } else if (stream->kind() == Stream::Kind::kBlocking) {
    Join(*legacy_, *stream);
  }
  stream->Enqueue(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult Context::SubmitAndWait(const std::shared_ptr<Stream>& stream,
                                std::unique_ptr<Operation> operation) {
  const CUresult submitted = Submit(stream, std::move(operation));
  if (submitted != CUDA_SUCCESS) return submitted;
  stream->Synchronize();
  return fault();
}

CUresult Context::Synchronize() {
  for (const std::shared_ptr<Stream>& stream : AllStreams()) stream->Synchronize();
  MutexLock lock(mu_);
  ForgetIdleRetired();
  return fault();
}

void Context::Shutdown() {
  {
    MutexLock lock(mu_);
    if (closed_) return;
    closed_ = true;
  }
  Synchronize();
  pool_.Stop();
  // Streams and context refer to each other.
  std::vector<std::shared_ptr<Stream>> dropped = AllStreams();
  MutexLock lock(mu_);
  streams_.clear();
  retired_.clear();
  legacy_.reset();
}

}  // namespace weft::hostcuda
