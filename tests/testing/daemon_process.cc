#include "tests/testing/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"

extern char** environ;

namespace weft::testing {
namespace {

namespace fs = std::filesystem;

// Under ASan or TSan, on a machine that is busy with other tests.
constexpr absl::Duration kStartTimeout = absl::Seconds(60);
constexpr absl::Duration kStopTimeout = absl::Seconds(30);
constexpr int kReadyFdOfChild = 3;

bool AwaitReadable(int fd, absl::Duration timeout) {
  pollfd entry = {fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&entry, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::vector<std::string> Arguments(const DaemonOptions& options, const std::string& socket) {
  std::vector<std::string> arguments = {ProgramFolder() + "/weftd",
                                        "--socket=" + socket,
                                        "--driver=" + options.driver,
                                        absl::StrCat("--cpu-devices=", options.devices),
                                        absl::StrCat("--cpu-workers=", options.workers),
                                        absl::StrCat("--cpu-memory-mib=", options.memory_mib),
                                        absl::StrCat("--ready-fd=", kReadyFdOfChild),
                                        "--exit-with-parent"};
  if (!options.faults.empty()) arguments.push_back("--cpu-faults=" + options.faults);
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  return arguments;
}

// What posix_spawn needs: the log as standard error, the ready pipe at its number, default signals.
class SpawnSetup {
 public:
  SpawnSetup(const std::string& log, int ready_fd) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&files_, ready_fd, kReadyFdOfChild);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string ProgramFolder() {
  if (const char* folder = std::getenv("WEFT_BIN_DIR")) return folder;
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path().string();
}

absl::StatusOr<std::unique_ptr<DaemonProcess>> DaemonProcess::Start(const DaemonOptions& options) {
  std::unique_ptr<DaemonProcess> daemon(new DaemonProcess);
  WEFT_RETURN_IF_ERROR(daemon->Spawn(options));
  return daemon;
}

absl::Status DaemonProcess::Spawn(const DaemonOptions& options) {
  socket_ = dir_.File("weftd.sock");
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError(errno, "pipe2", "");
  const UniqueFd ready(ends[0]);
  UniqueFd child_end(ends[1]);
  std::vector<std::string> arguments = Arguments(options, socket_);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const SpawnSetup setup(dir_.File("log"), child_end.get());
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, argv[0], setup.files(), setup.attributes(), argv.data(), environ);
  if (error != 0) return ErrnoError(error, "posix_spawn", arguments[0]);
  pid_ = pid;
  WEFT_ASSIGN_OR_RETURN(pidfd_, UniqueFd::Pidfd(pid));
  child_end.reset();  // so that the child's end shows as the end of the pipe
  return AwaitReady(ready);
}

absl::Status DaemonProcess::AwaitReady(const UniqueFd& ready) const {
  std::string line;
  char byte = 0;
  while (line.empty() || line.back() != '\n') {
    if (!AwaitReadable(ready.get(), kStartTimeout) || ::read(ready.get(), &byte, 1) != 1) {
      return absl::InternalError(absl::StrCat("weftd does not serve. Its log:\n", Log()));
    }
    line += byte;
  }
  if (line == socket_ + "\n") return absl::OkStatus();
  return absl::InternalError(absl::StrCat("weftd serves another socket: ", line));
}

DaemonProcess::~DaemonProcess() {
  if (pid_ != 0) Stop().IgnoreError();
}

std::string DaemonProcess::Log() const { return ReadFile(dir_.File("log")); }

void DaemonProcess::Signal(int signal) const {
  if (pid_ != 0) ::kill(pid_, signal);
}

absl::StatusOr<int> DaemonProcess::Wait(absl::Duration timeout) {
  if (pid_ == 0) return absl::FailedPreconditionError("weftd has ended already");
  if (!AwaitReadable(pidfd_.get(), timeout)) {
    return absl::DeadlineExceededError(absl::StrCat("weftd goes on. Its log:\n", Log()));
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

absl::Status DaemonProcess::Stop() {
  Signal(SIGTERM);
  absl::StatusOr<int> status = Wait(kStopTimeout);
  if (absl::IsDeadlineExceeded(status.status())) {
    Signal(SIGKILL);
    Wait(kStopTimeout).IgnoreError();
  }
  if (!status.ok()) return status.status();
  if (*status != 0) {
    return absl::InternalError(
        absl::StrCat("weftd ended with status ", *status, ". Its log:\n", Log()));
  }
  if (fs::exists(socket_)) return absl::InternalError("weftd has left its socket");
  return absl::OkStatus();
}

}  // namespace weft::testing
