#include "server/daemon/serve.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "server/daemon/daemon.h"
#include "server/daemon/sd_notify.h"
#include "weft/config/v1/daemon_config.pb.h"

namespace weft::daemon {
namespace {

// Blocks the signals for this thread and those it starts, and makes them readable instead.
absl::StatusOr<UniqueFd> SignalFd() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return ErrnoError(errno, "signalfd", "");
  return fd;
}

// True when `--ready-fd` names something to write to.
absl::Status CheckReadyFd(int fd) {
  if (fd < 0) return absl::OkStatus();
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return ErrnoError(errno, "--ready-fd", absl::StrCat(fd));
  if ((flags & O_ACCMODE) == O_RDONLY) {
    return absl::InvalidArgumentError(absl::StrCat("--ready-fd ", fd, " cannot be written to."));
  }
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return absl::OkStatus();
}

void TellReady(const std::string& socket, UniqueFd ready) {
  log::Info("weftd serves", {{"socket", socket}});
  NotifyServiceManager("READY=1");
  if (!ready.valid()) return;
  const std::string line = absl::StrCat(socket, "\n");
  if (::write(ready.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    log::Warning("--ready-fd cannot be written to");
  }
}

// A signal that comes so soon after the first is the same wish: timeout(1) and service managers
// signal the process and then its whole group.
constexpr absl::Duration kSameWish = absl::Milliseconds(200);

bool Took(const UniqueFd& signals) {
  signalfd_siginfo info = {};
  return ::read(signals.get(), &info, sizeof info) == sizeof info;
}

// Executors and their threads die with the process.
[[noreturn]] void EndAtOnce() {
  log::Warning("a second signal: weftd ends at once");
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

absl::Status Serve(const Config& config, int ready_fd) {
  WEFT_ASSIGN_OR_RETURN(const UniqueFd signals, SignalFd());
  WEFT_RETURN_IF_ERROR(CheckReadyFd(ready_fd));
  UniqueFd ready(ready_fd);
  // Never shut down: with the last server gone, gRPC would otherwise end its threads here, and wait
  // up to 10 s for one that polls for a write which is long done.
  grpc_init();
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Daemon> daemon, Daemon::Start(config));
  std::optional<absl::Duration> told_to_end;  // when
  bool told_ready = false;
  for (;;) {
    pollfd fds[] = {{signals.get(), POLLIN, 0}, {daemon->changed_fd(), POLLIN, 0}};
    ::poll(fds, 2, -1);
    while (Took(signals)) {
      const absl::Duration now = Clock::Real().Now();
      if (told_to_end.has_value() && now - *told_to_end > kSameWish) EndAtOnce();
      if (told_to_end.has_value()) continue;
      told_to_end = now;
      NotifyServiceManager("STOPPING=1");
      daemon->Drain();
    }
    switch (daemon->phase()) {
      case Daemon::Phase::kStarting:
      case Daemon::Phase::kDraining:
        break;
      case Daemon::Phase::kServing:
        if (!told_ready) TellReady(daemon->socket(), std::move(ready));
        told_ready = true;
        break;
      case Daemon::Phase::kFailed:
        return daemon->error();
      case Daemon::Phase::kDrained:
        return absl::OkStatus();
    }
  }
}

}  // namespace weft::daemon
