#include "client/cli/local_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "client/cli/errors.h"
#include "client/cli/file_io.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

// A GPU without persistence mode takes seconds to wake; a machine with eight has each wake once.
constexpr int kReadyTimeoutMs = 120'000;
// weftd itself drains for at most this long (--drain-grace-ms below), then ends.
constexpr int kDrainGraceMs = 2'000;
constexpr int kStopTimeoutMs = kDrainGraceMs + 5'000;
constexpr size_t kMaxLogBytes = 1 << 20;
constexpr size_t kShownLogBytes = 2'000;
constexpr int kReadyFdOfChild = 3;

// Waits until `fd` is readable or closed by its peer; false after the timeout.
bool WaitReadable(int fd, int timeout_ms) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&entry, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

absl::StatusOr<std::string> MakeFolder() {
  const char* base = std::getenv("TMPDIR");
  std::string path = absl::StrCat(base == nullptr || *base == '\0' ? "/tmp" : base, "/weft-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) return ErrnoError(errno, "mkdtemp", path);
  return path;
}

std::string EndOf(const std::string& log_path) {
  const absl::StatusOr<std::string> log = ReadWholeFile(log_path, kMaxLogBytes);
  if (!log.ok()) return "";
  return log->size() <= kShownLogBytes ? *log : log->substr(log->size() - kShownLogBytes);
}

// How the child starts: standard input and output from nowhere, its log to a file, the pipe at a
// fixed number, signals as at the start of a program, and a process group of its own, so that a
// Ctrl-C reaches this program alone.
class SpawnSetup {
 public:
  SpawnSetup(const std::string& log_path, int ready_fd) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, log_path.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files_, ready_fd, kReadyFdOfChild);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
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

std::string LocalDaemon::socket() const { return folder_ + "/weftd.sock"; }
std::string LocalDaemon::log_path() const { return folder_ + "/weftd.log"; }

absl::StatusOr<std::unique_ptr<LocalDaemon>> LocalDaemon::Start(const Options& options) {
  if (access(options.program.c_str(), X_OK) != 0) return NoDaemonProgramError(options.program);
  WEFT_ASSIGN_OR_RETURN(std::string folder, MakeFolder());
  std::unique_ptr<LocalDaemon> daemon(new LocalDaemon(std::move(folder)));
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoError(errno, "pipe2", "weftd");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  WEFT_RETURN_IF_ERROR(daemon->Spawn(options, write_end.get()));
  write_end.reset();  // the child's end only: its death shows as the end of the pipe
  WEFT_RETURN_IF_ERROR(daemon->WaitUntilReady(read_end.get()));
  return daemon;
}

absl::Status LocalDaemon::Spawn(const Options& options, int ready_fd) {
  const std::vector<std::string> arguments = {options.program,
                                              "--socket=" + socket(),
                                              "--driver=" + options.driver,
                                              absl::StrCat("--ready-fd=", kReadyFdOfChild),
                                              "--exit-with-parent",
                                              "--log-level=warning",
                                              absl::StrCat("--drain-grace-ms=", kDrainGraceMs)};
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const SpawnSetup setup(log_path(), ready_fd);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, options.program.c_str(), setup.files(), setup.attributes(),
                                argv.data(), environ);
  if (error != 0) return ErrnoError(error, "posix_spawn", options.program);
  pid_ = pid;
  WEFT_ASSIGN_OR_RETURN(pidfd_, UniqueFd::Pidfd(pid));
  return absl::OkStatus();
}

absl::Status LocalDaemon::WaitUntilReady(int ready_fd) const {
  char byte = 0;
  if (!WaitReadable(ready_fd, kReadyTimeoutMs)) {
    return DaemonStartError(absl::StrCat(EndOf(log_path()), "\n(it was not ready after ",
                                         kReadyTimeoutMs / 1000, " s)"));
  }
  if (read(ready_fd, &byte, 1) != 1) {
    WaitReadable(pidfd_.get(), kStopTimeoutMs);  // its last words
    return DaemonStartError(EndOf(log_path()));
  }
  return absl::OkStatus();
}

LocalDaemon::~LocalDaemon() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    if (!pidfd_.valid() || !WaitReadable(pidfd_.get(), kStopTimeoutMs)) {
      log::Warning("the private weftd did not end in time and was killed");
      kill(pid_, SIGKILL);
    }
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) {
    log::Warning("a temporary folder could not be removed",
                 {{"folder", folder_}, {"error", error.message()}});
  }
}

}  // namespace weft::cli
