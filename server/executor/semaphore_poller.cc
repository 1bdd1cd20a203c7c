#include "server/executor/semaphore_poller.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/status_macros.h"

namespace weft::executor {
namespace {

constexpr size_t kReadBytes = 4096;
constexpr size_t kWordsPerRead = kReadBytes / sizeof(uint64_t);
// A read takes about 10 µs.
constexpr absl::Duration kShortestPause = absl::Microseconds(20);
constexpr absl::Duration kLongestPause = absl::Milliseconds(1);

}  // namespace

absl::Status SemaphorePoller::MakeReader() {
  WEFT_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create(context_, {}));
  WEFT_ASSIGN_OR_RETURN(cuda::Event done,
                        cuda::Event::Create(context_, cuda::EventTiming::kDisabled));
  std::unique_ptr<uint64_t, void (*)(void*)> words(
      static_cast<uint64_t*>(std::aligned_alloc(kReadBytes, kReadBytes)), &std::free);
  if (words == nullptr) return absl::ResourceExhaustedError("no memory to read semaphores into");
  WEFT_ASSIGN_OR_RETURN(cuda::PinnedHost pinned,
                        cuda::PinnedHost::Register(context_, words.get(), kReadBytes));
  reader_.emplace(Reader{std::move(stream), std::move(done), std::move(words), std::move(pinned)});
  return absl::OkStatus();
}

absl::Status SemaphorePoller::Add(const SemaphoreWait& wait) {
  if (!reader_.has_value()) WEFT_RETURN_IF_ERROR(MakeReader());
  waits_.push_back(wait);
  Hurry();
  return absl::OkStatus();
}

absl::Status SemaphorePoller::Remove(const void* launch, const cuda::StreamRef& stream) {
  const auto is_of_launch = [launch](const SemaphoreWait& wait) { return wait.launch == launch; };
  waits_.erase(std::remove_if(waits_.begin(), waits_.end(), is_of_launch), waits_.end());
  hurried_ = std::min(hurried_, waits_.size());
  bool is_read = false;
  for (SemaphoreWait& wait : reading_) {
    if (!is_of_launch(wait)) continue;
    wait.launch = nullptr;  // its word keeps its place
    is_read = true;
  }
  return is_read ? stream.Wait(reader_->done.ref()) : absl::OkStatus();
}

void SemaphorePoller::Hurry() {
  hurried_ = waits_.size();
  pause_ = kShortestPause;
}

// The event is recorded behind what could be added, whatever went wrong.
absl::Status SemaphorePoller::StartRead() {
  const cuda::StreamRef stream = reader_->stream.ref();
  const size_t count = std::min(waits_.size(), kWordsPerRead);
  absl::Status status;
  while (status.ok() && reading_.size() < count) {
    if (next_ >= waits_.size()) next_ = 0;
    const SemaphoreWait& wait = waits_[next_++];
    status = cuda::CopyAsync(stream, cuda::HostAddress(reader_->words.get() + reading_.size()),
                             wait.address, sizeof(uint64_t));
    if (status.ok()) reading_.push_back(wait);
  }
  hurried_ -= std::min(hurried_, count);
  look_ = kShortestPause;
  const absl::Status recorded = stream.Record(reader_->done.ref());
  is_reading_ = recorded.ok();
  status.Update(recorded);
  return status;
}

bool SemaphorePoller::TakeValues(std::vector<SemaphoreWait>& over) {
  const size_t before = over.size();
  for (size_t i = 0; i < reading_.size(); ++i) {
    const SemaphoreWait& wait = reading_[i];
    if (wait.launch == nullptr || reader_->words.get()[i] < wait.value) continue;
    waits_.erase(std::find_if(waits_.begin(), waits_.end(), [&wait](const SemaphoreWait& other) {
      return other.launch == wait.launch && other.segment == wait.segment;
    }));
    over.push_back(wait);
  }
  reading_.clear();
  hurried_ = std::min(hurried_, waits_.size());
  return over.size() > before;
}

absl::StatusOr<bool> SemaphorePoller::Step(std::vector<SemaphoreWait>& over) {
  if (is_reading_) {
    WEFT_ASSIGN_OR_RETURN(const bool done, reader_->done.ref().Query());
    if (!done) return false;
    is_reading_ = false;
    const bool any = TakeValues(over);
    read_at_ = Clock::Real().Now() + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    if (any) return true;
  }
  if (!waits_.empty() && IsDue()) WEFT_RETURN_IF_ERROR(StartRead());
  return false;
}

bool SemaphorePoller::IsDue() const {
  if (!is_reading_) return hurried_ > 0 || Clock::Real().Now() >= read_at_;
  const absl::StatusOr<bool> done = reader_->done.ref().Query();
  return !done.ok() || *done;
}

absl::Duration SemaphorePoller::Pause() {
  if (is_reading_) return std::exchange(look_, std::min(2 * look_, kLongestPause));
  if (hurried_ > 0) return absl::ZeroDuration();
  return std::max(read_at_ - Clock::Real().Now(), absl::ZeroDuration());
}

absl::Status SemaphorePoller::Synchronize() const {
  return reader_.has_value() ? reader_->stream.ref().Synchronize() : absl::OkStatus();
}

}  // namespace weft::executor
