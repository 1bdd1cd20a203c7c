#include "tests/testing/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"

namespace weft::testing {
namespace {

constexpr int kReadyFd = 3;          // in weftd
constexpr int kEndGraceMs = 10'000;  // after SIGTERM
constexpr char kLogFile[] = "weftd.log";

// True once the process has ended, without collecting it.
bool AwaitEnd(pid_t pid, int timeout_ms) {
  const absl::StatusOr<UniqueFd> pidfd = UniqueFd::Pidfd(pid);
  if (!pidfd.ok()) return false;
  pollfd ended = {pidfd->get(), POLLIN, 0};
  return ::poll(&ended, 1, timeout_ms) == 1;
}

}  // namespace

std::string ProgramFolder() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  std::string folder(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  for (int i = 0; i < 2; ++i) folder.resize(folder.rfind('/'));  // bin/tests/program → bin
  return folder;
}

absl::StatusOr<std::unique_ptr<DaemonProcess>> DaemonProcess::Start(const DaemonOptions& options) {
  std::unique_ptr<DaemonProcess> daemon(new DaemonProcess);
  daemon->socket_ = options.socket.empty() ? daemon->folder_.File("weftd.sock") : options.socket;
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoError(errno, "pipe2", "");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  WEFT_RETURN_IF_ERROR(daemon->Spawn(options, write_end.get()));
  write_end.reset();
  char byte = 0;
  if (::read(read_end.get(), &byte, 1) == 1) return daemon;
  const int exit_code = daemon->Wait();
  return absl::UnavailableError(absl::StrCat("weftd ended with ", exit_code, ": ", daemon->Log()));
}

absl::Status DaemonProcess::Spawn(const DaemonOptions& options, int ready_fd) {
  std::vector<std::string> arguments = {
      ProgramFolder() + "/weftd", "--exit-with-parent", absl::StrCat("--ready-fd=", kReadyFd),
      "--socket=" + socket_,      "--driver=cpu",       "--cpu-workers=4",
      "--log-level=info"};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const std::string log = folder_.File(kLogFile);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ready_fd, kReadyFd);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    return ErrnoError(error, "posix_spawn", arguments[0]);
  }
  return absl::OkStatus();
}

DaemonProcess::~DaemonProcess() {
  if (pid_ <= 0 || exit_code_.has_value()) return;
  Signal(SIGTERM);
  if (!AwaitEnd(pid_, kEndGraceMs)) Signal(SIGKILL);
  Wait();
}

void DaemonProcess::Signal(int signal) const {
  if (pid_ > 0 && !exit_code_.has_value()) ::kill(pid_, signal);
}

int DaemonProcess::Wait() {
  if (exit_code_.has_value()) return *exit_code_;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return *exit_code_;
}

std::string DaemonProcess::Log() const { return ReadFile(folder_.File(kLogFile)); }

}  // namespace weft::testing
