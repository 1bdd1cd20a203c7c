#include "client/cli/interrupt.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/error_context.h"
#include "base/status_macros.h"
#include "client/cli/exit_codes.h"

namespace weft::cli {

absl::StatusOr<std::unique_ptr<InterruptWatcher>> InterruptWatcher::Create() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGINT);
  sigaddset(&watched, SIGTERM);
  UniqueFd signals(signalfd(-1, &watched, SFD_CLOEXEC));
  if (!signals.valid()) return ErrnoError(errno, "signalfd", "SIGINT, SIGTERM");
  WEFT_ASSIGN_OR_RETURN(UniqueFd stop, UniqueFd::Eventfd());
  sigset_t old_mask;
  pthread_sigmask(SIG_BLOCK, &watched, &old_mask);
  return std::unique_ptr<InterruptWatcher>(
      new InterruptWatcher(std::move(signals), std::move(stop), old_mask));
}

InterruptWatcher::InterruptWatcher(UniqueFd signals, UniqueFd stop, const sigset_t& old_mask)
    : signals_(std::move(signals)),
      stop_(std::move(stop)),
      old_mask_(old_mask),
      thread_([this] { Loop(); }) {}

InterruptWatcher::~InterruptWatcher() {
  const uint64_t one = 1;
  // An eventfd takes this write always.
  if (write(stop_.get(), &one, sizeof one) == sizeof one) thread_.join();
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

void InterruptWatcher::Loop() {
  while (true) {
    pollfd entries[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                        {.fd = stop_.get(), .events = POLLIN, .revents = 0}};
    if (poll(entries, 2, -1) < 0) continue;  // EINTR
    if (entries[1].revents != 0) return;
    signalfd_siginfo info = {};
    if (read(signals_.get(), &info, sizeof info) == sizeof info) Handle();
  }
}

void InterruptWatcher::Handle() {
  std::function<void()> action;
  {
    const absl::MutexLock lock(&mutex_);
    // Not even destructors: the person wants out. A private weftd ends with this process.
    if (interrupted_) _exit(static_cast<int>(ExitCode::kInterrupted));
    interrupted_ = true;
    action = action_;
  }
  if (action) action();
}

void InterruptWatcher::OnInterrupt(std::function<void()> action) {
  {
    const absl::MutexLock lock(&mutex_);
    if (!interrupted_) {
      action_ = std::move(action);
      return;
    }
  }
  if (action) action();
}

bool InterruptWatcher::interrupted() const {
  const absl::MutexLock lock(&mutex_);
  return interrupted_;
}

}  // namespace weft::cli
