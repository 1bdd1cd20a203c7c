#include "transport/wait_strategy.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace weft::transport {

void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void Doorbell::Ring() const {
  if (word_->load(std::memory_order_seq_cst) != kAsleep) return;
  // Of several wakers one makes the call.
  if (word_->exchange(kAwake, std::memory_order_seq_cst) != kAsleep) return;
  // Without FUTEX_PRIVATE_FLAG: the sleeper may be another process. The result does not matter:
  // with nobody asleep yet, the value 0 keeps the sleeper from falling asleep.
  ::syscall(SYS_futex, word_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Doorbell::Sleep(absl::Duration timeout) const {
  timespec limit{};
  const timespec* limit_or_none = nullptr;
  if (timeout != absl::InfiniteDuration()) {
    limit = absl::ToTimespec(timeout);
    limit_or_none = &limit;
  }
  // Every result is a reason to look at the condition again: woken, EAGAIN (rung in between),
  // EINTR, ETIMEDOUT.
  ::syscall(SYS_futex, word_, FUTEX_WAIT, kAsleep, limit_or_none, nullptr, 0);
  Disarm();
}

}  // namespace weft::transport
