#include "client/cli/graphviz.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "client/cli/errors.h"
#include "client/cli/file_io.h"

namespace weft::cli {
namespace {

constexpr uint64_t kMaxSvgBytes = uint64_t{1} << 30;

// Runs `dot` with memory files as standard input and output: no pipe can fill up.
absl::Status RunDot(int input, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  std::string program = "dot";
  std::string format = "-Tsvg";
  char* const argv[] = {program.data(), format.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, program.c_str(), &files, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  if (error == ENOENT) return NoGraphvizError();
  if (error != 0) return ErrnoError(error, "posix_spawnp", program);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return GraphvizError(WIFEXITED(status)
                           ? absl::StrCat("exit status ", WEXITSTATUS(status))
                           : absl::StrCat("it was ended by signal ", WTERMSIG(status)));
}

}  // namespace

absl::StatusOr<std::string> DrawSvg(absl::string_view dot_text) {
  WEFT_ASSIGN_OR_RETURN(const UniqueFd input, UniqueFd::Memfd("dot", 0, UniqueFd::Seal::kNone));
  WEFT_ASSIGN_OR_RETURN(const UniqueFd output, UniqueFd::Memfd("svg", 0, UniqueFd::Seal::kNone));
  while (!dot_text.empty()) {
    const ssize_t written = write(input.get(), dot_text.data(), dot_text.size());
    if (written < 0) return ErrnoError(errno, "write", "memfd");
    dot_text.remove_prefix(static_cast<size_t>(written));
  }
  if (lseek(input.get(), 0, SEEK_SET) != 0) return ErrnoError(errno, "lseek", "memfd");
  WEFT_RETURN_IF_ERROR(RunDot(input.get(), output.get()));
  return ReadWholeFile(absl::StrCat("/proc/self/fd/", output.get()), kMaxSvgBytes);
}

}  // namespace weft::cli
