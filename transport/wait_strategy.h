// Waiting for a word in shared memory: spin for a while, then sleep in the kernel. Two pieces.
//
// Doorbell: a futex word by which one sleeper is woken. Its values: 0 = nobody sleeps, 1 = the
// sleeper is asleep or about to be. Protocol (numbered, because both sides rely on it):
//
//   sleeper                                       waker
//   S1  word := 1             (Arm)               W1  publish the condition
//   S2  read the condition; if it holds: Disarm   W2  if word == 1: word := 0 and FUTEX_WAKE (Ring)
//   S3  FUTEX_WAIT while word == 1  (Sleep)
//
//   No wake-up is lost: S1, S2, W1 and W2 are sequentially consistent, so either S2 sees what W1
//   published, or W2 sees S1's word (both reading the old value would order S1 < S2 < W1 < W2 < S1
//   in the single total order). In the second case the word is 0 before or after S3 begins:
//   FUTEX_WAIT compares under the kernel's lock, so it does not sleep or is woken. Acquire/release
//   alone would not do: it allows both old reads. W1 may be a weaker store only when something
//   sequentially consistent follows it before W2.
//
// Any number of wakers may ring; one thread sleeps. The word may lie in memory that a hostile peer
// writes: it can cause a wake-up too many or prevent one, so every Sleep has a timeout, after which
// the sleeper looks again.
//
// WaitStrategy: how long to spin, and the loop around it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "base/clock.h"

namespace weft::transport {

// Tells the processor that this is a spin loop (x86 PAUSE, Arm YIELD).
void CpuRelax();

// A view of a futex word, in private or shared memory (the futex is process-shared either way).
// Does not own it. Thread safety: Ring from any thread or process; Arm, Disarm and Sleep by the one
// sleeper.
class Doorbell {
 public:
  // REQUIRES: `word` outlives this; it starts as 0.
  explicit Doorbell(std::atomic<uint32_t>* word) : word_(word) {}

  // Wakes the sleeper when there is one. One load when there is none; a system call when there is.
  void Ring() const;

  void Arm() const { word_->store(kAsleep, std::memory_order_seq_cst); }
  void Disarm() const { word_->store(kAwake, std::memory_order_seq_cst); }
  // Sleeps until rung or until `timeout` has passed (infinite durations are allowed), and disarms.
  // May also return for no reason. REQUIRES: Arm was called and the condition was read again after
  // it.
  void Sleep(absl::Duration timeout) const;

 private:
  static constexpr uint32_t kAwake = 0;
  static constexpr uint32_t kAsleep = 1;
  std::atomic<uint32_t>* word_;
};

// Spins for `spin`, then sleeps on a doorbell.
class WaitStrategy {
 public:
  // spin: 0 sleeps at once.
  explicit WaitStrategy(absl::Duration spin) : spin_(spin) {}

  // Returns true when `ready()` did, false when `timeout` passed first. `ready` may be called often
  // and must be cheap; it must read its condition with seq_cst loads (S2). Reads the system's
  // clock: it measures the machine; a test moves conditions, not time.
  template <typename Ready>
  bool Wait(const Doorbell& doorbell, absl::Duration timeout, Ready&& ready) const;

  absl::Duration spin() const { return spin_; }

 private:
  absl::Duration spin_;
};

// Spins of one burst between two readings of the clock: a burst is about a microsecond (64 × PAUSE
// at 10–140 cycles), a reading of the clock about 25 ns.
inline constexpr int kSpinsPerClockRead = 64;

template <typename Ready>
bool WaitStrategy::Wait(const Doorbell& doorbell, absl::Duration timeout, Ready&& ready) const {
  if (ready()) return true;
  const Clock& clock = Clock::Real();
  const absl::Duration start = clock.Now();
  const absl::Duration deadline = start + timeout;
  const absl::Duration spin_until = std::min(start + spin_, deadline);
  for (absl::Duration now = start; now < spin_until; now = clock.Now()) {
    for (int i = 0; i < kSpinsPerClockRead; ++i) {
      if (ready()) return true;
      CpuRelax();
    }
  }
  for (;;) {
    const absl::Duration left = deadline - clock.Now();
    if (left <= absl::ZeroDuration()) return ready();
    doorbell.Arm();
    if (ready()) {
      doorbell.Disarm();
      return true;
    }
    doorbell.Sleep(left);
    if (ready()) return true;
  }
}

}  // namespace weft::transport
