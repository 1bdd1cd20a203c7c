#include "cuda/host/capture.h"

#include <algorithm>
#include <utility>

#include "cuda/host/api_call.h"
#include "cuda/host/context.h"
#include "cuda/host/operations.h"

namespace weft::hostcuda {

CUresult Capture::Begin(const std::shared_ptr<Stream>& origin, CUstreamCaptureMode mode) {
  std::shared_ptr<Capture> capture(new Capture(origin.get(), mode));
  {
    MutexLock lock(capture->mu_);
    capture->streams_.push_back(origin);
    capture->tails_[origin.get()] = {};
  }
  return origin->EnterCapture(capture) ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

CUresult Capture::Add(const Stream& stream, NodeSpec node) {
  MutexLock lock(mu_);
  if (invalid_) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  Tail& tail = tails_[&stream];
  node.dependencies = tail;
  uint32_t index = 0;
  const CUresult added = graph_->Add(std::move(node), &index);
  invalid_ = added != CUDA_SUCCESS;
  if (invalid_) return added;
  for (const uint32_t before : tail) has_successor_[before] = true;
  has_successor_.push_back(false);
  tail.assign(1, index);
  return CUDA_SUCCESS;
}

Capture::Tail Capture::TailOf(const Stream& stream) const {
  MutexLock lock(mu_);
  const auto found = tails_.find(&stream);
  return found == tails_.end() ? Tail() : found->second;
}

CUresult Capture::Join(const std::shared_ptr<Stream>& stream, const Tail& tail) {
  {
    MutexLock lock(mu_);
    if (invalid_) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  if (!stream->EnterCapture(shared_from_this())) {
    const std::shared_ptr<Capture> other = stream->capture();
    if (other.get() != this) {
      if (other != nullptr) other->Invalidate();
      Invalidate();
      return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
  }
  MutexLock lock(mu_);
  if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end()) {
    streams_.push_back(stream);
  }
  Tail& own = tails_[stream.get()];
  own.insert(own.end(), tail.begin(), tail.end());
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  return CUDA_SUCCESS;
}

void Capture::Invalidate() {
  MutexLock lock(mu_);
  invalid_ = true;
}

// Every node is before the end of the first stream.
bool Capture::IsJoined() const {
  const Tail& tail = tails_.at(origin_);
  for (uint32_t node = 0; node < has_successor_.size(); ++node) {
    const bool last = std::find(tail.begin(), tail.end(), node) != tail.end();
    if (!has_successor_[node] && !last) return false;
  }
  return true;
}

CUresult Capture::End(const Stream& stream, Result* result) {
  if (&stream != origin_) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (mode_ != CU_STREAM_CAPTURE_MODE_RELAXED && thread_ != std::this_thread::get_id()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  CUresult ended = CUDA_SUCCESS;
  {
    MutexLock lock(mu_);
    if (invalid_) {
      ended = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    } else if (!IsJoined()) {
      ended = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    } else {
      *result = {graph_, static_cast<uint32_t>(has_successor_.size())};
    }
    invalid_ = true;  // events of it are good for nothing from now on
  }
  Release();
  return ended;
}

void Capture::Abandon(const Stream& stream) {
  Invalidate();
  if (&stream == origin_) Release();
}

// The streams run what they are given again.
void Capture::Release() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    MutexLock lock(mu_);
    streams.swap(streams_);
  }
  for (const std::shared_ptr<Stream>& stream : streams) stream->LeaveCapture(*this);
}

CUresult SubmitAction(const std::shared_ptr<Stream>& stream, CUgraphNodeType type, ActionPtr action,
                      std::optional<int> priority) {
  const std::shared_ptr<Capture> capture = stream->capture();
  if (capture == nullptr) {
    std::unique_ptr<Operation> operation;
    if (priority.has_value()) {
      operation = std::make_unique<PrioritizedOperation>(*priority, std::move(action));
    } else {
      operation = std::make_unique<ActionOperation>(std::move(action));
    }
    return stream->context().Submit(stream, std::move(operation));
  }
  NodeSpec node;
  node.type = type;
  node.attributes.priority = priority;
  node.action = std::move(action);
  return capture->Add(*stream, std::move(node));
}

CUresult RefuseCapture(const Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture();
  if (capture == nullptr) return CUDA_SUCCESS;
  capture->Invalidate();
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

}  // namespace weft::hostcuda
