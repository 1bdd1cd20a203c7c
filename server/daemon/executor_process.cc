#include "server/daemon/executor_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"

namespace weft::daemon {
namespace {

constexpr int kChildSocket = 3;
constexpr int kExecFailed = 127;  // as shells say it

// The strings and the null-ended array that execve takes.
class CStrings {
 public:
  explicit CStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (std::string& string : strings_) pointers_.push_back(string.data());
    pointers_.push_back(nullptr);
  }
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> strings_;
  std::vector<char*> pointers_;
};

std::vector<std::string> Arguments(const ExecutorCommand& command) {
  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  arguments.push_back(absl::StrCat("--fd-socket=", kChildSocket));
  return arguments;
}

std::vector<std::string> Environment(const ExecutorCommand& command) {
  std::vector<std::string> environment = command.environment;
  // The first of two entries with one name wins in getenv.
  for (char** entry = ::environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

// Between fork and exec of a process with threads: nothing but system calls.
[[noreturn]] void RunChild(const char* program, char* const* arguments, char* const* environment,
                           int socket, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above.
  if (::getppid() != parent) ::_exit(kExecFailed);
  // A group of its own: Ctrl-C at weftd's terminal drains weftd and must not kill what it drains.
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // A duplicate has close-on-exec off; dup2 on itself would keep it on.
  if (socket == kChildSocket) {
    ::fcntl(socket, F_SETFD, 0);
  } else if (::dup2(socket, kChildSocket) < 0) {
    ::_exit(kExecFailed);
  }
  ::syscall(SYS_close_range, kChildSocket + 1, ~0U, 0);
  ::execve(program, arguments, environment);
  ::_exit(kExecFailed);
}

std::string HowItEnded(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) {
    return info.si_status == kExecFailed ? "it could not be executed"
                                         : absl::StrCat("exit status ", info.si_status);
  }
  return absl::StrCat("signal ", info.si_status, " (", ::strsignal(info.si_status), ")");
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExecutorProcess>> ExecutorProcess::Spawn(
    const ExecutorCommand& command) {
  if (::access(command.program.c_str(), X_OK) != 0) {
    return NoExecutorProgramError(command.program, errno);
  }
  WEFT_ASSIGN_OR_RETURN(auto sockets, UniqueFd::SocketPair(SOCK_SEQPACKET));
  const CStrings arguments(Arguments(command));
  const CStrings environment(Environment(command));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return ErrnoError(errno, "fork", command.program);
  if (pid == 0) {
    RunChild(command.program.c_str(), arguments.get(), environment.get(), sockets.second.get(),
             parent);
  }
  absl::StatusOr<UniqueFd> pidfd = UniqueFd::Pidfd(pid);
  if (!pidfd.ok()) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return pidfd.status();
  }
  return std::unique_ptr<ExecutorProcess>(
      new ExecutorProcess(pid, *std::move(pidfd), std::move(sockets.first)));
}

ExecutorProcess::~ExecutorProcess() {
  if (!reaped_) Reap(absl::ZeroDuration());
}

std::string ExecutorProcess::Reap(absl::Duration patience) {
  pollfd wait = {pidfd_.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&wait, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) ::kill(pid_, SIGKILL);
  siginfo_t info = {};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
  }
  reaped_ = true;
  return HowItEnded(info);
}

}  // namespace weft::daemon
