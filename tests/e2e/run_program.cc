#include "tests/e2e/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/testing/daemon_process.h"

namespace weft::e2e {
namespace {

std::string ReadAll(int fd) {
  std::string text;
  char bytes[4096];
  ::lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = ::read(fd, bytes, sizeof(bytes))) > 0;) text.append(bytes, n);
  return text;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> MergedEnvironment(const std::vector<std::string>& changes) {
  std::vector<std::string> merged = changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& change : changes) replaced |= change.compare(0, name.size(), name) == 0;
    if (!replaced) merged.push_back(text);
  }
  return merged;
}

}  // namespace

BackgroundProgram::BackgroundProgram(const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& environment)
    : out_(::memfd_create("stdout", MFD_CLOEXEC)), err_(::memfd_create("stderr", MFD_CLOEXEC)) {
  std::vector<std::string> own_arguments = arguments;
  std::vector<std::string> own_environment = MergedEnvironment(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_, STDERR_FILENO);
  if (::posix_spawn(&pid_, own_arguments[0].c_str(), &actions, nullptr,
                    Pointers(own_arguments).data(), Pointers(own_environment).data()) != 0) {
    pid_ = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
}

BackgroundProgram::~BackgroundProgram() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

ProgramResult BackgroundProgram::Wait() {
  ProgramResult result;
  if (pid_ <= 0) return result;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadAll(out_);
  result.err = ReadAll(err_);
  return result;
}

ProgramResult RunProgram(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment) {
  return BackgroundProgram(arguments, environment).Wait();
}

std::string DemosFolder() {
  const std::string installed = testing::ProgramFolder() + "/../share/weft/demos";
  if (::access(installed.c_str(), R_OK) == 0) return installed;
  return WEFT_SOURCE_DIR "/demos";
}

const std::string& PythonWithScipy() {
  static const std::string* const python = [] {
    for (const char* candidate : {"/usr/bin/python3", "/usr/local/bin/python3"}) {
      if (RunProgram({candidate, "-c", "import numpy, scipy.ndimage"}).exit_code == 0) {
        return new std::string(candidate);
      }
    }
    return new std::string;
  }();
  return *python;
}

}  // namespace weft::e2e
