#include "kernels/compile/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"

namespace weft::kernels {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  // posix_spawn does not write to them.
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's two lists, destroyed with it.
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

void Limit(pid_t pid, int resource, uint64_t value) {
  const rlimit limit = {value, value};
  // Fails where the system's own limit is lower, which then holds.
  static_cast<void>(::prlimit(pid, static_cast<__rlimit_resource>(resource), &limit, nullptr));
}

// A child, killed and reaped with the object when it has not ended.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ > 0) Kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The whole group: the compiler's driver has children.
  void Kill() {
    ::kill(-pid_, SIGKILL);
    Wait();
  }
  int Wait() {
    int status = SIGKILL;  // stays where somebody else reaped the child: no success that nobody saw
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

absl::StatusOr<pid_t> Spawn(const ProgramCommand& command, int output) {
  SpawnSettings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, output, STDERR_FILENO);
  ::posix_spawn_file_actions_addchdir_np(&settings.actions, command.folder.c_str());
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  ::posix_spawnattr_setflags(
      &settings.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const std::vector<char*> arguments = Pointers(command.arguments);
  const std::vector<char*> environment = Pointers(command.environment);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, arguments[0], &settings.actions, &settings.attributes,
                                  arguments.data(), environment.data());
  if (error != 0) return ErrnoError(error, "posix_spawn", command.arguments[0]);
  // Before it has read what could make it grow; its children inherit them.
  Limit(pid, RLIMIT_AS, command.max_memory_bytes);
  Limit(pid, RLIMIT_FSIZE, command.max_file_bytes);
  Limit(pid, RLIMIT_CORE, 0);
  return pid;
}

// Waits until the file can be read (a pidfd: until its process has ended); false when time is up.
bool Await(int fd, absl::Duration end) {
  for (;;) {
    const absl::Duration left = end - Clock::Real().Now();
    if (left <= absl::ZeroDuration()) return false;
    pollfd wait = {fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// Until nobody has the other end any more.
bool ReadAll(int pipe, absl::Duration end, size_t limit, std::string* output) {
  char buffer[4096];
  while (Await(pipe, end)) {
    const ssize_t got = ::read(pipe, buffer, sizeof(buffer));
    if (got == 0) return true;
    if (got < 0) return false;
    output->append(buffer, std::min(static_cast<size_t>(got), limit - output->size()));
  }
  return false;
}

}  // namespace

absl::StatusOr<ProgramResult> RunProgram(const ProgramCommand& command) {
  const absl::Duration end = Clock::Real().Now() + command.time_limit;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError(errno, "pipe2", command.arguments[0]);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  WEFT_ASSIGN_OR_RETURN(const pid_t pid, Spawn(command, writer.get()));
  Child child(pid);
  WEFT_ASSIGN_OR_RETURN(const UniqueFd pidfd, UniqueFd::Pidfd(pid));
  writer.reset();
  ProgramResult result;
  if (!ReadAll(reader.get(), end, command.max_output_bytes, &result.output) ||
      !Await(pidfd.get(), end)) {
    child.Kill();
    return absl::DeadlineExceededError(absl::StrCat(command.arguments[0], " did not end within ",
                                                    absl::FormatDuration(command.time_limit)));
  }
  result.exit_status = child.Wait();
  return result;
}

}  // namespace weft::kernels
