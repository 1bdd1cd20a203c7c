#include "bench/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/error_context.h"
#include "base/status_macros.h"

namespace weft::bench {
namespace {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

absl::StatusOr<Pipe> MakePipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoError(errno, "pipe2", "");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(std::vector<std::string> arguments) {
  WEFT_ASSIGN_OR_RETURN(Pipe input, MakePipe());
  WEFT_ASSIGN_OR_RETURN(Pipe output, MakePipe());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoError(error, "posix_spawn", arguments[0]);
  return ChildProcess(pid, std::move(input.write), std::move(output.read));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ == 0) return;
  input_.reset();
  ::waitpid(pid_, nullptr, 0);
}

absl::StatusOr<std::string> ChildProcess::ReadLine() {
  std::string line;
  char byte = 0;
  while (::read(output_.get(), &byte, 1) == 1) {
    if (byte == '\n') return line;
    line.push_back(byte);
  }
  return absl::UnavailableError(
      "a program started by the benchmark ended early; its own message "
      "stands above");
}

absl::Status ChildProcess::WriteLine(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(input_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return ErrnoError(errno, "write", "a program started by the benchmark");
  }
  return absl::OkStatus();
}

std::string ProgramFolder() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return ".";
  const std::string program(path.data(), static_cast<size_t>(length));
  return program.substr(0, program.rfind('/'));
}

}  // namespace weft::bench
