// Looks at the semaphores that launches wait for, so that no wait is ever pending on the device: a
// device that waits loads no module, and jobs that bring one would stand behind the wait, even the one
// that is to signal.
//
// A read is one small copy a wait into page-locked memory, all in a stream of the poller's own, and
// an event behind them; nothing here blocks. Between reads it lets time pass, twice as much each time
// (kShortestPause to kLongestPause): a signal of another process is seen that late. A signal of this
// executor's own launches is told by Hurry.
//
// Order: a signal writes its value when what comes before it is visible to the whole system
// (kernels/builtin/flow.cu), so that work which is launched after the value was read here sees it all.
// The copy reads a whole aligned word.
//
// The rule: a wait is over once the word is at least its value, both unsigned, as signals compare.
// Values go up to 2^63 - 1, where this and the cyclic rule of CUDA's own waits are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cuda/context.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

namespace weft::executor {

// One wait of one launch.
struct SemaphoreWait {
  const void* launch = nullptr;  // tells launches apart
  uint32_t segment = 0;
  CUdeviceptr address = 0;  // mapped until the wait is over, or removed and the read under way done
  uint64_t value = 0;
};

// Thread safety: none; of the launch loop's thread.
// Cost: without waits none; a stream, an event and a page when the first is added. A read takes the
// processor 2 to 3 µs a wait.
class SemaphorePoller {
 public:
  // The context outlives it.
  explicit SemaphorePoller(const cuda::Context& context) : context_(context) {}
  SemaphorePoller(const SemaphorePoller&) = delete;
  SemaphorePoller& operator=(const SemaphorePoller&) = delete;

  bool empty() const { return waits_.empty(); }

  // Errors: RESOURCE_EXHAUSTED; the wait is not added then.
  absl::Status Add(const SemaphoreWait& wait);
  // Forgets the waits of a launch. What is added to `stream` afterwards comes behind the read that is
  // under way, if it may be of them.
  absl::Status Remove(const void* launch, const cuda::StreamRef& stream);
  // A value may have changed: read at once.
  void Hurry();

  // Goes on as far as it can; appends the waits that are over to `over` and forgets them. True when
  // there were any. Errors: what the driver says; the waits stay.
  absl::StatusOr<bool> Step(std::vector<SemaphoreWait>& over);
  // True when Step has something to do now.
  bool IsDue() const;
  // How long Step need not be called. REQUIRES: not empty.
  absl::Duration Pause();
  // Nothing is left to be read: every word was read after the last Add and Hurry.
  bool IsSettled() const { return waits_.empty() || (!is_reading_ && hurried_ == 0); }
  // Waits for the read under way.
  absl::Status Synchronize() const;

 private:
  // What a read needs.
  struct Reader {
    cuda::Stream stream;
    cuda::Event done;
    std::unique_ptr<uint64_t, void (*)(void*)> words;
    cuda::PinnedHost pinned;  // `words`
  };
  absl::Status MakeReader();
  absl::Status StartRead();
  bool TakeValues(std::vector<SemaphoreWait>& over);

  const cuda::Context& context_;
  std::optional<Reader> reader_;
  std::vector<SemaphoreWait> waits_;
  size_t next_ = 0;  // of waits_: where the next read begins, if one takes not all
  std::vector<SemaphoreWait> reading_;  // by word: of the read under way
  bool is_reading_ = false;
  size_t hurried_ = 0;      // how many waits are to be read at once
  absl::Duration read_at_;  // on the clock: when the next one is due
  absl::Duration pause_;    // before the one behind it
  absl::Duration look_;     // before the next look at the read under way, when the loop sleeps
};

}  // namespace weft::executor
