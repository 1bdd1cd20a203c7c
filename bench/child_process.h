// A program started beside a benchmark, spoken to over its standard input and output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace weft::bench {

// Thread safety: none; one caller at a time.
class ChildProcess {
 public:
  // `arguments[0]` is the path of the program.
  static absl::StatusOr<ChildProcess> Start(std::vector<std::string> arguments);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Closes the child's standard input, at which it is to end, and waits for that.
  ~ChildProcess();

  // The next line of its standard output, without the newline; blocks.
  // Errors: UNAVAILABLE when the output ended.
  absl::StatusOr<std::string> ReadLine();
  absl::Status WriteLine(const std::string& line);

 private:
  ChildProcess(pid_t pid, UniqueFd input, UniqueFd output)
      : pid_(pid), input_(std::move(input)), output_(std::move(output)) {}

  pid_t pid_;
  UniqueFd input_;
  UniqueFd output_;
};

// The folder of the running program; the other benchmark programs lie in it.
std::string ProgramFolder();

}  // namespace weft::bench
