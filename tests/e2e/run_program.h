// Runs a program to its end and keeps what it said.
#pragma once

#include <string>
#include <vector>

namespace weft::e2e {

// Exit codes of weft (docs/cli.md).
inline constexpr int kBadInput = 2, kStopped = 4, kRefused = 5;

struct ProgramResult {
  int exit_code = -1;  // 128 + signal when a signal ended it; -1 when it could not be started
  std::string out;
  std::string err;
};

// `arguments[0]` is the program's path. `environment` entries ("NAME=value") replace or join this
// process's own. Blocks until the program ends; ctest's timeout bounds it.
ProgramResult RunProgram(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment = {});

// A program that runs beside the test. Killed and waited for by the destructor.
class BackgroundProgram {
 public:
  BackgroundProgram(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment = {});
  ~BackgroundProgram();
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  int pid() const { return pid_; }
  // Blocks until it ends.
  ProgramResult Wait();

 private:
  int pid_ = -1;
  int out_ = -1;  // unlinked files that it writes to
  int err_ = -1;
};

// share/weft/<name>, or the source tree's folder for it when run from the build tree.
std::string DemosFolder();
// The python3 that has NumPy and SciPy; empty when there is none.
const std::string& PythonWithScipy();

}  // namespace weft::e2e
